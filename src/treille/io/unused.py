"""What readers of graphs find and do not use, for notes and warnings."""

import warnings
from collections.abc import Iterable

from .errors import first_level_outside


class Unused:
    """Names of what is not used, each with the number of graphs that have it and the place of the first.

    >>> unused = Unused()
    >>> unused.add("item 0", ["charge", "mass"], "nodes")
    >>> unused.add("item 2", ["mass"], "nodes")
    >>> print(unused)
    'charge' of nodes (1 graph, item 0), 'mass' of nodes (2 graphs, first item 0)
    """

    def __init__(self) -> None:
        self._found = dict[tuple[str, str], tuple[int, str]]()

    def add(self, place: str, names: Iterable[object], side: str = "") -> None:
        """Counts these names, of `side`: "nodes" or "edges", or of the graph at this place."""
        for name in names:
            n, first = self._found.get((side, str(name)), (0, place))
            self._found[side, str(name)] = n + 1, first

    def names(self, side: str) -> list[str]:
        """The names that nodes, or edges, have."""
        return [name for own, name in self._found if own == side]

    def leave_out(self, side: str, names: Iterable[str | None] | None = None) -> None:
        """Leaves out what was found of nodes, of edges, or of graphs (""); all of it, or these names."""
        left = [key for key in self._found if key[0] == side and (names is None or key[1] in names)]
        self._found = {key: value for key, value in self._found.items() if key not in left}

    def warn(self, advice: str = "") -> None:
        """Warns of what was found, if there is something."""
        if self._found:
            warnings.warn(f"not used: {self}{advice and f'; {advice}'}", stacklevel=first_level_outside())

    def facts(self) -> list[str]:
        """The part of a note that names what was found."""
        return [f"not used: {self}"] if self._found else []

    def __str__(self) -> str:
        shown = []
        for (side, name), (n, place) in self._found.items():
            what = f"{name!r} of {side}" if side else name
            shown.append(f"{what} ({n:,} graph{'s' * (n > 1)}, {'first ' * (n > 1)}{place})")
        return ", ".join(shown)
