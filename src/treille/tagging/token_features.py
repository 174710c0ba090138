"""The features of tokens, fitted on tagged sentences and frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data.base import align, codes_of
from treille.data.format import count
from treille.features.feature_map import check_id
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_whole, effective_n_jobs
from treille.tagging.sentences import Column, Sentences, check_lengths, one_column
from treille.tagging.templates import ITEMS, REACH, TAG, Template, as_templates, derived

DIRECTIONS = ("forward", "backward")
NO_CODES, NO_OFFSETS = np.empty(0, np.int32), np.empty(0, np.int64)


class TokenRows(NamedTuple):
    """Binary features: token i has ``ids[indptr[i]:indptr[i + 1]]``, in increasing order.

    `parts` has a row for each token and a column for each template with tags. The decoder in the core finds the features of these
    templates by them; there are no columns if the tags were known.

    >>> from treille.tagging import TokenFeatures
    >>> _, rows = TokenFeatures.fit(["word[0]"], [["to", "be"]], [["A", "B"]])
    >>> rows.to_csr().toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    indptr: np.ndarray
    ids: np.ndarray
    parts: np.ndarray
    n_features: int

    def to_csr(self) -> sp.csr_matrix:
        """The features as a scipy matrix of ones."""
        return sp.csr_matrix((np.ones(len(self.ids)), self.ids, self.indptr), (len(self.indptr) - 1, self.n_features))


@dataclass(eq=False, repr=False)
class TokenFeatures:
    """Features with their ids: the values of templates that occur often enough in training sentences.

    The most frequent feature has the id 0. Made by `fit`.

    >>> from treille.tagging import TokenFeatures
    >>> features, rows = TokenFeatures.fit(["word[0]", "suffix2[0]", "tag[-1]"], [["to", "sing"]], [["TO", "VB"]])
    >>> [features.name(id) for id in rows.ids[rows.indptr[1]:]]
    ['word[0]=sing', 'suffix2[0]=ng', 'tag[-1]=TO']
    >>> [features.name(id) for id in features.transform([["king"]]).ids]
    ['suffix2[0]=ng']
    """

    templates: list[Template]
    values: list[list[str]]  # of each attribute
    items: list[str]
    tags: list[str]
    direction: str
    feature_templates: np.ndarray
    feature_codes: np.ndarray

    def __post_init__(self) -> None:
        self.attributes = attributes_of(self.templates)
        self.reads_items = any(map(_reads_items, self.templates))
        widths = np.array([len(template.atoms) for template in self.templates], np.int64)[self.feature_templates]
        self._starts = np.cumsum(widths) - widths

    @cached_property
    def core(self) -> _core.TokenFeatures:
        """The features as the core looks them up."""
        counts = [len(each) for each in self.values], len(self.items), len(self.tags)
        features = self.feature_templates, self.feature_codes
        return _core.TokenFeatures(_atoms(self.templates), *counts, self.direction == "backward", *features)

    @cached_property
    def _codes(self) -> list[dict[Any, int]]:
        """The codes of the values of each attribute, and the codes of the items."""
        return list(map(codes_of, [*self.values, self.items]))

    @classmethod
    def fit(
        cls,
        templates: Any,
        sentences: Any,
        tags: Any,
        *,
        min_count: int = 1,
        direction: str = "forward",
        n_jobs: int | None = None,
    ) -> tuple[TokenFeatures, TokenRows]:
        """The features of tagged sentences, and their rows.

        Parameters
        ----------
        templates : list of str or Template, or None for `default_templates`
        sentences : Sentences, or list of sentences
        tags : list of lists of str, or Sentences with one column
        min_count : int
            How often a feature must occur.
        direction : {"forward", "backward"}
            Sentences are tagged from left to right, or from right to left.
        """
        check_whole("min_count", min_count)
        check_choice("direction", direction, *DIRECTIONS)
        sentences, gold = Sentences(sentences), one_column(tags, "tag")
        found = as_templates(templates, len(sentences.columns), sentences.items is not None)
        names = sorted({gold.columns[0].values[c] for c in np.unique(gold.columns[0].codes)})
        codes = _tag_codes(gold, sentences, names)
        columns, items = _compact_columns(sentences), sentences.items
        attributes, values, maps = attributes_of(found), [], []
        for column, name in attributes:
            all_values = derived(name, columns[column].values)
            own = codes_of(dict.fromkeys(value for value in all_values if value is not None))
            values.append(list(own))
            maps.append(np.array([own.get(value, -1) for value in all_values], np.int32))
        item_names = items.names if items else []
        batch = _batch(sentences, columns, attributes, maps, np.arange(len(item_names), dtype=np.int32))
        sizes, backward = [len(each) for each in values], direction == "backward"
        feature_templates, feature_codes = _core.count_token_features(
            _atoms(found), batch, codes, len(names), backward, sizes, len(item_names), min_count
        )
        features = cls(found, values, item_names, names, direction, feature_templates, feature_codes)._pruned()
        return features, features.transform_tagged(sentences, gold, n_jobs)

    def __reduce__(self) -> Any:
        return TokenFeatures, tuple(getattr(self, each.name) for each in fields(self))

    @property
    def n_features(self) -> int:
        """Number of features; ids are 0 .. n_features - 1."""
        return len(self.feature_templates)

    @property
    def n_columns(self) -> int:
        """The number of columns that the templates read."""
        return 1 + max((column for column, _ in self.attributes), default=-1)

    def transform(self, sentences: Any, n_jobs: int | None = None) -> TokenRows:
        """The features of new sentences that do not depend on tags. Values that were not seen have none."""
        batch = self.batch(Sentences(sentences))
        indptr, ids, parts = self.core.transform(batch, effective_n_jobs(n_jobs))
        return TokenRows(indptr, ids, parts.reshape(len(indptr) - 1, self.core.n_dynamic), self.n_features)

    def transform_tagged(self, sentences: Any, tags: Any, n_jobs: int | None = None) -> TokenRows:
        """The features of sentences with these tags, those that depend on tags included."""
        sentences = Sentences(sentences)
        codes = _tag_codes(one_column(tags, "tag"), sentences, self.tags)
        indptr, ids, parts = self.core.transform_tagged(self.batch(sentences), codes, effective_n_jobs(n_jobs))
        return TokenRows(indptr, ids, parts.reshape(len(indptr) - 1, 0), self.n_features)

    def tag_codes(self, tags: Any, sentences: Sentences | None = None) -> np.ndarray:
        """The position of each tag in `tags`, for all tokens, as int32."""
        return _tag_codes(one_column(tags, "tag"), sentences, self.tags)

    def batch(self, sentences: Sentences) -> Any:
        """The sentences as the core reads them, with the codes of every attribute."""
        if sentences.n_tokens and len(sentences.columns) < self.n_columns:
            found = count(len(sentences.columns), "column")
            raise InputError(f"found tokens of {found}, expected {self.n_columns} as in training")
        if sentences.n_tokens and sentences.items is None and self.reads_items:
            raise InputError("found tokens with columns, expected tokens with features as in training")
        columns = _compact_columns(sentences)
        columns += [Column(NO_CODES, [])] * (self.n_columns - len(columns))  # without tokens, their columns are unknown
        maps = [
            np.array([codes.get(value, -1) for value in derived(name, columns[column].values)], np.int32)
            for (column, name), codes in zip(self.attributes, self._codes[:-1], strict=True)
        ]
        names = sentences.items.names if sentences.items else []
        return _batch(sentences, columns, self.attributes, maps, align(names, self._codes[-1], unknown=-1))

    def name(self, id: int) -> str:
        """The readable name of a feature, such as ``suffix3[0]=ing``."""
        check_id(id, self.n_features)
        template = self.templates[self.feature_templates[id]]
        codes = self.feature_codes[self._starts[id] :][: len(template.atoms)].tolist()
        if _reads_items(template):
            return self.items[codes[0]]
        return "|".join(f"{a}={self._value(a, c)}" for a, c in zip(template.atoms, codes, strict=True)) or "bias"

    def _value(self, atom: Any, code: int) -> str:
        if atom.column == TAG:
            return self.tags[code] if code < len(self.tags) else "_B"
        if code < -1:
            return f"_B-{-1 - code}" if code >= -1 - REACH else f"_B+{-1 - REACH - code}"
        return self.values[self.attributes.index((atom.column, atom.attribute))][code]

    def restrict(self, ids: np.ndarray) -> TokenFeatures:
        """The features `ids`, in increasing order, renumbered in that order."""
        widths = np.diff(np.append(self._starts, len(self.feature_codes)))
        kept = np.zeros(self.n_features, bool)
        kept[ids] = True
        codes = self.feature_codes[np.repeat(kept, widths)]
        return replace(self, feature_templates=self.feature_templates[kept], feature_codes=codes)._pruned()

    def _pruned(self) -> TokenFeatures:
        """The same features, without values of attributes that none of them uses."""
        places, codes = self.feature_templates, np.array(self.feature_codes, np.int32)
        at: list[list[np.ndarray]] = [[] for _ in [*self.values, self.items]]  # where the codes of an attribute are
        for t, template in enumerate(self.templates):
            own = self._starts[places == t]
            for k, atom in enumerate(template.atoms):
                if atom.column != TAG:
                    place = -1 if atom.column == ITEMS else self.attributes.index((atom.column, atom.attribute))
                    at[place].append(own + k)
        kept: list[list[str]] = []
        for values, lists in zip([*self.values, self.items], at, strict=True):
            where = np.concatenate(lists) if lists else NO_OFFSETS
            where = where[codes[where] >= 0]
            used, inverse = np.unique(codes[where], return_inverse=True)
            codes[where] = inverse
            kept.append([values[c] for c in used.tolist()])
        return replace(self, values=kept[:-1], items=kept[-1], feature_codes=codes)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The content of a model file: JSON values, and arrays. `load` is the inverse."""
        spec = {
            "templates": list(map(str, self.templates)),
            "values": self.values,
            "items": self.items,
            "tags": self.tags,
            "direction": self.direction,
        }
        return spec, {"feature_templates": self.feature_templates, "feature_codes": self.feature_codes}

    @classmethod
    def load(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> TokenFeatures:
        """The features that `state` describes."""
        templates = [Template.parse(text) for text in stored.names(spec, "templates")]
        attributes = attributes_of(templates)
        given = stored.value(spec, "values", list)
        if len(given) != len(attributes):
            raise InputError(f"the file has values of {len(given)} attributes, expected {len(attributes)}")
        values = [stored.names({"values": each}, "values") for each in given]
        direction = stored.value(spec, "direction", str)
        if direction not in DIRECTIONS:
            raise InputError(f"the field 'direction' is {direction!r}, expected one of {', '.join(DIRECTIONS)}")
        places = stored.indices(arrays, "feature_templates", len(templates))
        codes = stored.array(arrays, "feature_codes", np.int32)
        items, tags = stored.names(spec, "items"), stored.names(spec, "tags")
        try:
            features = cls(templates, values, items, tags, direction, places, codes)
            assert features.core is not None  # which refuses features that do not fit together
        except (ValueError, IndexError) as error:
            raise InputError(f"the features of the tokens in the file are damaged: {error}") from None
        return features


def attributes_of(templates: Sequence[Template]) -> list[tuple[int, str]]:
    """The attributes of columns that templates read, each once."""
    atoms = (atom for template in templates for atom in template.atoms if atom.column >= 0)
    return list(dict.fromkeys((atom.column, atom.attribute) for atom in atoms))


def _atoms(templates: Sequence[Template]) -> Any:
    """Templates as the core reads them: an attribute is its position, -1 a tag, -2 the features given."""
    place = {attribute: i for i, attribute in enumerate(attributes_of(templates))}
    atoms = [atom for template in templates for atom in template.atoms]
    numbers = [atom.column if atom.column < 0 else place[atom.column, atom.attribute] for atom in atoms]
    offsets = np.cumsum([0, *(len(template.atoms) for template in templates)])
    given = (offsets, numbers, [atom.offset for atom in atoms])
    return _core.TokenTemplates(*(np.array(each, np.int32) for each in given))


def _batch(
    sentences: Sentences, columns: Sequence[Column], attributes: Sequence[tuple[int, str]], maps: Any, item_map: Any
) -> Any:
    codes, offsets = (sentences.items.codes, sentences.items.offsets) if sentences.items else (NO_CODES, NO_OFFSETS)
    column_of = [column for column, _ in attributes]
    coded = [column.codes for column in columns]
    return _core.TokenBatch(coded, column_of, maps, sentences.offsets, codes, item_map, offsets)


def _compact_columns(sentences: Sentences) -> list[Column]:
    """The columns, without values that no token has where there are many of these, as in a selection."""
    columns = []
    for codes, values in sentences.columns:
        if len(values) > len(codes):
            used, codes = np.unique(codes, return_inverse=True)
            columns.append(Column(codes.astype(np.int32).ravel(), [values[c] for c in used.tolist()]))
        else:
            columns.append(Column(codes, values))
    return columns


def _tag_codes(tags: Sentences, sentences: Sentences | None, names: Sequence[str]) -> np.ndarray:
    if sentences is not None:
        check_lengths(sentences, tags, "token", "tag")
    column = tags.columns[0]
    codes = align(column.values, names, unknown=-1)[column.codes] if column.values else NO_CODES
    for token in np.flatnonzero(codes < 0)[:1]:
        tag = column.values[column.codes[token]]
        raise InputError(f"{tags.place(int(token))}: the tag {tag!r} does not occur in the training sentences")
    return codes


def _reads_items(template: Template) -> bool:
    return any(atom.column == ITEMS for atom in template.atoms)
