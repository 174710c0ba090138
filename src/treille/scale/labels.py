"""The labels, targets and weights of parts, collected in a few bytes per example."""

from __future__ import annotations

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
    """What the parts so far have of labels and weights. `of_classes` is False for numbers, None where none are needed."""

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
                raise InputError(
                    f"{part.place}: has no labels, and {'they are needed' if not self.n else 'parts before it have'}"
                )
            try:
                values = found(part.y, n)
            except InputError as error:
                raise InputError(f"{part.place}: {error}") from None
            self.labels.append(self._coded(*values, part.place) if self.of_classes else values)
        if bool(self.weights) != (part.sample_weight is not None) and self.n:
            raise InputError(
                f"{part.place}: {'has' if part.sample_weight is not None else 'has no'} sample weights, unlike parts before it"
            )
        if part.sample_weight is not None:
            self.weights.append(np.asarray(part.sample_weight, np.float64))
            if self.weights[-1].shape != (n,):
                raise InputError(f"{part.place}: sample_weight has the shape {self.weights[-1].shape}, expected ({n},)")
        self.n += n

    def _coded(self, classes: np.ndarray, codes: np.ndarray, place: str) -> np.ndarray:
        own = classes.tolist()
        known = next(iter(self.codes), None)
        if own and known is not None and type(own[0]) is not type(known):
            raise InputError(
                f"{place}: has labels such as {own[0]!r}, parts before it such as {known!r}: use labels of one type"
            )
        for label in own:
            self.codes.setdefault(label, len(self.codes))
        return np.array([self.codes[label] for label in own], np.int32)[codes]

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

    def sample_weight(self) -> np.ndarray | None:
        """All weights."""
        return np.concatenate(self.weights) if self.weights else None

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
