"""Scores of predictions, as reports, `train` and `evaluate` show them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from treille.data.format import class_counts, count, listed, visible_label
from treille.io.errors import InputError

AFFIRMATIVE = ("1", "+1", "+", "true", "yes", "positive")  # labels of the class of interest, in any case


@dataclass(frozen=True)
class ClassScores:
    """Precision, recall and F1 of one class, and how many examples have it."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Scores:
    """Scores of predictions against the truth. `positive` is the class of interest of two."""

    accuracy: float
    macro_f1: float
    micro_f1: float
    positive: str | None
    per_class: dict[str, ClassScores]
    confusion: list[list[int]]
    auc: float | None = None

    @property
    def f1(self) -> float | None:
        """F1 of the positive class; 0 if it is neither true nor predicted."""
        if self.positive is None:
            return None
        return self.per_class[self.positive].f1 if self.positive in self.per_class else 0.0

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "f1": self.f1}


def positive_class(classes: Sequence[str], wanted: str | None = None) -> str | None:
    """The class of interest of two, whatever the examples: `wanted`; otherwise X of X and `not X`; otherwise the last one that is
    1, +, true, yes or positive; otherwise the last, as classes are sorted. None for more than two.

    >>> [positive_class(pair) for pair in (["acq", "not acq"], ["+", "-"], ["False", "True"], ["ham", "spam"])]
    ['acq', '+', 'True', 'spam']
    >>> positive_class(["ham", "spam"], "ham")
    'ham'
    """
    if wanted is not None and (len(classes) != 2 or wanted not in classes):
        found = (
            f"the classes are {listed([visible_label(name) for name in classes], 5)}" if classes else "there are none"
        )
        raise InputError(f"{wanted!r} cannot be the positive class, expected one of two classes: {found}")
    if wanted is not None or len(classes) != 2:
        return wanted
    for one, other in (classes, classes[::-1]):
        if other == f"not {one}":
            return one
    return next((name for name in reversed(classes) if name.lower() in AFFIRMATIVE), classes[-1])


def measure(truth: Sequence[str], predicted: Sequence[str], positive: str | None = None) -> Scores:
    """Scores as scikit-learn defines them, over the classes that are true or predicted somewhere.

    >>> scores = measure(["a", "b", "b"], ["a", "b", "a"], positive="b")
    >>> round(scores.accuracy, 3), round(scores.macro_f1, 3), round(scores.f1, 3), scores.confusion
    (0.667, 0.667, 0.667, [[1, 0], [1, 1]])
    """
    return measure_pairs(Counter(zip(truth, predicted, strict=True)), positive)


def measure_pairs(pairs: Mapping[tuple[str, str], int], positive: str | None = None) -> Scores:
    """Computes the scores of `measure` from how often each label was predicted for each true one.

    >>> measure_pairs({("a", "a"): 1, ("b", "b"): 1, ("b", "a"): 1}).confusion
    [[1, 0], [1, 1]]
    """
    counts = Counter(pairs)
    classes = sorted({label for pair in counts for label in pair})
    truth, predicted = zip(*counts, strict=True)
    weights = list(counts.values())
    columns = precision_recall_fscore_support(truth, predicted, labels=classes, sample_weight=weights, zero_division=0)
    accuracy = sum(n for (true, guess), n in counts.items() if true == guess) / sum(weights)
    per_class = {
        label: ClassScores(float(p), float(r), float(f), int(s))
        for label, p, r, f, s in zip(classes, *columns, strict=True)
    }
    confusion = [[counts[true, guess] for guess in classes] for true in classes]
    return Scores(accuracy, float(columns[2].mean()), accuracy, positive, per_class, confusion)


def area(truth: Sequence[Any] | np.ndarray, scores: np.ndarray, positive: Any, negative: Any) -> float | None:
    """Area under the ROC curve of the positive class's scores, over the examples of the two classes."""
    known = np.isin(truth, [positive, negative])
    is_positive = np.asarray(truth)[known] == positive
    if is_positive.all() or not is_positive.any():
        return None
    return float(roc_auc_score(is_positive, scores[known]))


def refuse_unknown_labels(names: Sequence[str], truth: Iterable[str] | Mapping[str, int], source: str) -> None:
    """Refuses examples with labels that are none of the classes of a model: they could only be counted as errors.

    `truth` holds the labels of all examples, or how often each occurs.

    >>> refuse_unknown_labels(["ham", "spam"], ["ham", "eggs"], "mail.csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treille.io.errors.InputError: mail.csv: 1 example has a label that the model does not know, eggs (1); it knows ham, spam. ...
    """
    counts = Counter(truth)
    unknown = class_counts({label: n for label, n in counts.items() if label not in names})
    if not unknown:
        return
    n, known = sum(unknown.values()), listed([visible_label(name) for name in names], 5)
    found = listed([f"{visible_label(label)} ({n:,})" for label, n in unknown.items()], 5)
    if n == counts.total():
        what = f"the model knows none of its labels, {found}"
    else:
        have = "has a label" if n == 1 else "have labels"
        what = f"{count(n, 'example')} {have} that the model does not know, {found}"
    raise InputError(
        f"{source}: {what}; it knows {known}. Give labels as for training, by --label, by --labels FILE or by a file per class, or "
        "leave these examples out"
    )


def summary(folds: Sequence[Scores]) -> dict[str, dict[str, float]]:
    """Mean and, over several folds, standard deviation of each score."""
    names = ["accuracy", "macro_f1"] + ["f1"] * (folds[0].positive is not None)
    values = {name: np.array([getattr(scores, name) for scores in folds]) for name in names}
    several = len(folds) > 1
    return {
        name: {"mean": float(v.mean())} | ({"spread": float(v.std(ddof=1))} if several else {})
        for name, v in values.items()
    }


def describe(summed: dict[str, dict[str, float]], positive: str | None) -> str:
    """A summary in a line.

    >>> describe({"accuracy": {"mean": 0.95, "spread": 0.01}, "f1": {"mean": 0.9, "spread": 0.02}}, "spam")
    "accuracy 0.9500 ± 0.0100, F1 of 'spam' 0.9000 ± 0.0200"
    """
    names = {"accuracy": "accuracy", "macro_f1": "macro F1", "f1": f"F1 of {positive!r}"}
    spreads = {name: f" ± {v['spread']:.4f}" if "spread" in v else "" for name, v in summed.items()}
    return ", ".join(f"{names[name]} {v['mean']:.4f}{spreads[name]}" for name, v in summed.items())
