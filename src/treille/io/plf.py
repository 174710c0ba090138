r"""PLF, the Python lattice format of Moses, cdec and Joshua: ``((('vine', -0.5, 1), ('wine', -0.9, 2),), (('s', 0, 1),),)``.

A tuple for every state but the last, in topological order; in it a tuple for every arc: a word, a weight, and the distance to its
target. The last state is final. ``()`` and a blank line are empty lattices. ``*EPS*``, ``<eps>`` and ``''`` are the empty string.
"""

import math
import re
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import numpy as np

from .errors import InputError
from .machine import MachineParts
from .symbols import Coder, arc_words
from .weights import ONE, SEMIRING, Seen, as_kind, in_order, in_semiring, one_final

EPSILONS = ("*EPS*",)
ARC = re.compile(
    r"""\(\s*('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")\s*,\s*([^\s,()'"]+)\s*,\s*([^\s,()'"]+)\s*(?:,\s*)?\)"""
)
FIRST = re.compile(r"\((?P<skipped>(?:\(\),)*)\(")
BETWEEN = re.compile(r",|,?\),(?P<skipped>(?:\(\),)*)\(")
LAST = re.compile(r",?\)(?P<skipped>(?:,\(\))*),?\)")
EMPTY = re.compile(r"\(?\)?|\((?P<skipped>\(\)(?:,\(\))*),?\)")
FOLLOWS = (  # the tokens that may follow each, by the number of open brackets
    {"": ("open",), "close": ("end",)},
    {"open": ("open", "close"), "close": ("comma", "close"), "comma": ("open", "close")},
    {"open": ("arc", "close"), "arc": ("comma", "close"), "comma": ("arc", "close")},
)
EXPECTED = "expected ((('word', weight, distance), ...), ...)"


def looks_like_plf(line: str) -> bool:
    """Returns whether a line is PLF and no other format."""
    return re.match(r"""\s*\(\s*\(\s*\(\s*['"]""", line) is not None


def parse(
    texts: Sequence[str],
    places: Sequence[str],
    source: str,
    weights: str | None = None,
    names: Sequence[str] = (),
    seen: Seen | None = None,
) -> tuple[list[MachineParts], str, str]:
    """One lattice for each text, over one symbol table; the kind of their weights, and how it was recognised.

    `places` locates each text in messages; `seen` is the kind recognised on earlier texts.

    >>> machines, kind, how = parse(["((('vine', -0.5, 1), ('wine', -0.9, 1),),)"], ["a.plf, line 1"], "a.plf")
    >>> machines[0].weights.tolist(), machines[0].input_symbols, kind, how
    ([0.5, 0.9], ['<eps>', 'vine', 'wine'], 'logprob', 'recognised by their values, -0.9 to -0.5')
    """
    words, weighed, steps = list[str](), list[str](), list[str]()  # of each arc
    sources, ends, n_states = list[int](), [0], list[int]()
    known: dict[str, int] = {",": 0, "),(": 1, ",),(": 1}
    for text, place in zip(texts, places, strict=True):
        pieces = ARC.split(text)
        words += pieces[1::4]
        weighed += pieces[2::4]
        steps += pieces[3::4]
        if len(pieces) == 1:
            n_states.append(_states_of_none(pieces[0], text, place))
        else:
            jumps = [known.get(piece, -1) for piece in pieces[4:-1:4]]
            if -1 in jumps:
                jumps = [_jump(piece, BETWEEN, known, text, place) for piece in pieces[4:-1:4]]
            states = list(accumulate(jumps, initial=_jump(pieces[0], FIRST, {}, text, place) - 1))
            sources += states
            n_states.append(states[-1] + 1 + _jump(pieces[-1], LAST, {}, text, place))
        ends.append(len(words))

    def place_of(arc: int, group: int) -> str:
        i = int(np.searchsorted(ends, arc, side="right")) - 1
        match = list(ARC.finditer(texts[i]))[arc - ends[i]]
        return f"{places[i]}, column {match.start(group) + 1}"

    values, distances = _numbers(weighed, float, place_of), _numbers(steps, int, place_of)
    kind, how = (weights, "as requested") if weights else (seen or Seen()).kind_of(values, source)
    values = in_semiring(values, kind, source)
    coder = Coder(EPSILONS)
    escaped = any("\\" in text for text in texts)
    labels = np.array(coder.labels(map(_word, words) if escaped else [word[1:-1] for word in words]), np.int32)
    semiring, symbols, froms = SEMIRING[kind], coder.symbols(), np.array(sources, np.int32)
    last = np.repeat(np.array(n_states, np.int64) - 1, np.diff(ends))
    for arc in np.flatnonzero((distances < 1) | (froms + distances > last))[:1]:
        found = f"an arc of state {froms[arc]} leads {distances[arc]:.0f} states on"
        raise InputError(f"{place_of(arc, 3)}: {found}, expected 1 to {last[arc] - froms[arc]}")
    targets, one = froms + distances.astype(np.int32), np.array([ONE[semiring]])
    machines = []
    for i, (begin, end) in enumerate(pairwise(ends)):
        name, own = names[i] if names else "", slice(begin, end)
        if n_states[i] == 0:
            machines.append(MachineParts.nothing(name, symbols, semiring))
            continue
        arcs = (froms[own], labels[own], labels[own], values[own], targets[own])
        final = np.array([n_states[i] - 1], np.int32)
        machines.append(MachineParts(0, n_states[i], *arcs, final, one, semiring, symbols, symbols, name))
    return machines, kind, how


def format_machine(parts: MachineParts, kind: str = "logprob") -> str:
    """The lattice as one line, without the line end. Weights are written as log-probabilities, or as another kind.

    A machine that is not an acceptor is refused, and so is one with cycles.

    >>> format_machine(MachineParts.of([(0, 1, 1, 1.0, 1)], {1: 1.0}, symbols=["<eps>", "it's"]))
    "((('it\\\\'s', 0.0, 1),),)"
    """
    if not parts.is_acceptor:
        raise InputError("is a transducer, and PLF holds acceptors: take one side of it with project")
    parts = in_order(one_final(parts))
    if parts.n_states == 1:  # the empty string alone: () would be a lattice without any string
        return f"((('*EPS*', {1.0 if kind == 'prob' else 0.0}, 1),),)"
    rows: list[list[str]] = [[] for _ in range(max(parts.n_states - 1, 0))]
    written = as_kind(parts, kind)
    words = arc_words(written, "inputs", EPSILONS[0], EPSILONS, blanks=True)
    columns = (written.sources.tolist(), words, written.weights.tolist(), written.targets.tolist())
    for source, word, weight, target in zip(*columns, strict=True):
        quoted = word.replace("\\", "\\\\").replace("'", "\\'")
        rows[source].append(f"('{quoted}', {weight!r}, {target - source}),")
    return f"({''.join('(' + ''.join(row) + '),' for row in rows)})"


def _word(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)


def _jump(piece: str, form: re.Pattern[str], known: dict[str, int], text: str, place: str) -> int:
    """The number of states that begin between two arcs."""
    plain = "".join(piece.split())
    if plain not in known:
        found = form.fullmatch(plain)
        if found is None:
            raise _broken(text, place)
        skipped = found["skipped"]
        known[plain] = 0 if skipped is None else 1 + skipped.count("()")
    return known[plain]


def _states_of_none(piece: str, text: str, place: str) -> int:
    """The number of states of a lattice without arcs: none for `()` and a blank, two unconnected ones for `((),)`."""
    found = EMPTY.fullmatch("".join(piece.split()))
    if found is None or piece.strip() in ("(", ")"):
        raise _broken(text, place)
    return 0 if found["skipped"] is None else 1 + found["skipped"].count("()")


def _numbers(tokens: list[str], convert: type, place_of: Callable[[int, int], str]) -> np.ndarray:
    try:
        values = np.array(list(map(convert, tokens)), np.float64)
        if np.isfinite(values).all():
            return values
    except (ValueError, OverflowError):
        pass
    first = next(a for a, text in enumerate(tokens) if not _converts(convert, text))
    group, what, expected = (2, "weight", "finite") if convert is float else (3, "distance", "whole")
    found = f"the {what} is {tokens[first][:40]!r}"
    raise InputError(f"{place_of(first, group)}: {found}, expected a {expected} number")


def _converts(convert: type, text: str) -> bool:
    try:
        return math.isfinite(convert(text))
    except (ValueError, OverflowError):
        return False


def _broken(text: str, place: str) -> InputError:
    """The first token of a text that is not PLF."""
    tokens = re.compile(rf"\s*(?:(?P<arc>{ARC.pattern})|(?P<open>\()|(?P<close>\))|(?P<comma>,)|(?P<end>$))")
    at, depth, before = 0, 0, ""
    while True:
        token = tokens.match(text, at)
        kind = str(token.lastgroup) if token is not None else ""
        if token is None or kind not in FOLLOWS[depth].get(before, ()):
            column = len(text) - len(text[at:].lstrip()) + 1
            found = text[column - 1 :][:20]
            return InputError(f"{place}, column {column}: found {found!r}, {EXPECTED}")
        depth += {"open": 1, "close": -1}.get(kind, 0)
        at, before = token.end(), kind
