"""Support vector classification on structured examples."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from treille.estimators.functions import Functions, LinearFunctions, read_functions
from treille.estimators.persistence import estimator_spec, save_estimator
from treille.estimators.targets import check_labels, check_positive, check_weights
from treille.io.errors import InputError
from treille.kernels import FeatureMap, Kernel
from treille.solvers import DualCD, Report
from treille.solvers.progress import progress_bar
from treille.spaces import Plan, RowsSpace, plan


class SVC(ClassifierMixin, BaseEstimator):
    """Support vector machine for classes of strings and other structured examples, trained to a proven duality gap.

    Several classes are learnt one against the rest; the features are computed once.

    Parameters
    ----------
    kernel : Kernel or None
        The similarity; None picks one for the kind of the data, and `plan_` says which.
    C : float
        Weight of the losses against the regulariser.
    loss : {"hinge", "squared_hinge"}
    tol : float
        Stop when the duality gap is at most this part of the primal value.
    max_epochs : int
        Budget of passes over the data; a `ConvergenceWarning` tells when it ended first.
    fit_intercept : bool
        Learn an intercept, as the weight of a constant feature (regularised, like LIBLINEAR's).
    class_weight : dict, "balanced" or None
        Multiplies C for the examples of a class.
    solver : "auto" or DualCD
        A solver with options of its own, such as ``DualCD(max_seconds=60)``.
    n_jobs : int or None
        Threads; None is 1, -1 is all. The result does not depend on it.
    random_state : int
        Seed of the order in which examples are visited.
    verbose : int
        1 shows progress on a terminal.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_
        As in scikit-learn; ``coef_`` has one row per class (one row for two classes), one column per feature.
    report_ : Report
        Primal and dual value, gap, epochs, seconds, status, seed.
    plan_ : Plan
        Which kernel, space and solver were chosen, and why.
    features_ : FeatureMap
        The fitted features; ``features_.name(i)`` reads column i of ``coef_``.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.SVC(kernel=NGram(2), C=1.0).fit(["abab", "baba", "ccdd", "dccd"], ["ab", "ab", "cd", "cd"])
    >>> model.predict(["aabb", "cdcd"]).tolist(), model.report_.status
    (['ab', 'cd'], 'converged')
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        C: float = 1.0,
        loss: str = "hinge",
        tol: float = 1e-3,
        max_epochs: int = 1000,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        solver: str | DualCD = "auto",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_epochs = max_epochs
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    plan_: Plan
    report_: Report
    classes_: np.ndarray
    functions_: Functions

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Trains on examples X with labels y."""
        self.check_parameters()
        X = list(X) if isinstance(X, Iterator) else X  # looked at first, then read
        chosen = plan(self.kernel, X, self.solver)
        batch = chosen.kernel.batch(X, self.n_jobs)
        if len(batch) == 0:
            raise InputError("there are no examples: fit needs at least two, of two classes")
        classes, codes = check_labels(y, len(batch))
        C = check_weights(self.C, codes, classes, self.class_weight, sample_weight)
        chosen = replace(chosen, kernel=chosen.kernel.suited(batch, self.n_jobs))
        space = RowsSpace.of(chosen.kernel, batch, self.n_jobs)
        positive = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
        solver = self.solver if isinstance(self.solver, DualCD) else DualCD()
        with progress_bar(len(positive), self.tol, self.verbose) as progress:
            solution = solver.solve(
                space,
                codes,
                positive,
                C,
                loss=self.loss,
                bias=1.0 if self.fit_intercept else 0.0,
                tol=self.tol,
                max_epochs=self.max_epochs,
                seed=self.random_state,
                n_jobs=self.n_jobs,
                progress=progress,
            )
        self.classes_ = classes
        self.functions_ = LinearFunctions(space.features, solution.weights, solution.bias)
        self.report_ = solution.report
        self.n_iter_ = solution.report.epochs
        self.plan_ = replace(chosen, sizes=space.sizes())
        return self

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it.

        >>> import treille
        >>> treille.SVC(C=-1).check_parameters()
        Traceback (most recent call last):
        treille.io.errors.InputError: C is -1, expected a positive number
        """
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        if self.loss not in ("hinge", "squared_hinge"):
            raise InputError(f"loss is {self.loss!r}, expected 'hinge' or 'squared_hinge'")
        for name, least in (("max_epochs", 1), ("random_state", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < 2**32:
                raise InputError(f"{name} is {value!r}, expected a whole number of at least {least} (and below 2^32)")
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            raise InputError(f"kernel is {self.kernel!r}, expected a kernel such as treille.kernels.NGram(5), or None")
        if self.solver != "auto" and not isinstance(self.solver, DualCD):
            raise InputError(f"solver is {self.solver!r}, expected 'auto' or a solver such as treille.solvers.DualCD()")
        if self.kernel is not None:
            self.kernel.check()

    @property
    def coef_(self) -> np.ndarray:
        """Weights, one row per class (one row for two classes), one column per feature."""
        return self._linear().weights.T

    @property
    def features_(self) -> FeatureMap:
        """The fitted features; ``features_.name(i)`` reads column i of ``coef_``."""
        return self._linear().features

    @property
    def intercept_(self) -> np.ndarray:
        """One number per class (one for two classes)."""
        check_is_fitted(self, "functions_")
        return self.functions_.intercept

    def _linear(self) -> LinearFunctions:
        check_is_fitted(self, "functions_")
        if not isinstance(self.functions_, LinearFunctions):
            raise AttributeError(f"{self.plan_.kernel!r} has no explicit features, so there are no weights of features")
        return self.functions_

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance-like scores: one per example for two classes, else one per example and class."""
        check_is_fitted(self, "functions_")
        scores = self.functions_.outputs(self.plan_.kernel.batch(X, self.n_jobs), self.n_jobs)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of every example."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def top_features(self, count: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """For every class, the features that speak most for it, with their weights.

        >>> import treille
        >>> model = treille.SVC(treille.kernels.NGram(1)).fit(["aab", "bcc"], [0, 1])
        >>> {label: top[0][0] for label, top in model.top_features(1).items()}
        {0: 'a', 1: 'c'}
        """
        functions = self._linear()
        columns = functions.weights if len(self.classes_) > 2 else np.hstack([-functions.weights, functions.weights])
        top = {}
        for label, column in zip(self.classes_.tolist(), columns.T, strict=True):
            best = np.argsort(-column, kind="stable")[:count]
            top[label] = [(functions.features.name(int(i)), float(column[i])) for i in best if column[i] > 0]
        return top

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that `treille.load` reads; only features with weight are kept."""
        check_is_fitted(self, "functions_")
        functions_spec, arrays = self.functions_.state()
        spec = estimator_spec(self, skip=("kernel", "n_jobs", "verbose"))
        spec |= {"kernel": self.plan_.kernel.spec(), "report": self.report_.as_dict()} | functions_spec
        save_estimator(path, spec, arrays, self.classes_)

    def _restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray) -> None:
        self.kernel = Kernel.from_spec(spec["kernel"])
        self.functions_ = read_functions(self.kernel, spec, arrays, len(classes) if len(classes) > 2 else 1)
        self.classes_ = classes
        self.report_ = Report.from_dict(spec["report"])
        self.n_iter_ = self.report_.epochs
        self.plan_ = replace(plan(self.kernel, []), kernel_why="from the model file", sizes=self.functions_.sizes())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags
