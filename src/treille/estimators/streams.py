"""The state of a perceptron on a stream of examples: weights of a growing set of features, or the misclassified examples."""

import sys
from abc import ABC, abstractmethod
from copy import copy
from typing import Any, ClassVar

import numpy as np

from treille import _core
from treille.data import Batch
from treille.features import FeatureMap, MergingMap, represent
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels import Centered, Conjunctions, Kernel, Precomputed, Weighted
from treille.kernels.base import operands
from treille.kernels.product_features import ProductKernel
from treille.spaces.functions import DecisionFunctions, KernelFunctions, LinearFunctions

NOTHING = np.empty(0, np.int64), 0.0
UNSEEN, EARLIER = -1, -2  # for the step of a class's first example: none so far, one before the stream


class Stream(ABC):
    """One perceptron per class against the rest, after one pass over the examples so far, in their order.

    Column k of w and b is the current function of class k. Its mean over all steps is w - late / steps, with b - late_b / steps:
    see core/solve/perceptron.hpp. A class whose first example comes late has learned nothing from the examples before it,
    since w = 0 and b = 0 classify those correctly; so its column may as well be added when it comes.

    w and `late` have one row per feature or example, and memory for half as many again, so that a few new ones do not move all.
    They are changed in place: `changed` has the rows that the last call changed and their values before it, for `undo`.
    """

    block: ClassVar[int]  # how many examples are learned from at a time

    def __init__(self, kernel: Kernel, bias: bool, n_jobs: int | None):
        self.kernel, self.bias, self.n_jobs = kernel, float(bias), n_jobs
        self.steps, self.right, self.radius, self.seconds = 0, 0, 0.0, 0.0
        self.b, self.late_b, self.sums = np.zeros(0), np.zeros(0), np.zeros(0)  # sums: of alpha
        self.largest, self.sq_norms = np.zeros(0), np.zeros(0)  # output of each class, and |w|^2
        self.mistakes = np.zeros(0, np.int64)
        self.begins = np.zeros(0, np.int64)  # the step of each class's first example
        self.buffer, self.n_rows = np.zeros((2, 0, 0)), 0
        self.changed: tuple[np.ndarray, Any] = NOTHING

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.b)

    @property
    def memory(self) -> np.ndarray:
        """w and `late`."""
        return self.buffer[:, : self.n_rows]

    def _keep(self, memory: np.ndarray) -> None:
        """Replaces w and `late`."""
        self.buffer, self.n_rows = memory, memory.shape[1]

    def _reserve(self, places: np.ndarray, n_rows: int) -> None:
        """Reserves memory for this many rows. Existing rows move to `places`, which change only if the kernel is a sum."""
        if n_rows > self.buffer.shape[1] or not np.array_equal(places, np.arange(len(places))):
            buffer = np.zeros((2, n_rows + n_rows // 2, self.n_classes))
            buffer[:, places] = self.memory
            self.buffer = buffer
        else:
            self.buffer[:, self.n_rows : n_rows] = 0.0  # a call that was taken back may have used them
        self.n_rows = n_rows

    @abstractmethod
    def learn_block(self, batch: Batch, options: dict[str, Any]) -> _core.Mistakes:
        """One pass over the examples; the caller keeps the intercepts."""

    @abstractmethod
    def functions(self, averaged: bool) -> DecisionFunctions:
        """The functions of the classes; for two classes, one: the function of the second minus the first."""

    @abstractmethod
    def norms(self) -> np.ndarray:
        """|(w, b)| of each class."""

    def copied(self) -> "Stream":
        """Returns a copy that may learn. If learning fails, `undo` of the copy restores this stream."""
        other = copy(self)
        other.changed = NOTHING
        return other

    def undo(self) -> None:
        """Takes back what was learned since `copied`, where the two streams share memory."""
        rows, before = self.changed
        self.buffer[:, rows] = before

    def with_classes(self, columns: np.ndarray, n_classes: int) -> None:
        """Gives class k the column ``columns[k]``; the other columns belong to new classes."""

        def widened(values: np.ndarray, fill: float = 0) -> np.ndarray:
            wide = np.full((*values.shape[:-1], n_classes), fill, values.dtype)
            wide[..., columns] = values
            return wide

        self._keep(widened(self.memory))
        self.b, self.late_b, self.sums = widened(self.b), widened(self.late_b), widened(self.sums)
        self.largest, self.sq_norms = widened(self.largest), widened(self.sq_norms)
        self.mistakes, self.begins = widened(self.mistakes), widened(self.begins, UNSEEN)

    def begin_at(self, functions: DecisionFunctions, n_classes: int) -> None:
        """Begins with the functions of a model. The mean is over the steps from here on."""
        w, b = self._read(functions), functions.intercept
        if n_classes == 2:  # one function, which is the difference of two
            w, b = np.hstack([-w, w]) / 2, np.concatenate([-b, b]) / 2
        self._keep(np.stack([w, np.zeros_like(w)]))
        self.b, self.late_b = b, np.zeros_like(b)
        self.sums = np.full(n_classes, np.nan)  # they are unknown
        self.largest, self.sq_norms = np.zeros((2, n_classes))
        self.mistakes, self.begins = np.zeros(n_classes, np.int64), np.full(n_classes, EARLIER)

    @abstractmethod
    def _read(self, functions: DecisionFunctions) -> np.ndarray:
        """Reads the weights or coefficients of a model, and the features or examples they belong to."""

    def learn(self, batch: Batch, codes: np.ndarray, C: np.ndarray) -> None:
        """One pass over examples with the classes `codes`; an example with C = 0 is left out."""
        batch, codes, C = (batch, codes, C) if (C > 0).all() else (batch[C > 0], codes[C > 0], C[C > 0])
        for start in range(0, len(batch), self.block):
            block = slice(start, start + self.block)
            self._learn(batch[block], codes[block], C[block])

    def _learn(self, batch: Batch, codes: np.ndarray, C: np.ndarray) -> None:
        n, K = len(batch), self.n_classes
        options: dict[str, Any] = {
            "labels": codes,
            "classes": np.arange(K, dtype=np.int32),
            "C": C,
            "largest": self.largest,
            "bias": self.bias,
            "max_epochs": 1,
            "shuffle": False,
            "seed": 0,
            "threads": effective_n_jobs(self.n_jobs),
            "watch": (lambda done, epochs, share: None, np.inf),
        }
        answers = self.learn_block(batch, options)
        y = np.where(codes == np.arange(K)[:, None], 1.0, -1.0)
        alpha, late = self._by_class(answers, n)
        # Arrays are replaced, not changed, so that a copy of the stream is independent of it; see `undo` for the weights.
        self.b = self.b + self.bias * (y * alpha).sum(axis=1)
        self.late_b = self.late_b + self.bias * (y * late).sum(axis=1)
        self.sums, self.largest = self.sums + alpha.sum(axis=1), answers.largest
        self.mistakes = self.mistakes + np.array([sum(each) for each in answers.mistakes], np.int64)
        first = np.array([self.steps + int(np.argmax(here)) if here.any() else UNSEEN for here in y > 0])
        self.begins = np.where(self.begins == UNSEEN, first, self.begins)
        begins, now = self.begins[:, None], self.steps + np.arange(n)
        known = (begins != UNSEEN) & (begins < now)  # no class is predicted before it was seen
        predicted = np.where(known, answers.outputs.reshape(K, n), -np.inf).argmax(axis=0)
        self.right += int((known.any(axis=0) & (predicted == codes)).sum())
        self.steps += n

    def _by_class(self, answers: _core.Mistakes, n: int) -> tuple[np.ndarray, np.ndarray]:
        """alpha and `late` of the new examples: one row per class."""
        alpha = answers.alpha.reshape(self.n_classes, n)
        return alpha, answers.late.reshape(self.n_classes, n) + self.steps * alpha

    def _new_coefficients(self, answers: _core.Mistakes, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients of the new examples in w and in `late`: one row per example."""
        y = np.where(codes[:, None] == np.arange(self.n_classes), 1.0, -1.0)
        alpha, late = self._by_class(answers, len(codes))
        return np.ascontiguousarray(y * alpha.T), np.ascontiguousarray(y * late.T)

    def _final(self, averaged: bool) -> tuple[np.ndarray, np.ndarray]:
        (w, late), b = self.memory, self.b
        if averaged and self.steps:
            mean = late / -self.steps
            mean += w  # in place: there may be millions
            w, b = mean, b - self.late_b / self.steps
        else:
            w = w.copy()
        return (w[:, 1:] - w[:, :1], b[1:] - b[:1]) if self.n_classes == 2 else (w, b)


class FeatureStream(Stream):
    """Weights of features. New features are added to the map and have had the weight 0."""

    block = sys.maxsize
    features: FeatureMap | None = None

    def _read(self, functions: DecisionFunctions) -> np.ndarray:
        assert isinstance(functions, LinearFunctions)
        self.features = functions.features
        return functions.weights

    def learn_block(self, batch: Batch, options: dict[str, Any]) -> _core.Mistakes:
        own, rows = self.kernel.fit_features(batch, self.n_jobs)
        if self.features is None:
            self.features, before, ids = own, np.empty(0, np.int64), np.arange(own.n_features)
        else:
            self.features, before, ids = having(self.features, MergingMap).merge(own)
        self._reserve(before, self.features.n_features)
        threads, known = effective_n_jobs(self.n_jobs), self.buffer[:, ids]
        outputs = np.ascontiguousarray((rows.matvec(known[0], threads) + self.bias * self.b).T)
        represented = represent(own, rows, "auto", self.n_classes, self.n_jobs)
        answers = _core.perceptron(rows=represented.core, before=outputs.ravel(), **options)
        alpha, lack = self._new_coefficients(answers, options["labels"])
        self.changed = ids, known
        self.buffer[:, ids] = known + np.stack([rows.rmatvec(alpha, threads), rows.rmatvec(lack, threads)])
        self.radius = max(self.radius, float(np.sqrt(rows.diag().max(initial=0.0) + self.bias)))
        return answers

    def functions(self, averaged: bool) -> DecisionFunctions:
        assert self.features is not None
        return LinearFunctions(self.features, *self._final(averaged))

    def norms(self) -> np.ndarray:
        w = self.memory[0]
        return np.sqrt(np.einsum("fk,fk->k", w, w) + np.square(self.b))


class ExampleStream(Stream):
    """Coefficients of the misclassified examples, for kernels with too many features, or whose set of features cannot grow."""

    block = 1000  # of which a kernel matrix is computed

    examples: tuple[Any, ...] = ()

    def _read(self, functions: DecisionFunctions) -> np.ndarray:
        assert isinstance(functions, KernelFunctions)
        self.examples = tuple(functions.support)
        return functions.coefficients

    def begin_at(self, functions: DecisionFunctions, n_classes: int) -> None:
        super().begin_at(functions, n_classes)
        self.sq_norms = (self.memory[0] * self._values(self._support())).sum(axis=0)

    def learn_block(self, batch: Batch, options: dict[str, Any]) -> _core.Mistakes:
        K = self.kernel.gram(batch, None, self.n_jobs)
        before = self._values(batch) if self.examples else np.zeros((len(batch), self.n_classes))
        shifted = np.ascontiguousarray((before + self.bias * self.b).T)
        answers = _core.perceptron(rows=np.ascontiguousarray(K).ravel(), before=shifted.ravel(), **options)
        alpha, lack = self._new_coefficients(answers, options["labels"])
        kept = np.flatnonzero(alpha.any(axis=1))
        self.sq_norms = self.sq_norms + (alpha * (2 * before + K @ alpha)).sum(axis=0)
        known, self.examples = self.n_rows, (*self.examples, *(batch[int(i)] for i in kept))
        self._reserve(np.arange(known), known + len(kept))
        self.buffer[:, known : self.n_rows] = alpha[kept], lack[kept]
        self.radius = max(self.radius, float(np.sqrt(K.diagonal().max(initial=0.0) + self.bias)))
        return answers

    def _values(self, batch: Batch) -> np.ndarray:
        """The values of the functions so far, without the intercept."""
        return self.kernel.expansion(self._support(), self.memory[0], self.n_jobs).values(batch, self.n_jobs)

    def _support(self) -> Batch:
        return self.kernel.batch(list(self.examples), self.n_jobs)

    def functions(self, averaged: bool) -> DecisionFunctions:
        coefficients, intercept = self._final(averaged)
        return KernelFunctions.of(self.kernel, self._support(), coefficients, intercept)

    def norms(self) -> np.ndarray:
        return np.sqrt(np.maximum(0.0, self.sq_norms) + np.square(self.b))


def stream_of(kernel: Kernel, batch: Batch, bias: bool, n_jobs: int | None, model: Any = None) -> Stream:
    """Begins a stream, empty or from a model: with weights if the kernel's features can grow, otherwise with examples."""
    if isinstance(kernel, Precomputed):
        raise InputError(
            "partial_fit needs kernel values of any two examples, which a precomputed kernel does not have"
        )
    if kernel.needs_features:
        raise InputError(
            f"{kernel!r} depends on all training examples, and partial_fit has some of them at a time: leave out .weighted() and "
            f".centered(), as in {as_streamed(kernel)!r}, or use fit"
        )
    first = batch[:1]  # the choice may not depend on how the stream is divided
    if model is None:
        linear = not _multiplies_features(kernel) and kernel.prefers_features(first, n_jobs)
    else:
        linear = isinstance(model.functions_, LinearFunctions)
    merges = linear and _merges(kernel.fit_features(first, n_jobs)[0])
    if linear and not merges and model is not None:
        raise InputError(
            f"the model has weights of the features of {kernel!r}, which cannot be added to, since they depend on all examples or "
            "their map does not merge: begin with a new Perceptron, which keeps examples for such kernels"
        )
    stream = (FeatureStream if merges else ExampleStream)(kernel, bias, n_jobs)
    if model is not None:
        stream.begin_at(model.functions_, len(model.classes_))
    return stream


def _multiplies_features(kernel: Kernel) -> bool:
    """Returns whether an example has very many features, products of others: then the examples with mistakes take less memory."""
    return isinstance(kernel, (ProductKernel, Conjunctions)) or any(map(_multiplies_features, operands(kernel)))


def _merges(features: FeatureMap) -> bool:
    try:
        having(features, MergingMap).merge(features)
    except InputError:
        return False
    return True


def as_streamed(kernel: Kernel) -> Kernel:
    """The kernel without weights and means of features that depend on all training examples.

    >>> from treille.kernels import NGram
    >>> as_streamed(NGram(2).weighted("idf").normalized())
    NGram(n=2).normalized()
    """
    if isinstance(kernel, (Weighted, Centered)):
        return as_streamed(kernel.kernel)

    def streamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: streamed(each) for name, each in value.items()}
        return as_streamed(value) if isinstance(value, Kernel) else value

    return type(kernel)(**{name: streamed(value) for name, value in kernel.get_params(deep=False).items()})
