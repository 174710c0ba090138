"""Support vector classification on structured examples."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from treille.data import Batch
from treille.estimators.base import KernelMachine, KernelParameter
from treille.estimators.plan import Plan
from treille.estimators.targets import check_labels, check_weights
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.kernels import Kernel
from treille.solvers import Problem, Solver
from treille.solvers.problem import LOSSES
from treille.spaces import Nystrom
from treille.spaces.weight_automaton import weight_fst


@dataclass(eq=False, repr=False)
class SVC(ClassifierMixin, KernelMachine):
    """Support vector machine for classes of strings and other structured examples, trained to a proven duality gap.

    Minimises ``1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i))`` with f(x) = w.phi(x) + b. Several classes are learned one against
    the rest; the features are computed once.

    Parameters
    ----------
    kernel : Kernel, "precomputed", function or None
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
        `CuttingPlane` where it multiplies its matrix fast, else `SMO`. Or a solver with options of its own, such as
        ``DualCD(max_seconds=60)`` or ``SMO(cache_mb=2000)``.
    space : "auto", "nystrom" or Nystrom
        "nystrom" approximates the kernel by its values with some landmark examples; ``Nystrom(n_landmarks=1000)`` sets how many.
        ``report_.approximation_error`` is the share of the kernel matrix's trace that is lost.
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

    kernel: KernelParameter = None
    C: float = 1.0
    loss: str = "hinge"
    tol: float = 1e-3
    max_epochs: int = 1000
    fit_intercept: bool | str = True
    class_weight: dict[Any, float] | str | None = None
    solver: str | Solver = "auto"
    space: str | Nystrom = "auto"
    n_jobs: int | None = None
    random_state: int = 0
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Trains on examples X with labels y."""
        self.check_parameters()
        self._train(X, lambda n: self._problem(y, sample_weight, n))
        return self

    def _problem(self, y: Any, sample_weight: Any, n: int) -> Problem:
        """The problem of n examples; keeps the classes until it is solved."""
        classes, codes = check_labels(y, n)
        C = check_weights(self.C, codes, classes, self.class_weight, sample_weight)
        positive = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
        self._found = classes
        return Problem(LOSSES[self.loss](), codes, C, self.fit_intercept, positive)

    def _solve(self, kernel: Kernel, batch: Batch, problem: Problem, chosen: Plan, space: Any) -> None:
        super()._solve(kernel, batch, problem, chosen, space)
        self.classes_ = self.__dict__.pop("_found")

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it.

        >>> import treille
        >>> treille.SVC(C=-1).check_parameters()
        Traceback (most recent call last):
        treille.io.errors.InputError: C is -1, expected a positive number
        """
        check_positive("C", self.C)
        if self.loss not in LOSSES:
            raise InputError(f"loss is {self.loss!r}, expected 'hinge' or 'squared_hinge'")
        self._check_shared(LOSSES[self.loss], self.fit_intercept)

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance-like scores: one per example for two classes, else one per example and class."""
        scores = self._outputs(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of every example."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def top_features(self, count: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """For every class, the features with the largest weights in its favour.

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

    def weight_automaton(self) -> Any:
        """W' as a minimal weighted automaton: an acceptor `treille.Fst` that assigns each feature's string its weight in ``coef_``.

        With more than two classes, a dict with one per class. It does not include the intercept.

        >>> import treille
        >>> model = treille.SVC(treille.kernels.NGram(2)).fit(["abab", "cdcd"], [0, 1])
        >>> model.weight_automaton().n_states, model.weight_automaton().n_arcs
        (6, 8)
        """
        functions = self._linear()
        machines = [weight_fst(functions.features, column) for column in functions.weights.T]
        return machines[0] if len(self.classes_) == 2 else dict(zip(self.classes_.tolist(), machines, strict=True))

    def save(self, path: str | os.PathLike[str], representation: str = "flat") -> None:
        """Writes the model to a file that `treille.load` reads; only features, or examples, with weight are kept.

        Weights are written one by one ("flat"), and read back bit for bit; or as the minimal automaton of the features' strings
        ("automaton"), a third of the size or less for n-grams of texts, and read back to 12 digits; or in the smaller of the two
        ("auto").
        """
        check_is_fitted(self, "functions_")
        self._save(path, self.classes_, representation)

    def _restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray) -> None:
        if len(classes) < 2:
            raise InputError("the file has fewer than two classes")
        self._read(spec, arrays, len(classes) if len(classes) > 2 else 1)
        self.classes_ = classes
