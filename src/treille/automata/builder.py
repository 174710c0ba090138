"""Builder: makes a machine state by state and arc by arc."""

from typing import Any

from treille.automata.fst import Fst
from treille.automata.validation import ONE, ArcList, check_semiring, check_weight
from treille.io.errors import InputError


class Builder:
    """A machine under construction: add states and arcs in any order, then `build`.

    Parameters
    ----------
    semiring : {"real", "log", "tropical"}
        What weights mean, see `treille.Fst`.
    input_symbols, output_symbols : list of str, a text, or None
        Fixed symbol tables; where only one is given, it serves both sides. None: strings get labels in order of first use.

    Examples
    --------
    >>> from treille.automata import Builder
    >>> builder = Builder()
    >>> first, last = builder.add_state(), builder.add_state(final=2.0)
    >>> builder.add_arc(first, "a", "b", 0.5, last)
    >>> builder.build()("a", "b")
    1.0
    """

    def __init__(self, semiring: str = "real", input_symbols: Any = None, output_symbols: Any = None):
        self._semiring = check_semiring(semiring)
        self._arcs = ArcList(input_symbols, output_symbols)
        self._finals: dict[int, float] = {}
        self._n_states = 0

    def add_state(self, final: float | bool | None = None) -> int:
        """Adds a state and returns its number. `final` is its final weight; True: the semiring's one; None: it is not final."""
        state = self._n_states
        if final is not None and final is not False:
            one = ONE[self._semiring]
            self._finals[state] = one if final is True else check_weight(f"the final weight of state {state}", final)
        self._n_states += 1
        return state

    def add_arc(self, source: int, input: Any, output: Any, weight: float, target: int) -> None:
        """Adds an arc. Its states may be added later."""
        self._arcs.add(source, input, output, weight, target)

    def build(self, start: int = 0) -> Fst:
        """Returns the validated machine. More states and arcs can be added afterwards."""
        if self._n_states == 0:
            raise InputError("the machine has no start, as it has no states: add_state() makes one")
        return Fst.from_parts(self._arcs.parts(self._n_states, self._finals, start, self._semiring))
