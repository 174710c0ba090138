"""The scores by which `treille train --cv` chooses among candidates, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille import InputError
from treille.explain.scores import Scores, area


@dataclass(frozen=True)
class Scoring:
    """A score of held-out examples: of a model, the examples, their labels, and the scores of its predictions."""

    title: str
    value: Callable[[Any, Any, np.ndarray, Scores], float]
    sign: int = 1  # -1 where less is better

    def gain(self, model: Any, X: Any, y: np.ndarray, scores: Scores) -> float:
        """The value, or minus the value, so that more is better."""
        return self.sign * self.value(model, X, y, scores)


def _f1(model: Any, X: Any, y: np.ndarray, scores: Scores) -> float:
    if scores.f1 is None:
        raise InputError(f"f1 is the score of one of two classes, and there are {len(model.classes_)}: use f1_macro")
    return scores.f1


def _area(model: Any, X: Any, y: np.ndarray, scores: Scores) -> float:
    outputs, classes = model.decision_function(X), model.classes_
    columns = {classes[1]: outputs} if outputs.ndim == 1 else dict(zip(classes, outputs.T, strict=True))
    areas = [area(y == name, column, True, False) for name, column in columns.items()]
    known = [each for each in areas if each is not None]
    if not known:
        raise InputError(
            "the held-out examples of a fold are of one class, so that roc_auc is not defined: use fewer folds"
        )
    return float(np.mean(known))


def _log_loss(model: Any, X: Any, y: np.ndarray, scores: Scores) -> float:
    unknown = sorted({*y.tolist()} - {*model.classes_.tolist()})
    if unknown:
        raise InputError(
            f"no training example of a fold is of class {unknown[0]!r}, so that its log_loss is infinite: use fewer folds"
        )
    logs = model.predict_log_proba(X)
    return -float(logs[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean())


SCORINGS = {
    "accuracy": Scoring("accuracy", lambda model, X, y, scores: scores.accuracy),
    "f1": Scoring("F1", _f1),
    "f1_macro": Scoring("macro F1", lambda model, X, y, scores: scores.macro_f1),
    "roc_auc": Scoring("area under the ROC curve", _area),
    "log_loss": Scoring("log loss", _log_loss, sign=-1),
}
