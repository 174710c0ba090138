"""What estimators with a kernel share: training, the functions learned, and model files."""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from treille.data import Batch
from treille.data.base import is_frame
from treille.data.sequences import as_residues
from treille.estimators.display import LearnedDisplay
from treille.estimators.in_parts import check_in_parts
from treille.estimators.on_cluster import check_on_cluster, on_cluster
from treille.estimators.persistence import check_reading, estimator_spec, save_estimator
from treille.estimators.plan import Plan, choose_kernel, plan, requested_nystrom
from treille.estimators.targets import check_numbers, found_labels
from treille.explain.explanation import Explanation, explanations
from treille.explain.support import support_shares
from treille.features import FeatureMap
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_positive, check_whole, effective_n_jobs
from treille.kernels import Kernel, Precomputed
from treille.kernels.callable import as_kernel
from treille.kernels.fitting import FitContext, KnownFeatures
from treille.scale.cluster import LocalClusterWarning, connected
from treille.scale.counting import checkpointed, count_parts
from treille.scale.dask_counting import ClusterParts, count_on_cluster
from treille.scale.dask_parts import as_parts
from treille.scale.folder import opened_folder
from treille.scale.labels import Collected
from treille.scale.parts import Parts, read_part
from treille.solvers import Problem, Report
from treille.solvers.problem import Loss, Separation, check_intercept
from treille.solvers.progress import progress_bar, running_text, stage
from treille.solvers.report import check_outcome, first_level_outside
from treille.solvers.solver import BaseSolver, check_supported
from treille.spaces import PartsSpace
from treille.spaces.functions import Functions, LinearFunctions, read_functions

KernelParameter = Kernel | str | Callable[[Any, Any], Any] | None  # a str: "precomputed"


def fit_context(problem: Problem, counts: np.ndarray | None = None, known: KnownFeatures | None = None) -> FitContext:
    """What the features of the examples of a problem may depend on: their classes, and how often each example counts."""
    labels = None if problem.classes is None else problem.targets
    return FitContext(labels, problem.classes, counts, known or KnownFeatures())


class KernelMachine(LearnedDisplay, BaseEstimator):
    """An estimator that learns functions of examples by solving a `Problem` with a kernel.

    The parameters `kernel`, `tol`, `max_epochs`, `fit_intercept`, `solver`, `space`, `n_jobs`, `random_state` and `verbose`
    mean the same in all estimators that have them.
    """

    kernel: Any
    tol: float
    max_epochs: int
    solver: Any
    n_jobs: int | None
    plan_: Plan
    report_: Report
    functions_: Functions
    n_iter_: int
    reading_: dict[str, Any]  # how examples are read: "alphabet", and options of `treille.io.read`

    def _train(self, X: Any, y: Any, sample_weight: Any, problem_of: Callable[[Any, Any, int], Problem]) -> None:
        """Solves ``problem_of(y, sample_weight, number of examples)``, and keeps the result."""
        if on_cluster(X):
            return self._train_cluster(X, y, sample_weight)
        if isinstance(X, Parts):
            return self._train_parts(X, y, sample_weight, problem_of)
        kernel, why, batch = self._examples(X)
        problem = problem_of(y, sample_weight, len(batch))
        self._solve(kernel, batch, problem, *self._planned(kernel, why, batch, problem))

    def _train_parts(
        self, parts: Parts, y: Any, sample_weight: Any, problem_of: Callable[[Any, Any, int], Problem]
    ) -> None:
        """The same for data in parts, which have labels and weights of their own."""
        if y is not None or sample_weight is not None:
            raise InputError(
                "parts have labels and sample weights of their own: pass them with the examples, Parts.of(...)"
            )
        check_in_parts(self, type(self._loss()))
        of_classes = is_classifier(self)
        labels, found = Collected(of_classes), found_labels if of_classes else check_numbers
        with opened_folder(parts.scratch, parts.checkpoint) as folder:
            with running_text(getattr(self, "verbose", 0)) as show:
                choose = partial(choose_kernel, self.kernel, labels=of_classes)
                counted, why = count_parts(parts, folder, choose, labels, found, show, self.n_jobs)
            parts.class_counts = labels.class_counts()
            if parts.min_count > 1:
                why += f", with only the features that occur in at least {parts.min_count:,} examples"
            problem = problem_of(labels.y(), labels.sample_weight(), len(counted))
            kernel = counted.kernel
            self._solve(kernel, counted, problem, *self._planned(kernel, why, counted, problem))

    def _loss(self) -> Loss:
        """The loss of the problem."""
        raise NotImplementedError

    def _train_cluster(self, X: Any, y: Any, sample_weight: Any) -> None:
        """The same for Dask collections. The rows stay on the workers; the problem of each part is made where they are."""
        of_classes, begun = is_classifier(self), time.perf_counter()
        check_on_cluster(self, self._cluster_loss())
        given = X if isinstance(X, Parts) else None
        if given is not None and (y is not None or sample_weight is not None):
            raise InputError("files on a cluster have labels of their own: Parts.on(client, files, label=...)")
        if given is None and y is None:
            raise InputError("labels are missing: fit(X, y) requires y, a Dask collection divided like X")
        found, choose = (
            found_labels if of_classes else check_numbers,
            partial(choose_kernel, self.kernel, labels=of_classes),
        )
        with connected(None if given is None else given.client) as cluster:
            if cluster.note:
                warnings.warn(cluster.note, LocalClusterWarning, stacklevel=first_level_outside())
            if given is None:
                parts = as_parts(cluster.client, X, y, sample_weight)
            else:
                parts = cluster.submit_all(read_part, given.sources, [given.options] * len(given.sources))
            least, kernel = given.min_count if given else 1, as_kernel(self.kernel)
            counted, why = count_on_cluster(cluster, parts, kernel, choose, of_classes, found, least)
            del parts  # of which the features remain: texts need not stay on the workers
            with checkpointed(given, counted.kernel) as counted.folder:
                problem, of_part = self._cluster_problem(counted)
                counted.with_problems(of_part)
                labelled = problem
                if counted.kernel.needs_labels:  # 4 bytes per example come here
                    labelled = replace(problem, targets=counted.targets(), C=np.ones(len(counted)))
                planned = self._planned(counted.kernel, why, counted, labelled)
                features = time.perf_counter()
                self._solve(counted.kernel, counted, problem, *planned)
        if given is not None:
            given.class_counts = counted.class_counts()
        stages = (("counting features", features - begun), ("rounds", time.perf_counter() - features))
        self.report_ = replace(self.report_, stages=stages)

    def _cluster_loss(self) -> type[Loss] | None:
        """The loss of the problem that is solved on a cluster; None: it is not."""
        return None

    def _cluster_problem(self, counted: ClusterParts) -> tuple[Problem, Callable[[Collected], Problem]]:
        """The problem without examples, and a function that makes that of a part from its labels."""
        raise NotImplementedError

    def _examples(self, X: Any) -> tuple[Kernel, str, Batch]:
        """The kernel, the reason for it, and the examples as it reads them."""
        X = list(X) if isinstance(X, Iterator) else X  # examined first, then read
        kernel, why = choose_kernel(self.kernel, X, is_classifier(self))
        with stage("reading examples", getattr(self, "verbose", 0)):
            batch = kernel.batch(self._validated(X, kernel, reset=True), self.n_jobs)
        if len(batch) == 0:
            raise InputError("there are no examples: fit needs at least one")
        return kernel, why, batch

    def _planned(
        self, kernel: Kernel, why: str, batch: Any, problem: Problem, known: KnownFeatures | None = None
    ) -> tuple[Plan, Any]:
        """The solver chosen, and the space that it works on, built; features that are `known` are not computed again."""
        space, context = getattr(self, "space", "auto"), fit_context(problem, known=known)
        with stage("computing features", getattr(self, "verbose", 0)):
            return plan(kernel, why, batch, problem, self.solver, space, self.n_jobs, context)

    def _solve(self, kernel: Kernel, batch: Any, problem: Problem, chosen: Plan, space: Any) -> None:
        """Solves the problem on the space, and keeps the result."""
        measure = "share of mistakes" if isinstance(problem.loss, Separation) else "gap"
        verbose = getattr(self, "verbose", 0)
        n_problems, unit = problem.n_problems, "epoch"
        if isinstance(space, PartsSpace):  # all at once, unless the rows differ
            n_problems, unit = max(1, space.rows.n_problems), "pass"
        with progress_bar(n_problems, self.tol, verbose, measure=measure, unit=unit) as progress:
            solution = chosen.solver.solve(
                problem,
                space,
                tol=self.tol,
                max_epochs=self.max_epochs,
                seed=getattr(self, "random_state", 0),
                n_jobs=self.n_jobs,
                progress=progress,
            )
        if not isinstance(chosen.solver, BaseSolver):  # ours check themselves
            check_outcome(solution.report, self.tol)
        self.functions_ = space.functions(solution.intercept, solution.weights, solution.coefficients)
        self.report_ = replace(solution.report, approximation_error=space.error)
        self.n_iter_ = self.report_.epochs
        residues = getattr(batch, "residues", None)
        self.reading_ = {"alphabet": residues} if residues else {}
        self.plan_ = replace(chosen, kernel=kernel, representation=self.report_.representation, sizes=space.sizes())

    def _validated(self, X: Any, kernel: Kernel, reset: bool) -> Any:
        """Arrays of numbers as scikit-learn's own estimators check them, which also keeps ``n_features_in_``."""
        if not kernel.reads_numbers or not (hasattr(X, "__array__") or issparse(X)):
            return X
        try:
            # The batch reads a DataFrame itself, and names the column that is not of numbers.
            options: Any = {"skip_check_array": True} if is_frame(X) else {"accept_sparse": True, "dtype": np.float64}
            return validate_data(self, X, reset=reset, **options)
        except ValueError as error:
            raise InputError(str(error)) from None

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it."""
        raise NotImplementedError

    def _check_shared(self, loss: type[Loss], intercept: bool | str) -> None:
        """Refuses values of the shared parameters that are out of their range, and a solver that does not support the problem."""
        check_positive("tol", self.tol)
        check_whole("max_epochs", self.max_epochs)
        check_whole("random_state", getattr(self, "random_state", 0), 0)
        check_intercept("fit_intercept", intercept)
        requested_nystrom(getattr(self, "space", "auto"))
        if isinstance(self.solver, str) and self.solver == "auto":
            pass
        elif not all(hasattr(self.solver, name) for name in ("solve", "spaces", "losses", "intercepts")):
            raise InputError(f"solver is {self.solver!r}, expected 'auto' or a solver such as treille.solvers.DualCD()")
        else:
            if hasattr(self.solver, "check"):
                self.solver.check()
            check_supported(self.solver, loss, intercept)
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
        check_is_fitted(self, "functions_")
        return _read_only(self.functions_.intercept)

    def _linear(self) -> LinearFunctions:
        check_is_fitted(self, "functions_")
        if not isinstance(self.functions_, LinearFunctions):
            raise AttributeError(
                f"{self.plan_.kernel!r} has no explicit features, so there are no weights of features: use explain(x), whose "
                "support lists the examples with the largest shares"
                + (", or fragments(count), the heaviest tree fragments" if "Tree(" in repr(self.plan_.kernel) else "")
            )
        return self.functions_

    def _read_batch(self, X: Any) -> Batch:
        """New examples as the kernel reads them."""
        if not hasattr(self, "functions_"):  # the check takes a while
            check_is_fitted(self, "functions_")
        if "alphabet" in self.reading_:
            X = as_residues(self.reading_["alphabet"], X, self.n_jobs)
        n_jobs = effective_n_jobs(self.n_jobs)
        return self.plan_.kernel.batch(self._validated(X, self.plan_.kernel, reset=False), n_jobs)

    def _outputs(self, X: Any) -> np.ndarray:
        """One row per example, one column per function."""
        if isinstance(X, Parts):
            check_is_fitted(self, "functions_")
            return np.concatenate([np.empty((0, len(self.functions_.intercept))), *self._outputs_of(X)])
        batch = self._read_batch(X)
        outputs = self.functions_.outputs(batch, self.n_jobs)
        for i in np.flatnonzero(~np.isfinite(outputs).all(axis=1)):
            raise InputError(
                f"the output for item {i} is {outputs[i].tolist()}: its kernel values are too large for a float64"
            )
        return outputs

    def _outputs_of(self, parts: Parts) -> Iterator[np.ndarray]:
        """The outputs for each part, one after another."""
        for part in parts.open():
            try:
                yield self._outputs(part.X)
            except InputError as error:
                raise InputError(f"{part.place}: {error}") from None

    def explain(self, x: Any) -> Explanation:
        """What each part of one example contributes to its scores, see `treille.explain.Explanation`."""
        return self.explain_all([x] if not isinstance(x, Batch) else x)[0]

    def explain_all(self, X: Any) -> list[Explanation]:
        """The explanation of every example."""
        batch = self._read_batch(X)
        found = self.functions_.contributions(batch, effective_n_jobs(self.n_jobs))
        classes = self.classes_.tolist() if hasattr(self, "classes_") else None
        support = support_shares(self.functions_, batch, self.n_jobs)
        return explanations(X, batch, found, self.functions_.intercept, classes, support)

    def report(self, X: Any, y: Any, path: str | os.PathLike[str], train: Any = None) -> None:
        """Writes a page on the model to an HTML file: figures, examples with their contributions, features, and more.

        Parameters
        ----------
        X, y : examples and their labels, or numbers
            Which the model has not seen. Without y there are no scores. With neither, the report is of `train`, the training
            examples, clearly marked, or of the model alone.
        path : str or path
        train : pair (X, y), optional
            The training examples, for baselines: the majority class, or the mean, and for texts TF-IDF with LinearSVC.

        Examples
        --------
        >>> import treille
        >>> model = treille.SVC(treille.kernels.NGram(1)).fit(["aab", "bcc"], [0, 1])
        >>> model.report(["ab", "cc"], [0, 1], "report.html")
        """
        from treille.explain.report import write_report  # here: it would make every start of Python an eighth slower

        check_is_fitted(self, "functions_")
        write_report(self, X, y, path, train)

    def _save(self, path: str | os.PathLike[str], classes: np.ndarray, representation: str = "flat") -> None:
        spec = estimator_spec(self)
        spec |= {"kernel": self.plan_.kernel.spec(), "report": self.report_.as_dict()}
        stored.check_depth(spec["kernel"])  # so that nothing is written that could not be read
        functions_spec, arrays = self.functions_.state(representation)
        spec |= functions_spec | self._extra() | ({"reading": self.reading_} if self.reading_ else {})
        save_estimator(path, spec, arrays | self._extra_arrays(), classes)

    def _extra(self) -> dict[str, Any]:
        """What else belongs in the spec of a model file."""
        return {}

    def _extra_arrays(self) -> dict[str, np.ndarray]:
        """What else belongs among the arrays of a model file."""
        return {}

    def _read(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], n_functions: int) -> None:
        self.kernel = Kernel.from_spec(stored.value(spec, "kernel", dict))
        self.check_parameters()  # before any of them reaches the core
        self.functions_ = read_functions(self.kernel, spec, arrays, n_functions)
        self.report_ = Report.from_dict(stored.value(spec, "report", dict))
        self.n_iter_ = self.report_.epochs
        self.reading_ = check_reading(spec.get("reading", {}))
        self.plan_ = Plan(self.kernel, "from the model file", sizes=self.functions_.sizes())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = as_kernel(self.kernel)
        except InputError:  # `fit` will say so
            kernel = None
        numbers = kernel is not None and kernel.reads_numbers
        tags.input_tags.two_d_array = tags.input_tags.sparse = numbers
        tags.input_tags.string = not numbers
        tags.input_tags.pairwise = isinstance(kernel, Precomputed)
        return tags


def _read_only(values: np.ndarray) -> np.ndarray:
    view = values.view()
    view.flags.writeable = False
    return view
