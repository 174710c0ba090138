"""The optimum is LIBLINEAR's, with and without intercept and weights of classes, hinge and squared hinge."""

import numpy as np
import pytest
from problems import Problem, liblinear, random_problem

from treille.kernels import NGram
from treille.spaces import RowsSpace

pytest.importorskip("liblinear", reason="needs liblinear-official")
COMBINATIONS = [
    (loss, intercept, w) for loss in ("hinge", "squared_hinge") for intercept in (False, True) for w in (False, True)
]
SETTINGS = pytest.mark.parametrize(("loss", "intercept", "weighted"), COMBINATIONS)


def assert_same_optimum(problem, loss, intercept, weighted, capfd, tol):
    theirs = liblinear(problem, loss, intercept, 1.0, "-w1 3 -w-1 0.5" if weighted else "")
    gave_up = "reaching max number of iterations" in capfd.readouterr().out  # it does after 300
    report = problem.solve(loss=loss, intercept=intercept, tol=tol).report
    assert report.status == "converged"
    assert report.dual <= theirs
    assert report.primal <= theirs * (1 + 1e-6)
    assert gave_up or report.primal == pytest.approx(theirs, rel=1e-6)


@SETTINGS
def test_small_problems_have_the_same_optimum(loss, intercept, weighted, capfd):
    problem = random_problem(n=200, seed=3, weights="class" if weighted else "none", kernel=NGram(4, 1).normalized())
    assert_same_optimum(problem, loss, intercept, weighted, capfd, tol=1e-9)


@pytest.fixture(scope="module")
def news(stories):
    texts, labels = stories
    kernel = NGram(4).normalized()
    return RowsSpace.build(kernel, kernel.batch(texts, 2), 2), np.array(labels, dtype=int)


@SETTINGS
def test_3000_stories_have_the_same_optimum(news, loss, intercept, weighted, capfd):
    space, codes = news
    C = np.where(codes == 1, 3.0, 0.5) if weighted else np.ones(len(codes))
    assert_same_optimum(Problem(space, codes, C), loss, intercept, weighted, capfd, tol=1e-7)
