"""The fields of an example that are its text and its label; labels as strings."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from .errors import InputError

Record = tuple[int, Mapping[str, object]]  # the fields of an example, with the line it begins on
Records = Iterator[Record]

TEXTS = ("text", "sentence", "sequence", "content", "body", "review", "string")
LABELS = ("label", "class", "y", "target", "category", "score")
IDS = ("id", "key", "name")


def listed(names: Collection[str], most: int = 20) -> str:
    """The names, or the first of many, which may be a table's thousands of columns.

    >>> listed(["a", "b"]), listed([str(i) for i in range(1000)])[-15:]
    ('a, b', '19 and 980 more')
    """
    more = len(names) - most
    return ", ".join(islice(names, most)) + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True)
class Fields:
    """The names of the text's fields and of the label's; `value` is the label set against the rest, if one is."""

    texts: tuple[str, ...]
    label: str | None = None
    value: str | None = None
    matches: bool = False  # the value is a regular expression

    @property
    def wanted(self) -> str:
        """The label of the examples that have the value, or match it."""
        return f"matching {self.value}" if self.matches else str(self.value)

    def text(self, record: Mapping[str, object], place: str) -> str:
        """The fields of the text, those that are not empty joined with one blank."""
        parts = []
        for name in self.texts:
            part = self.get(record, name, place)
            if not isinstance(part, str):
                raise InputError(f"{place}: field {name!r} is {json.dumps(part, default=repr)[:40]}, expected a string")
            parts.append(part)
        return parts[0] if len(parts) == 1 else " ".join(filter(None, parts))

    def values(self, record: Mapping[str, object], place: str) -> tuple[object, ...]:
        """The fields of the text as they are, for examples of several columns."""
        found = tuple(self.get(record, name, place) for name in self.texts)
        for name, value in zip(self.texts, found, strict=True):
            if not isinstance(value, (str, int, float, list)):
                raise InputError(
                    f"{place}: field {name!r} is {json.dumps(value, default=repr)[:40]}, expected text or number"
                )
        return found

    def get(self, record: Mapping[str, object], name: str, place: str) -> object:
        """The field `name` of this record."""
        if name not in record:
            raise InputError(f"{place}: there is no field {name!r}; the fields are: {listed(record)}")
        return record[name]


def choose(
    names: Collection[str],
    text: str | None,
    label: str | None,
    labelled: bool | None,
    place: str,
    columns: Sequence[str] = (),
) -> Fields:
    """Choose the fields among `names`: as requested by `text` and `label`, otherwise the first of `TEXTS` and of `LABELS`.

    Names match in any case. `columns` are the fields of the text, if there are several.

    >>> choose(["id", "title", "body", "class"], "title+body", None, None, "news.csv, line 2")
    Fields(texts=('title', 'body'), label='class', value=None, matches=False)
    >>> choose(["text", "topics"], None, "topics=acq", None, "news.csv, line 2")
    Fields(texts=('text',), label='topics', value='acq', matches=False)
    >>> choose(["Label", "Text"], None, None, True, "news.csv, line 2")
    Fields(texts=('Text',), label='Label', value=None, matches=False)
    """
    texts = tuple(columns) or first_of(TEXTS, names)
    if text is not None and not columns:
        texts = (text,) if text in names else tuple(part.strip() for part in text.split("+"))
    if not texts:
        raise _absent("text", TEXTS, names, place)
    if labelled is False:
        return Fields(_existing(texts, names, "text", place))
    labels, sign, value = first_of(LABELS, names), "", None
    if label is not None:
        name, sign, value = split_label(label)
        labels = (name,)
        if label in names or not sign:
            labels, sign, value = (label,), "", None
    if labelled and not labels:
        raise _absent("label", LABELS, names, place)
    labels = _existing(labels, names, "label", place)
    return Fields(_existing(texts, names, "text", place), labels[0] if labels else None, value, sign == "~")


def split_label(label: str) -> tuple[str, str, str]:
    """The field, the sign and the value of `topics=acq`, one value against the rest, or of `en~\\?$`, a regular expression.

    >>> split_label("topics=acq"), split_label("en~a=b"), split_label("kind")
    (('topics', '=', 'acq'), ('en', '~', 'a=b'), ('kind', '', ''))
    """
    name, sign, value = re.fullmatch(r"([^=~]*)([=~]?)(.*)", label, re.DOTALL).groups()  # type: ignore[union-attr]
    return name.strip(), sign, value.strip()


def first_of(candidates: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """The first of these names that exists, in the file's spelling; the empty tuple if none does.

    >>> first_of(LABELS, ["Text", "Class"]), first_of(IDS, ["Text"])
    (('Class',), ())
    """
    written = {name.lower(): name for name in names}
    return tuple(written[name] for name in candidates if name in written)[:1]


def _existing(chosen: tuple[str, ...], names: Collection[str], what: str, place: str) -> tuple[str, ...]:
    chosen = tuple(name if name in names else next(iter(first_of([name.lower()], names)), name) for name in chosen)
    for name in chosen:
        if name not in names:
            raise InputError(
                f"{place}: there is no field {name!r} for the {what}; the fields are: {listed(names)}."
                f' Choose with --{what} NAME ({what}="NAME" in Python)'
            )
    return chosen


def _absent(what: str, candidates: tuple[str, ...], names: Collection[str], place: str) -> InputError:
    return InputError(
        f"{place}: no field is called {', '.join(candidates[:-1])} or {candidates[-1]}; the fields are:"
        f' {listed(names)}. Name the {what} with --{what} NAME ({what}="NAME" in Python)'
    )


Found = list[tuple[int, object]]


def label_text(value: object) -> str | None:
    """A label as a string, None if there is none: strings are stripped, numbers and booleans written as in JSON.

    >>> label_text(" spam "), label_text(1), label_text(True), label_text(""), label_text(None)
    ('spam', '1', 'true', None, None)
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, (int, float)) and value == value:
        return json.dumps(value)
    return None


def labels_of(found: Found, fields: Fields, source: str, skip: bool = False) -> list[str] | None:
    """The label of every `(line, what was found)`, or with `fields.value` that value or `not value`; None without a label field.

    If `fields.matches`, the value is a regular expression, looked for anywhere in the label, which may be empty. With `skip`, a
    missing label is the empty string, which no other label is: `read` leaves these examples out.

    >>> labels_of([(1, ["acq", "grain"]), (2, [])], Fields((), "topics", "acq"), "news.jsonl")
    ['acq', 'not acq']
    >>> labels_of([(1, "Really?"), (2, "")], Fields((), "en", r"\\?$", matches=True), "talk.jsonl")
    ['matching \\\\?$', 'not matching \\\\?$']
    """
    field, value = fields.label, fields.value
    if field is None:
        return None
    if skip and not fields.matches:
        there = [i for i, (_, label) in enumerate(found) if isinstance(label, list) or label_text(label)]
        known = dict(zip(there, labels_of([found[i] for i in there], fields, source) or [], strict=True))
        return [known.get(i, "") for i in range(len(found))]
    if fields.matches and value is not None:
        try:
            found_in = re.compile(value).search
        except re.error as error:
            raise InputError(f"--label {field}~{value}: not a regular expression: {error}") from None
        texts = ([label] if isinstance(label, str) else _all(number, label, field, source) for number, label in found)
        return [fields.wanted if any(map(found_in, each)) else f"not {fields.wanted}" for each in texts]
    if value is None:
        for number, label in found:
            if isinstance(label, list):
                raise _several(number, found, field, source)
        return [_one(number, label, field, source) for number, label in found]
    return [value if value in _all(number, label, field, source) else f"not {value}" for number, label in found]


def _all(number: int, label: object, field: str, source: str) -> Iterable[str]:
    if isinstance(label, list):
        return [_one(number, one, field, source) for one in label]
    return (_one(number, label, field, source),)


def _one(number: int, label: object, field: str, source: str) -> str:
    text = label_text(label)
    if text is None:
        missing = label is None or isinstance(label, str)
        what = "missing" if missing else json.dumps(label, default=repr)[:40]
        hint = "; --skip-unlabelled (skip_unlabelled=True in Python) leaves such examples out" * missing
        raise InputError(
            f"{source}, line {number}: the label is {what} (field {field!r}), expected a string or a number{hint}"
        )
    return text


def _several(number: int, found: Found, field: str, source: str) -> InputError:
    counts = Counter(label_text(one) or "" for _, label in found if isinstance(label, list) for one in label)
    common = [value for value, _ in counts.most_common(5)] or ["VALUE"]
    return InputError(
        f"{source}, line {number}: field {field!r} is a list, and an example has one label. Set one value against the"
        f' rest with --label {field}={common[0]} (label="{field}={common[0]}" in Python);'
        f" the most frequent: {', '.join(common)}"
    )
