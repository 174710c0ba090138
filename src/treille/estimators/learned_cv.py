"""Kernel learning with parameters chosen by cross-validation: the weights are learned anew in every fold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from treille.estimators.base import fit_context
from treille.estimators.held_out import Examples, TrainedFold, fold_context
from treille.estimators.learned import (
    LearnedRidge,
    LearnedSVC,
    LearningParameters,
    LearningRows,
    plan_learned,
    used_features,
)
from treille.estimators.ridge import RidgeCV
from treille.estimators.search import SearchCV
from treille.estimators.svc import SVCCV
from treille.features import Rows, StoredRows
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.solvers.folds import FoldOutputs, Solved, solve_path
from treille.solvers.progress import progress_bar
from treille.spaces import MemorySource


class LearnedSearchCV(LearningParameters, SearchCV):
    """Cross-validation of `LearnedSVC` and `LearnedRidge`: one set of features, a path with warm starts in each fold."""

    def _evaluate(self, model: Any, examples: Examples) -> tuple[list[TrainedFold], FoldOutputs, None]:
        (whole, folds), values = self._posed_folds(model, examples), self._values()
        models = [clone(model).set_params(**{self.path[0]: value}) for value in values]
        Cs = [self.strength(value) for value in values]
        rows = model._learning_rows(examples.source, fit_context(whole, known=examples.known))
        each = list[FoldOutputs]()
        with progress_bar(len(folds), model.tol, model.verbose, "fold") as progress:
            for f, fold in enumerate(folds):
                own = rows
                if examples.source.kernel.needs_features:  # weights and means that depend on the examples
                    own = model._learning_rows(examples.source, fold_context(fold, examples.known))
                each.append(_fold_outputs(models, fold, own, Cs, examples.source))
                if progress is not None:
                    progress(f + 1, 0, float(each[-1].gaps.max()))
        return folds, FoldOutputs.joined(each), None


def _fold_outputs(
    models: Sequence[Any], fold: TrainedFold, rows: LearningRows, Cs: Sequence[float], source: MemorySource
) -> FoldOutputs:
    """The outputs of a fold's held-out examples, the larger gap of learning and training, and seconds, for each C."""
    some, problem = fold.training_problem()
    matrix, model = having(rows.rows, StoredRows).to_csr(), models[0]
    held_out, own = matrix[fold.held_out], replace(rows, rows=Rows.from_csr(matrix[some]))

    def solve(c: int, start: Any) -> Solved:
        at = replace(problem, C=Cs[c] * problem.C)
        learned = models[c]._learn(at, own, start=start)
        fitted, _ = models[c]._keep(own, learned)
        chosen, space = plan_learned(own, fitted, source, at, model.solver, model.n_jobs)
        solution = chosen.solver.solve(at, space, **model._solver_options())
        weights = space.functions(solution).weights
        used = used_features(rows, learned)
        scales = np.sqrt(np.stack([each.weights[used] for each in learned], axis=1))
        outputs = held_out[:, used] @ (weights * scales) + solution.intercept + fold.offset
        return [outputs], [max(solution.report.relative_gap, *(each.report.relative_gap for each in learned))], learned

    return solve_path(Cs, solve)


@dataclass(eq=False, repr=False, kw_only=True)
class LearnedSVCCV(LearnedSearchCV, SVCCV):
    """`LearnedSVC` with C, and other parameters, chosen by cross-validation. Features are computed once, for all folds and all C.

    Weights are learned anew from the training examples of each fold, for C from small to large, with warm starts.

    Parameters
    ----------
    kernel, Cs, grid, cv, scoring
        As in `SVCCV`.
    groups, learn, spread, trace, learning_C
        As in `LearnedSVC`; ``grid={"learning_C": [0.01, 0.1]}`` chooses it, too, which often pays.
    loss, tol, max_epochs, fit_intercept, class_weight, solver, n_jobs, random_state, verbose
        As in `SVC`.

    Attributes
    ----------
    C_, best_params_, best_score_, best_index_, cv_results_, best_estimator_, refit_time_, scorer_
        As in `SVCCV`.
    learned_weights_, kernel_, learning_report_, classes_, coef_, intercept_, report_, plan_, features_
        Those of ``best_estimator_``, the `LearnedSVC` with the best parameters, fitted on all examples.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> X = ["abab", "baba", "abba", "aabb", "ccdd", "dccd", "cdcd", "ddcc"]
    >>> model = treille.LearnedSVCCV(NGram(1), Cs=[0.1, 1, 10], cv=2).fit(X, [0] * 4 + [1] * 4)
    >>> model.best_score_, model.predict(["abc", "ccd"]).tolist()
    (1.0, [0, 1])
    """

    estimator = LearnedSVC

    learning_C: float | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class LearnedRidgeCV(LearnedSearchCV, RidgeCV):
    """`LearnedRidge` with alpha, and other parameters, chosen by cross-validation. Features are computed once.

    Parameters
    ----------
    kernel, alphas, grid, cv, scoring
        As in `RidgeCV`, but `cv` must be folds: learned weights have no closed form for leaving one out.
    groups, learn, spread, trace, learning_alpha
        As in `LearnedRidge`.
    fit_intercept, tol, max_epochs, solver, n_jobs, verbose
        As in `Ridge`.

    Attributes
    ----------
    alpha_, best_params_, best_score_, best_index_, cv_results_, best_estimator_, refit_time_, scorer_
        As in `RidgeCV`.
    learned_weights_, kernel_, learning_report_, coef_, intercept_, report_, plan_, features_
        Those of ``best_estimator_``, the `LearnedRidge` with the best parameters, fitted on all examples.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> X = ["a", "aa", "ab", "b", "aaa", "bb"]
    >>> model = treille.LearnedRidgeCV(NGram(1), alphas=[0.01, 1], cv=3).fit(X, [1.0, 2.0, 1.0, 0.0, 3.0, 0.0])
    >>> model.alpha_, model.predict(["aab"]).round(1).tolist()
    (0.01, [2.0])
    """

    estimator = LearnedRidge

    cv: Any = 5
    learning_alpha: float | None = None

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.cv is None:
            raise InputError(
                "cv is None, but learned weights have no closed form for leaving one out: use folds, such as cv=5"
            )
