"""The explanation of one output: what each part of an example contributed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from treille.data import Batch, KernelValues
from treille.data.format import clipped, visible, visible_label
from treille.data.table import Table, leaf_batches
from treille.explain.characters import joined_parts, text_of
from treille.explain.highlighting import bars, highlighted, stylesheet
from treille.io.errors import InputError
from treille.spaces.functions import DecisionFunctions, KernelFunctions

LONGEST = 160  # characters of a name
SUPPORT_WIDTH = 60  # cells of a support example


class Shown(NamedTuple):
    """The fields of an explanation that pages display. Tagged sentences have no score."""

    name: str
    highlighting: Markup
    label: str | None = None
    score: str = ""
    parts: str = ""
    base: str = ""
    intercept: str = ""
    largest: Markup | None = None


def page(title: str | None, explained: Sequence[Shown]) -> str:
    """A page of explanations; without a title the fragment that notebooks show, with its style."""
    head = {"page": title is not None, "title": shortened(title or "")}
    return str(_template().render(head, css=Markup(stylesheet()), explained=list(explained)))


def shortened(name: str) -> str:
    """The name of an example, or a class, with visible characters."""
    return clipped(visible_label(name[: 2 * LONGEST]), LONGEST)


@lru_cache(maxsize=1)
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader

    folder = Path(__file__).parent / "templates"
    return Environment(loader=FileSystemLoader(folder), autoescape=True).get_template("explained.html")


class Contribution(NamedTuple):
    """A part of an example, and its contribution to a score."""

    name: str
    contribution: float


class Explained(ABC):
    """The result of `explain`: the explanation of an example, or of all tokens of a sentence."""

    @abstractmethod
    def html(self, label: Any = None) -> str:
        """The example with the contributions in favour of a class highlighted on it, by default those for the predicted one."""

    @abstractmethod
    def as_dict(self, label: Any = None) -> dict[str, Any]:
        """JSON values: scores, and the parts with their contributions in favour of a class."""

    @abstractmethod
    def shown(self, label: Any = None, name: str = "", label_name: str | None = None) -> Shown:
        """The fields that notebooks and pages display; `name` is the name of the example."""

    def drawn(self, label: Any = None) -> dict[str, Any]:
        """JSON values: `html`, and for a text its words, or runs of characters, with their contributions."""
        return {"html": self.html(label)}

    def _repr_html_(self) -> str:
        return page(None, [self.shown()])


class SupportExample(NamedTuple):
    """A support example x_i: its place i in the model's support, its text, shortened, and its shares beta_i k(x_i, x)."""

    place: int
    example: str
    shares: np.ndarray


@dataclass(frozen=True, eq=False)
class SupportShares:
    """The shares of the support examples in the outputs for explained examples. Kernel values are computed when first needed."""

    functions: KernelFunctions
    batch: Batch  # the explained examples
    n_jobs: int

    @cached_property
    def _gram(self) -> np.ndarray:
        return self.functions.kernel.gram(self.batch, self.functions.support, self.n_jobs)

    def of(self, place: int) -> np.ndarray:
        """beta_i k(x_i, x) for the example x at this place: one row per support example, one column per function."""
        return self.functions.coefficients * self._gram[place][:, None]

    def examples(self, place: int, function: int) -> list[SupportExample]:
        """The support examples, those with the largest shares in a function first."""
        shares = self.of(place)
        order = np.argsort(-np.abs(shares[:, function]), kind="stable").tolist()
        return [SupportExample(i, example_name(self.functions.support, i), shares[i]) for i in order]


@dataclass(frozen=True, eq=False)
class Explanation(Explained):
    """The contributions of the parts of an example to its scores: symbols of a sequence, nodes of a tree, columns of a row.

    For every function, the contributions, `base` and `intercept` sum to its output, ``scores``.

    Attributes
    ----------
    names : list of str
        The parts, in their order.
    values : array of shape (parts, functions)
    base : array
        The share of each output that no part contributes: the means of centred kernels, and constants.
    intercept : array
        For each function.
    classes : list or None
        The classes of a classifier. One with two has one function, whose score speaks for the second class.
    columns : list of (str, int)
        The name of each column, or unit, and how many parts it has, if there are several.
    example : object or None
        The example as it was given.
    leaves : tuple of (Batch, int)
        Where the parts of each column are: a batch, and the example's place in it.
    leaves_of_columns : tuple of int
        How many of `leaves` belong to each column of the example: one for each unit. Empty if the example has no columns.
    by_support : bool
        Whether the parts are the support examples of the model: the kernel has no features and is not split by part.

    Examples
    --------
    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1)).fit(["aa", "cc"], ["left", "right"])
    >>> found = model.explain("abc")
    >>> [(part.name, round(part.contribution, 2)) for part in found.parts("right")]
    [('a', -0.5), ('b', 0.0), ('c', 0.5)]
    >>> bool(abs(found.scores - model.decision_function(["abc"])).max() < 1e-9)
    True
    """

    values: np.ndarray
    base: np.ndarray
    intercept: np.ndarray
    classes: list[Any] | None = None
    columns: tuple[tuple[str, int], ...] = ()
    example: Any = None
    leaves: tuple[tuple[Batch, int], ...] = ()
    by_support: bool = False
    support_shares: SupportShares | None = None
    place: int = 0  # among the examples of `support_shares`
    leaves_of_columns: tuple[int, ...] = ()

    @cached_property
    def names(self) -> list[str]:
        """The parts, in their order."""
        if self.by_support and self.support_shares is not None:
            support = self.support_shares.functions.support
            return [example_name(support, i) for i in range(len(support))]
        return [name for leaf, i in self.leaves for name in leaf.part_names(i)]

    @property
    def scores(self) -> np.ndarray:
        """The output of each function."""
        return self.values.sum(axis=0) + self.base + self.intercept

    @property
    def predicted(self) -> Any:
        """The class with the highest score; for a regressor the score."""
        scores = self.scores
        if self.classes is None:
            return scores if len(scores) > 1 else float(scores[0])
        return self.classes[int(scores[0] > 0) if len(self.classes) == 2 else int(scores.argmax())]

    def contributions(self, label: Any = None) -> np.ndarray:
        """Contributions of the parts to a class, by default the predicted one, or to target `label` of a regressor with several.

        >>> import treille
        >>> model = treille.Ridge(treille.kernels.NGram(1)).fit(["a", "aab"], [1.0, 2.0])
        >>> model.explain("ab").contributions().round(2).tolist()
        [0.25, 0.25]
        """
        function, sign = self.function(label)
        return sign * self.values[:, function]

    def parts(self, label: Any = None, count: int | None = None) -> list[Contribution]:
        """The parts with their contributions in favour of a class: all in their order, or the `count` largest, by size.

        For texts, these are words, whatever units the kernel reads, or runs of characters where there are no blanks. `names` and
        `contributions` have a value for each symbol.

        >>> import treille
        >>> from treille.kernels import NGram
        >>> model = treille.SVC(NGram(1, unit="word") + NGram(3)).fit(["red wine", "pale ale"], ["wine", "beer"])
        >>> [part.name for part in model.explain("pale wine").parts()]
        ['pale', 'wine']
        """
        function, sign = self.function(label)
        joined = [
            part for column in self.by_column() for part in joined_parts(column, sign * column.values[:, function])
        ]
        parts = [Contribution(*part) for part in joined]
        return parts if count is None else sorted(parts, key=lambda part: -abs(part.contribution))[:count]

    def by_column(self) -> list[Explanation]:
        """The explanation of each column of the example, in all the units that it is read in."""
        if len(self.leaves_of_columns) < 2:
            return [self]
        found, leaf, first = list[Explanation](), 0, 0
        for n in self.leaves_of_columns:
            columns = self.columns[leaf : leaf + n]
            rows = slice(first, first + sum(size for _, size in columns))
            leaves = self.leaves[leaf : leaf + n]
            found.append(
                replace(
                    self, values=self.values[rows], columns=columns, leaves=leaves, example=None, leaves_of_columns=()
                )
            )
            leaf, first = leaf + n, rows.stop
        return found

    def function(self, label: Any = None) -> tuple[int, float]:
        """The function whose score supports a class, by default the predicted one, and its sign."""
        if self.classes is None:
            target = 0 if label is None else int(label)
            if not 0 <= target < len(self.base):
                raise InputError(f"there is no target {label!r}: there are {len(self.base)}, counted from 0")
            return target, 1.0
        label = self.predicted if label is None else label
        if label not in self.classes:
            raise InputError(f"there is no class {label!r}: the classes are {', '.join(map(repr, self.classes))}")
        k = self.classes.index(label)
        return (0, 1.0 if k else -1.0) if len(self.classes) == 2 else (k, 1.0)

    @property
    def support(self) -> list[SupportExample]:
        """The support examples with their shares, those with the largest for the predicted class first.

        Their shares sum to the scores minus the intercept. Models with weights of features have none.

        >>> import treille
        >>> model = treille.SVC(treille.kernels.Subsequence(2)).fit(["cat", "cart", "dog"], ["pet", "cart", "pet"])
        >>> found = model.explain("carts")
        >>> found.support[0].place, found.support[0].example
        (1, 'cart')
        >>> shares = sum(one.shares for one in found.support)
        >>> bool(abs(shares - (found.scores - found.intercept)).max() < 1e-9)
        True
        """
        return [] if self.support_shares is None else self.support_shares.examples(self.place, self.function()[0])

    def html(self, label: Any = None) -> str:
        return highlighted(self, label)

    def as_dict(self, label: Any = None) -> dict[str, Any]:
        function, sign = self.function(label)
        score, intercept, base = (float(sign * v[function]) + 0.0 for v in (self.scores, self.intercept, self.base))
        shares = {"parts": self.names, "contributions": self.contributions(label).tolist()}
        found = {"score": score, "intercept": intercept, "base": base} | shares  # plus 0.0: not -0.0
        columns = {"columns": [list(column) for column in self.columns]} if self.columns else {}
        return found | ({"by_support": True} if self.by_support else {}) | columns

    def drawn(self, label: Any = None) -> dict[str, Any]:
        is_text = bool(self.names) and text_of(self) is not None
        return super().drawn(label) | ({"words": [list(part) for part in self.parts(label)]} if is_text else {})

    def shown(self, label: Any = None, name: str = "", label_name: str | None = None) -> Shown:
        function, sign = self.function(label)
        if self.classes is not None and label_name is None:
            label_name = str(self.predicted if label is None else label)
        sums = (self.scores, self.values.sum(axis=0), self.base, self.intercept)
        score, parts, base, intercept = (f"{sign * float(values[function]):+.4g}" for values in sums)
        base, title = base if self.base[function] else "", None if label_name is None else shortened(label_name)
        listed, example = self.parts(label), Markup(self.html(label))
        table = Markup(bars(listed)) if listed else None
        return Shown(shortened(name), example, title, score, parts, base, intercept, table)

    def __str__(self) -> str:
        parts = self.parts(count=11)
        most = [f"{part.name!r} {part.contribution:+.3g}" for part in parts[:10]]
        shown = f"for {self.predicted!r}: " if self.classes is not None else ""
        return f"{shown}{', '.join(most)}{', ...' if len(parts) > 10 else ''}"


def example_name(batch: Batch, i: int, width: int = SUPPORT_WIDTH) -> str:
    """Example i of a batch in a line, shortened.

    >>> import treille
    >>> example_name(treille.Strings(["two lines\\nof text"]), 0), example_name(treille.Trees(["(S (NP he) (VP sat))"]), 0)
    ('two lines↵of text', '(S (NP he) (VP sat))')
    """
    if isinstance(batch, KernelValues):  # a model keeps their numbers alone
        return f"training example {int(batch.ids[i])}"
    return clipped(visible(_text(batch[i], width), blanks=False), width)


def _text(example: Any, width: int) -> str:
    if isinstance(example, Mapping):
        return "; ".join(f"{name}: {clipped(_text(value, width), width)}" for name, value in example.items())
    if isinstance(example, (list, tuple)) and all(isinstance(symbol, str) for symbol in example):
        return " ".join(example[:width])
    return str(example[:width] if isinstance(example, (str, bytes)) else example)


def explanations(
    X: Any, batch: Batch, functions: DecisionFunctions, classes: list[Any] | None, n_jobs: int
) -> list[Explanation]:
    """The explanation of each example X of a batch, by support example where there are no contributions by part."""
    by_part, intercept = functions.contributions(batch, n_jobs), functions.intercept
    support = SupportShares(functions, batch, n_jobs) if isinstance(functions, KernelFunctions) else None
    examples = [X[i] if isinstance(X, Sequence) else None for i in range(len(batch))]
    if by_part is None:
        assert support is not None
        return [
            Explanation(support.of(i), np.zeros_like(intercept), intercept, classes, (), example, (), True, support, i)
            for i, example in enumerate(examples)
        ]
    leaves = leaf_batches(batch)
    read = [(name, *by_part.shares[id(leaf)]) for name, leaf in leaves if id(leaf) in by_part.shares]
    table = batch.columns.values() if isinstance(batch, Table) else ()
    of_columns = tuple(sum(id(leaf) in by_part.shares for _, leaf in leaf_batches(column)) for column in table)
    explained = []
    for i in range(len(batch)):
        values, columns = [np.empty((0, len(intercept)))], list[tuple[str, int]]()
        for name, leaf, shares in read:
            values.append(shares[leaf.part_offsets[i] : leaf.part_offsets[i + 1]])
            columns.append((name, len(values[-1])))
        own = tuple(columns) if len(leaves) > 1 else ()
        places = tuple((leaf, i) for _, leaf, _ in read)
        parts = np.concatenate(values), by_part.base[i], intercept, classes, own, examples[i], places
        explained.append(Explanation(*parts, support_shares=support, place=i, leaves_of_columns=of_columns))
    return explained
