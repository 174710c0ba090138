"""The perceptron: equal to the lecture's algorithm step by step, on rows and on kernel values, with mistakes within Novikoff's
bound."""

import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timing import processor_seconds
from treille import InputError
from treille.kernels import Linear, NGram, Subsequence
from treille.solvers import ConvergenceWarning, DualCD, PerceptronSolver, Problem
from treille.solvers.problem import Separation
from treille.spaces import GramSpace, Nystrom, RowsSpace
from treille.testing import check_solver

RANDOM = np.random.default_rng(3)
KERNEL = NGram(2, min_n=1)
FORMS = [
    *(
        (PerceptronSolver(averaged=False, representation=name), RowsSpace)
        for name in ("auto", "flat", "merged", "trie", "naive")
    ),
    (PerceptronSolver(averaged=False), GramSpace),
    (PerceptronSolver(averaged=False, cache_mb=0.002), GramSpace),
]


def split_mix(state):
    """The core's random numbers."""
    mask = 2**64 - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def orders(members, seed):
    """The order of the examples in each epoch."""
    numbers, order = split_mix(seed), list(members)
    while True:
        for k in range(len(order), 1, -1):
            j = (next(numbers) * k) >> 64
            order[k - 1], order[j] = order[j], order[k - 1]
        yield list(order)


def lecture(K, y, C, bias, seed, max_epochs):
    """The kernelised algorithm of the lecture: alpha, b, their means over all steps, and the mistakes of each epoch."""
    alpha, b, mistakes = np.zeros(len(y)), 0.0, []
    total, total_b, steps = np.zeros(len(y)), 0.0, 0
    for order in orders(np.flatnonzero(C > 0), seed):
        mistakes.append(0)
        for k in order:
            g = sum(y[i] * alpha[i] * K[i, k] for i in range(len(y))) + b
            if (1.0 if g > 0 else -1.0) != y[k]:
                alpha[k] += C[k]
                b += y[k] * C[k] * bias
                mistakes[-1] += 1
            total, total_b, steps = total + alpha, total_b + b, steps + 1
        if mistakes[-1] == 0 or len(mistakes) == max_epochs:
            return alpha, b, total / steps, total_b / steps, mistakes


def random_problem(n=30, n_classes=2, intercept=True, C=None):
    texts = ["".join(RANDOM.choice(list("abc"), RANDOM.integers(1, 6))) for _ in range(n)]
    C = np.ones(n) if C is None else C
    classes = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return Problem(Separation(), RANDOM.integers(0, n_classes, n), C, intercept, classes), KERNEL.batch(texts)


def solve(problem, space, solver, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solver.solve(problem, space, **{"max_epochs": 20} | options)


@pytest.mark.parametrize(("solver", "space"), FORMS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_it_is_the_algorithm_of_the_lecture_in_both_forms(solver, space, n_classes, intercept):
    problem, batch = random_problem(n_classes=n_classes, intercept=intercept)
    built, K = space.build(KERNEL, batch), KERNEL(batch)
    solution = solve(problem, built, solver, seed=5, n_jobs=2)
    mean = solve(problem, built, replace(solver, averaged=True), seed=5)
    functions = built.functions(solution)
    averaged = built.functions(mean)
    for k, report in enumerate(solution.report.per_class or [solution.report]):
        y = problem.y(k)
        alpha, b, mean_alpha, mean_b, mistakes = lecture(K, y, problem.C, intercept, 5 + k, 20)
        assert solution.alpha[k].tolist() == mean.alpha[k].tolist() == alpha.tolist()
        assert report.mistakes == tuple(mistakes)
        assert report.epochs == len(mistakes)
        assert report.status == ("converged" if mistakes[-1] == 0 else "max_epochs")
        assert solution.intercept[k] == b
        assert functions.outputs(batch)[:, k] == pytest.approx(K @ (alpha * y) + b)
        assert mean.intercept[k] == pytest.approx(mean_b)
        assert averaged.outputs(batch)[:, k] == pytest.approx(K @ (mean_alpha * y) + mean_b)


def test_weights_multiply_updates_and_weight_zero_leaves_out_examples():
    C = RANDOM.choice([0.0, 0.5, 1.0, 3.0], 30)
    problem, batch = random_problem(C=C)
    solution = solve(problem, RowsSpace.build(KERNEL, batch), PerceptronSolver(averaged=False), seed=1)
    alpha, b, *_, mistakes = lecture(KERNEL(batch), problem.y(), C, True, 1, 20)
    assert solution.alpha[0].tolist() == alpha.tolist()
    assert solution.intercept[0] == b
    assert solution.report.mistakes == tuple(mistakes)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 4), st.integers(2, 25), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_on_data_that_can_be_separated_mistakes_are_within_the_bound(width, n, seed, intercept, averaged):
    random = np.random.default_rng(seed)
    X, separator = random.normal(size=(n, width)), random.normal(size=width + intercept)
    lifted = np.column_stack([X, np.ones(n)]) if intercept else X
    distances = lifted @ separator / np.linalg.norm(separator)
    X, lifted, distances = (each[np.abs(distances) > 0.05] for each in (X, lifted, distances))
    if len(X) == 0:
        return
    problem = Problem(Separation(), (distances > 0).astype(int), np.ones(len(X)), intercept, np.array([1]))
    space = RowsSpace.build(Linear(), Linear().batch(X))
    solution = PerceptronSolver(averaged=averaged).solve(problem, space, max_epochs=10**6, seed=seed)
    report, radius = solution.report, np.linalg.norm(lifted, axis=1).max()
    assert report.status == "converged"
    assert report.radius == pytest.approx(radius)
    assert sum(report.mistakes) <= (radius / np.abs(distances).min()) ** 2
    assert sum(report.mistakes) <= report.mistake_bound * (1 + 1e-9)
    assert report.last_margin >= 0
    assert report.mistake_bound < np.inf or report.last_margin == 0
    best = np.abs(distances).min()  # a margin that exists
    assert report.margin <= -report.dual * (1 + 1e-9)
    assert best <= -report.dual * (1 + 1e-9)


def test_the_margin_is_the_least_distance_from_the_boundary():
    X = np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, -1.0]])
    problem = Problem(Separation(), np.array([1, 1, 0]), np.ones(3), False, np.array([1]))
    solution = PerceptronSolver(averaged=False).solve(problem, RowsSpace.build(Linear(), Linear().batch(X)))
    w, y = solution.weights[:, 0], problem.y()
    assert solution.report.margin == pytest.approx((y * (X @ w)).min() / np.linalg.norm(w))


def test_opposite_labels_of_the_same_example_prove_that_there_is_no_margin():
    problem = Problem(Separation(), np.array([0, 1]), np.ones(2), True, np.array([1]))
    space = RowsSpace.build(NGram(1), NGram(1).batch(["ab", "ab"]))
    with pytest.warns(
        ConvergenceWarning, match="stopped at max_epochs with . mistakes in the last of 4 epochs: no weights"
    ):
        report = PerceptronSolver().solve(problem, space, max_epochs=4).report
    assert report.status == "max_epochs"
    assert -report.dual < 0.5
    assert report.mistake_bound == np.inf
    assert "relative_gap" not in repr(report)
    assert "mistakes=" in repr(report)


def test_the_number_of_threads_changes_nothing_and_seeds_do():
    problem, batch = random_problem(n=60, n_classes=4)
    space = RowsSpace.build(KERNEL, batch)
    one, two = (solve(problem, space, PerceptronSolver(), n_jobs=threads) for threads in (1, 2))
    assert np.array_equal(one.weights, two.weights)
    assert one.report.mistakes == two.report.mistakes
    other = solve(problem, space, PerceptronSolver(), seed=9)
    assert not np.array_equal(one.weights, other.weights)


def test_it_solves_no_problems_with_losses_and_others_do_not_solve_its_own():
    problem, batch = random_problem()
    space = RowsSpace.build(KERNEL, batch)
    with pytest.raises(InputError, match=r"DualCD solves problems with the losses Hinge, .*, not Separation"):
        DualCD().solve(problem, space)
    for bad in (PerceptronSolver(representation="x"), PerceptronSolver(cache_mb=0), PerceptronSolver(max_seconds=0)):
        with pytest.raises(InputError, match="expected"):
            bad.solve(problem, space)


def test_it_works_on_an_approximation():
    problem, batch = random_problem()
    space = Nystrom(10).build(Subsequence(2), batch)
    assert solve(problem, space, PerceptronSolver()).weights.shape[1] == 1


@pytest.fixture(scope="module")
def endless():
    """Classes that cannot be separated."""
    texts = ["".join(RANDOM.choice(list("ab"), 50)) for _ in range(400)]
    problem = Problem(Separation(), np.arange(400) % 2, np.ones(400), True, np.array([1]))
    return problem, KERNEL.batch(texts)


@pytest.mark.parametrize("space", [RowsSpace, GramSpace])
def test_a_time_limit_ends_training_with_a_valid_solution(endless, space):
    problem, batch = endless
    built = space.build(KERNEL, batch)
    with processor_seconds(5), pytest.warns(ConvergenceWarning, match="stopped at max_seconds"):
        solution = PerceptronSolver(max_seconds=0.2).solve(problem, built, max_epochs=10**9)
    assert solution.report.status == "max_seconds"
    assert solution.alpha.sum() == sum(solution.report.mistakes)


def test_exceptions_raised_by_progress_end_training(endless):
    problem, batch = endless
    calls = []

    def progress(done, epochs, share):
        calls.append((done, epochs, share))
        if len(calls) == 3:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        PerceptronSolver().solve(problem, RowsSpace.build(KERNEL, batch), max_epochs=10**9, progress=progress)
    assert 0 < calls[-1][2] <= 1
    assert threading.active_count() == before


def test_it_obeys_the_laws_of_solvers():
    check_solver(PerceptronSolver(), n=25)
