"""What estimators with a kernel share: the plan, the space, the functions learnt, and model files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from treille.data import Batch
from treille.estimators.functions import Functions, KernelFunctions, LinearFunctions, read_functions
from treille.estimators.persistence import estimator_spec, save_estimator
from treille.features import FeatureMap
from treille.io.errors import InputError
from treille.io.parameters import check_positive, check_whole
from treille.kernels import Kernel, Precomputed
from treille.kernels.callable import as_kernel
from treille.solvers import SMO, DualCD, Report
from treille.spaces import GramSpace, Nystrom, NystromSpace, Plan, ProductSpace, RowsSpace, plan

Space = RowsSpace | GramSpace | ProductSpace | NystromSpace


class KernelMachine(BaseEstimator):
    """An estimator with the parameters `kernel`, `tol`, `max_epochs`, `solver` and `n_jobs` that learns functions of examples."""

    kernel: Any
    tol: float
    max_epochs: int
    solver: Any
    n_jobs: int | None
    plan_: Plan
    report_: Report
    functions_: Functions
    n_iter_: int
    _spaces: tuple[type, ...] = (RowsSpace, GramSpace)  # those it can use, the first one preferred

    def _plan(self, X: Any) -> tuple[Plan, Batch]:
        """What is chosen for X, and X as a batch."""
        X = list(X) if isinstance(X, Iterator) else X  # looked at first, then read
        chosen = self._choose(self.kernel, X)
        batch = chosen.kernel.batch(X, self.n_jobs)
        kernel = chosen.kernel
        if kernel.needs_features and not kernel.has_features:
            raise InputError(
                f"{kernel!r} cannot be used by an estimator, since {getattr(kernel, 'kernel', kernel)!r} has no explicit "
                "features to take means of: leave .centered() out; with a free intercept it would change nothing"
            )
        if chosen.space == "rows" and self.solver == "auto" and not kernel.prefers_features(batch, self.n_jobs):
            chosen = plan(self.kernel, X, self.solver, tuple(s for s in self._spaces if s is not RowsSpace))
        return chosen, batch

    def _choose(self, kernel: Any, X: Any) -> Plan:
        return plan(kernel, X, self.solver, (NystromSpace,) if self._nystrom() else self._spaces)

    def _nystrom(self) -> Nystrom | None:
        """The approximation asked for, if any."""
        return Nystrom.asked_for(getattr(self, "space", "auto"))

    def _by_rows(
        self, chosen: Plan, batch: Batch, weights: str | None = None, n_problems: int = 1
    ) -> tuple[RowsSpace | NystromSpace, DualCD]:
        """Features, with W' in the form that `weights` names, and the solver for them."""
        solver = self.solver if isinstance(self.solver, DualCD) else DualCD()
        nystrom = self._nystrom()
        if nystrom is not None:
            return NystromSpace.of(chosen.kernel, batch, nystrom, self.n_jobs), solver
        if weights is None:
            return RowsSpace.of(chosen.kernel, batch, self.n_jobs), solver
        return RowsSpace.in_form(chosen.kernel, batch, weights, n_problems, self.n_jobs), solver

    def _by_values(self, chosen: Plan, batch: Batch) -> tuple[GramSpace, SMO]:
        """Kernel values, and the solver for them."""
        if not getattr(self, "fit_intercept", True):
            raise InputError("fit_intercept=False needs DualCD and explicit features: SMO learns an intercept")
        return GramSpace(chosen.kernel, batch, self.n_jobs), self.solver if isinstance(self.solver, SMO) else SMO()

    def _keep(self, chosen: Plan, space: Space, functions: Functions, report: Report) -> None:
        self.functions_ = functions
        self.report_ = replace(report, approximation_error=space.error) if isinstance(space, NystromSpace) else report
        self.n_iter_ = report.epochs
        form = space.form if isinstance(space, RowsSpace) else None
        self.plan_ = replace(chosen, weights="" if form is None else str(form), sizes=space.sizes())

    def _check_shared(self, solvers: tuple[type, ...] = ()) -> Kernel | None:
        """Refuses values of the shared parameters that are out of their range; the kernel, if given."""
        check_positive("tol", self.tol)
        check_whole("max_epochs", self.max_epochs)
        if solvers and self.solver != "auto" and not isinstance(self.solver, solvers):
            example = solvers[0].__name__
            raise InputError(
                f"solver is {self.solver!r}, expected 'auto' or a solver such as treille.solvers.{example}()"
            )
        self._nystrom()
        kernel = as_kernel(self.kernel)
        if kernel is not None:
            kernel.check()
        return kernel

    @property
    def coef_(self) -> np.ndarray:
        """Weights, one row per function, one column per feature."""
        return self._linear().weights.T

    @property
    def features_(self) -> FeatureMap:
        """The fitted features; ``features_.name(i)`` reads column i of ``coef_``."""
        return self._linear().features

    @property
    def intercept_(self) -> np.ndarray:
        """One number per function."""
        check_is_fitted(self, "functions_")
        return self.functions_.intercept

    def _linear(self) -> LinearFunctions:
        check_is_fitted(self, "functions_")
        if not isinstance(self.functions_, LinearFunctions):
            raise AttributeError(f"{self.plan_.kernel!r} has no explicit features, so there are no weights of features")
        return self.functions_

    def _outputs(self, X: Any) -> np.ndarray:
        """A row per example, a column per function."""
        check_is_fitted(self, "functions_")
        return self.functions_.outputs(self.plan_.kernel.batch(X, self.n_jobs), self.n_jobs)

    def _save(self, path: str | os.PathLike[str], classes: np.ndarray, weights: str = "flat") -> None:
        spec = estimator_spec(self, skip=("kernel", "n_jobs", "verbose"))
        spec |= {"kernel": self.plan_.kernel.spec(), "report": self.report_.as_dict()}
        functions_spec, arrays = self.functions_.state(weights)
        spec |= functions_spec | self._extra()
        save_estimator(path, spec, arrays, classes)

    def _extra(self) -> dict[str, Any]:
        """What else belongs in a model file."""
        return {}

    def _read(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], n_functions: int) -> None:
        self.kernel = Kernel.from_spec(spec["kernel"])
        self.functions_ = read_functions(self.kernel, spec, arrays, n_functions)
        self.report_ = Report.from_dict(spec["report"])
        self.n_iter_ = self.report_.epochs
        self.plan_ = replace(
            self._choose(self.kernel, []), kernel_why="from the model file", sizes=self.functions_.sizes()
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )
        return tags


def functions_of_weights(
    kernel: Kernel, space: RowsSpace | NystromSpace, weights: np.ndarray | None, bias: np.ndarray
) -> Functions:
    """f_k(x) = weights[:, k].phi(x) + bias_k; in a Nystrom space, these are functions of the landmarks."""
    assert weights is not None
    if isinstance(space, RowsSpace):
        return LinearFunctions(space.features, weights, bias)
    return KernelFunctions.of(kernel, space.landmarks, space.projection @ weights, bias)


def functions_of_examples(space: GramSpace | ProductSpace, coefficients: np.ndarray, bias: np.ndarray) -> Functions:
    """f_k(x) = sum_i coefficients[i, k] k(x, x_i) + bias_k, by features where there are any: then it needs no examples."""
    if space.kernel.prefers_features(space.batch, space.n_jobs):
        rows = space.rows if isinstance(space, GramSpace) else RowsSpace.of(space.kernel, space.batch, space.n_jobs)
        return LinearFunctions(rows.features, rows.rows.rmatvec(coefficients, effective_n_jobs(space.n_jobs)), bias)
    return KernelFunctions.of(space.kernel, space.batch, coefficients, bias)
