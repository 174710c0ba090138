"""Sentences: tokens with columns (word, part of speech, ...) or with features, packed in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from treille.data.base import FlatBatch, Summary, as_index, codes_of, running_sum, selection
from treille.data.format import clipped, count, short_json
from treille.io import stored
from treille.io.errors import InputError
from treille.io.packed import joined_offsets, over_one_alphabet
from treille.registry import register
from treille.tagging.items import Items, items_of, place


class Column(NamedTuple):
    """One column of all tokens: token i has ``values[codes[i]]``.

    >>> from treille.tagging import Sentences
    >>> codes, values = Sentences([["to", "be"], ["be"]]).columns[0]
    >>> codes.tolist(), values
    ([0, 1, 1], ['to', 'be'])
    """

    codes: np.ndarray
    values: list[str]


class Origin(NamedTuple):
    """The file that sentences were read from, and the line of each token; of several files, also the file of each token."""

    source: str
    lines: np.ndarray
    sources: tuple[str, ...] = ()
    source_of: np.ndarray | None = None
    tag_column: str = ""  # of CoNLL-U: the column of the tags, if all files are such

    def select(self, tokens: np.ndarray) -> Origin:
        """The origin of some of the tokens."""
        source_of = None if self.source_of is None else self.source_of[tokens]
        return self._replace(lines=self.lines[tokens], source_of=source_of)

    def place(self, token: int) -> str:
        """File and line of a token."""
        source = self.source if self.source_of is None else self.sources[self.source_of[token]]
        return f"{source}, line {self.lines[token]}"


@register
class Sentences(FlatBatch):
    """Many sentences in flat arrays: the tokens of sentence i are those from ``offsets[i]`` to ``offsets[i + 1]``.

    Parameters
    ----------
    data : list of sentences
        A sentence is a list of str (one column), or of tuples or lists of str (several columns: word, part of speech, ...).
        Tokens that are dicts or sets are features, see `of_features`. Empty sentences are allowed.

    Attributes
    ----------
    columns : tuple of Column
        For each column, the int32 code of every token and the distinct values, in the order of first occurrence.
    offsets : int64 array
        Where each sentence begins, and one more for the end of the last.
    items : Items or None
        The features of the tokens, if they were given instead of columns.
    origin : Origin or None
        File and lines, if the sentences were read from a file.

    Examples
    --------
    >>> from treille.tagging import Sentences
    >>> sentences = Sentences([[("The", "DT"), ("cat", "NN")], [("Run", "VB")]])
    >>> sentences, sentences[1], sentences[:1].n_tokens
    (Sentences(2 sentences, 3 tokens, 2 columns), [('Run', 'VB')], 2)
    >>> sentences.columns[0].values
    ['The', 'cat', 'Run']
    """

    title = "sentences"
    columns: tuple[Column, ...]
    items: Items | None
    origin: Origin | None

    def __init__(self, data: Any):
        if isinstance(data, Sentences):
            self._hold(columns=data.columns, offsets=data.offsets, items=data.items, origin=data.origin)
            return
        tokens, offsets = flat(data)
        has_features = bool(tokens) and isinstance(tokens[0], (Mapping, Set))
        items = items_of(tokens, offsets) if has_features else None
        self._hold(columns=() if has_features else _columns(tokens, offsets), offsets=offsets, items=items, origin=None)

    @classmethod
    def of_columns(cls, columns: Iterable[Column], offsets: np.ndarray, origin: Origin | None = None) -> Sentences:
        """The sentences with these columns; nothing is copied or checked."""
        return cls._made(tuple(columns), offsets, None, origin)

    @classmethod
    def of_features(cls, data: Any) -> Sentences:
        """Sentences whose tokens are lists, sets or dicts of features, as for CRFsuite.

        In a dict, a str is the feature ``name=value``, True or 1 the feature ``name``, and False or 0 none; a list or set of str is
        one feature for each, and a dict is read as the others with ``name:`` before its names.

        >>> from treille.tagging import Sentences
        >>> Sentences.of_features([[["bias", "word=The"], {"word": "cat", "title": False, "bias": 1.0}]])[0]
        [['bias', 'word=The'], ['word=cat', 'bias']]
        """
        if isinstance(data, Sentences):
            return data
        tokens, offsets = flat(data)
        return cls._made((), offsets, items_of(tokens, offsets), None)

    @classmethod
    def join(cls, parts: Sequence[Sentences]) -> Sentences:
        """The sentences of several files, or of other parts, as one. All must have the same columns.

        >>> from treille.tagging import Sentences
        >>> Sentences.join([Sentences([["to", "be"]]), Sentences([["be"], ["not"]])])
        Sentences(3 sentences, 4 tokens, 1 column)
        """
        if len(parts) == 1:
            return parts[0]
        full = [part for part in parts if part.n_tokens] or list(parts)
        widths = [-1 if part.items else len(part.columns) for part in full]
        for part, width in zip(full, widths, strict=True):
            if width != widths[0]:
                both = (part, full[0])
                found, like = ("features" if each.items else count(len(each.columns), "column") for each in both)
                raise InputError(
                    f"{part.place(0)}: found tokens with {found}, expected {like} as in {full[0].place(0)}"
                )
        each_column = zip(*(part.columns for part in full), strict=True)
        columns = tuple(Column(*over_one_alphabet(each, list)) for each in each_column)
        items = None
        if full[0].items is not None:
            given = [part.items for part in full if part.items is not None]
            codes, names = over_one_alphabet([(each.codes, each.names) for each in given], list)
            items = Items(codes, joined_offsets(each.offsets for each in given), names)
        return cls._made(columns, joined_offsets(part.offsets for part in parts), items, _origin(full))

    @classmethod
    def _made(cls, columns: Any, offsets: np.ndarray, items: Items | None, origin: Origin | None) -> Sentences:
        made: Sentences = cls.__new__(cls)._hold(columns=columns, offsets=offsets, items=items, origin=origin)
        return made

    @property
    def n_tokens(self) -> int:
        """The number of tokens in all sentences."""
        return int(self.offsets[-1])

    def __iter__(self) -> Iterator[list[Any]]:
        tokens, ends = self.tokens(), self.offsets.tolist()
        return (tokens[start:end] for start, end in pairwise(ends))

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if isinstance(key, int):
            return self[key : key + 1].tokens()
        places, offsets = selection(self.offsets, key)
        columns = tuple(Column(np.ascontiguousarray(codes[places]), values) for codes, values in self.columns)
        items = self.items
        if items is not None:
            inside, ends = selection(items.offsets, places)
            items = Items(np.ascontiguousarray(items.codes[inside]), ends, items.names)
        origin = self.origin and self.origin.select(places)
        return Sentences._made(columns, offsets, items, origin)

    def separate(self, column: int = -1) -> tuple[Sentences, Sentences]:
        """The sentences without a column, and this column alone: words and tags of a file for training.

        >>> from treille.tagging import Sentences
        >>> X, y = Sentences([[("The", "DT"), ("cat", "NN")]]).separate()
        >>> X[0], y[0]
        (['The', 'cat'], ['DT', 'NN'])
        """
        n = len(self.columns)
        if n < 2 or not -n <= column < n:
            raise InputError(
                f"column {column} cannot be separated: there {'is 1 column' if n == 1 else f'are {n} columns'}"
            )
        rest = tuple(each for j, each in enumerate(self.columns) if j != column % n)
        tags = Sentences._made((self.columns[column],), self.offsets, None, self.origin)
        return Sentences._made(rest, self.offsets, self.items, self.origin), tags

    def with_columns(self, n: int) -> Sentences:
        """The sentences with their first columns only, at most n; those with features as they are."""
        return Sentences._made(self.columns[:n], self.offsets, self.items, self.origin)

    def tokens(self) -> list[Any]:
        """All tokens in one list: str if there is one column, tuples of str otherwise; lists of features if they have some.

        >>> from treille.tagging import Sentences
        >>> Sentences([["The", "cat"], ["Run"]]).tokens()
        ['The', 'cat', 'Run']
        """
        if self.items is not None:
            names = list(map(self.items.names.__getitem__, self.items.codes.tolist()))
            return [names[start:end] for start, end in pairwise(self.items.offsets.tolist())]
        lists = [list(map(values.__getitem__, codes.tolist())) for codes, values in self.columns]
        return lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        batch = data if isinstance(data, cls) else cls(data)
        features = f"{len(batch.items.names):,} different features" if batch.items else ""
        columns = features or count(len(batch.columns), "column")
        samples = [clipped(" ".join(batch.part_names(i)), width) for i in range(min(n_samples, len(batch)))]
        return Summary({"tokens": f"{batch.n_tokens:,}", "columns": columns}, {"tokens": batch.n_tokens}, samples)

    def part_names(self, i: int) -> list[str]:
        """The words of sentence i; the numbers of its tokens where these have features."""
        if self.items is not None:
            return [f"token {t}" for t in range(int(self.offsets[i + 1] - self.offsets[i]))]
        codes, values = self.columns[0]
        return [values[code] for code in codes[self.offsets[i] : self.offsets[i + 1]].tolist()]

    @property
    def volume(self) -> int:
        """The number of tokens, or of their features."""
        return self.n_tokens if self.items is None else len(self.items.codes)

    @classmethod
    def json_schema(cls, units: Sequence[Any] = ()) -> dict[str, Any]:
        """A sentence in JSON: a list of tokens, each a text, a list with its columns or features, or an object of features."""
        text = {"type": "string"}
        return {
            "title": "sentences",
            "description": "a list of tokens, or of lists with the columns of each token",
            "$comment": "A sentence, with blanks between its tokens",
            "type": "array",
            "items": {"anyOf": [text, {"type": "array", "items": text}, {"type": "object"}]},
        }

    @classmethod
    def read_json(cls, values: list[Any], reading: Mapping[str, Any]) -> Sentences:
        """Tokens are texts, or lists of columns; lists or objects of features where the model reads no columns."""
        for i, value in enumerate(values):
            if not isinstance(value, list):
                raise InputError(f"item {i} is {short_json(value)}, expected {cls.json_schema()['description']}")
        return cls(values) if reading.get("columns", 1) else cls.of_features(values)

    @classmethod
    def write_json(cls, example: Any) -> list[Any]:
        return [list(token) if isinstance(token, (tuple, set)) else token for token in example]

    def _stored_arrays(self) -> dict[str, np.ndarray]:
        arrays = {f"column{j}": column.codes for j, column in enumerate(self.columns)} | {"offsets": self.offsets}
        return arrays | ({} if self.items is None else {"items": self.items.codes, "item_offsets": self.items.offsets})

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        values = [column.values for column in self.columns]
        return {"values": values, "items": self.items and self.items.names}, self._stored_arrays()

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Sentences:
        values = [stored.names({"values": each}, "values") for each in stored.value(spec, "values", list)]
        columns = [Column(stored.indices(arrays, f"column{j}", len(own)), own) for j, own in enumerate(values)]
        items = None
        if spec.get("items") is not None:
            names = stored.names(spec, "items")
            codes = stored.indices(arrays, "items", len(names))
            items = Items(codes, stored.offsets(arrays, "item_offsets", len(codes)), names)
        lengths = {len(column.codes) for column in columns} if items is None else {len(items.offsets) - 1}
        if len(lengths) != 1:
            raise InputError("the columns of the sentences have different lengths")
        offsets = stored.offsets(arrays, "offsets", lengths.pop())
        return cls._made(tuple(columns), offsets, items, None)

    def place(self, token: int) -> str:
        """The place of a token, for messages: file and line, or sentence and position.

        >>> from treille.tagging import Sentences
        >>> Sentences([["The", "cat"], ["Run"]]).place(2)
        'sentence 1, token 0'
        """
        if self.origin is not None:
            return self.origin.place(token)
        return place(self.offsets, token)

    def __repr__(self) -> str:
        what = f"{len(self.items.codes):,} features" if self.items else count(len(self.columns), "column")
        shown = [count(len(self), "sentence"), count(self.n_tokens, "token"), what]
        return f"Sentences({', '.join(shown)})"


def one_column(data: Any, what: str) -> Sentences:
    """Sentences with a single value per token, such as tags."""
    sentences = Sentences(data)
    if len(sentences.columns) != 1:
        raise InputError(f"found {count(len(sentences.columns), 'column')} of {what}s, expected one {what} per token")
    return sentences


def check_lengths(one: Sentences, other: Sentences, what: str, of_other: str) -> None:
    """Refuses descriptions of sentences that differ in length; messages call their tokens `what` and `of_other`."""
    if len(one) != len(other):
        raise InputError(f"found {count(len(one), 'sentence')} of {what}s and {len(other):,} of {of_other}s")
    lengths, others = np.diff(one.offsets), np.diff(other.offsets)
    for i in np.flatnonzero(lengths != others)[:1]:
        raise InputError(f"sentence {i} has {count(int(lengths[i]), what)} and {count(int(others[i]), of_other)}")


def coded(values: Sequence[str]) -> Column:
    """Values with codes, numbered in the order of first occurrence."""
    codes = codes_of(dict.fromkeys(values))
    return Column(np.fromiter(map(codes.__getitem__, values), np.int32, len(values)), list(codes))


def _origin(parts: Sequence[Sentences]) -> Origin | None:
    """The origin of all parts; None if one of them has none."""
    origins = [part.origin for part in parts if part.origin is not None]
    if len(origins) < len(parts):
        return None
    sources: list[str] = []
    numbers = []
    for each in origins:
        own = np.zeros(len(each.lines), np.int32) if each.source_of is None else each.source_of
        numbers.append(own + len(sources))
        sources += each.sources or [each.source]
    lines = np.concatenate([each.lines for each in origins])
    columns = {each.tag_column for each in origins}
    tag_column = columns.pop() if len(columns) == 1 else ""
    return Origin(", ".join(sources), lines, tuple(sources), np.concatenate(numbers), tag_column)


def flat(data: Any) -> tuple[list[Any], np.ndarray]:
    """The tokens of all sentences in one list, and the offsets of the sentences."""
    if isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        raise InputError(f"found {type(data).__name__}, expected a list of sentences, each a list of tokens")
    sentences = list(data)
    kinds, others = set(map(type, sentences)), (str, bytes, Mapping, Set)
    if any(issubclass(kind, others) or not issubclass(kind, Iterable) for kind in kinds):
        i = next(i for i, s in enumerate(sentences) if isinstance(s, others) or not isinstance(s, Iterable))
        raise InputError(
            f"sentence {i} is {type(sentences[i]).__name__} ({str(sentences[i])[:40]!r}), expected a list of tokens"
        )
    if not all(hasattr(kind, "__len__") for kind in kinds):
        sentences = [list(sentence) for sentence in sentences]
    return list(chain.from_iterable(sentences)), running_sum(list(map(len, sentences)))


def _columns(tokens: list[Any], offsets: np.ndarray) -> tuple[Column, ...]:
    kinds = set(map(type, tokens))
    if all(issubclass(kind, str) for kind in kinds):
        columns: list[Any] = [tokens]
    else:
        if not all(issubclass(kind, (tuple, list)) for kind in kinds):
            kind = str if isinstance(tokens[0], str) else (tuple, list)
            i = next((i for i, token in enumerate(tokens) if not isinstance(token, kind)), 0)
            like = "" if i == 0 else f", like the tokens before it ({str(tokens[0])[:40]!r})"
            expected = "a str" if kind is str else "a str, or a tuple of str (word, part of speech, ...)"
            raise InputError(
                f"{place(offsets, i)} is {type(tokens[i]).__name__} ({str(tokens[i])[:40]!r}), expected {expected}{like}"
            )
        widths = set(map(len, tokens))
        if len(widths) > 1 or 0 in widths:
            i = next(i for i, token in enumerate(tokens) if len(token) != len(tokens[0]) or not token)
            like = f"{len(tokens[0])} like the tokens before it (lists of features: Sentences.of_features)"
            expected = like if i else "at least one"
            raise InputError(f"{place(offsets, i)} has {count(len(tokens[i]), 'column')}, expected {expected}")
        columns = list(zip(*tokens, strict=True))
    try:
        coded_columns = tuple(map(coded, columns))
    except TypeError:  # a value that cannot be hashed
        coded_columns = ()
    if not coded_columns or not all(isinstance(value, str) for column in coded_columns for value in column.values):
        each = ((j, i, value) for j, column in enumerate(columns) for i, value in enumerate(column))
        j, i, value = next(one for one in each if not isinstance(one[2], str))
        where = place(offsets, i) + f", column {j}" * (len(columns) > 1)
        raise InputError(f"{where} is {type(value).__name__} ({str(value)[:40]!r}), expected str")
    return coded_columns
