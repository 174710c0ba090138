"""The labels, targets and weights of parts, collected in a few bytes per example."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.io.errors import InputError
from treille.scale.parts import Part


@dataclass(frozen=True)
class CodedLabels:
    """Labels as estimators take them, without a copy of each: the sorted classes, and the class of every example."""

    classes: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)


class Collected:
    """The labels and weights of the parts so far. `of_classes` is False for numbers, None where labels are not needed."""

    def __init__(self, of_classes: bool | None):
        self.of_classes = of_classes
        self.codes: dict[Any, int] = {}
        self.labels: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []
        self.n = 0

    def add(self, part: Part, n: int, found: Any) -> None:
        """Adds n examples; ``found(y, n)`` validates their labels, and returns classes and codes, or numbers."""
        if self.of_classes is not None:
            if part.y is None:
                raise InputError(f"has no labels, {'as parts before it have' if self.n else 'which training needs'}")
            values = found(part.y, n)
            self.labels.append(self._coded(*values) if self.of_classes else self._like_before(values))
        if bool(self.weights) != (part.sample_weight is not None) and self.n:
            has = "sample weights" if part.sample_weight is not None else "no sample weights"
            raise InputError(f"has {has}, unlike parts before it")
        if part.sample_weight is not None:
            self.weights.append(_checked_weights(part.sample_weight, n))
        self.n += n

    def _coded(self, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
        own = classes.tolist()
        known = next(iter(self.codes), None)
        if own and known is not None and type(own[0]) is not type(known):
            raise InputError(
                f"has labels such as {own[0]!r}, parts before it such as {known!r}: use labels of one type"
            )
        for label in own:
            self.codes.setdefault(label, len(self.codes))
        return np.array([self.codes[label] for label in own], np.int32)[codes]

    def _like_before(self, numbers: np.ndarray) -> np.ndarray:
        if self.labels and numbers.shape[1:] != self.labels[0].shape[1:]:
            before = self.labels[0].shape[1:] or "one number per example"
            raise InputError(
                f"has targets of the shape {numbers.shape}, parts before it {before}: use the same number of targets in all parts"
            )
        return numbers

    @property
    def n_functions(self) -> int:
        """How many functions will be learned, as far as is known."""
        if not self.of_classes:
            return 1 if not self.labels or self.labels[0].ndim == 1 else self.labels[0].shape[1]
        return len(self.codes) if len(self.codes) > 2 else 1

    def y(self) -> CodedLabels | np.ndarray | None:
        """All labels, or numbers."""
        if not self.labels:
            return None
        joined = np.concatenate(self.labels)
        if not self.of_classes:
            return joined
        classes, places = np.unique(np.array(list(self.codes)), return_inverse=True)
        return CodedLabels(classes, places.astype(np.int32)[joined])

    def class_counts(self) -> dict[Any, int]:
        """How many examples there are of each class, most frequent ones first."""
        if not self.of_classes:
            return {}
        counts = np.bincount(np.concatenate([np.zeros(0, np.int32), *self.labels]), minlength=len(self.codes)).tolist()
        return dict(sorted(zip(self.codes, counts, strict=True), key=lambda pair: -pair[1]))

    def sample_weight(self) -> np.ndarray:
        """All weights; 1 for each example where none are given."""
        return np.concatenate(self.weights) if self.weights else np.ones(self.n)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """For a checkpoint: JSON values, and arrays."""
        arrays = {"labels": np.concatenate(self.labels)} if self.labels else {}
        arrays |= {"weights": np.concatenate(self.weights)} if self.weights else {}
        return {"classes": list(self.codes), "n": self.n}, arrays

    def restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `state`."""
        self.codes, self.n = {label: code for code, label in enumerate(spec["classes"])}, spec["n"]
        self.labels = [arrays["labels"]] if "labels" in arrays else []
        self.weights = [arrays["weights"]] if "weights" in arrays else []


def _checked_weights(sample_weight: Any, n: int) -> np.ndarray:
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight holds something that is not a number") from None
    if weights.shape != (n,):
        raise InputError(f"sample_weight has the shape {weights.shape}, expected ({n},)")
    for i in np.flatnonzero(~(weights >= 0) | np.isinf(weights)):
        raise InputError(f"sample_weight[{i}] is {weights[i]}, expected a number of at least 0")
    return weights
