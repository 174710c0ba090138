"""Base classes of the estimators: training, prediction, explanations and model files."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from treille.data import Batch, Strings
from treille.data.base import from_arrow
from treille.data.sequences import as_residues
from treille.estimators.persistence import check_reading, estimator_spec, save_estimator
from treille.estimators.plan import Plan, choose_kernel, plan, requested_nystrom
from treille.estimators.sources import Posed, opened, recognised_texts
from treille.estimators.validation import KernelInput
from treille.explain.explanation import Explanation, explanations
from treille.explain.fragments import has_fragments
from treille.explain.tasks import Task
from treille.features import FeatureMap
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import RandomState, check_positive, check_seed, check_whole, effective_n_jobs, seed_of
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext, KnownFeatures
from treille.kernels.precomputed import as_kernel
from treille.kernels.reading import Reads
from treille.scale.cluster import is_collection, lazily
from treille.scale.parts import Parts
from treille.scikit_learn import BaseEstimator, Self
from treille.solvers import Problem, Report, Solution, Solver
from treille.solvers.problem import Loss, check_intercept
from treille.solvers.progress import progress_bar, stage
from treille.solvers.report import check_outcome
from treille.solvers.solver import BaseSolver, check_supported
from treille.spaces import MemorySource, Nystrom, Source
from treille.spaces.functions import DecisionFunctions, KernelFunctions, LinearFunctions, read_functions

KernelParameter = Kernel | str | Callable[[Any, Any], Any] | None  # a str: "precomputed", or an expression
ChooseKernel = Callable[[Any, Any, bool], tuple[Kernel, str]]


@dataclass(eq=False, repr=False, kw_only=True)
class TrainingParameters:
    """Parameters of every estimator. Those that estimators share are declared once, and only by keyword; `SVC` documents them."""

    max_epochs: int = 1000
    n_jobs: int | None = None
    verbose: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class SolverParameters(TrainingParameters):
    """Parameters of estimators that are trained to a duality gap."""

    tol: float = 1e-3
    solver: str | Solver = "auto"


@dataclass(eq=False, repr=False, kw_only=True)
class MachineParameters(SolverParameters):
    """Parameters of estimators for every space and kind of intercept."""

    fit_intercept: bool | str = True
    space: str | Nystrom = "auto"


@dataclass(eq=False, repr=False, kw_only=True)
class SeededParameters(MachineParameters):
    """Parameters of estimators whose solvers visit the examples in random order."""

    random_state: RandomState = 0


@dataclass(eq=False, repr=False, kw_only=True)
class ClassifierParameters(SeededParameters):
    """Parameters of classifiers."""

    class_weight: dict[Any, float] | str | None = None


def fit_context(problem: Problem, counts: np.ndarray | None = None, known: KnownFeatures | None = None) -> FitContext:
    """The context of fitting features for a problem: the classes of its examples, and how often each example counts."""
    labels = None if problem.classes is None else problem.targets
    return FitContext(labels, problem.classes, counts, known or KnownFeatures())


class LearnedDisplay:
    """Adds the plan and the report of the training to the HTML that notebooks show of an estimator.

    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1)).fit(["a", "b"], [0, 1])
    >>> "duality gap" in model._repr_html_()
    True
    """

    @property
    def _repr_html_(self) -> Callable[[], str]:
        shown = super()._repr_html_  # type: ignore[misc]  # an AttributeError where scikit-learn shows text
        return lambda: str(shown()) + self._learned_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._learned_html()
        return bundle

    def _learned_html(self) -> str:
        shown = (getattr(self, name, None) for name in ("plan_", "report_"))
        tables = "".join(each._repr_html_() for each in shown if each is not None)
        return f'<div class="treille-learned">{tables}</div>' if tables else ""


class Model(LearnedDisplay, BaseEstimator):
    """Base class of all models: the interface for reports, the server and the command line."""

    plan_: Plan
    report_: Report
    reads_: Reads  # the kinds of data, and the units of the training examples
    reading_: dict[str, Any]  # how examples are read: "alphabet", and options of `treille.io.read`
    _task: ClassVar[type[Task]]

    def __sklearn_is_fitted__(self) -> bool:
        return "plan_" in vars(self)

    def task(self) -> Task:
        """The task of the model, for reports, the server and the command line."""
        check_is_fitted(self)
        return self._task(self)

    def write_report(self, X: Any, y: Any, path: str | os.PathLike[str], train: Any = None) -> None:
        """Writes a page on the model to an HTML file: figures, examples with their contributions, features, and more.

        Parameters
        ----------
        X, y : examples and their labels, numbers, or tags
            New to the model. Without y there are no scores. With neither, the report is of `train`, the training
            examples, clearly marked, or of the model alone.
        path : str or path
        train : pair (X, y), optional
            The training examples, for baselines: the majority class, or the mean, and for texts TF-IDF with LinearSVC.

        Examples
        --------
        >>> import treille
        >>> model = treille.SVC(treille.kernels.NGram(1)).fit(["aab", "bcc"], [0, 1])
        >>> model.write_report(["ab", "cc"], [0, 1], "report.html")
        """
        from treille.explain.report import write_report  # here: it would make every start of Python an eighth slower

        write_report(self, X, y, path, train)


class KernelMachine(KernelInput, Model, ABC):
    """An estimator that learns functions of examples by solving a `Problem` with a kernel.

    The parameters mean the same in all estimators that have them, see `SVC`. An estimator without the
    parameter `space` or `random_state` uses the value that it has here.
    """

    kernel: KernelParameter
    tol: float
    max_epochs: int
    fit_intercept: bool | str
    solver: str | Solver
    space: str | Nystrom = "auto"
    n_jobs: int | None
    random_state: RandomState = 0
    verbose: int
    functions_: DecisionFunctions
    n_iter_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Trains on examples X with targets y: labels, or one number per example; `Ridge` takes rows of numbers, too."""
        self.check_parameters()
        with opened(self, X, y, sample_weight) as (source, posed):
            self._solve(source, posed, *self._planned(source, posed.problem))
        return self

    @abstractmethod
    def _loss(self) -> Loss:
        """The loss of the problem."""

    @abstractmethod
    def _posed(self, y: Any, sample_weight: Any, n: int) -> Posed:
        """The problem of n examples."""

    def _examples(self, X: Any, choose: ChooseKernel = choose_kernel) -> MemorySource:
        """The examples as the kernel reads them."""
        X = list(X) if isinstance(X, Iterator) else X  # examined first, then read
        X, note = recognised_texts(X, self.kernel, self.n_jobs)
        kernel, why = choose(self.kernel, X, is_classifier(self))
        with stage("reading examples", self.verbose):
            batch = kernel.batch(self._validated(X, kernel, reset=True), self.n_jobs)
        if len(batch) == 0:
            raise InputError("there are no examples: fit needs at least one")
        return MemorySource(kernel, why + note, batch)

    def _planned(self, source: Source, problem: Problem, known: KnownFeatures | None = None) -> tuple[Plan, Any]:
        """Chooses a solver and builds the space that it works on; features that are `known` are not computed again."""
        with stage("computing features", self.verbose):
            return plan(source, problem, self.solver, self.space, self.n_jobs, fit_context(problem, known=known))

    def _solve(self, source: Source, posed: Posed, chosen: Plan, space: Any) -> None:
        """Solves the problem on the space, and keeps the result."""
        problem = posed.problem
        n_runs, unit = source.progress(problem.n_problems, space)
        with progress_bar(n_runs, self.tol, self.verbose, measure=problem.loss.measure, unit=unit) as progress:
            solution = chosen.solver.solve(problem, space, progress=progress, **self._solver_options())
        if not isinstance(chosen.solver, BaseSolver):  # solvers of treille do this themselves
            check_outcome(solution.report, self.tol)
        functions = space.functions(solution)
        self.functions_ = functions.shifted(posed.shift)
        self.report_ = replace(solution.report, approximation_error=space.error)
        self.n_iter_ = self.report_.epochs
        self.reading_ = reading_of(source.first)
        self.reads_ = source.kernel.reads.fitted(source.first)
        sizes = "; ".join(filter(None, (space.sizes(), chosen.sizes)))
        advice = self._advice(posed, solution)
        self.plan_ = replace(chosen, representation=self.report_.representation, sizes=sizes, class_weights=advice)
        for name, value in posed.fitted.items():
            setattr(self, name, value)

    def _advice(self, posed: Posed, solution: Solution) -> str:
        """What the solution says about the class weights; "" if nothing."""
        return ""

    def _solver_options(self) -> dict[str, Any]:
        """The arguments of a solver that are parameters of the estimator."""
        seed = seed_of("random_state", self.random_state)
        return {"tol": self.tol, "max_epochs": self.max_epochs, "seed": seed, "n_jobs": self.n_jobs}

    def _know_columns_of(self, other: "KernelMachine") -> None:
        """Keeps the number and the names of the columns that another model has validated, for the same examples."""
        known = ("n_features_in_", "feature_names_in_")
        vars(self).update({name: value for name, value in vars(other).items() if name in known})

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range, or the solver does not support the problem.

        `fit` begins with it.

        >>> import treille
        >>> treille.SVC(C=-1).check_parameters()
        Traceback (most recent call last):
        treille.io.errors.InputError: C is -1, expected a positive number
        """
        check_positive("tol", self.tol)
        check_whole("max_epochs", self.max_epochs)
        check_seed("random_state", self.random_state)
        check_intercept("fit_intercept", self.fit_intercept)
        requested_nystrom(self.space)
        if isinstance(self.solver, Solver):
            if isinstance(self.solver, BaseSolver):
                self.solver.check()
            check_supported(self.solver, type(self._loss()), self.fit_intercept)
        elif self.solver != "auto":
            raise InputError(f"solver is {self.solver!r}, expected 'auto' or a solver such as treille.solvers.DualCD()")
        kernel = as_kernel(self.kernel)
        if kernel is not None:
            kernel.check()

    @property
    def coef_(self) -> np.ndarray:
        """Weights, one row per function, one column per feature; read-only, since predictions use them."""
        return _read_only(self._linear().weights.T)

    @property
    def features_(self) -> FeatureMap:
        """The fitted features; ``features_.name(i)`` reads column i of ``coef_``."""
        return self._linear().features

    @property
    def intercept_(self) -> np.ndarray:
        """One number per function."""
        check_is_fitted(self)
        return _read_only(self.functions_.intercept)

    def _linear(self) -> LinearFunctions:
        check_is_fitted(self)
        functions = self.functions_
        if not isinstance(functions, LinearFunctions):
            heavy = isinstance(functions, KernelFunctions) and has_fragments(functions.kernel, functions.support)
            raise AttributeError(
                f"{self.plan_.kernel!r} has no explicit features, so there are no weights of features: use explain(x), whose "
                "support lists the examples with the largest shares"
                + (", or fragments(count), the heaviest tree fragments" if heavy else "")
            )
        return functions

    def _read_batch(self, X: Any) -> Batch:
        """New examples as the kernel reads them."""
        check_is_fitted(self)
        if "alphabet" in self.reading_:
            X = as_residues(self.reading_["alphabet"], X, self.n_jobs)
        n_jobs = effective_n_jobs(self.n_jobs)
        return self.plan_.kernel.batch(self._validated(X, self.plan_.kernel, reset=False), n_jobs)

    def _predicted(self, X: Any, of_outputs: Callable[[np.ndarray], np.ndarray]) -> Any:
        """A function of the outputs for X; for a Dask collection an array that is computed when it is asked for."""
        if not is_collection(X):
            return of_outputs(self._outputs(X))
        check_is_fitted(self)
        none = of_outputs(np.zeros((0, len(self.functions_.intercept))))
        return lazily(lambda part: of_outputs(self._outputs(part)), X, none)

    def _outputs(self, X: Any) -> np.ndarray:
        """One row per example, one column per function."""
        if isinstance(X, Parts):
            check_is_fitted(self)
            each = [np.empty((0, len(self.functions_.intercept)))]
            for part in X.open():
                with part.named():
                    each.append(self._outputs(part.X))
            return np.concatenate(each)
        batch = self._read_batch(X)
        outputs = self.functions_.outputs(batch, self.n_jobs)
        for i in np.flatnonzero(~np.isfinite(outputs).all(axis=1)):
            raise InputError(
                f"the output for item {i} is {outputs[i].tolist()}: its kernel values are too large for a float64"
            )
        return outputs

    def explain(self, x: Any) -> Explanation:
        """Explains one example: the contribution of each of its parts to its scores, see `treille.explain.Explanation`."""
        return self.explain_all([x] if not isinstance(x, Batch) else x)[0]

    def explain_all(self, X: Any) -> list[Explanation]:
        """The explanation of every example."""
        X = from_arrow(X)
        batch = self._read_batch(X)
        task = self.task()
        classes = task.labels if task.any_class else None
        return explanations(X, batch, self.functions_, classes, effective_n_jobs(self.n_jobs))

    def save(self, path: str | os.PathLike[str], representation: str = "flat") -> None:
        """Writes the model to a file that `treille.load` reads; only features, or examples, with weight are kept.

        Weights are written one by one ("flat"), and read back bit for bit; or as the minimal automaton of the features' strings
        ("automaton"), a third of the size or less for n-grams of texts, and read back to 12 digits; or in the smaller of the two
        ("auto").
        """
        check_is_fitted(self)
        spec, reading = estimator_spec(self), {"reading": self.reading_} if self.reading_ else {}
        (functions, arrays), (more, more_arrays) = self.functions_.state(representation), self._extra()
        spec |= {"reads": self.reads_.spec()} | functions | more | reading
        save_estimator(path, spec, arrays | more_arrays, self._classes_to_save())

    def _classes_to_save(self) -> np.ndarray:
        return np.empty(0)

    def _restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray) -> None:
        """Restores the model from what a file holds."""
        self._read(spec, arrays, 1)

    def _extra(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Further values for the spec, and further arrays, of a model file."""
        return {}, {}

    def _read(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], n_functions: int) -> None:
        self.kernel = Kernel.from_spec(stored.value(spec, "kernel", dict))
        self.check_parameters()  # before any of them reaches the core
        self.functions_ = read_functions(self.kernel, spec, arrays, n_functions)
        self.report_ = Report.from_dict(stored.value(spec, "report", dict))
        self.n_iter_ = self.report_.epochs
        self.reading_ = check_reading(spec.get("reading", {}))
        self.reads_ = self.kernel.reads.restored(spec.get("reads"))
        self.plan_ = Plan(self.kernel, "from the model file", sizes=self.functions_.sizes())


def reading_of(batch: Batch) -> dict[str, Any]:
    """The options with which further examples like these are read."""
    residues = batch.residues if isinstance(batch, Strings) else None
    return {"alphabet": residues} if residues else {}


def _read_only(values: np.ndarray) -> np.ndarray:
    view = values.view()
    view.flags.writeable = False
    return view
