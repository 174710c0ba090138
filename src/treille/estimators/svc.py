"""Support vector machines for classes, also with parameters chosen by cross-validation, and for one class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.estimators.base import ClassifierParameters, KernelMachine, KernelParameter, SolverParameters
from treille.estimators.classifier import Classifier
from treille.estimators.search import ClassifierSearchCV
from treille.estimators.sources import Posed, require_memory
from treille.explain.tasks import OutlierDetection
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_positive
from treille.scikit_learn import OutlierMixin, Self
from treille.solvers import Problem
from treille.solvers.problem import LOSSES, Loss, OneClass


@dataclass(eq=False, repr=False, kw_only=True)
class SVCParameters(ClassifierParameters):
    """Parameters of `SVC`, and of its search by cross-validation."""

    loss: str = "hinge"


@dataclass(eq=False, repr=False)
class SVC(SVCParameters, Classifier):
    """Support vector machine for classes of strings and other structured examples, trained to a proven duality gap.

    Minimises ``1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i))`` with f(x) = w.phi(x) + b. Several classes are learned one against
    the rest; the features are computed once.

    Parameters
    ----------
    kernel : Kernel, an expression such as "ngram(5)", "precomputed", function or None
        The similarity; None picks one for the kind of data, and ``plan_`` reports which. With "precomputed", X is the square matrix
        of kernel values in `fit`, and one row of values with the training examples per example elsewhere. A function is
        k(X, Y) that returns a matrix, or k(x, y) that returns a number.
    C : float
        Weight of the losses against the regulariser.
    loss : {"hinge", "squared_hinge"}
    tol : float
        Stop when the duality gap is at most this fraction of the primal value.
    max_epochs : int
        Maximum number of passes over the data; a `ConvergenceWarning` is issued when it ended training.
    fit_intercept : bool or "free"
        The intercept b. True: the weight of a constant feature of value 1, regularised like all weights (LIBLINEAR's ``-B 1``).
        False: none. "free": not regularised (LIBSVM's), which only `SMO` supports. It is part of the problem: the optimum is
        the same with every solver and in every space.
    class_weight : dict, "balanced" or None
        Multiplies C for the examples of a class.
    solver : "auto" or Solver
        "auto" is `DualCD` where the kernel has explicit features (`FiniteNewton` for the squared hinge with few of them),
        `CuttingPlane` where it multiplies its matrix fast, else `SMO`. Or a solver with options, such as
        ``DualCD(max_seconds=60)`` or ``SMO(cache_mb=2000)``.
    space : "auto", "nystrom" or Nystrom
        "nystrom" approximates the kernel by its values with some landmark examples; ``Nystrom(n_landmarks=1000)`` sets how many.
        ``report_.approximation_error`` is the share of the kernel matrix's trace that is lost.
    n_jobs : int or None
        Threads; None is 1, -1 is all. The result does not depend on it.
    random_state : int, RandomState, Generator or None
        Seed of the order in which examples are visited, or what draws it; ``report_.seed`` is the seed.
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
    class_counts_ : dict
        The number of examples of each class, with data in parts only.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.SVC(kernel=NGram(2), C=1.0).fit(["abab", "baba", "ccdd", "dccd"], ["ab", "ab", "cd", "cd"])
    >>> model.predict(["aabb", "cdcd"]).tolist(), model.report_.status
    (['ab', 'cd'], 'converged')
    """

    kernel: KernelParameter = None
    C: float = 1.0

    def check_parameters(self) -> None:
        check_positive("C", self.C)
        check_choice("loss", self.loss, *LOSSES)
        super().check_parameters()

    def _loss(self) -> Loss:
        return LOSSES[self.loss]()

    @property
    def predict_proba(self) -> Any:
        """Not provided: the AttributeError names the alternatives."""
        raise AttributeError(
            f"{type(self).__name__} has no predict_proba: its scores are not probabilities. Use treille.LogisticRegression, "
            f"or sklearn.calibration.CalibratedClassifierCV({type(self).__name__}(...))"
        )


@dataclass(eq=False, repr=False)
class SVCCV(SVCParameters, ClassifierSearchCV):
    """`SVC` with C, and other parameters, chosen by cross-validation. Features are computed once, for all folds and all C.

    The scores are those of scikit-learn's ``GridSearchCV(SVC(...))``. It takes less time, because folds share the features of all
    examples, each C starts from the solution for the one before, and held-out examples are scored without being read again.

    Parameters
    ----------
    kernel : kernel, an expression such as "ngram(5)", or list of these
        As in `SVC`; of a list, the best is chosen.
    Cs : list of float, or int
        The values of C to try; a number of values is spread evenly on a logarithmic scale from 0.001 to 1000.
    grid : dict, list of dicts, or None
        Other parameters of `SVC` to try, as in GridSearchCV: ``{"kernel__n": [3, 4, 5], "loss": ["hinge", "squared_hinge"]}``.
    cv : int, splitter, or iterable of splits
        As in scikit-learn; an int is the number of stratified folds.
    scoring : str, callable or None
        As in scikit-learn; None is the accuracy.
    loss, tol, max_epochs, fit_intercept, class_weight, solver, space, n_jobs, random_state, verbose
        As in `SVC`. `n_jobs` threads solve folds and classes; the result does not depend on their number.

    Attributes
    ----------
    C_ : float
        The best C.
    best_params_, best_score_, best_index_, cv_results_, best_estimator_, refit_time_, scorer_
        As in GridSearchCV. The time of computing features is in no ``fit_time``, since all candidates share them.
    gaps_ : array
        The relative duality gap of each candidate in each fold; the largest of all classes.
    classes_, coef_, intercept_, n_iter_, report_, plan_, features_
        Those of ``best_estimator_``, the `SVC` with the best parameters, fitted on all examples.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> X = ["abab", "baba", "abba", "aabb", "ccdd", "dccd", "cdcd", "ddcc"]
    >>> model = treille.SVCCV(NGram(2), Cs=[0.01, 1, 100], grid={"kernel__n": [1, 2]}, cv=2).fit(X, [0] * 4 + [1] * 4)
    >>> model.best_params_, model.best_score_
    ({'kernel__n': 1, 'C': 0.01}, 1.0)
    """

    estimator = SVC

    Cs: Sequence[float] | int = 10


@dataclass(eq=False, repr=False)
class OneClassSVM(SolverParameters, OutlierMixin, KernelMachine):
    """Learns a region that contains most examples, without labels, to detect novelties and outliers.

    min 1/2 |w|^2 + sum_i max(0, rho - w.x_i) - nu n rho: at most a fraction nu of the examples lies outside, and at least a
    fraction nu are support vectors. Decisions, f(x) - rho, are the same as in LIBSVM.

    Parameters
    ----------
    kernel : Kernel, an expression such as "ngram(5)", "precomputed", function or None
        As in `SVC`.
    nu : float
        Above 0, at most 1.
    tol, max_epochs : float, int
        As in `SVC`; an epoch is as many steps as there are examples.
    solver : "auto" or Solver
        "auto" is `SMO`.
    n_jobs, verbose : int
        As in `SVC`.

    Attributes
    ----------
    report_, plan_, intercept_, n_iter_
        As in `SVC`; ``intercept_`` is -rho.
    offset_ : float
        rho: decisions are ``score_samples(X) - offset_``.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the support of a high-dimensional distribution. 2001.

    Examples
    --------
    >>> import treille
    >>> model = treille.OneClassSVM(treille.kernels.NGram(2).normalized(), nu=0.2).fit(["abab", "baba", "abba", "baab", "aabb"])
    >>> model.predict(["ababab", "xyz"]).tolist()
    [1, -1]
    """

    _task = OutlierDetection
    fit_intercept = "free"  # not a parameter here

    kernel: KernelParameter = None
    nu: float = 0.5

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]  # there are no weights
        """Trains on examples X; `y` is ignored."""
        require_memory(X, self, "fit it on some of them", "fit it on some of them")
        return super().fit(X)

    def _loss(self) -> Loss:
        return OneClass(float(self.nu))

    def _posed(self, y: Any, sample_weight: Any, n: int) -> Posed:
        return Posed(Problem(self._loss(), np.zeros(n), np.ones(n), self.fit_intercept))

    def check_parameters(self) -> None:
        check_positive("nu", self.nu)
        if self.nu > 1:
            raise InputError(f"nu is {self.nu!r}, expected a number above 0 and at most 1")
        super().check_parameters()

    @property
    def offset_(self) -> float:
        """Decisions are ``score_samples(X) - offset_``."""
        return -float(self.intercept_[0])

    def decision_function(self, X: Any) -> np.ndarray:
        """Above 0 inside the region, below 0 outside."""
        return self._outputs(X)[:, 0]

    def score_samples(self, X: Any) -> np.ndarray:
        """f(x), the decision without the offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """+1 inside the region, -1 outside."""
        return np.where(self.decision_function(X) > 0, 1, -1)

    def _classes_to_save(self) -> np.ndarray:
        return np.array([-1, 1])
