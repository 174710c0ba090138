"""Base classes of the searches by cross-validation: grids, folds, scores, and results as in scikit-learn's GridSearchCV."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils.validation import check_is_fitted

from treille.estimators.base import KernelMachine, KernelParameter, LearnedDisplay
from treille.estimators.held_out import (
    Examples,
    HeldOutClassifier,
    HeldOutRegressor,
    Planned,
    Split,
    TrainedFold,
    evaluate_folds,
    trained_fold,
)
from treille.estimators.plan import choose_kernel
from treille.estimators.sources import recognised_texts, require_memory
from treille.explain.examples import some_of
from treille.io.errors import InputError, first_level_outside
from treille.io.packed import PackedExamples
from treille.io.parameters import check_positive
from treille.kernels.precomputed import as_kernel
from treille.scikit_learn import BaseEstimator, ClassifierMixin
from treille.solvers import SMO, ConvergenceWarning, DualCD, Problem
from treille.solvers.folds import FoldOutputs

RANGE = (-3, 3)  # powers of ten between which values are chosen
Candidate = tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray]  # scores, seconds to fit and seconds to score


@dataclass(eq=False, repr=False, kw_only=True)
class SearchCV(LearnedDisplay, BaseEstimator):
    """An estimator that chooses parameters by cross-validation, and is then the model with the best, fitted on all examples.

    A subclass names the estimator and its parameter on the path, and may replace `_evaluate`.
    """

    estimator: ClassVar[type[Any]]
    held_out: ClassVar[type[HeldOutClassifier]] = HeldOutClassifier  # the model that scorers see, for classifiers
    path: ClassVar[tuple[str, str]] = ("C", "Cs")  # the parameter of the estimator, and the parameter with its values
    unit: ClassVar[float] = 1.0  # the value on the path for which C is the weight of the example

    kernel: KernelParameter | Sequence[KernelParameter] = field(default=None, kw_only=False)
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    cv: Any = 5
    scoring: Any = None
    best_estimator_: Any = field(init=False)

    def strength(self, value: float) -> float:
        """C for a value on the path."""
        return value

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it."""
        self._values()
        if not self._kernels():
            raise InputError("kernel is an empty list, expected at least one kernel")
        for kernel in self._kernels():
            self._template(kernel).check_parameters()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Chooses the parameters, and trains with them on examples X with targets y. `groups` are passed to the splitter."""
        instead = f"choose parameters on some of them, then train {self.estimator.__name__} on the"
        require_memory(X, self, f"{instead} parts", f"{instead} cluster")
        self.check_parameters()
        X = _indexable(X)
        if any(as_kernel(kernel) is None for kernel in self._kernels()):
            X, _ = recognised_texts(X, None, self.n_jobs)
        sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        rows: list[Candidate] = []
        gaps: list[np.ndarray] = []
        examples: Examples | None = None
        best: tuple[float, float, Callable[[float], KernelMachine]] | None = None
        for params, model in self._models(X):
            if examples is None:
                source = model._examples(X)
                model._posed(y, sample_weight, len(source))  # refuses bad targets before the splitter meets them
                y = np.asarray(y)
                y = np.array(y.tolist()) if y.dtype == object else y  # scorers do not know what objects are
                examples = Examples(model, source, y, sample_weight, self._splits(X, y, groups, len(source)))
            else:
                examples = examples.read_by(model, X)
            folds, found, planned = self._evaluate(model, examples)
            candidates = [params | {self.path[0]: value} for value in self._values()]
            scores, seconds = self._scores(folds, found, candidates, X, examples)
            rows += zip(candidates, scores, found.seconds, seconds, strict=True)
            gaps.append(found.gaps)
            _warn_of_gaps(found.gaps, model)
            means = scores.mean(axis=1)
            if best is None or means.max() > best[0]:
                value = candidates[int(means.argmax())][self.path[0]]
                best = means.max(), value, partial(self._refit, model, planned, examples)
        assert best is not None
        begun = time.perf_counter()
        self.best_estimator_ = best[2](best[1])
        self.refit_time_ = time.perf_counter() - begun
        self.cv_results_, self.gaps_ = _table(rows, splits=not self._leaves_one_out()), np.vstack(gaps)
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        setattr(self, f"{self.path[0]}_", best[1])
        return self

    def _kernels(self) -> list[Any]:
        return list(self.kernel) if isinstance(self.kernel, (list, tuple)) else [self.kernel]

    def _template(self, kernel: Any) -> Any:
        """The estimator with the parameters that it shares with the search, and this kernel."""
        own = self.get_params(deep=False) | {"kernel": kernel}
        return self.estimator(**{name: own[name] for name in self.estimator().get_params(deep=False) if name in own})

    def _values(self) -> list[float]:
        name, given = self.path[1], getattr(self, self.path[1])
        if isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 1:
            return [float(v) for v in np.logspace(*RANGE, int(given))]
        if not isinstance(given, Iterable) or isinstance(given, (str, Mapping)):
            raise InputError(f"{name} is {given!r}, expected a list of positive numbers, or how many to try")
        values = list(given)
        for value in values:
            check_positive(f"a value of {name}", value)
        if not values:
            raise InputError(f"{name} is empty, expected at least one value")
        return [float(value) for value in values]

    def _models(self, X: Any) -> Iterator[tuple[dict[str, Any], Any]]:
        """The parameters of each model to try, other than those on the path, and the model."""
        several = isinstance(self.kernel, (list, tuple))
        chosen = [choose_kernel(kernel, X, is_classifier(self))[0] for kernel in self._kernels()]
        given: Any = self.grid or {}
        grids = [given] if isinstance(given, Mapping) else list(given)
        for grid in grids:
            self._check_grid(grid, self._template(chosen[0]))
        for kernel in chosen:
            for params in ParameterGrid(grids):
                model = clone(self._template(kernel))
                try:
                    model.set_params(**params)
                except ValueError as error:
                    raise InputError(f"grid: {error}") from None
                model.check_parameters()
                yield ({"kernel": kernel} | params if several else params), model

    def _check_grid(self, grid: Any, model: Any) -> None:
        if not isinstance(grid, Mapping):
            raise InputError(f"grid is {grid!r}, expected a dict of names of parameters to lists of values")
        for name, values in grid.items():
            if name == self.path[0]:
                raise InputError(f"grid has {name!r}, whose values belong in {self.path[1]}")
            if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)) or len(values) == 0:
                raise InputError(f"grid has {name!r}: {values!r}, expected a list of values")
            try:
                clone(model).set_params(**{name: values[0]})
            except ValueError as error:
                raise InputError(f"grid has {name!r}, which is no parameter: {error}") from None

    def _splits(self, X: Any, y: Any, groups: Any, n: int) -> list[Split]:
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        try:
            given = np.zeros((n, 1)) if isinstance(X, (PackedExamples, Mapping)) else X
            splits = [(_indices(train), _indices(test)) for train, test in splitter.split(given, y, groups)]
        except ValueError as error:
            raise InputError(f"cv: {error}") from None
        for f, (train, test) in enumerate(splits):
            if len(train) == 0 or len(test) == 0:
                raise InputError(
                    f"fold {f} has {len(train)} examples to train on and {len(test)} held out: use other folds"
                )
        if not splits:
            raise InputError("cv has no folds")
        return splits

    def _leaves_one_out(self) -> bool:
        """Returns whether each example is predicted by the model of all others, in closed form, instead of by folds."""
        return False

    def _posed_folds(self, model: Any, examples: Examples) -> tuple[Problem, list[TrainedFold]]:
        """The problem of all examples, and the folds, with C = 1."""
        unit = clone(model).set_params(**{self.path[0]: self.unit})
        whole, folds = examples.posed(unit).problem, list[TrainedFold]()
        for split in examples.splits:
            try:
                folds.append(trained_fold(unit, whole, examples, split))
            except InputError as error:
                raise InputError(
                    f"in the training examples of fold {len(folds)}, {error}: use fewer folds, or folds that have every class, "
                    "such as StratifiedKFold"
                ) from None
        return whole, folds

    def _evaluate(self, model: Any, examples: Examples) -> tuple[list[TrainedFold], FoldOutputs, Planned | None]:
        """Cross-validates a model for all values on the path; also the plan for all examples, unless it depends on the value."""
        whole, folds = self._posed_folds(model, examples)
        planned = model._planned(examples.source, whole, examples.known)
        Cs = [self.strength(value) for value in self._values()]
        return folds, evaluate_folds(model, examples, folds, Cs, planned), planned

    def _refit(self, model: Any, planned: Planned | None, examples: Examples, value: float) -> KernelMachine:
        """The model with this value on the path, trained on all examples."""
        posed = examples.posed(model.set_params(**{self.path[0]: value}))
        planned = planned or model._planned(examples.source, posed.problem, examples.known)
        model._solve(examples.source, posed, *planned)
        return model

    def _scores(
        self, folds: list[TrainedFold], found: FoldOutputs, candidates: list[dict[str, Any]], X: Any, examples: Examples
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores, and the seconds that they took: one row per candidate, one column per fold."""
        default = "neg_mean_squared_error" if self._leaves_one_out() else None
        self.scorer_ = check_scoring(self, scoring=self.scoring or default)
        labels, given = examples.y, examples.sample_weight
        if labels.ndim == 2 and labels.shape[1] == 1 and len(found.outputs[0][0].T) == 1:
            labels = labels.ravel()
        classes = np.unique(labels) if is_classifier(self) else None
        scores, seconds = np.empty((2, len(candidates), len(folds)))
        for f, fold in enumerate(folds):
            test = fold.held_out
            some, weights = some_of(X, test), None if given is None else given[test]
            for c, outputs in enumerate(found.outputs[f]):
                begun = time.perf_counter()
                if classes is None:
                    standin: Any = HeldOutRegressor(outputs[:, 0] if labels.ndim == 1 else outputs)
                else:
                    standin = self.held_out.of(classes, fold.classes, outputs)
                scores[c, f] = self._scored(standin, some, labels[test], weights)
                seconds[c, f] = time.perf_counter() - begun
                if not np.isfinite(scores[c, f]):
                    where, folds_too = ("", "") if self._leaves_one_out() else (f" of fold {f}", ", or other folds")
                    raise InputError(
                        f"the score{where} is {scores[c, f]} for {candidates[c]}: use another scoring{folds_too}"
                    )
        return scores, seconds

    def _scored(self, model: Any, X: Any, y: Any, weights: np.ndarray | None) -> float:
        """The score of held-out examples, with their weights if the scorer accepts them."""
        if weights is not None:
            try:
                return float(self.scorer_(model, X, y, sample_weight=weights))
            except TypeError as error:
                if "sample_weight" not in str(error):
                    raise
        return float(self.scorer_(model, X, y))

    def __getattr__(self, name: str) -> Any:
        """Fitted attributes and methods of the best model."""
        if name.startswith("_") or "best_estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.best_estimator_, name)

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of the best model."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def save(self, path: Any, **options: Any) -> None:
        """Writes the best model to a file: `treille.load` reads it as the estimator that it is."""
        check_is_fitted(self, "best_estimator_")
        self.best_estimator_.save(path, **options)

    def __sklearn_tags__(self) -> Any:
        inner = self._template(next(iter(self._kernels()), None)).__sklearn_tags__()
        tags = super().__sklearn_tags__()
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags


class ClassifierSearchCV(ClassifierMixin, SearchCV):
    """A search for the parameters of a classifier."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the best model."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)


def _indices(some: Any) -> np.ndarray:
    some = np.asarray(some)
    return np.flatnonzero(some) if some.dtype == bool else some


def _indexable(X: Any) -> Any:
    """The examples as a container that supports selection."""
    if isinstance(X, Iterator):
        return list(X)
    if issparse(X):
        return X.tocsr()
    return np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "__getitem__") else X


def _table(rows: list[Candidate], splits: bool) -> dict[str, Any]:
    """``cv_results_`` with the keys of scikit-learn's GridSearchCV; `splits`: whether there is one score per fold."""
    params: tuple[dict[str, Any], ...]
    params, *columns = zip(*rows, strict=True)
    scores, fit_times, score_times = map(np.stack, columns)
    table: dict[str, Any] = {}
    for name, times in (("fit_time", fit_times), ("score_time", score_times)):
        table |= {f"mean_{name}": times.mean(axis=1), f"std_{name}": times.std(axis=1)}
    for name in dict.fromkeys(name for own in params for name in own):
        values = np.ma.array(np.empty(len(params), object), mask=True)
        for i, own in enumerate(params):
            if name in own:
                values[i] = own[name]
        table[f"param_{name}"] = values
    table["params"] = list(params)
    if splits:
        table |= {f"split{f}_test_score": scores[:, f] for f in range(scores.shape[1])}
    means = scores.mean(axis=1)
    table |= {"mean_test_score": means, "std_test_score": scores.std(axis=1)}
    table["rank_test_score"] = rankdata(-means, method="min").astype(np.int32)
    return table


def _warn_of_gaps(gaps: np.ndarray, model: Any) -> None:
    if (isinstance(model.solver, (DualCD, SMO)) and model.solver.stopping != "gap") or (gaps <= model.tol).all():
        return
    warnings.warn(
        f"{(gaps > model.tol).sum()} of {gaps.size} solutions of folds stopped with a relative duality gap above {model.tol:.2g}, "
        f"the largest {gaps.max():.2g}: raise max_epochs, use a larger tol, smaller values of C, or a normalized kernel",
        ConvergenceWarning,
        stacklevel=first_level_outside(),
    )
