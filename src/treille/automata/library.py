"""Transducers that define kernels: T(x, z) is the feature z of x, so that k(x, y) = sum over z of T(x, z) T(y, z).

All are over the reals unless stated otherwise, and over an alphabet: a text of characters or a list of symbols.

>>> from treille.automata import library
>>> T = library.ngram(2, "ab")
>>> T("ababa", "ab"), T("ababa", "ba"), T("ababa", "bb")
(2.0, 2.0, 0.0)
"""

from collections.abc import Sequence
from typing import Any

from treille.automata.fst import Fst
from treille.automata.symbols import check_table
from treille.automata.validation import ONE, check_semiring, check_weight
from treille.io.errors import InputError
from treille.io.machine import EPSILON
from treille.io.parameters import check_whole

Arcs = list[tuple[int, Any, Any, float, int]]


def ngram(n: int, alphabet: Sequence[str], min_n: int | None = None) -> Fst:
    """Counts each n-gram; with `min_n`, n-grams of all orders from it to n. n + 1 states.

    >>> T = ngram(3, "ab", min_n=1)
    >>> T("abab", "a"), T("abab", "ab"), T("abab", "aba"), T("abab", "")
    (2.0, 2.0, 1.0, 0.0)
    """
    n = check_whole("n", n)
    least = n if min_n is None else check_whole("min_n", min_n)
    if least > n:
        raise InputError(f"min_n is {least}, expected at most n, which is {n}")
    names = _symbols(alphabet)
    arcs = _skipping(names, 0) + _skipping(names, n)
    for read in range(n):
        targets = {read + 1} | ({n} if read + 1 >= least else set())  # an n-gram continues, or ends
        arcs += [(read, a, a, 1.0, target) for a in names for target in targets if target < n or read + 1 >= least]
    return _over(names, arcs, n)


def gappy(n: int, alphabet: Sequence[str], decay: float = 0.5, max_gap: int | None = None) -> Fst:
    """Sums decay^(symbols in the gaps) over the occurrences of n symbols in order. A gap has at most `max_gap` symbols.

    n + 1 states, or one for each length of each gap.

    >>> T = gappy(2, "acrt", decay=0.5)
    >>> T("cart", "ca"), T("cart", "ct"), T("cart", "tc")
    (1.0, 0.25, 0.0)
    """
    n, names, decay = check_whole("n", n), _symbols(alphabet), _decay(decay)
    if max_gap is None:
        arcs = _skipping(names, 0) + _skipping(names, n)
        for read in range(n):
            arcs += [(read, a, a, 1.0, read + 1) for a in names]
            arcs += _skipping(names, read, decay) if read else []
        return _over(names, arcs, n)
    width = check_whole("max_gap", max_gap, 0) + 1  # states for each symbol read, by the length of the gap after it
    end = 1 + (n - 1) * width
    arcs = _skipping(names, 0) + _skipping(names, end)
    for read in range(n):
        first = 1 + (read - 1) * width
        here = range(first, first + width) if read else range(1)
        arcs += [(state, a, a, 1.0, 1 + read * width) for state in here for a in names]
        arcs += [(state, a, EPSILON, decay, state + 1) for state in here[:-1] for a in names]
    return _over(names, arcs, end)


def mismatch(k: int, m: int, alphabet: Sequence[str]) -> Fst:
    """Counts windows of k symbols that differ in at most m places from z. Up to k (m + 1) + 1 states.

    >>> T = mismatch(3, 1, "ab")
    >>> T("aab", "aab"), T("aab", "abb"), T("aab", "bba")
    (1.0, 1.0, 0.0)
    """
    k, m = _window(k, m)
    names = _symbols(alphabet)
    others = [(a, b) for a in names for b in names if a != b]
    return _windows(names, k, m, others, 1.0)


def wildcard(k: int, m: int, alphabet: Sequence[str], decay: float = 1.0, sign: str = "*") -> Fst:
    """decay^(wildcards in z) times the number of windows of k symbols that match z. At most m wildcards, written as `sign`.

    >>> T = wildcard(3, 1, "acrt", decay=0.5)
    >>> T("cart", "car"), T("cart", "c*r"), T("cart", "c**")
    (1.0, 0.5, 0.0)
    """
    k, m = _window(k, m)
    names = _symbols(alphabet)
    if not isinstance(sign, str) or sign in names:
        raise InputError(f"sign is {sign!r}, expected a str that is no symbol of the alphabet")
    return _windows(names, k, m, [(a, sign) for a in names], _decay(decay), [sign])


def counting(acceptor: Fst, alphabet: Sequence[str] | None = None) -> Fst:
    """Counts each string that an acyclic acceptor A accepts, times its weight: Sigma*:eps A Sigma*:eps.

    Sigma is the alphabet, or the symbols of A.

    >>> T = counting(Fst.from_string("ab") + Fst.from_string("b", weight=0.5), "abc")
    >>> T("abcab", "ab"), T("abcab", "b"), T("abcab", "c")
    (2.0, 1.0, 0.0)
    """
    if not isinstance(acceptor, Fst) or not acceptor.is_acceptor:
        raise InputError(f"acceptor is {acceptor!r}, expected an acceptor, whose arcs write what they read")
    if acceptor.symbols is None:
        raise InputError("acceptor has no symbols: build it with a symbol table, whose symbols the alphabet is made of")
    trimmed = acceptor.connect().topological_sort()  # refuses cycles
    names = _symbols(acceptor.symbols if alphabet is None else alphabet)
    one = ONE[acceptor.semiring]
    skip = Fst.from_arcs(_skipping(names, 0, one), {0: one}, 0, acceptor.semiring, input_symbols=names)
    return skip * trimmed * skip


def edit_neighbourhood(max_edits: int, alphabet: Sequence[str], weight: float = 1.0, semiring: str = "real") -> Fst:
    """Sum of weight^edits over the ways to turn x into z with at most `max_edits` edits: replacing, deleting or inserting a symbol.

    Over "tropical", with weight 1, T(x, z) is the edit distance, infinite beyond `max_edits`. max_edits + 1 states.

    >>> edit_neighbourhood(2, "abc", semiring="tropical")("abc", "cb")
    2.0
    >>> edit_neighbourhood(1, "ab")("ab", "aab")  # the inserted a comes before or after the old one
    2.0
    """
    most, names, price = check_whole("max_edits", max_edits, 0), _symbols(alphabet), check_weight("weight", weight)
    one = ONE[check_semiring(semiring)]
    arcs: Arcs = []
    for edits in range(most + 1):
        arcs += [(edits, a, a, one, edits) for a in names]
        if edits < most:
            arcs += [(edits, a, b, price, edits + 1) for a in [*names, EPSILON] for b in [*names, EPSILON] if a != b]
    finals = dict.fromkeys(range(most + 1), one)
    return Fst.from_arcs(arcs, finals, 0, semiring, input_symbols=names)


def _symbols(alphabet: Any) -> list[str]:
    names = check_table("alphabet", alphabet)[1:]
    if not names:
        raise InputError("alphabet is empty, expected at least one symbol")
    return names


def _decay(decay: Any) -> float:
    if not 0 < check_weight("decay", decay) <= 1:
        raise InputError(f"decay is {decay!r}, expected a number in (0, 1]")
    return float(decay)


def _window(k: Any, m: Any) -> tuple[int, int]:
    k, m = check_whole("k", k), check_whole("m", m, 0)
    if m >= k:
        raise InputError(f"m is {m}, expected less than k, which is {k}")
    return k, m


def _skipping(names: list[str], state: int, weight: float = 1.0) -> Arcs:
    return [(state, a, EPSILON, weight, state) for a in names]


def _over(names: list[str], arcs: Arcs, end: int, more: Sequence[str] = ()) -> Fst:
    return Fst.from_arcs(arcs, {end: 1.0}, input_symbols=[*names, *more])


def _windows(
    names: list[str], k: int, m: int, others: list[tuple[str, str]], price: float, more: Sequence[str] = ()
) -> Fst:
    """Windows of k symbols, up to m of which are replaced. A state is a pair (symbols read, symbols replaced)."""
    end = k * (m + 1)
    arcs = _skipping(names, 0) + _skipping(names, end)
    for read in range(k):
        for changed in range(min(read, m) + 1):
            state, next_state = read * (m + 1) + changed, (read + 1) * (m + 1) + changed
            arcs += [(state, a, a, 1.0, min(next_state, end)) for a in names]
            if changed < m:
                arcs += [(state, a, b, price, min(next_state + 1, end)) for a, b in others]
    return _over(names, arcs, end, more)
