"""Estimators that learn the kernel together with the predictor: a weight for every feature, or for every part of a kernel."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from treille.automata import library
from treille.data import Batch
from treille.estimators.base import KernelMachine, fit_context
from treille.estimators.plan import Plan, plan
from treille.estimators.ridge import Ridge
from treille.estimators.sources import Posed, require_memory
from treille.estimators.svc import SVC
from treille.features import FeatureMap, PerProblemRows, Rows, StoredRows
from treille.features.abilities import having
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_positive
from treille.kernels import Kernel, NGram
from treille.kernels.additive import Additive
from treille.kernels.balanced import parts_of
from treille.kernels.base import Fitted, operands
from treille.kernels.fitting import FitContext, KnownFeatures
from treille.kernels.precomputed import as_kernel
from treille.kernels.weighted import Weighted, WeightedMap
from treille.learning import LearnedKernel, align_weights, learn_weights
from treille.learning.risk import SPREADS
from treille.scikit_learn import Self
from treille.solvers import Problem, Report
from treille.solvers.progress import progress_bar, stage
from treille.spaces import MemorySource, Source
from treille.spaces.space import no_features
from treille.spaces.weight_automaton import weight_fst


@dataclass(frozen=True, eq=False)
class LearnedPath:
    """Learned shares of the trace for several values of a parameter, each computed from the solution for the one before.

    ``shares`` has one row for each of ``values`` and one column for each of ``names``: the features, or parts, that have a share
    at one value at least, the largest share first.

    >>> import treille
    >>> texts = ["good wine", "a good vine", "bad wine", "a bad vine"]
    >>> model = treille.LearnedSVC(treille.kernels.NGram(1, unit="word"))
    >>> path = model.path(texts, ["+", "+", "-", "-"], [0.1, 1.0, 10.0])
    >>> sorted(path.names), path.shares.sum(axis=1).round(6).tolist()
    (['bad', 'good'], [1.0, 1.0, 1.0])
    """

    parameter: str
    values: np.ndarray
    names: list[str]
    shares: np.ndarray
    reports: list[Report]

    def plot(self, ax: Any = None, count: int = 10) -> Any:
        """Draws the largest shares over the values of the parameter; returns the axes of matplotlib."""
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise InputError("plots need matplotlib: pip install 'treille[plot]'") from None
            ax = pyplot.subplots()[1]
        for name, column in zip(self.names[:count], self.shares.T[:count], strict=True):
            ax.plot(self.values, column, marker=".", label=name)
        ax.set(xscale="log", xlabel=self.parameter, ylabel="share of the trace")
        ax.legend(fontsize="small")
        return ax


GROUPS = ("features", "parts")


class LearnedWeight(NamedTuple):
    """The weight of a feature, or of a part of the kernel.

    ``weight`` is mu, ``share`` its part of the trace of the kernel matrix, and ``effect`` what one unit of the feature adds to the
    output of the predictor (None for a part).
    """

    name: str
    weight: float
    share: float
    effect: float | None


@dataclass(frozen=True, eq=False)
class LearningRows:
    """Rows to learn from: features of a kernel, and the group of each, if there are any."""

    kernel: Kernel
    features: FeatureMap
    rows: Any
    groups: np.ndarray | None  # one number for each feature
    names: list[str]  # of the groups


@dataclass(eq=False, repr=False, kw_only=True)
class LearningParameters:
    """Parameters of `LearnedSVC`, which documents them, of `LearnedRidge`, and of their searches by cross-validation."""

    groups: str | Callable[[str], Any] = "features"
    learn: str = "risk"
    spread: str = "optimal"
    trace: float | None = None


class KernelLearner(LearningParameters, KernelMachine):
    """Base class of `LearnedSVC` and `LearnedRidge`."""

    _strength: ClassVar[str]  # the parameter that `path` varies

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.groups not in GROUPS and not callable(self.groups):
            raise InputError(
                f"groups is {self.groups!r}, expected 'features', 'parts', or a function of the names of features"
            )
        check_choice("learn", self.learn, "risk", "alignment", "alignment-nnls")
        check_choice("spread", self.spread, *SPREADS)
        if self.trace is not None:
            check_positive("trace", self.trace)
        if self.space != "auto":
            raise InputError(
                f"space is {self.space!r}, expected 'auto': weights are learned for the features of the kernel"
            )
        kernel = as_kernel(self.kernel)
        if kernel is not None and not kernel.has_features:
            raise InputError(
                f"{kernel!r} has no explicit features to weigh: use a kernel such as NGram, GappedKmer or Subpath"
            )
        if kernel is not None and self.groups == "parts":
            _several_parts(kernel)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        instead = "learn the weights on some of them, then train"
        trained = "SVC, SVR, Ridge or LogisticRegression on the cluster"
        require_memory(X, self, f"{instead} on the parts with .weighted({{...}})", f"{instead} {trained}")
        return super().fit(X, y, sample_weight)

    def _planned(self, source: Source, problem: Problem, known: KnownFeatures | None = None) -> tuple[Plan, Any]:
        """Learns the weights, and plans the training of the predictor with them."""
        assert isinstance(source, MemorySource)  # others are refused
        rows = self._learning_rows(source, fit_context(problem, known=known))
        with progress_bar(problem.n_problems, self.tol, self.verbose) as progress:
            learned = self._learn(problem, rows, progress=progress)
        fitted, sizes = self._keep(rows, learned)
        chosen, space = plan_learned(rows, fitted, source, problem, self.solver, self.n_jobs)
        return replace(chosen, sizes=sizes), space

    def _learning_rows(self, source: MemorySource, context: FitContext) -> LearningRows:
        """The features of the examples, which `_learn` may use several times."""
        with stage("computing features", self.verbose):
            rows = self._grouped(source.kernel, source.batch, context)
        if rows.rows.n_features == 0:
            raise no_features(source.kernel, 0)
        return rows

    def _grouped(self, kernel: Kernel, batch: Batch, context: FitContext) -> LearningRows:
        if self.groups == "parts":
            parts = _several_parts(kernel)
            kernel = reduce(add, [part if weight == 1 else weight * part for _, part, weight in parts])
            features, rows = context.fit(kernel, batch, self.n_jobs)
            groups = np.repeat(np.arange(len(parts)), np.diff(features.cuts))  # type: ignore[attr-defined]
            return LearningRows(kernel, features, rows, groups, [repr(part) for _, part, _ in parts])
        features, rows = context.fit(kernel, batch, self.n_jobs)
        if len(rows.problems) > 1:
            raise InputError(f"{kernel!r} has its own weights for each class: learn weights for the kernel inside")
        if not callable(self.groups):
            return LearningRows(kernel, features, rows, None, [])
        labels = [self.groups(features.name(z)) for z in range(features.n_features)]
        known = sorted(set(labels))
        number = {label: g for g, label in enumerate(known)}
        groups = np.array([number[label] for label in labels])
        return LearningRows(kernel, features, rows, groups, list(map(str, known)))

    @abstractmethod
    def _learning_factor(self) -> float:
        """The C of the learning problem divided by the C of the predictor."""

    def _learn(
        self, problem: Problem, examples: LearningRows, start: list[LearnedKernel] | None = None, progress: Any = None
    ) -> list[LearnedKernel]:
        options: dict[str, Any] = {"trace": float(len(problem) if self.trace is None else self.trace)}
        problem = replace(problem, C=problem.C * self._learning_factor())
        if self.learn != "risk":
            options["nonnegative_least_squares"] = self.learn == "alignment-nnls"
            return align_weights(problem, examples.rows, examples.groups, **options)
        options |= {"spread": self.spread, "tol": self.tol, "max_epochs": self.max_epochs, "n_jobs": self.n_jobs}
        return learn_weights(problem, examples.rows, examples.groups, start=start, progress=progress, **options)

    def path(self, X: Any, y: Any, values: Any, label: Any = None) -> LearnedPath:
        """Learns weights for several values of C, or of alpha, each from the solution before it, strong regularisation first.

        With several classes, `label` says which one against the rest.

        >>> import treille
        >>> path = treille.LearnedRidge(treille.kernels.NGram(1)).path(["a", "aa", "ab", "b"], [1, 2, 1, 0], [0.1, 1.0])
        >>> path.values.tolist(), path.names
        ([1.0, 0.1], ['a'])
        """
        ordered = np.sort(np.asarray(values, float).ravel())[:: 1 if self._strength == "C" else -1]
        if len(ordered) == 0:
            raise InputError("values is empty, expected at least one number")
        models = [clone(self).set_params(**{self._strength: float(value)}) for value in ordered]
        for model in models:
            model.check_parameters()
        source = models[0]._examples(X)
        problems = [model._posed(y, None, len(source)).problem for model in models]
        rows = self._learning_rows(source, fit_context(problems[0]))
        n_problems = problems[0].n_problems
        known = (np.unique(y) if is_classifier(self) else np.arange(n_problems)).tolist()
        if n_problems > 1 and label not in known:
            expected = ", ".join(map(repr, known))
            raise InputError(f"label is {label!r}, expected one of {expected}: each has its own weights")
        k = known.index(label) if n_problems > 1 else 0
        found: list[LearnedKernel] = []
        for problem in problems:
            found += models[0]._learn(problem.only(k), rows, start=found[-1:] or None)
        shares = np.stack([each.shares for each in found])
        used = np.argsort(-shares.max(axis=0), kind="stable")[: np.count_nonzero(shares.any(axis=0))]
        names = [rows.names[z] if rows.names else rows.features.name(int(z)) for z in used]
        return LearnedPath(self._strength, ordered, names, shares[:, used], [each.report for each in found])

    def _keep(self, examples: LearningRows, learned: list[LearnedKernel]) -> tuple[Fitted, str]:
        """Stores the learned weights; returns the features with these weights, the rows of these examples, and a note on sizes."""
        mu, used = np.stack([each.weights for each in learned]), used_features(examples, learned)
        if len(used) == 0:
            ended = any(each.report.status != "converged" for each in learned)
            why = "learning ended early: raise max_epochs" if ended else "no feature is correlated with the targets"
            raise InputError(f"all weights are 0: {why}")
        everything = having(examples.rows, StoredRows).to_csr()
        matrix = everything[:, used]
        each = [_without_zeros(matrix @ sp.diags(np.sqrt(own[used]))) for own in mu]
        rows = each[0] if len(each) == 1 else PerProblemRows(each)
        fitted = WeightedMap(examples.features.restrict(used), np.sqrt(mu[:, used]), 0.0)
        self.learning_report_ = Report.combined([each.report for each in learned])
        self.group_names_ = examples.names
        shares = np.stack([each.shares for each in learned])
        self.shares_ = shares if examples.groups is not None else shares[:, used]
        unit = [np.flatnonzero(examples.groups == g)[:1] for g in range(len(examples.names))] if examples.names else []
        self.mu_ = np.stack([[own[z[0]] if len(z) else 0.0 for z in unit] for own in mu]) if unit else mu[:, used]
        empty = int((np.bincount(everything.indices, minlength=everything.shape[1]) == 0).sum())
        note = f"{np.count_nonzero(mu.any(axis=0)):,} features have weight"
        return (fitted, rows), note + (f", {empty:,} are 0 in all examples" if empty else "")

    @property
    def learned_weights_(self) -> Any:
        """The learned weights, the largest share of the trace first: a list of `LearnedWeight`, or a dict of lists by class."""
        functions = self._linear()
        fitted = functions.features
        assert isinstance(fitted, WeightedMap)
        tables = []
        for k, (mu, shares) in enumerate(zip(self.mu_, self.shares_, strict=True)):
            order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
            if self.group_names_:
                rows = [LearnedWeight(self.group_names_[g], float(mu[g]), float(shares[g]), None) for g in order]
            else:
                effects = np.sqrt(mu) * functions.weights[:, k]
                numbers = np.stack([mu, shares, effects], axis=1)[order].tolist()
                rows = [LearnedWeight(fitted.name(int(z)), *each) for z, each in zip(order, numbers, strict=True)]
            tables.append(rows)
        return self._by_class(tables)

    @property
    def kernel_(self) -> Any:
        """The learned kernel, usable like any other; with more than two classes, a dict with one kernel for each."""
        learned = self.plan_.kernel
        assert isinstance(learned, Weighted)
        inside, fitted = learned.kernel, self._linear().features
        kernels = []
        for k, mu in enumerate(self.mu_):
            if isinstance(inside, Additive) and self.groups == "parts":
                terms = [term for _, term in inside.terms()]
                kernels.append(reduce(add, [float(m) * term for m, term in zip(mu, terms, strict=True) if m > 0]))
            else:
                weights = fitted.weights[k]  # type: ignore[attr-defined]
                named = {fitted.name(z): float(weights[z]) for z in np.flatnonzero(weights).tolist()}
                kernels.append(inside.weighted(named, missing=0.0))
        return self._by_class(kernels)

    def transducer(self) -> Any:
        """The learned kernel as a transducer T that counts n-grams and weighs them: ``Rational(T)`` is ``kernel_``.

        With more than two classes, a dict with one for each. For kernels that count n-grams: `NGram`.

        >>> import treille
        >>> model = treille.LearnedSVC(treille.kernels.NGram(2), C=10.0).fit(["aab", "aaab", "ab", "bab"], [1, 1, 0, 0])
        >>> T = model.transducer()
        >>> bool(T("aaa", "aa") > 0), T("ab", "ba")
        (True, 0.0)
        """
        [inside], fitted = operands(self.plan_.kernel), self._linear().features
        if not isinstance(inside, NGram) or inside.counts != "raw" or not isinstance(fitted, WeightedMap):
            raise InputError(f"{inside!r} does not count n-grams, so there is no transducer of its features: use NGram")
        return self._by_class([library.counting(weight_fst(fitted.inner, weights)) for weights in fitted.weights])

    def _by_class(self, each: Sequence[Any]) -> Any:
        return each[0] if len(each) == 1 else dict(zip(self.task().labels or range(len(each)), each, strict=True))

    def _extra(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        if callable(self.groups):
            raise InputError(
                "groups is a function, which a model file cannot hold: save an estimator that was fitted with kernel_ instead"
            )
        spec, arrays = super()._extra()
        spec |= {"learning": self.learning_report_.timeless().as_dict(), "groups": self.group_names_}
        return spec, arrays | {"learned.shares": self.shares_, "learned.mu": self.mu_}

    def _read(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], n_functions: int) -> None:
        super()._read(spec, arrays, n_functions)
        self.learning_report_ = Report.from_dict(stored.value(spec, "learning", dict))
        self.group_names_ = stored.names(spec, "groups")
        width = len(self.group_names_) or self._linear().features.n_features
        for name in ("shares", "mu"):
            values = stored.array(arrays, f"learned.{name}", np.float64, ndim=2)
            if values.shape != (n_functions, width) or not (values >= 0).all():
                raise InputError("the learned weights in the file do not fit its features")
            setattr(self, f"{name}_", values)


def _several_parts(kernel: Kernel) -> list[tuple[str, Kernel, float]]:
    """The parts of a kernel that each get a weight; refuses a kernel with one."""
    parts = parts_of(kernel)
    if len(parts) == 1:
        raise InputError(
            f"{kernel!r} has one part only: groups='parts' needs a sum of kernels, or n-grams of several orders, "
            "such as NGram(5, min_n=2)"
        )
    return parts


def plan_learned(
    examples: LearningRows, fitted: Fitted, source: MemorySource, problem: Problem, solver: Any, n_jobs: int | None
) -> tuple[Plan, Any]:
    """Plans the training of the predictor on rows with learned weights."""
    kernel, known = examples.kernel.weighted("learned"), KnownFeatures()
    known.add(kernel, source.batch, fitted)
    weighted = MemorySource(kernel, source.kernel_why, source.batch)
    return plan(weighted, problem, solver, n_jobs=n_jobs, context=fit_context(problem, known=known))


def used_features(rows: LearningRows, learned: list[LearnedKernel]) -> np.ndarray:
    """The features that have weight in some problem, and the features needed for the norms of examples."""
    return rows.features.ids_for_norms(np.flatnonzero(np.any([each.weights > 0 for each in learned], axis=0)))


def _without_zeros(matrix: sp.csr_matrix) -> Rows:
    matrix = sp.csr_matrix(matrix)
    matrix.eliminate_zeros()
    return Rows.from_csr(matrix)


@dataclass(eq=False, repr=False, kw_only=True)
class LearnedSVC(KernelLearner, SVC):
    """A support vector machine whose kernel is learned with it: a weight for each feature, most of them 0, or for each part.

    Among the kernels k_mu(x, y) = sum_z mu_z phi_z(x) phi_z(y) with mu >= 0 and a kernel matrix of given trace, it finds the one
    for which the optimum of the support vector machine is smallest; then it trains on that kernel.

    Parameters
    ----------
    kernel, C, loss, tol, max_epochs, fit_intercept, class_weight, solver, n_jobs, random_state, verbose
        As in `SVC`. The kernel must have explicit features; `solver` trains the final predictor. With more than two classes,
        each has a different kernel.
    groups : {"features", "parts"} or callable
        The units that get one weight each: the features; the parts of the kernel, that is each order of `NGram` and each term of a
        sum
        (multiple kernel learning); or all features for which a function of their names returns the same.
    learn : {"risk", "alignment", "alignment-nnls"}
        "risk" minimises the objective of the support vector machine, to a proven duality gap. "alignment" weighs each feature by
        the alignment of its kernel with the targets; "alignment-nnls" weighs all together, by non-negative least squares.
    spread : {"optimal", "even"}
        With "risk": the weights of the optimum, or the same share of the trace for every feature that is active there.
    trace : float or None
        Trace of the kernel matrix of the training examples. None is their number, so that k(x, x) is 1 on average.
    learning_C : float or None
        C of the learning problem; None is `C`. A smaller one gives fewer features weight, without a smoother predictor.

    Attributes
    ----------
    learned_weights_ : list of LearnedWeight, or dict of them by class
        Name, weight mu, share of the trace, and effect on the output, the largest share first.
    kernel_ : Kernel, or dict of them by class
        The learned kernel, which other estimators take like any other.
    learning_report_ : Report
        Primal and dual value and gap of the learning problem; ``report_`` is the report of the final predictor.
    classes_, coef_, intercept_, report_, plan_, features_
        As in `SVC`.

    References
    ----------
    Cortes, Mohri, Rostamizadeh: Learning sequence kernels. MLSP 2008.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> texts = ["good wine", "a good vine", "bad wine", "a bad vine"]
    >>> model = treille.LearnedSVC(NGram(1, unit="word"), C=10.0).fit(texts, ["+", "+", "-", "-"])
    >>> sorted((each.name, round(each.share, 2)) for each in model.learned_weights_)
    [('bad', 0.5), ('good', 0.5)]
    >>> model.predict(["good", "bad vine"]).tolist()
    ['+', '-']
    """

    _strength = "C"
    learning_C: float | None = None

    def _learning_factor(self) -> float:
        return 1.0 if self.learning_C is None else self.learning_C / self.C

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.learning_C is not None:
            check_positive("learning_C", self.learning_C)


@dataclass(eq=False, repr=False, kw_only=True)
class LearnedRidge(KernelLearner, Ridge):
    """Ridge regression whose kernel is learned with it: a weight for each feature, most of them 0, or for each part.

    Among the kernels k_mu(x, y) = sum_z mu_z phi_z(x) phi_z(y) with mu >= 0 and a kernel matrix of given trace, it finds the one
    for which the optimum of ridge regression is smallest; then it trains on that kernel. Only ``alpha / trace`` matters.

    Parameters
    ----------
    kernel, alpha, fit_intercept, tol, max_epochs, solver, n_jobs, verbose
        As in `Ridge`. With several targets, each has a different kernel.
    groups, learn, spread, trace
        As in `LearnedSVC`.
    learning_alpha : float or None
        Alpha of the learning problem; None is `alpha`.

    Attributes
    ----------
    learned_weights_, kernel_, learning_report_
        As in `LearnedSVC`; dicts are by the number of the target.
    coef_, intercept_, report_, plan_, features_
        As in `Ridge`.

    References
    ----------
    Cortes, Mohri, Rostamizadeh: Learning sequence kernels. MLSP 2008.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.LearnedRidge(NGram(1), alpha=0.01).fit(["a", "aa", "ab", "b", "c"], [1.0, 2.0, 1.0, 0.0, 0.0])
    >>> [name for name, *_ in model.learned_weights_], model.predict(["aab"]).round(1).tolist()
    (['a'], [2.0])
    """

    _strength = "alpha"
    learning_alpha: float | None = None

    def _learning_factor(self) -> float:
        return 1.0 if self.learning_alpha is None else self.alpha / self.learning_alpha

    def _posed(self, y: Any, sample_weight: Any, n: int) -> Posed:
        posed = super()._posed(y, sample_weight, n)
        constant = np.flatnonzero(np.ptp(posed.problem.targets.reshape(n, -1), axis=0) == 0)
        if len(constant):
            value = np.asarray(y, float).reshape(n, -1)[0, constant[0]]
            raise InputError(f"all targets are {value}: they do not tell which features matter")
        return posed

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.learning_alpha is not None:
            check_positive("learning_alpha", self.learning_alpha)
