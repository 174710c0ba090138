"""Support vector classification with parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treille.estimators.search import ClassifierSearchCV
from treille.estimators.svc import SVC, SVCParameters


@dataclass(eq=False, repr=False)
class SVCCV(SVCParameters, ClassifierSearchCV):
    """`SVC` with C, and other parameters, chosen by cross-validation. Features are computed once, for all folds and all C.

    The scores are those of scikit-learn's ``GridSearchCV(SVC(...))``. It takes less time, because folds share the features of all
    examples, each C starts from the solution for the one before, and held-out examples are scored without being read again.

    Parameters
    ----------
    kernel : kernel or list of kernels
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
