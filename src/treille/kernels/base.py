"""The contract of kernels, whole. A kernel in a file of its own, plus one line in ``__init__.py``, is all it takes to add one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from inspect import signature
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from treille.automata import Fst
from treille.data import Batch, FeatureRows, FeatureStrings, Rows
from treille.data.base import available_memory, readable_size
from treille.io.errors import InputError
from treille.io.machine import MachineParts
from treille.registry import registered_name, require

if TYPE_CHECKING:
    from treille.kernels.centered import Centered
    from treille.kernels.normalized import Normalized

BLOCK = 1 << 24  # kernel values held at a time


class FeatureMap(ABC):
    """The explicit features of a kernel, fitted on training data and frozen.

    >>> from treille.kernels import NGram
    >>> features, rows = NGram(2).fit_features(NGram(2).batch(["abba"]))
    >>> [features.name(i) for i in range(features.n_features)]
    ['ab', 'bb', 'ba']
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many features there are; ids are 0 .. n_features - 1."""

    @abstractmethod
    def transform(self, batch: Batch, n_jobs: int | None = None) -> FeatureRows:
        """Rows of new examples. Parts outside the fitted space have no entry, but count in ``sq_norms``."""

    @abstractmethod
    def name(self, id: int) -> str:
        """A feature as people read it."""

    @abstractmethod
    def restrict(self, ids: np.ndarray) -> FeatureMap:
        """The map onto the features `ids` alone, which rise, renumbered in that order."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What to keep in a model file: JSON values, and arrays."""

    @property
    def has_strings(self) -> bool:
        """Whether the features are strings of symbols, so that tries and automata can hold them."""
        return type(self).strings is not FeatureMap.strings

    def strings(self) -> FeatureStrings:
        """The features as strings of symbols, feature by feature."""
        raise InputError(
            f"the features, such as {self.name(0) if self.n_features else None!r}, are no strings of symbols: a trie or an "
            "automaton of weights needs such as those of NGram or Gappy"
        )


class LinearMap(ABC):
    """The matrix of a kernel on one batch as a linear map, never written out.

    >>> from treille.kernels import AllSubstrings
    >>> kernel = AllSubstrings(1.0)
    >>> kernel.fit_product(kernel.batch(["ab", "b"])).product(np.array([1.0, 1.0])).tolist()
    [4.0, 2.0]
    """

    @abstractmethod
    def product(self, beta: np.ndarray) -> np.ndarray:
        """``K @ beta``, for a vector with an entry per example or a matrix with a row per example."""

    @abstractmethod
    def sizes(self) -> str:
        """How large it is, in words."""


class Kernel(BaseEstimator, ABC):
    """A similarity of structured examples, positive semi-definite.

    Subclasses are scikit-learn estimators as to their parameters (``get_params``, ``set_params``, ``clone``), checked where they
    are used. They implement `batch`, and one of two pairs: `fit_features` and `load_features` where a kernel has explicit features,
    `gram` and `diagonal` where it has none, or can do better than multiply them. `fit_product` is for those that multiply their
    matrix in less time than it takes to write it out.

    >>> from treille.kernels import NGram
    >>> NGram(2)(["abab", "ba"], ["ab"]).tolist()
    [[2.0], [0.0]]
    """

    def __repr__(self) -> str:
        """Like scikit-learn's, but the first parameter is always shown: ``NGram(n=5)``."""
        parameters = signature(type(self)).parameters.values()
        first = next((p.name for p in parameters), None)
        shown = [p.name for p in parameters if p.name == first or not _same(getattr(self, p.name), p.default)]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @abstractmethod
    def batch(self, X: Any, n_jobs: int | None = None) -> Batch:
        """`X` as a batch this kernel reads; bad input is stopped here."""

    def check(self) -> None:
        """Raises an `InputError` where a parameter is out of its range; called before any work is done."""

    @property
    def has_features(self) -> bool:
        """Whether there are explicit features: then cost grows with the data, not with its square."""
        return type(self).fit_features is not Kernel.fit_features

    def suited(self, batch: Batch, n_jobs: int | None = None) -> Kernel:
        """The same k in the form that is cheapest on `batch`; estimators ask for it before they choose a road.

        Products and powers of kernels get explicit features where those are few; all else is as it is.
        """
        params = self.get_params(deep=False)
        parts = {name: part.suited(batch, n_jobs) for name, part in params.items() if isinstance(part, Kernel)}
        same = all(part is params[name] for name, part in parts.items())
        return self if same else type(self)(**params | parts)

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[FeatureMap, FeatureRows]:
        """The features of `batch`, frozen, and its rows."""
        raise InputError(f"{self!r} has no explicit features: use it by way of its matrix, kernel(X, Y)")

    def fit_turned(self, batch: Batch, n_jobs: int | None = None) -> tuple[FeatureMap, Rows, Any] | None:
        """The same features with shorter rows, those of another orthonormal basis: these, and the core's `Turn` that reads weights
        back; None where there is no such basis, or it is not worth it."""
        return None

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        """The inverse of ``FeatureMap.state``."""
        raise InputError(f"{self!r} has no explicit features")

    def string_arrays(self, strings: FeatureStrings) -> dict[str, np.ndarray]:
        """The arrays of ``FeatureMap.state`` for features that are these strings."""
        raise InputError(f"{self!r} has no features that are strings of symbols")

    @property
    def has_product(self) -> bool:
        """Whether the matrix of a batch can be multiplied in time that grows with the data, not with its square."""
        return type(self).fit_product is not Kernel.fit_product

    def fit_product(self, batch: Batch, n_jobs: int | None = None) -> LinearMap:
        """The matrix of `batch` with itself as a linear map: built once, then applied as often as asked."""
        raise InputError(f"{self!r} has no fast product: use it by way of its matrix, kernel(X, Y)")

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        """The float64 matrix of k between two batches; `right` None: of `left` with itself, exactly symmetric."""
        features, rows = self.fit_features(left, n_jobs)
        other = None if right is None else features.transform(right, n_jobs)
        return rows.gram(other, effective_n_jobs(n_jobs))

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        """k(x, x) of every example of a batch."""
        return self.fit_features(batch, n_jobs)[1].diag()

    def apply(self, left: Batch, right: Batch, coefficients: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """``gram(left, right) @ coefficients`` (a row per example of `right`), the matrix never held whole."""
        if self.has_features:  # then the sum over examples is taken once, feature by feature
            features, rows = self.fit_features(right, n_jobs)
            threads = effective_n_jobs(n_jobs)
            return features.transform(left, n_jobs).outputs(rows.combine(coefficients, threads), threads)
        out = np.zeros((len(left), coefficients.shape[1]))
        step = max(1, BLOCK // max(1, len(right)))
        columns = np.ascontiguousarray(coefficients.T)
        for start in range(0, len(left), step):
            for i, row in enumerate(self.gram(left[start : start + step], right, n_jobs), start):
                out[i] = (columns * row).sum(axis=1)  # not a matrix product: its rounding depends on the number of rows
        return out

    def __call__(self, X: Any, Y: Any = None, n_jobs: int | None = None) -> np.ndarray:
        """The matrix of k(x, y), one row per example of X, one column per example of Y (of X where Y is None)."""
        self.check()
        left = self.batch(X, n_jobs)
        right = None if Y is None else self.batch(Y, n_jobs)
        check_memory(len(left), len(left if right is None else right))
        return self.gram(left, right, n_jobs)

    def diag(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """k(x, x) of every example."""
        self.check()
        return self.diagonal(self.batch(X, n_jobs), n_jobs)

    def normalized(self) -> Normalized:
        """The kernel k(x, y) / sqrt(k(x, x) k(y, y)): the cosine of the angle between examples."""
        from treille.kernels.normalized import Normalized

        return Normalized(self)

    def centered(self) -> Centered:
        """The kernel of examples moved so that the mean of the training examples lies at 0."""
        from treille.kernels.centered import Centered

        return Centered(self)

    __array_ufunc__ = None  # so that a numpy number times a kernel is left to the kernel

    def __add__(self, other: Any) -> Kernel:
        from treille.kernels.algebra import Constant, Sum

        if _is_number(other):
            return self if other == 0 else Sum(self, Constant(_plain(other)))
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        from treille.kernels.algebra import Constant, Sum

        if not _is_number(other):
            return NotImplemented
        return self if other == 0 else Sum(Constant(_plain(other)), self)  # sum([k1, k2]) begins with 0

    def __mul__(self, other: Any) -> Kernel:
        from treille.kernels.algebra import Product, Scaled

        if _is_number(other):
            return Scaled(_plain(other), self)
        return Product(self, other) if isinstance(other, Kernel) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return self * other if _is_number(other) else NotImplemented

    def __pow__(self, degree: Any) -> Kernel:
        from treille.kernels.algebra import Power

        return Power(self, _plain(degree)) if _is_number(degree) else NotImplemented

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
            params[name] = _plain(value)
        return {"kernel": registered_name("kernels", self), "params": params}

    @staticmethod
    def from_spec(spec: dict[str, Any]) -> Kernel:
        """The kernel that `spec` describes.

        >>> from treille.kernels import Kernel, NGram
        >>> Kernel.from_spec(NGram(3).normalized().spec())
        NGram(n=3).normalized()
        """
        cls = require("kernels", spec["kernel"])
        params = {name: _read(value) for name, value in spec["params"].items()}
        try:
            kernel: Kernel = cls(**params)
        except TypeError as error:
            raise InputError(f"the kernel {spec['kernel']!r} does not take these parameters: {error}") from None
        return kernel


def check_memory(n_rows: int, n_columns: int) -> None:
    needed, available = 8 * n_rows * n_columns, available_memory()
    if needed > available:
        raise InputError(
            f"the matrix of {n_rows:,} by {n_columns:,} kernel values would take {readable_size(needed)}, but "
            f"{readable_size(available)} are free: compute it in blocks of rows, or train without it: SVC with a kernel that "
            "has explicit features never needs it, and SVC(solver=SMO(cache_mb=...)) keeps only some of its rows"
        )


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, int, float)) and value == default)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    """A parameter as JSON values; `_read` is the inverse."""
    if isinstance(value, Kernel):
        return value.spec()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Fst):
        return {"machine": _plain_machine(value)}
    if isinstance(value, dict):
        return {"named": {name: _plain(v) for name, v in value.items()}}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(v) for v in value]
    return value


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "machine" in value:
        return _read_machine(value["machine"])
    return {name: _read(v) for name, v in value["named"].items()} if "named" in value else Kernel.from_spec(value)


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
    parts = MachineParts.of(spec["arcs"], dict(spec["finals"]), spec["start"], spec["semiring"])
    tables = {side: spec[side] for side in ("input_symbols", "output_symbols")}
    return Fst.from_parts(replace(parts, **tables))
