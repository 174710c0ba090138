"""Strings: sequences of symbols (characters, words, bytes, events, residues)."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from math import comb
from typing import Any

import numpy as np

from treille import _core
from treille.data.base import (
    FlatBatch,
    Summary,
    as_index,
    codes_of,
    first_item,
    from_arrow,
    is_frame,
    other_kind,
    per_column,
    running_sum,
    selection,
)
from treille.data.format import count, short_json, visible
from treille.data.scripts import SAMPLE, without_blanks
from treille.io import fasta, stored
from treille.io.errors import InputError
from treille.io.fields import Fields
from treille.io.packed import are_offsets
from treille.io.parameters import effective_n_jobs
from treille.io.units import TextUnit, canonical, split_texts

SHOWN = 40  # symbols of the alphabet in a summary
MOST_ENTRIES = 10**9  # of rows of DNA, 4 bytes each
SATURATED = 10_000  # bases: longer DNA has nearly all gapped 6-mers, so their occurrence tells nothing about its class
SMILES = (
    "2*ngram(5, min_n=1, counts=log).normalized()",
    "runs of up to 5 characters with their case suit SMILES as texts",
)


def residue_kernels(residues: str, lengths: np.ndarray) -> tuple[tuple[str, str], ...]:
    """The kernels for residues of these lengths, see `Batch.default_kernels`.

    >>> residue_kernels("dna", np.array([200, 200]))[1][0]
    'gappedkmer(10, k=6, skip=N, reverse_complement=True).normalized()'
    """
    if residues == "smiles":
        return (SMILES,)
    length, k = (6, 4) if residues == "protein" else (10, 6)
    median, total = float(np.median(lengths)) if len(lengths) else 0.0, int(lengths.sum())
    if 0 < median < length:
        why = f"3-mers suit {residues} shorter than {length} letters"
        options = {"dna": "skip=N, reverse_complement=True", "rna": "alphabet=ACGT, skip=N", "protein": "skip=X"}
        return ((f"gappedkmer(3, k=3, {options[residues]}).normalized()", why),)
    if residues == "protein":
        return (("gappedkmer(6, k=4, skip=X).normalized()", "gapped k-mers, with lengths normalised, suit proteins"),)
    while length > k + 1 and total * comb(length, k) > MOST_ENTRIES:
        length -= 1
    fewer = "" if length == 10 else f", here in windows of {length}, since there are {total:,} letters"
    if residues == "rna":
        why = f"gapped k-mers, with lengths normalised, suit RNA{fewer}"
        return ((f"gappedkmer({length}, k={k}, alphabet=ACGT, skip=N).normalized()", why),)
    kernel, both = f"gappedkmer({length}, k={k}, skip=N, reverse_complement=True)", "gapped k-mers of both strands"
    plain = f"{kernel}.normalized()", f"{both}, with lengths normalised, suit DNA without classes{fewer}"
    if median > SATURATED:
        long = f"{both}, with lengths normalised, suit DNA of more than {SATURATED:,} bases, which has nearly all of them{fewer}"
        return ((plain[0], long),)
    return ((f"{kernel}.weighted(nb).normalized()", f"{both}, weighted by the classes, suit DNA{fewer}"), plain)


class Strings(FlatBatch):
    """Many sequences in flat arrays: symbols of sequence i are ``symbols[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    data : list of str, of bytes, of token lists or of integer arrays
        Also a tuple, a numpy array, a pandas Series, or any iterable of these. Empty sequences are allowed.
    unit : {"char", "char_wb", "word", "byte"}, one of these with modifiers, a callable, or None
        How a text is split into symbols. ``"char"``: code points. ``"word"``: runs of letters, digits and underscores, and every
        other visible character on its own (the regular expression ``\\w+|[^\\w\\s]``). ``"byte"``: UTF-8 bytes. ``"char_wb"``: code
        points, with one space before, between and after the words, which end at white space; `NGram` then counts no n-gram with a
        space inside. A callable takes a text and returns its tokens. None: characters for str, bytes for bytes. Token lists and
        integer arrays are already split.

        Modifiers follow a plus sign, as in ``"word+lower+alnum"``. ``lower``: every character by its lower case. ``alnum``:
        punctuation is dropped, so that words are the runs ``\\w+``. ``nfc``, ``nfkc``: Unicode normalisation before anything else.
    n_jobs : int or None
        Threads; None is 1, -1 is all. The result does not depend on it.

    Attributes
    ----------
    symbols : int32 array
        Indices into `alphabet`.
    offsets : int64 array
        Where each sequence begins, and one more for the end of the last.
    alphabet : list
        The distinct symbols, sorted: characters, words, byte values or integers.
    unit : str
        As given, with modifiers in the order nfc or nfkc, lower, alnum; "token" (token lists, or split by a callable) or "integer".
    residues : str or None
        "dna", "rna" or "protein" for batches that `treille.dna` or `treille.protein` made, or an estimator without a kernel, which
        recognises them, and "smiles". Models keep it, and read new texts so.

    Examples
    --------
    >>> from treille import Strings
    >>> batch = Strings(["abba", "", "cab"])
    >>> len(batch), batch[2], batch.alphabet, batch.symbols.tolist()
    (3, 'cab', ['a', 'b', 'c'], [0, 1, 1, 0, 2, 0, 1])
    >>> Strings(["I came, I saw."], unit="word")[0]
    ['I', 'came', ',', 'I', 'saw', '.']
    >>> Strings(["I came, I saw."], unit="word+lower+alnum")[0]
    ['i', 'came', 'i', 'saw']
    >>> batch[[2, 0]][1], batch[:1].offsets.tolist()
    ('abba', [0, 4])
    """

    title = "strings"
    stored = ("symbols", "offsets")
    symbols: np.ndarray
    alphabet: list[Any]
    unit: str
    residues: str | None

    def __init__(self, data: Any, unit: str | Callable[[str], Iterable[str]] | None = None, n_jobs: int | None = None):
        items, kind = checked(data)
        named = None if unit is None or callable(unit) else TextUnit.parse(canonical(unit))
        threads = effective_n_jobs(n_jobs)
        if kind == "tokens":
            self._set_tokens(items)
        elif kind == "integers":
            self._set_integers(items)
        elif kind == "bytes":
            if callable(unit) or (named is not None and named.base != "byte"):
                raise InputError(f"the strings are bytes, but unit is {unit!r}: decode them first, or use unit='byte'")
            self._set(*_core.encode_bytes(items, threads), "byte")
        elif callable(unit):
            self._set_tokens([_token_list(unit(text), i) for i, text in enumerate(items)])
        else:
            self._set_texts(items, named or TextUnit("char"), threads)

    @classmethod
    def recognises(cls, data: Any) -> bool:
        return isinstance(data, cls) or isinstance(first_item(data), (str, bytes))

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        first = data
        if not isinstance(first, Strings):
            first = cls(list(islice(data, 1)) if isinstance(data, Iterable) else data)
        if first.residues is not None:
            return residue_kernels(first.residues, np.diff(first.offsets))
        if TextUnit.of(first.unit).separator:
            unit = first.unit if TextUnit.of(first.unit).splits_texts else "word"
            return ((f"2*{_weighted(2, unit, 1)}", "single symbols and pairs, weighted by idf, suit words and events"),)
        some = data[:: max(1, len(data) // SAMPLE)] if isinstance(data, Strings) else data  # the others are not decoded
        script = None if first.unit == "byte" else without_blanks(some)
        if script is not None:
            unit, (name, share) = data.unit if isinstance(data, Strings) else "char+lower", script
            what = f"{share:.0%} of the letters are of scripts without blanks between words, most of them {name}"
            why = f"runs of up to 3 characters, weighted by idf, suit these texts: {what}"
            return ((f"2*{_weighted(3, unit, 1)}", why),)
        if first.unit != "char":
            return ((f"2*{_weighted(5, first.unit)}", "5-grams, weighted by idf, suit texts given as characters"),)
        both = f"{_weighted(2, 'word+lower', 1)} + {_weighted(5, 'char+lower')}"
        return ((both, "words, pairs of words and 5-grams of characters, weighted by idf, suit most texts"),)

    @classmethod
    def json_schema(cls, units: Sequence[Any] = ()) -> dict[str, Any]:
        symbols = {"type": "array", "items": {"type": ["string", "integer"]}}
        if split_texts(units):
            words = {"title": "texts", "description": "a text", "$comment": "Type or paste a text"}
        else:
            words = {"title": "tokens", "description": "a list of tokens"}
            words["$comment"] = "Tokens with blanks between them"
        return words | {"anyOf": [{"type": "string"}, symbols]}

    @classmethod
    def read_json(cls, values: list[Any], reading: Mapping[str, Any]) -> Any:
        """Texts and lists of symbols as they are, residues without white space and a FASTA header; the fields of an object are
        joined as in training."""
        if "alphabet" in reading:
            values = [_pasted(value, i) if isinstance(value, str) else value for i, value in enumerate(values)]
        objects = [isinstance(value, dict) for value in values]
        if not any(objects):
            return values
        if not all(objects):
            i = objects.index(not objects[0])
            found, before = ("an object", "text") if objects[i] else ("text", "objects")
            raise InputError(f"item {i} is {found}, the items before it are {before}: send them in separate requests")
        if "text" not in reading:
            raise InputError(f"item 0 is {short_json(values[0])}, expected a text, or arcs and finals")
        fields = Fields(tuple(name.strip() for name in reading["text"].split("+")))
        return [fields.text(value, f"item {i}") for i, value in enumerate(values)]

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        batch = data if isinstance(data, Strings) else cls(data, "char", n_jobs=-1)
        lengths, symbols = np.diff(batch.offsets), batch.alphabet[:SHOWN]
        span = f"{lengths.min():,} to {lengths.max():,} characters, median {np.median(lengths):,.0f}"
        shown = "".join(visible(symbol) for symbol in symbols) + "…" * (len(batch.alphabet) > SHOWN)
        fields = {
            "lengths": f"{span}, {lengths.sum():,} in all",
            "alphabet": f"{count(len(batch.alphabet), 'character')}: {shown}",
        }
        sizes = {"min": int(lengths.min()), "median": float(np.median(lengths)), "max": int(lengths.max())}
        values = {"lengths": sizes, "characters": int(lengths.sum()), "alphabet": len(batch.alphabet)}
        return Summary(fields, values, [visible(text[:width], blanks=False) for text in batch[:n_samples]])

    @classmethod
    def from_arrays(cls, symbols: Any, offsets: Any, alphabet: Sequence[Any], unit: str = "token") -> "Strings":
        """A batch from its parts, checked.

        >>> Strings.from_arrays([0, 1, 1], [0, 2, 3], ["x", "y"])[0]
        ['x', 'y']
        """
        batch = cls.__new__(cls)
        batch._set(np.array(symbols, np.int32), np.array(offsets, np.int64), alphabet, unit)
        if not are_offsets(batch.offsets, len(batch.symbols)):
            raise InputError(f"offsets must rise from 0 to the number of symbols, {len(batch.symbols)}")
        if len(batch.symbols) and not 0 <= batch.symbols.min() <= batch.symbols.max() < len(batch.alphabet):
            raise InputError(f"symbols must lie in 0..{len(batch.alphabet) - 1}, the indices of the alphabet")
        return batch

    def _set(
        self, symbols: np.ndarray, offsets: np.ndarray, alphabet: Any, unit: str, residues: str | None = None
    ) -> None:
        self.unit, self.residues = str(TextUnit.of(unit)), residues
        self.alphabet = alphabet.tolist() if isinstance(alphabet, np.ndarray) else list(alphabet)
        if len(offsets) > 1 and np.diff(offsets).max() >= 2**32 - 1:
            raise InputError(f"sequence {int(np.argmax(np.diff(offsets)))} has 2^32 symbols or more: split it")
        self._hold(symbols=symbols, offsets=offsets)

    def _set_texts(self, items: list[str], unit: TextUnit, threads: int) -> None:
        if unit.normal_form:
            items = [text if text.isascii() else unicodedata.normalize(unit.normal_form, text) for text in items]
        lower = "lower" in unit.modifiers
        if unit.base == "byte":
            self._set(*_core.encode_bytes([_utf8(text, i) for i, text in enumerate(items)], threads), "byte")
        elif unit.base == "word":
            self._set(*_core.encode_words(items, lower, "alnum" in unit.modifiers, threads), str(unit))
        else:
            symbols, offsets, points = _core.encode_strings(items, lower, unit.stops_at_borders, threads)
            self._set(symbols, offsets, [chr(c) for c in points], str(unit))

    @property
    def border(self) -> int:
        """The code of the symbol that n-grams must not hold inside: the space between words for "char_wb"; -1 if there is none."""
        return self.alphabet.index(" ") if TextUnit.of(self.unit).stops_at_borders and " " in self.alphabet else -1

    def _set_tokens(self, items: list[Sequence[str]]) -> None:
        alphabet = sorted(set(chain.from_iterable(items)))
        code = codes_of(alphabet)
        offsets = running_sum([len(item) for item in items])
        symbols = np.fromiter(map(code.__getitem__, chain.from_iterable(items)), np.int32, count=offsets[-1])
        self._set(symbols, offsets, alphabet, unit="token")

    def _set_integers(self, items: list[np.ndarray]) -> None:
        offsets = running_sum([len(item) for item in items])
        values, symbols = np.unique(np.concatenate([np.empty(0, np.int64), *filter(len, items)]), return_inverse=True)
        self._set(symbols.astype(np.int32), offsets, values.tolist(), unit="integer")

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if isinstance(key, int):
            return self._decoded(self.symbols[self.offsets[key] : self.offsets[key + 1]])
        places, offsets = selection(self.offsets, key)
        batch = Strings.__new__(Strings)
        batch._set(self.symbols[places], offsets, self.alphabet, self.unit, self.residues)
        return batch

    def _decoded(self, symbols: np.ndarray) -> Any:
        names = [self.alphabet[s] for s in symbols]
        unit = TextUnit.of(self.unit)
        if unit.base == "byte":
            return bytes(names)
        if not unit.separator:
            return "".join(names)
        return np.array(names, dtype=np.int64) if unit.base == "integer" else names

    def part_names(self, i: int) -> list[str]:
        """The symbols of sequence i."""
        symbols = self.symbols[self.offsets[i] : self.offsets[i + 1]].tolist()
        is_byte = TextUnit.of(self.unit).base == "byte"
        names = {s: repr(bytes([self.alphabet[s]]))[2:-1] if is_byte else str(self.alphabet[s]) for s in set(symbols)}
        return [names[s] for s in symbols]

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        narrow = np.uint8 if len(self.alphabet) <= 2**8 else np.uint16 if len(self.alphabet) <= 2**16 else np.int32
        arrays = {"symbols": self.symbols.astype(narrow), "offsets": self.offsets}
        return {"alphabet": self.alphabet, "unit": self.unit}, arrays

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> "Strings":
        alphabet, unit = stored.alphabet(spec)
        symbols = stored.indices(arrays, "symbols", len(alphabet))
        return cls.from_arrays(symbols, stored.offsets(arrays, "offsets", len(symbols)), alphabet, unit)

    def __repr__(self) -> str:
        sizes = f"{count(len(self), 'sequence')}, {count(len(self.symbols), 'symbol')}, {len(self.alphabet):,} distinct"
        return f"Strings({sizes}, unit={self.unit!r})"


def checked(data: Any) -> tuple[list[Any], str]:
    """The items as a list, all of one kind: "text", "bytes", "tokens" or "integers"."""
    data = from_arrow(data)
    if isinstance(data, (str, bytes)):
        raise InputError(f"one {type(data).__name__} was given, expected a list of them: write [text]")
    if not isinstance(data, Iterable) or isinstance(data, (dict, set, frozenset)):
        raise InputError(f"found {type(data).__name__}, expected a list of strings, token lists or integer arrays")
    shape = getattr(data, "shape", (0,))
    integer_matrix = isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "iu"
    if is_frame(data):
        raise InputError(f"found a DataFrame, expected a sequence per entry: {per_column(data)}")
    if len(shape) != 1 and not integer_matrix:
        raise InputError(f"found an array of shape {shape}, expected one dimension: a sequence per entry")
    if (other := other_kind(data, Strings)) is not None:
        raise InputError(f"found {other.title}, expected strings")
    items = data.tolist() if isinstance(data, np.ndarray) and data.dtype.kind in "US" else list(data)
    if not items:
        return items, "text"
    if isinstance(items[0], str):
        return _all_of(items, str), "text"
    if isinstance(items[0], bytes):
        return _all_of(items, bytes), "bytes"
    items = [_sequence(item, i) for i, item in enumerate(items)]
    integers = next((isinstance(item, np.ndarray) for item in items if len(item)), True)
    for i, item in enumerate(items):
        if len(item) and isinstance(item, np.ndarray) != integers:
            raise InputError(
                f"item {i} holds {'integers' if not integers else 'tokens'}, those before it do not: a batch has one kind"
            )
    return items, "integers" if integers else "tokens"


def _all_of(items: list[Any], kind: type) -> list[Any]:
    if set(map(type, items)) == {kind}:  # much faster than the loop
        return items
    for i, item in enumerate(items):
        if not isinstance(item, kind):
            raise InputError(f"item {i} is {_describe(item)}, expected {kind.__name__} like the items before it")
    return items


def _sequence(item: Any, i: int) -> Any:
    if isinstance(item, np.ndarray) and item.ndim == 1 and item.dtype.kind in "iu":
        return _int64(item, i)
    if isinstance(item, (list, tuple, np.ndarray)):
        tokens = list(item)
        if tokens and all(isinstance(t, (int, np.integer)) and not isinstance(t, bool) for t in tokens):
            return _int64(tokens, i)
        return _token_list(tokens, i)
    expected = "a list of tokens or integers like the items before it"
    if i == 0:
        expected = "a string, a list of tokens or an array of integers"
    raise InputError(f"item {i} is {_describe(item)}, expected {expected}")


def _weighted(n: int, unit: str, min_n: int | None = None) -> str:
    """The kernel of n-grams that wins on most texts: page "Choose your kernel"."""
    orders = f"{n}" if min_n is None else f"{n}, min_n={min_n}"
    unit = "" if unit == "char" else f", unit={unit}"
    return f"ngram({orders}{unit}, counts=log).weighted(idf).normalized()"


def _int64(values: Any, i: int) -> np.ndarray:
    low, high = (int(np.min(values)), int(np.max(values))) if len(values) else (0, 0)
    if not -(2**63) <= low <= high < 2**63:
        raise InputError(
            f"item {i} holds an integer beyond 64 bits with sign ({high if high >= 2**63 else low}): number the symbols anew"
        )
    return np.asarray(values, dtype=np.int64)


def _utf8(text: str, i: int) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"item {i}: the character at {error.start} is a lone surrogate, which UTF-8 does not have: use unit='char'"
        ) from None


def _token_list(values: Any, i: int) -> list[str]:
    tokens = list(values)
    for k, token in enumerate(tokens):
        if not isinstance(token, str):
            raise InputError(f"item {i}: token {k} is {_describe(token)}, expected str")
    return tokens


def _describe(item: Any) -> str:
    if item is None:
        return "None"
    shown = repr(item)
    return f"{type(item).__name__} ({shown if len(shown) <= 40 else shown[:37] + '...'})"


def _pasted(text: str, i: int) -> str:
    """A sequence of residues as people paste it: on several lines, or as a record of FASTA."""
    if not text.lstrip().startswith(">"):
        return "".join(text.split())
    found = [str(record["text"]) for _, record in fasta.records(text.splitlines(), f"item {i}")]
    if len(found) != 1:
        raise InputError(f"item {i} holds {len(found)} records of FASTA, expected one sequence: send one item for each")
    return found[0]
