"""check_solver passes for every solver, and names the law that a wrong solver breaks."""

from dataclasses import replace

import numpy as np
import pytest

from treille.solvers import (
    SMO,
    Cholesky,
    ConjugateGradient,
    CuttingPlane,
    DualCD,
    FiniteNewton,
    NormalEquations,
    PerceptronSolver,
)
from treille.testing import check_solver

SOLVERS = [
    DualCD(),
    DualCD(shrinking=False),
    DualCD(representation="merged"),
    DualCD(representation="trie"),
    DualCD(representation="naive"),
    CuttingPlane(),
    FiniteNewton(),
    SMO(),
    SMO(cache_mb=0.005),
    NormalEquations(),
    ConjugateGradient(),
    Cholesky(),
    PerceptronSolver(),
    PerceptronSolver(averaged=False, representation="trie"),
    PerceptronSolver(cache_mb=0.005),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_every_solver_obeys_the_laws(solver):
    check_solver(solver)


class Wrong(DualCD):
    """DualCD, with one field of its solution changed."""

    def solve(self, problem, space, **options):
        return self.change(super().solve(problem, space, **options), options)


def wrong(change):
    solver = Wrong()
    solver.change = change
    return solver


def raise_dual(solution, options):
    each = tuple(replace(report, dual=report.primal + 1) for report in solution.report.per_class)
    return replace(solution, report=replace(solution.report, dual=solution.report.primal + 1, per_class=each))


@pytest.mark.parametrize(
    ("change", "law"),
    [
        (raise_dual, "has the gap it was asked for"),
        (lambda s, o: replace(s, intercept=s.intercept + 1), "reports the values of its solution"),
        (lambda s, o: replace(s, alpha=-s.alpha), "reports the values of its solution"),
        (
            lambda s, o: replace(s, alpha=s.alpha + 1e-14 * np.random.default_rng().random(s.alpha.shape)),
            "has feasible dual variables",
        ),
        (lambda s, o: replace(s, report=replace(s.report, status="max_epochs")), "has the gap it was asked for"),
    ],
)
def test_a_wrong_solver_is_named_with_the_law_it_breaks(change, law):
    with pytest.raises(
        AssertionError, match=rf"Wrong\(\) on rows with Hinge\(\) and intercept=False breaks the law '{law}'"
    ):
        check_solver(wrong(change))
