"""The answers of a model as JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import treille
from treille import InputError, Tagger
from treille.estimators.logistic_regression import log_probabilities
from treille.explain import Explanation
from treille.explain.characters import text_of
from treille.explain.display import largest
from treille.explain.highlighting import highlighted_sentence
from treille.kernels.parse import format_kernel
from treille.serve.kinds import Reader, reader_of
from treille.serve.requests import ExplainRequest

ALL = 1 << 20  # features of a token that are listed


@dataclass(frozen=True)
class Served:
    """A model, the name shown for it, and how its examples are read."""

    model: Any
    name: str
    reader: Reader

    @classmethod
    def of(cls, model: Any, name: str = "") -> Served:
        """A fitted estimator to be served."""
        return cls(model, name, reader_of(model))

    @property
    def classes(self) -> list[Any] | None:
        """The classes of a classifier, outliers and inliers for a model of one class, the tags of a tagger; None for numbers."""
        if isinstance(self.model, Tagger):
            return list(self.model.tags_)
        if hasattr(self.model, "classes_"):
            return list(self.model.classes_.tolist())
        return [-1, 1] if hasattr(self.model, "decision_function") else None

    def description(self) -> dict[str, Any]:
        """The model in JSON values, for `GET /model`."""
        model = self.model
        return {
            "name": self.name,
            "estimator": type(model).__name__,
            "kernel": format_kernel(model.plan_.kernel),
            "classes": self.classes,
            "probabilities": hasattr(model, "predict_proba"),
            "data": self.reader.kind,
            "columns": {name: column.kind for name, column in self.reader.columns.items()} or None,
            "example": self.reader.expected,
            "reading": dict(getattr(model, "reading_", {})),
            "sizes": model.plan_.sizes,
            "report": model.report_.as_dict(),
            "version": treille.__version__,
        }

    def predict(self, values: list[Any]) -> dict[str, list[Any]]:
        """One item per example in each list: labels and scores, or values, or tags."""
        if isinstance(self.model, Tagger):
            return {"tags": self.model.predict(self.reader.read(values)) if values else []}
        if self.classes is None:
            return {"values": self.model.predict(self.reader.read(values)).tolist() if values else []}
        scores = self.model.decision_function(self.reader.read(values)) if values else np.empty(0)
        return self._scored(scores)

    def _scored(self, scores: np.ndarray) -> dict[str, list[Any]]:
        """Labels, scores and probabilities for the outputs of the functions."""
        classes = self.classes or []
        each = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        found = {"labels": [classes[k] for k in best.tolist()], "scores": each.tolist()}
        if hasattr(self.model, "predict_proba"):
            found["probabilities"] = np.exp(log_probabilities(scores)).tolist()
        return found

    def explain(self, values: list[Any], request: ExplainRequest) -> list[dict[str, Any]]:
        """One explanation per example."""
        if not values:
            return []
        if isinstance(self.model, Tagger):
            return self._decisions(values, request)
        label = self.class_named(request.label) if request.has_label else None
        found = self.model.explain_all(self.reader.read(values))
        return [self._explained(each, label, request.html) for each in found]

    def class_named(self, label: Any) -> Any:
        """The class that a request means: as the model has it, or as text; for a regressor, the number of the target."""
        classes = self.classes
        if classes is None or not hasattr(self.model, "classes_"):
            if isinstance(label, int) and classes is None:
                return label
            what = "has no classes" if classes is None else "knows one class only"
            raise InputError(f"the model {what}: leave out 'class'")
        named = {str(value): value for value in classes}
        if not isinstance(label, (str, int, float)) or str(label) not in named:
            raise InputError(f"there is no class {label!r}: the classes are {', '.join(map(repr, classes))}")
        return named[str(label)]

    def _explained(self, found: Explanation, label: Any, html: bool) -> dict[str, Any]:
        function, sign = found.function(label)
        scores = found.scores
        answer: dict[str, Any] = {}
        if self.classes is not None:
            outputs = scores if len(scores) == 1 else scores[None, :]
            answer = {
                name.removesuffix("s") if name == "labels" else name: own[0]
                for name, own in self._scored(outputs).items()
            }
        if found.classes is not None:
            answer["class"] = found.predicted if label is None else label
        answer |= {
            "score": float(sign * scores[function]),
            "intercept": float(sign * found.intercept[function]),
            "base": float(sign * found.base[function]) + 0.0,  # not -0.0
            "parts": found.names,
            "contributions": found.contributions(label).tolist(),
        }
        if found.by_support:
            answer["by_support"] = True
        if found.columns:
            answer["columns"] = [list(column) for column in found.columns]
        return answer | (_highlighted(found, label) if html else {})

    def _decisions(self, values: list[Any], request: ExplainRequest) -> list[dict[str, Any]]:
        """For every token of a sentence, why it gets its tag."""
        if request.has_label:
            raise InputError("a tagger explains the tag that each token gets: leave out 'class'")
        explained = []
        for sentence in self.reader.read(values):
            decisions = self.model.explain(sentence, ALL)
            tokens = [_decision(decision) for decision in decisions]
            html = {"html": highlighted_sentence(decisions)} if request.html else {}
            explained.append({"tags": [decision.tag for decision in decisions], "tokens": tokens} | html)
        return explained


def _highlighted(found: Explanation, label: Any) -> dict[str, Any]:
    """The example as HTML; of a text also its words, or runs of characters, with their contributions."""
    answer: dict[str, Any] = {"html": found.html(label)}
    if found.names and text_of(found) is not None:
        answer["words"] = [list(part) for part in largest(found, label)]
    return answer


def _decision(decision: Any) -> dict[str, Any]:
    return {
        "token": list(decision.token) if isinstance(decision.token, (tuple, list)) else decision.token,
        "tag": decision.tag,
        "score": float(decision.score),
        "intercept": float(decision.intercept),
        "parts": [name for name, _ in decision.shares],
        "contributions": [float(share) for _, share in decision.shares],
    }


SINGULAR = {"labels": "label", "values": "value"}


def one(found: Mapping[str, Sequence[Any]], i: int) -> dict[str, Any]:
    """The answer for one example.

    >>> one({"labels": ["a", "b"], "scores": [[1.0, -1.0], [-2.0, 2.0]]}, 1)
    {'label': 'b', 'scores': [-2.0, 2.0]}
    """
    return {SINGULAR.get(name, name): each[i] for name, each in found.items()}
