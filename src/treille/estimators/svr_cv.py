"""Support vector regression with parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treille.estimators.search import SearchCV
from treille.estimators.svr import SVR, SVRParameters
from treille.scikit_learn import RegressorMixin


@dataclass(eq=False, repr=False)
class SVRCV(SVRParameters, RegressorMixin, SearchCV):
    """`SVR` with C, and other parameters such as epsilon, chosen by cross-validation. Features are computed once, see `SVCCV`.

    Parameters
    ----------
    kernel, Cs, grid, cv, scoring
        As in `SVCCV`; ``grid={"epsilon": [0.01, 0.1]}`` tries values of epsilon. scoring None is R^2.
    epsilon, loss, tol, max_epochs, fit_intercept, solver, space, n_jobs, random_state, verbose
        As in `SVR`.

    Attributes
    ----------
    C_ : float
        The best C.
    best_params_, best_score_, best_index_, cv_results_, best_estimator_
        As in `SVCCV`; fitted attributes are those of ``best_estimator_``.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> X, y = ["a", "aa", "ab", "b", "aab", "bb"], [1.0, 2.0, 0.0, -1.0, 1.0, -2.0]
    >>> model = treille.SVRCV(NGram(1), Cs=[0.01, 10], grid={"epsilon": [0.1, 1.0]}, cv=3).fit(X, y)
    >>> model.best_params_
    {'epsilon': 0.1, 'C': 10.0}
    """

    estimator = SVR

    Cs: Sequence[float] | int = 10
