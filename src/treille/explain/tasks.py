"""Tasks of models: predicting classes, outliers, numbers or tags. Reports, the server and the command line ask a model's task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import log_expit, logsumexp

from treille.data.format import count, listed, visible_label
from treille.explain.examples import label_name
from treille.features import FeatureMap
from treille.io.errors import InputError
from treille.spaces.functions import LinearFunctions
from treille.tagging.templates import described

if TYPE_CHECKING:
    from treille.explain.explanation import Explained
    from treille.explain.page import Content, Origin

SINGULAR = {"labels": "label", "values": "value"}


class Task(ABC):
    """The task of a fitted model: what it predicts, and how answers, reports and files present it.

    Attributes
    ----------
    labels : list or None
        The classes or tags, as the model has them; None for numbers.
    names : list of str
        The labels as files write them.
    fields : tuple of str
        The names of the lists that `answers` returns.
    any_class : bool
        Whether explanations can be in favour of any class.
    """

    labels: list[Any] | None = None
    fields: ClassVar[tuple[str, ...]]
    per_token: ClassVar[bool] = False  # whether each token of an example gets a label of its own
    unit: ClassVar[str] = "example"
    pairs: bool = False  # whether each problem separates two labels
    noun: ClassVar[str] = "class"
    commands: ClassVar[dict[str, str]] = {"predict": "predict", "evaluate": "evaluate"}  # of `treille`
    any_class: ClassVar[bool] = False
    about_weights: ClassVar[str] = "The largest weights, of either sign."
    no_weights: ClassVar[str] = "The kernel has no explicit features, so there are no weights to list."
    one_answer: ClassVar[str] = "the model has no classes"  # why no class can be chosen

    def __init__(self, model: Any):
        self.model = model

    @property
    def names(self) -> list[str]:
        """The labels as files write them; none for numbers."""
        return [label_name(label) for label in self.labels or ()]

    @property
    def features(self) -> FeatureMap | None:
        """The features that have weights, if the model has such and reports list them."""
        functions = self.model.functions_
        return functions.features if isinstance(functions, LinearFunctions) else None

    @property
    def n_features(self) -> int | None:
        """The number of features with weights; None for a kernel without explicit features."""
        return None if self.features is None else self.features.n_features

    def top_features(self, count: int, merge: bool = False, examples: Any = None) -> dict[str, list[Any]]:
        """Names and weights of the features with the largest weights, by class or target; overlapping n-grams may be joined."""
        if self.features is None:
            return {}
        weights, name = np.atleast_2d(self.model.coef_), self.features.name
        orders = (np.argsort(-np.abs(row), kind="stable")[:count].tolist() for row in weights)
        titles = ["weights"] if len(weights) == 1 else [f"target {k}" for k in range(len(weights))]
        found = zip(titles, weights, orders, strict=True)
        return {title: [(name(i), float(row[i])) for i in order if row[i]] for title, row, order in found}

    def fragments(self, count: int) -> dict[str, list[Any]]:
        """Names and weights of the heaviest tree fragments of each class, for kernels that have such."""
        return {}

    def facts(self) -> tuple[dict[str, str], dict[str, Any]]:
        """The facts that `treille inspect` prints about the model: texts by field, and JSON values."""
        model = self.model
        kept, of_what = model.functions_.sizes().split(" ", 1)
        fields = {"reads": ", ".join(f"{name}: {value}" for name, value in model.reading_.items())}
        fields["classes"] = listed([visible_label(name) for name in self.names], 20)
        fields[of_what.split()[0]] = f"{kept} with weight"
        values = {"alphabet": model.reading_.get("alphabet"), "reading": model.reading_, "classes": self.names}
        return fields, values | {"features": self.n_features}

    @abstractmethod
    def answers(self, X: Any) -> dict[str, list[Any]]:
        """The predictions as JSON values, one item per example in each list."""

    def counted(self, batch: Any) -> str:
        """The number of examples, in words."""
        return count(len(batch), self.unit)

    def label_named(self, label: Any) -> Any:
        """The class that a text or a value of JSON means; raises an `InputError` if there is none."""
        raise InputError(f"{self.one_answer}: leave out 'class'")

    def explained(self, found: Explained, label: Any = None) -> dict[str, Any]:
        """An explanation as JSON values."""
        return found.as_dict(label)

    @abstractmethod
    def report(self, content: Content, X: Any, y: Any, train: Any, source: Origin) -> Content:
        """Adds to the content of a report the parts about the predictions for examples X."""


class Choice(Task):
    """One of several labels, by scores."""

    fields: ClassVar[tuple[str, ...]] = ("labels", "scores")

    labels: list[Any]

    @property
    def titles(self) -> list[str]:
        """The names of the labels in reports."""
        return self.names

    def scores(self, X: Any) -> np.ndarray:
        """One column of scores for each label, also for two."""
        return self.columns(self.model.decision_function(X))

    @staticmethod
    def columns(scores: np.ndarray) -> np.ndarray:
        """The outputs of a decision function with one column for each label."""
        return scores if scores.ndim == 2 else np.column_stack([-scores, scores])

    def probabilities(self, scores: np.ndarray) -> np.ndarray | None:
        """The probabilities of the labels with these outputs of the decision function; None if the model provides none."""
        return None

    def answers(self, X: Any) -> dict[str, list[Any]]:
        return self._answers(self.model.decision_function(X))

    def _answers(self, scores: np.ndarray) -> dict[str, list[Any]]:
        each, probabilities = self.columns(scores), self.probabilities(scores)
        found = {"labels": [self.labels[k] for k in each.argmax(axis=1).tolist()], "scores": each.tolist()}
        return found if probabilities is None else found | {"probabilities": probabilities.tolist()}

    def explained(self, found: Any, label: Any = None) -> dict[str, Any]:
        scores = found.scores
        return one(self._answers(scores if len(scores) == 1 else scores[None, :]), 0) | super().explained(found, label)

    def report(self, content: Content, X: Any, y: Any, train: Any, source: Origin) -> Content:
        from treille.explain.classification import classified

        return classified(content, self, X, y, train, source)


class Classification(Choice):
    """One of several classes."""

    any_class = True
    about_weights = (
        "The largest weights in favour of each class; n-grams that overlap are joined, and their weights added."
    )

    def __init__(self, model: Any):
        super().__init__(model)
        self.labels = model.classes_.tolist()

    def fragments(self, count: int) -> dict[str, list[Any]]:
        try:
            return dict(zip(self.names, self.model.fragments(count).values(), strict=True))
        except InputError:  # the kernel has none
            return {}

    def top_features(self, count: int, merge: bool = False, examples: Any = None) -> dict[str, list[Any]]:
        if self.features is None:
            return {}
        options = {"merge": True, "examples": examples} if merge else {}
        return dict(zip(self.names, self.model.top_features(count, **options).values(), strict=True))

    def label_named(self, label: Any) -> Any:
        named = {str(value): value for value in self.labels}
        if not isinstance(label, (str, int, float)) or str(label) not in named:
            raise InputError(f"there is no class {label!r}: the classes are {', '.join(map(repr, self.labels))}")
        return named[str(label)]

    def explained(self, found: Any, label: Any = None) -> dict[str, Any]:
        return {"class": found.predicted if label is None else label} | super().explained(found, label)


class ProbabilisticClassification(Classification):
    """One of several classes, with probabilities."""

    fields = ("labels", "scores", "probabilities")

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        return np.exp(log_probabilities(scores))


class OutlierDetection(Choice):
    """Inliers, 1, or outliers, -1."""

    one_answer = "the model knows one class only"
    labels = [-1, 1]  # noqa: RUF012
    titles = ["outlier", "inlier"]  # noqa: RUF012


class Regression(Task):
    """A number, or one for each of several targets."""

    fields = ("values",)

    def answers(self, X: Any) -> dict[str, list[Any]]:
        return {"values": self.model.predict(X).tolist()}

    def label_named(self, label: Any) -> Any:
        return label if isinstance(label, int) else super().label_named(label)  # the number of a target

    def report(self, content: Content, X: Any, y: Any, train: Any, source: Origin) -> Content:
        from treille.explain.regression import regressed

        return regressed(content, self, X, y, train, source)


class Tagging(Task):
    """A tag for each token of a sentence."""

    fields = ("tags",)
    per_token, unit, noun = True, "sentence", "tag"
    commands = {"predict": "tag run", "evaluate": "tag evaluate"}  # noqa: RUF012
    one_answer = "a tagger explains the tag that each token gets"
    no_weights = ""
    features = None  # reports list what features contribute to the sentences shown

    def __init__(self, model: Any):
        super().__init__(model)
        self.labels, self.pairs = list(model.tags_), len(model.pairs_) > 0

    @property
    def scheme(self) -> str:
        """The meaning of the tags, in a few words."""
        own, learned = self.model.own_scheme_, self.model.scheme
        if own is None:
            return "plain labels"
        return f"chunks in the scheme {own}" + ("" if learned in ("auto", own) else f", learnt as {learned}")

    @property
    def token_features(self) -> str:
        """The features of tokens and their templates, in a line."""
        features, least = self.model.features_, self.model.min_count
        rare = "" if least == 1 else f" that occur {least} times at least"
        return f"{features.n_features:,}{rare}: {described(features.templates)}"

    def facts(self) -> tuple[dict[str, str], dict[str, Any]]:
        features, n = self.model.features_, self.model.features_.n_columns
        columns = [*("word", "pos")[:n], *(f"x{j}" for j in range(2, n))]
        reads = f"columns of tokens: {', '.join(columns)}"
        fields = {
            "reads": "features of tokens, as CRFsuite does" if features.reads_items else reads,
            "tags": f"{listed([visible_label(tag) for tag in self.names], 20)}: {self.scheme}",
            "features": self.token_features,
            "sizes": self.model.plan_.sizes,
        }
        values = {"columns": n, "classes": self.names, "scheme": self.model.own_scheme_}
        values |= {"templates": list(map(str, features.templates)), "features": features.n_features}
        return fields, values

    def counted(self, batch: Any) -> str:
        return f"{super().counted(batch)} with {count(batch.n_tokens, 'token')}"

    def answers(self, X: Any) -> dict[str, list[Any]]:
        return {"tags": self.model.predict(X)}

    def report(self, content: Content, X: Any, y: Any, train: Any, source: Origin) -> Content:
        from treille.explain.tagging import tagged

        return tagged(content, self, X, y, train, source)


def one(found: dict[str, list[Any]], i: int) -> dict[str, Any]:
    """The answer for one example.

    >>> one({"labels": ["a", "b"], "scores": [[1.0, -1.0], [-2.0, 2.0]]}, 1)
    {'label': 'b', 'scores': [-2.0, 2.0]}
    """
    return {SINGULAR.get(name, name): each[i] for name, each in found.items()}


def log_probabilities(scores: np.ndarray) -> np.ndarray:
    """The logarithms of the probabilities of classes with these scores; those one against the rest are divided by their sum."""
    if scores.ndim == 1:
        return np.column_stack([log_expit(-scores), log_expit(scores)])
    logs = log_expit(scores)
    return logs - logsumexp(logs, axis=1, keepdims=True)
