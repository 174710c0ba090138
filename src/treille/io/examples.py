"""The arguments and the result of `read`."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .errors import InputError
from .fields import Fields, Found, first_of, label_text, labels_of, split_label
from .packed import PackedExamples, selected
from .parameters import to_float
from .weights import Scale


@dataclass(frozen=True)
class Request:
    """The arguments of `read`, with the name of the file, its format and how the format was recognised."""

    source: str
    format: str
    guessed_from: str = ""  # "name", "content" or both; empty if the caller named the format
    text: str | None = None
    label: str | None = None
    labelled: bool | None = None
    weights: str | None = None
    scale: Scale | None = None
    symbols: list[str] | None = None
    encoding: str = "utf-8"
    columns: tuple[str, ...] = ()  # the fields of examples of several columns
    brackets: bool | None = None  # False: fields that hold trees in brackets are texts
    skip_unlabelled: bool = False
    ids: bool = True  # False: chunks need no ids
    repeated_ids: bool = False  # whether some ids may repeat if most differ: for those who only print them
    trained_label: str | None = None  # the label that a model was trained on

    @property
    def how(self) -> str:
        """The way in which the format was recognised, for notes."""
        return f" (guessed from its {self.guessed_from})" if self.guessed_from else ""

    def label_among(self, names: Collection[str]) -> str | None:
        """The label that was asked for, otherwise the one that the model was trained on, if its field is among these."""
        own = self.trained_label
        known = own is not None and first_of([own.lower(), split_label(own)[0].lower()], names)
        return own if known and self.label is None else self.label

    def examples(
        self,
        X: Any,
        found: Found,
        fields: Fields,
        title: str,
        facts: Sequence[str],
        label_place: str = "",
        names: Sequence[str] = (),
        ids: list[str] | None = None,
    ) -> "Examples":
        """Builds the examples of the file. An item of `found` is the line on which an example begins, and its label as read.

        `title` and `facts` say how the file was understood, `label_place` where labels are, if not in a field that is named.
        """
        labels = labels_of(found, fields, self.source, self.skip_unlabelled)
        how = (label_place or f"label = {fields.label}") + against_the_rest(fields, labels or [])
        empty = 0 if isinstance(X, PackedExamples) else X.count("")
        understood_as = note(self, title, counted(len(X), "example", empty), facts, labels, how)
        return Examples(X, labels, self.format, self.source, understood_as, [line for line, _ in found], names, ids)


@dataclass(frozen=True, repr=False)
class Examples:
    """The examples of a file, their labels if it has some, and a `note` that says how the file was understood.

    `X` is what kernels and estimators take: a list of texts, or for the other kinds of data the class in `Batch.packed`.

    >>> examples = Examples(["a vine"], ["0.5"], "csv", "vines.csv", "vines.csv: 1 example, CSV")
    >>> examples
    Examples(vines.csv: 1 example, CSV)
    >>> examples.X, examples.labels, examples.targets()
    (['a vine'], ['0.5'], [0.5])
    """

    X: Any
    labels: list[str] | None
    format: str
    source: str
    note: str = ""
    lines: Sequence[int] = ()  # the line on which each example begins
    fields: Sequence[str] = ()  # the names of the fields of the first example
    ids: list[str] | None = None  # names of the examples, all different unless asked otherwise, if the file has such
    sources: Sequence[str] = ()  # the file of each example, if there are several files
    input: str = ""  # what `source` would be for all examples, if these are a chunk of them

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"Examples({self.note or f'{self.source}: {len(self):,} examples'})"

    def take(self, rows: Sequence[int]) -> "Examples":
        """The examples at these positions, with their labels and ids.

        >>> Examples(["a vine", "a fig"], ["v", "f"], "csv", "a.csv").take([1]).labels
        ['f']
        """
        labels, ids = ([values[i] for i in rows] if values else None for values in (self.labels, self.ids))
        lines = [self.lines[i] for i in rows] if self.lines else ()
        sources = [self.sources[i] for i in rows] if self.sources else ()
        return replace(self, X=selected(self.X, rows), labels=labels, ids=ids, lines=lines, sources=sources)

    def place(self, i: int) -> str:
        """The location of example i, for messages."""
        source = self.sources[i] if self.sources else self.source
        if self.lines:
            return f"{source}, the example on line {self.lines[i]}"
        return f"{source}, {self.ids[i] if self.ids else f'example {i}'}"

    def targets(self) -> list[float]:
        """The labels as numbers, for regression."""
        if self.labels is None:
            raise InputError(f"{self.source}: there are no labels, expected a number for every example")
        return [self._number(label, i) for i, label in enumerate(self.labels)]

    def _number(self, label: str, i: int) -> float:
        number = to_float(label)
        if not math.isfinite(number):
            source = self.sources[i] if self.sources else self.source
            place = f"{source}, line {self.lines[i]}" if self.lines else f"{source}, example {i}"
            raise InputError(f"{place}: the label is {label[:40]!r}, expected a finite number")
        return number


def note(request: Request, title: str, counted: str, found: Sequence[str], labels: list[str] | None, label: str) -> str:
    """One line on how a file was understood: how many examples, which format, what was found, and the labels."""
    return ", ".join([f"{request.source}: {counted}", title, *found, "no labels" if labels is None else label])


def counted(n: int, noun: str, empty: int = 0) -> str:
    """A number of things, and the number of empty ones among them."""
    return f"{n:,} {noun}{'s' * (n != 1)}" + (f" ({empty:,} empty)" if empty else "")


def against_the_rest(fields: Fields, labels: list[str]) -> str:
    """An addition to a note where one value of the label is set against the rest."""
    return "" if fields.value is None else f", {fields.wanted} ({labels.count(fields.wanted):,}) against the rest"


def block_ids(ids: Iterable[object], known: bool | None, repeated: bool = False) -> list[str] | None:
    """The ids of a block: in the first (`known` is None), only if `unique`; in later ones unchanged, if the first has some.

    >>> block_ids(["a", "a"], None), block_ids(["a", "a"], True), block_ids(["a", "b"], False)
    (None, ['a', 'a'], None)
    """
    if known is None:
        return unique(ids, repeated)
    return [label_text(id) or "" for id in ids] if known else None


def unique(ids: Iterable[object], repeated: bool = False) -> list[str] | None:
    """Names of examples as strings; None if one is missing or occurs twice; with `repeated`, unless more than half differ.

    >>> unique(["a", 2]), unique(["a", "a"]), unique([None]), unique(["a", "b", "a"], repeated=True)
    (['a', '2'], None, None, ['a', 'b', 'a'])
    """
    names = [label_text(id) or "" for id in ids]
    n, different = len(names), len(set(names))
    return names if names and all(names) and (different == n or (repeated and 2 * different > n)) else None
