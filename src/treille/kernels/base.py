"""The complete contract of kernels. A new kernel takes one module and one line in ``__init__.py``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treille.automata import Fst
from treille.data.base import available_memory, readable_size
from treille.features import FeatureMap, FeatureRows, MatrixRows
from treille.features.abilities import having
from treille.io import stored
from treille.io.errors import InputError
from treille.io.machine import MachineParts
from treille.io.packed import PackedExamples
from treille.io.parameters import effective_n_jobs
from treille.kernels.reading import Reads, refuse_other_kinds
from treille.registry import registered_name, require
from treille.scikit_learn import BaseEstimator

if TYPE_CHECKING:
    from treille.kernels.balanced import Balanced
    from treille.kernels.centered import Centered
    from treille.kernels.expansion import Expansion
    from treille.kernels.fitting import KnownFeatures
    from treille.kernels.normalized import Normalized
    from treille.kernels.weighted import Weighted

FORMER_NAMES = {  # of parameters, in model files of earlier versions
    "NGram": {"weights": "order_weights"},
    "GappedKmer": {"weights": "filter"},
    "Columns": {"weights": "column_weights"},
}
ARC = (int, int, int, float, int)  # of a machine in a model file: source, labels, weight, target
FINAL = (int, float)
STATE = 1000  # bytes of a state of a machine, at most, in the operations on it
Fitted = tuple[FeatureMap, FeatureRows]  # what `fit_features` returns
SUM, PRODUCT, POWER, NAME = range(1, 5)  # precedence of operators, as in Python


class LinearOperator(ABC):
    """The kernel matrix of one batch as a linear operator, never written out."""

    @abstractmethod
    def matvec(self, beta: np.ndarray) -> np.ndarray:
        """``K @ beta``, for a vector with one entry per example or a matrix with one row per example."""

    @abstractmethod
    def sizes(self) -> str:
        """A readable summary of its size."""


class Kernel(BaseEstimator, ABC):
    """A positive semi-definite similarity of structured examples.

    Parameters follow scikit-learn's conventions (``get_params``, ``set_params``, ``clone``) and are checked by `check`. A subclass
    declares what it `reads`, and implements at least one of two pairs: `fit_features` and `load_features` if it has explicit
    features; `gram` and `diagonal` if it has none, or computes the kernel matrix faster than by multiplying features.
    `fit_product` is for kernels that multiply their matrix by a vector faster than they write it out.

    >>> from treille.kernels import NGram
    >>> NGram(2)(["abab", "ba"], ["ab"]).tolist()
    [[2.0], [0.0]]
    """

    always_printed: ClassVar[int] = 1  # how many parameters are printed even with their default values: the first ones
    binds = NAME  # the precedence of the operator that a kernel is shown with

    def __repr__(self) -> str:
        """Like scikit-learn's, but always with the first parameters, see `always_printed`: ``NGram(n=5)``."""
        parameters = [p for p in signature(type(self)).parameters.values() if p.kind is not p.VAR_KEYWORD]
        first = {p.name for p in parameters[: self.always_printed]}

        def is_default(name: str, default: Any) -> bool:
            value = getattr(self, name)
            return value is default or (isinstance(value, (str, int, float)) and value == default)

        shown = [p.name for p in parameters if p.name in first or not is_default(p.name, p.default)]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    @abstractmethod
    def reads(self) -> Reads:
        """The kinds of data that this kernel reads, and units of texts. A class attribute if parameters do not matter."""

    def batch(self, X: Any, n_jobs: int | None = None) -> Any:
        """`X` as a batch that this kernel reads. Raises an `InputError` for bad input."""
        kinds = self.reads.kinds
        if isinstance(X, PackedExamples) and not isinstance(X, kinds):
            refuse_other_kinds(X, kinds[0])
        return X if isinstance(X, kinds) else kinds[0].of(X, n_jobs)

    def check(self) -> None:
        """Raises an `InputError` if a parameter is out of its range; called before any work is done."""

    @property
    def has_features(self) -> bool:
        """Whether there are explicit features, so that the cost of training grows with the data, not with its square."""
        return type(self).fit_features is not Kernel.fit_features

    @property
    def needs_features(self) -> bool:
        """Whether k between two sets of examples is defined only by features fitted on one of them, as for centred kernels."""
        return any(kernel.needs_features for kernel in operands(self))

    @property
    def limits_rows(self) -> bool:
        """Whether `fit_features` itself keeps the rows within the memory, or needs all examples, so that some are not measured
        before."""
        return self.needs_features

    @property
    def needs_labels(self) -> bool:
        """Whether the features depend on the labels of the training examples; by default, if the features of a kernel inside do."""
        return any(kernel.needs_labels for kernel in operands(self))

    def prefers_features(self, batch: Any, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        """Returns whether explicit features of `batch` cost less than its kernel matrix.

        True for all kernels with features except products and powers, which may have very many. Only the cost depends on it.
        Features that are computed to decide it are added to `known`.
        """
        return self.has_features

    def fit_features(self, batch: Any, n_jobs: int | None = None) -> Fitted:
        """The features of `batch`, frozen, and its rows, see `treille.features.Rows.from_csr`."""
        raise InputError(f"{self!r} has no explicit features: use its matrix, kernel(X, Y)")

    def check_parts(self) -> None:
        """Raises an `InputError` if the features of parts of the data do not determine the features of all.

        >>> from treille.kernels import NGram
        >>> NGram(2).normalized().check_parts()
        >>> NGram(2).centered().check_parts()
        Traceback (most recent call last):
            ...
        treille.io.errors.InputError: no feature of NGram(n=2).centered() is 0, so its rows are not kept on disk, as for data in \
parts: leave out .centered()
        """
        if not self.has_features:
            raise InputError(
                f"{self!r} has no explicit features, so it cannot be trained on data in parts: use a kernel that has, such as "
                "NGram for texts, RootPaths or SubTree for trees, WeisfeilerLehman for graphs"
            )
        if self.needs_features or any(kernel.needs_features for kernel in operands(self)):
            raise InputError(
                f"the features of {self!r} depend on all examples at once, so they cannot be found in parts of the data: leave "
                "out what depends on all, such as .weighted() of a factor"
            )
        for kernel in operands(self):
            kernel.check_parts()

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        """The inverse of ``FeatureMap.state``."""
        raise InputError(f"{self!r} has no explicit features")

    def multiplies(self, batch: Any) -> bool:
        """Returns whether `fit_product` supports this batch: multiplying its kernel matrix takes time that grows with the data, not
        with its square."""
        return type(self).fit_product is not Kernel.fit_product

    def fit_product(self, batch: Any, n_jobs: int | None = None) -> LinearOperator:
        """The kernel matrix of `batch` as a linear operator: built once, then applied any number of times."""
        raise InputError(f"{self!r} has no fast product: use its matrix, kernel(X, Y)")

    def gram(self, left: Any, right: Any = None, n_jobs: int | None = None) -> np.ndarray:
        """The float64 kernel matrix of two batches; `right` None: of `left` with itself, exactly symmetric.

        Where k depends on the training examples, see `needs_features`, these are `right`.
        """
        threads = effective_n_jobs(n_jobs)
        if right is not None and self.needs_features:
            features, rows = self.fit_features(right, n_jobs)
            return having(features.transform(left, n_jobs), MatrixRows).gram(rows, threads)
        features, rows = self.fit_features(left, n_jobs)
        return having(rows, MatrixRows).gram(None if right is None else features.transform(right, n_jobs), threads)

    def diagonal(self, batch: Any, n_jobs: int | None = None) -> np.ndarray:
        """k(x, x) of every example of a batch."""
        return self.fit_features(batch, n_jobs)[1].diag()

    def expansion(self, support: Any, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        """The functions f_j(x) = sum over i of coefficients[i, j] k(x, support[i]): built once, then applied to any batch."""
        from treille.kernels.expansion import expand

        return expand(self, support, coefficients, n_jobs)

    def _shares(self, batch: Any, support: Any, coefficients: np.ndarray, threads: int) -> np.ndarray | None:
        """The contribution of each part of the examples to an expansion, one row per part; None: not defined by part."""
        return None

    def __call__(self, X: Any, Y: Any = None, n_jobs: int | None = None) -> np.ndarray:
        """The matrix of k(x, y), one row per example of X, one column per example of Y (Y None: of X).

        Where k depends on the training examples, as for weighted kernels, these are Y: ``kernel(X_test, X_train)``.
        """
        self.check()
        left = self.batch(X, n_jobs)
        right = None if Y is None else self.batch(Y, n_jobs)
        check_memory(len(left), len(left if right is None else right))
        return check_finite(self, self.gram(left, right, n_jobs))

    def diag(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """k(x, x) of every example."""
        self.check()
        return check_finite(self, self.diagonal(self.batch(X, n_jobs), n_jobs))

    def weighted(self, weights: str | Mapping[str, float] = "idf", missing: float = 1.0) -> Weighted:
        """The kernel with every feature multiplied by a weight: "idf", "nb", or a mapping of names to weights.

        "idf" is the inverse document frequency over the training examples, "nb" the log ratio of class frequencies, which needs
        labels; features that are missing in a mapping have the weight `missing`. See `treille.kernels.Weighted`.
        """
        from treille.kernels.weighted import Weighted

        return Weighted(self, weights, missing)

    def balanced(self) -> Balanced:
        """The kernel with every order of n-grams, and every term of a sum, normalised by itself, then summed and normalised."""
        from treille.kernels.balanced import Balanced

        return Balanced(self)

    def normalized(self) -> Normalized:
        """The kernel k(x, y) / sqrt(k(x, x) k(y, y)): the cosine of the angle between examples."""
        from treille.kernels.normalized import Normalized

        return Normalized(self)

    def centered(self) -> Centered:
        """The kernel whose features have mean 0 over the training examples."""
        from treille.kernels.centered import Centered

        return Centered(self)

    __array_ufunc__ = None  # so that numpy leaves the product of a number and a kernel to the kernel

    def __add__(self, other: Any) -> Kernel:
        from treille.kernels.algebra import Constant, Sum

        if _is_number(other):
            return self if other == 0 else Sum(self, Constant(plain(other)))
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        from treille.kernels.algebra import Constant, Sum

        if not _is_number(other):
            return NotImplemented
        return self if other == 0 else Sum(Constant(plain(other)), self)  # sum([k1, k2]) begins with 0

    def __mul__(self, other: Any) -> Kernel:
        from treille.kernels.algebra import Product, Scaled

        if _is_number(other):
            return Scaled(plain(other), self)
        return Product(self, other) if isinstance(other, Kernel) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return self * other if _is_number(other) else NotImplemented

    def __pow__(self, degree: Any) -> Kernel:
        from treille.kernels.algebra import Power

        return Power(self, plain(degree)) if _is_number(degree) else NotImplemented

    def spec(self) -> dict[str, Any]:
        """Name and parameters as JSON values, nested kernels included; `from_spec` is the inverse.

        Raises an `InputError` for a kernel that `from_spec` could not find by its name.
        """
        params: dict[str, Any] = {}
        for name, value in self.get_params(deep=False).items():
            if callable(value) and not isinstance(value, (Kernel, Fst)):
                raise InputError(
                    f"{type(self).__name__}({name}=...) is a function, which a model file cannot hold: "
                    "cut the texts yourself and train on lists of tokens"
                )
            params[name] = plain(value)
        return {"kernel": registered_name("kernels", self), "params": params}

    @staticmethod
    def from_spec(spec: dict[str, Any]) -> Kernel:
        """The kernel that `spec` describes.

        >>> from treille.kernels import Kernel, NGram
        >>> Kernel.from_spec(NGram(3).normalized().spec())
        NGram(n=3).normalized()
        """
        stored.check_depth(spec)
        return _from_spec(spec)


def operands(kernel: Kernel) -> list[Kernel]:
    """The kernels among the parameters of a kernel.

    >>> from treille.kernels import NGram
    >>> operands(0.5 * NGram(2) + NGram(1))
    [0.5 * NGram(n=2), NGram(n=1)]
    """
    params = kernel.get_params(deep=False).values()
    values = chain.from_iterable(v.values() if isinstance(v, dict) else (v,) for v in params)
    return [value for value in values if isinstance(value, Kernel)]


def _from_spec(spec: dict[str, Any]) -> Kernel:
    name = stored.value(spec, "kernel", object)
    cls = require("kernels", name)
    former = FORMER_NAMES.get(name, {})
    params = {former.get(key, key): _read(value) for key, value in stored.value(spec, "params", dict).items()}
    try:
        kernel: Kernel = cls(**params)
    except TypeError as error:
        raise InputError(f"the kernel {name!r} does not take these parameters: {error}") from None
    return kernel


def check_finite(kernel: Kernel, values: np.ndarray) -> np.ndarray:
    """The values of a kernel, refused if one is not a finite number."""
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():  # the sum is fast, but may overflow itself
        where = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"{kernel!r} of {'examples' if len(where) > 1 else 'example'} {' and '.join(map(str, where))} is "
            f"{values[tuple(where)]}, too large for a float64: use a smaller degree, decay or scale, or a normalized kernel"
        )
    return values


def changeable(values: np.ndarray) -> np.ndarray:
    """The values as an array that may be changed in place: a copy of one that is read-only or not of float64."""
    return np.require(values, np.float64, "W")


def check_memory(n_rows: int, n_columns: int) -> None:
    needed, available = 8 * n_rows * n_columns, available_memory()
    if needed > available:
        raise InputError(
            f"the matrix of {n_rows:,} by {n_columns:,} kernel values would take {readable_size(needed)}, but "
            f"{readable_size(available)} are free: compute it in blocks of rows, or train without it: SVC with a kernel that "
            "has explicit features does not need it, and SVC(solver=SMO(cache_mb=...)) keeps only some of its rows"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """A parameter as JSON values; `_read` is the inverse."""
    if isinstance(value, Kernel):
        return value.spec()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Fst):
        return {"machine": _plain_machine(value)}
    if isinstance(value, Mapping):
        return {"named": {name: plain(v) for name, v in value.items()}}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    return value


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "machine" in value:
        return _read_machine(stored.value(value, "machine", dict))
    if "named" in value:
        return {name: _read(v) for name, v in stored.value(value, "named", dict).items()}
    return _from_spec(value)


def _plain_machine(fst: Fst) -> dict[str, Any]:
    parts = fst.parts()
    finals = zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True)
    return {
        "start": parts.start,
        "semiring": parts.semiring,
        "arcs": [list(arc) for arc in fst.arcs()],
        "finals": [list(final) for final in finals],
        "input_symbols": fst.input_symbols,
        "output_symbols": fst.output_symbols,
    }


def _read_machine(spec: dict[str, Any]) -> Fst:
    arcs: Any
    arcs, finals = (stored.rows(spec, name, kinds) for name, kinds in (("arcs", ARC), ("finals", FINAL)))
    n_states = 1 + max((state for arc in arcs for state in (arc[0], arc[-1])), default=0)
    start = stored.whole(spec, "start", -1, 2**31 - 2)
    n_states = max([n_states, start + 1, *(1 + state for state, _ in finals)])
    stored.check_size("its machine", STATE * n_states, 40 * len(arcs) + 16 * len(finals))
    parts = MachineParts.of(arcs, dict(finals), start, stored.value(spec, "semiring", str))
    sides = ("input_symbols", "output_symbols")
    tables: dict[str, Any] = {side: stored.names(spec, side) if spec.get(side) else None for side in sides}
    return Fst.from_parts(replace(parts, **tables))
