"""CuttingPlane compared with DualCD, SMO, a general solver and the twins; its two small problems with their definitions."""

import _thread
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import classification

from timing import processor_seconds
from treille import ConvergenceWarning, InputError, _core
from treille.kernels import AllSubstrings, NGram
from treille.solvers import SMO, CuttingPlane, DualCD, Problem, cutting_plane
from treille.solvers.problem import Hinge, SquaredHinge
from treille.spaces import GramSpace, ProductSpace, RowsSpace
from twins import dual, primal, solve_dual, with_bias

LOSSES = ["hinge", "squared_hinge"]
KERNEL = NGram(2, min_n=1).normalized()


def examples(n=60, seed=0, n_classes=2, noise=0.15):
    """Texts whose letters lean to their class, and codes, some of them wrong."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    texts = ["".join(rng.choice(list("abcdef"[k:]), rng.integers(5, 15))) for k in codes]
    return texts, np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), codes)


def weights(n, kind, codes):
    draws = np.random.default_rng(1).uniform(0.1, 3, n)
    return {"none": np.ones(n), "class": np.where(codes == 1, 3.0, 0.5), "sample": draws}[kind]


def solve(
    texts,
    codes,
    C,
    kernel=KERNEL,
    solver=None,
    classes=(1,),
    loss="hinge",
    intercept=True,
    space=ProductSpace,
    **options,
):
    options = {"tol": 1e-7, "max_epochs": 10_000} | options
    problem = classification(codes, C, loss, intercept, classes)
    return (solver or CuttingPlane()).solve(problem, space.build(kernel, kernel.batch(texts)), **options)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["none", "class", "sample"])
@pytest.mark.parametrize(("C", "intercept"), [(0.1, True), (1.0, True), (30.0, True), (1.0, False)])
def test_the_optimum_is_dual_cds(loss, kind, C, intercept):
    texts, codes = examples(80, seed=3)
    factors = C * weights(80, kind, codes)
    options = {"loss": loss, "intercept": intercept}
    ours = solve(texts, codes, factors, **options)
    theirs = solve(
        texts, codes, factors, solver=DualCD(), space=RowsSpace, **options | {"tol": 1e-8, "max_epochs": 10**6}
    )
    assert ours.report.status == "converged"
    assert ours.report.primal == pytest.approx(theirs.report.primal, rel=2e-7)
    rows = RowsSpace.build(KERNEL, KERNEL.batch(texts))
    outputs = KERNEL(texts) @ ours.coefficients[:, 0] + ours.intercept[0]
    expected = rows.matvec(theirs.weights)[:, 0] + theirs.intercept[0]
    np.testing.assert_allclose(outputs, expected, atol=2e-3 * np.abs(expected).max())
    on_rows = solve(texts, codes, factors, space=RowsSpace, **options)
    np.testing.assert_allclose(on_rows.coefficients, ours.coefficients, atol=2e-3 * np.abs(ours.coefficients).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_optimum_is_smos(loss, intercept):
    texts, codes = examples(70, seed=5)
    kernel, C = AllSubstrings(0.5).normalized(), np.full(70, 2.0)
    ours = solve(texts, codes, C, kernel, loss=loss, intercept=intercept)
    theirs = solve(texts, codes, C, kernel, SMO(), loss=loss, intercept=intercept, space=GramSpace, tol=1e-9)
    assert ours.report.primal == pytest.approx(theirs.report.primal, rel=1e-6)
    assert ours.intercept[0] == pytest.approx(theirs.intercept[0], abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_a_general_solver(loss, seed):
    cvxpy = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    texts, codes = examples(16, seed)
    y, C = np.where(codes == 1, 1.0, -1.0), np.random.default_rng(seed).uniform(0.1, 5, 16)
    root = np.linalg.cholesky(KERNEL(texts) + 1e-12 * np.eye(16))
    w, b = cvxpy.Variable(16), cvxpy.Variable()
    slack = cvxpy.pos(1 - cvxpy.multiply(y, root @ w + b))
    losses = C @ (slack if loss == "hinge" else cvxpy.square(slack))
    objective = cvxpy.Minimize(0.5 * cvxpy.sum_squares(w) + 0.5 * b**2 + losses)
    value = cvxpy.Problem(objective).solve(solver="CLARABEL")
    assert solve(texts, codes, C, loss=loss).report.primal == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-6, 1e-9])
def test_the_report_is_the_twins(loss, tol):
    kernel = AllSubstrings(0.7).normalized()
    texts, codes = examples(50, seed=1)
    K, y, C = kernel(texts), np.where(codes == 1, 1.0, -1.0), np.random.default_rng(0).uniform(0, 3, 50)
    C[::7] = 0
    s, squared = solve(texts, codes, C, kernel, loss=loss, tol=tol), loss == "squared_hinge"
    beta, alpha = s.coefficients[:, 0], s.alpha[0]
    assert s.report.primal == pytest.approx(primal(K, y, C, beta * y, s.intercept[0], squared), rel=1e-9)
    assert s.report.dual == pytest.approx(dual(with_bias(K, 1.0), y, C, alpha, squared), rel=1e-9)
    assert 0 <= s.report.gap <= tol * s.report.primal
    assert (alpha >= 0).all()
    assert not alpha[::7].any()
    assert squared or (alpha <= C * (1 + 1e-12)).all()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.text("ab", max_size=5), st.booleans(), st.sampled_from([0.0, 0.01, 0.3, 1.0, 10.0])), min_size=2
    ),
    st.sampled_from(LOSSES),
    st.booleans(),
)
def test_dual_and_primal_enclose_the_optimum(problem, loss, intercept):
    texts, codes, C = zip(*problem, strict=True)
    codes, C, squared = np.array(codes, int), np.array(C), loss == "squared_hinge"
    K, y = with_bias(KERNEL(texts), float(intercept)), np.where(codes == 1, 1.0, -1.0)
    best = dual(K, y, C, solve_dual(K, y, C, squared, tol=1e-9), squared)
    report = solve(texts, codes, C, loss=loss, intercept=intercept).report
    slack = 1e-8 * max(1.0, best)
    assert report.status == "converged"
    assert report.dual - slack <= best <= report.primal + slack


@pytest.mark.parametrize("width", [1, 3, 8])
def test_classes_in_step_are_each_as_if_alone_and_threads_do_not_matter(width, monkeypatch):
    monkeypatch.setattr(cutting_plane, "WIDTH", width)
    texts, codes = examples(90, seed=2, n_classes=4)
    C, kernel = np.ones(90), AllSubstrings(0.5).normalized()
    one, two = (
        CuttingPlane().solve(
            classification(codes, C, classes=range(4)), ProductSpace.build(kernel, kernel.batch(texts), jobs)
        )
        for jobs in (1, 3)
    )
    assert np.array_equal(one.coefficients, two.coefficients)
    assert np.array_equal(one.alpha, two.alpha)
    assert len(one.report.per_class) == 4
    for k in range(4):
        alone = solve(texts, codes, C, kernel, classes=(k,), tol=1e-3)
        np.testing.assert_allclose(alone.coefficients[:, 0], one.coefficients[:, k], atol=1e-9)
        assert alone.report.epochs == one.report.per_class[k].epochs


@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_near_the_optimum_saves_rounds(loss):
    texts, codes = examples(200, seed=4)
    cold = solve(texts, codes, np.ones(200), loss=loss, tol=1e-5)
    again = solve(texts, codes, np.ones(200), loss=loss, tol=1e-2, start=cold.alpha)
    assert (again.report.status, again.report.epochs) == ("converged", 1)
    near = np.full(200, 0.9)  # the start lies outside this box
    warm, anew = (solve(texts, codes, near, loss=loss, tol=1e-2, start=s) for s in (cold.alpha, None))
    assert warm.report.epochs < anew.report.epochs
    exact = solve(texts, codes, near, loss=loss, start=cold.alpha)
    assert exact.report.primal == pytest.approx(solve(texts, codes, near, loss=loss).report.primal, rel=2e-7)


def test_only_support_vectors_have_a_part_in_the_answer():
    texts, codes = examples(300, seed=9, noise=0.05)
    K, y = KERNEL(texts) + 1, np.where(codes == 1, 1.0, -1.0)
    w = solve(texts, codes, np.ones(300), tol=1e-5).coefficients[:, 0]
    beyond = y * (K @ w) > 1.05
    assert beyond.sum() > 30
    assert not w[beyond].any()


def test_a_gap_once_reached_is_not_lost_when_the_budget_ends():
    """The search starts over when the gap is reached, for fewer examples in the answer."""
    texts, codes = examples(200, seed=4)
    K, y, C = KERNEL(texts), np.where(codes == 1, 1.0, -1.0), np.full(200, 10.0)
    rounds = solve(texts, codes, C, tol=1e-3).report.epochs
    early = solve(texts, codes, C, tol=1e-3, max_epochs=rounds - 1)
    assert (early.report.status, early.report.epochs) == ("converged", rounds - 1)
    assert early.report.relative_gap <= 1e-3
    assert early.report.primal == pytest.approx(
        primal(K, y, C, y * early.coefficients[:, 0], early.intercept[0]), rel=1e-9
    )


@pytest.mark.parametrize("patience", [1, 5])
def test_forgetting_planes_early_gives_the_same_optimum(patience, monkeypatch):
    texts, codes = examples(120, seed=6, noise=0.3)
    C = np.full(120, 5.0)
    kept = solve(texts, codes, C)
    monkeypatch.setattr(cutting_plane, "PATIENCE", patience)
    monkeypatch.setattr(cutting_plane, "STALLED", 10_000)
    assert solve(texts, codes, C).report.primal == pytest.approx(kept.report.primal, rel=2e-7)


def test_equal_examples_of_both_classes_and_zero_rows_do_no_harm():
    for texts in (["", "", "", ""], ["ab", "ab", "ab", "ab"]):
        solution = solve(texts, np.array([0, 1, 0, 1]), np.ones(4))
        assert solution.report.status == "converged"
        assert solution.report.primal == pytest.approx(4.0)


def test_no_weight_at_all_needs_no_rounds_to_speak_of():
    solution = solve(["ab", "ba"], np.array([0, 1]), np.zeros(2))
    assert (solution.report.status, solution.report.primal, solution.report.epochs) == ("converged", 0.0, 1)


def test_a_gap_below_rounding_ends_training_and_is_reported():
    texts, codes = examples(200, seed=8)
    with pytest.warns(ConvergenceWarning, match="stopped at the limits of float64"):
        report = solve(texts, codes, np.full(200, 100.0), tol=1e-18).report
    assert report.status == "rounding"
    assert report.relative_gap < 1e-10


@pytest.fixture(scope="module")
def endless():
    """Noise with a huge C."""
    rng = np.random.default_rng(0)
    return ["".join(row) for row in rng.choice(list("abcd"), (2000, 60))], rng.integers(0, 2, 2000), np.full(2000, 1e3)


def test_the_budget_of_epochs_holds_and_is_reported(endless):
    with pytest.warns(ConvergenceWarning, match="stopped at max_epochs with a relative duality gap of"):
        report = solve(*endless, NGram(3), max_epochs=5).report
    assert (report.status, report.epochs) == ("max_epochs", 5)
    assert report.dual < report.primal


def test_the_budget_of_time_holds_and_is_reported(endless):
    with processor_seconds(3), pytest.warns(ConvergenceWarning, match="stopped at max_seconds"):
        report = solve(*endless, NGram(3), CuttingPlane(max_seconds=0.3), classes=(0, 1)).report
    assert [r.status for r in report.per_class] == ["max_seconds"] * 2


def test_progress_is_reported_a_few_times_a_second(endless):
    told = []
    with pytest.warns(ConvergenceWarning):
        solve(*endless, NGram(3), CuttingPlane(max_seconds=0.5), progress=lambda *state: told.append(state))
    assert 3 <= len(told) <= 20
    done, epochs, gaps = zip(*told, strict=True)
    assert set(done) == {0}
    assert list(epochs) == sorted(epochs)
    assert all(gap > 0 for gap in gaps)


def test_ctrl_c_ends_the_solver_at_once(endless):
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    try:
        with processor_seconds(3), pytest.raises(KeyboardInterrupt):
            solve(*endless, NGram(3), CuttingPlane(max_seconds=30), tol=1e-12)
    finally:
        timer.cancel()


@pytest.mark.parametrize(
    ("params", "changes", "message"),
    [
        ({"max_seconds": 0}, {}, "max_seconds is 0, expected a positive number or None"),
        ({}, {"intercept": "free"}, "CuttingPlane supports the intercepts False or True, not 'free'"),
        ({}, {"C": np.ones(3)}, r"C has the shape \(3,\), expected \(10,\)"),
        ({}, {"C": np.full(10, np.nan)}, "C holds a value that is not a number of at least 0"),
        ({}, {"codes": np.zeros(9), "C": np.ones(9)}, "there are 9 targets, but 10 examples"),
        ({}, {"start": np.zeros((2, 10))}, r"start has the shape \(2, 10\), expected \(1, 10\)"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, changes, message):
    texts, codes = examples(10)
    with pytest.raises(InputError, match=message):
        solve(texts, **{"codes": codes, "C": np.ones(10)} | changes, solver=CuttingPlane(**params))


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_the_best_mixture_of_planes_is_proven(n, rank, seed):
    """Also where planes are alike: the rank is mostly below their number."""
    rng = np.random.default_rng(seed)
    g = rng.standard_normal((n, rank)).round(1)
    G, b = g @ g.T, rng.standard_normal(n).round(1)
    a = rng.random(n)
    _core.mix_planes(G.ravel(), b, a, 1e-12)
    assert (a >= 0).all()
    assert a.sum() == pytest.approx(1)
    r = G @ a - b
    assert a @ r - r.min() <= 1e-11


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 30), st.booleans(), st.integers(0, 10**6))
def test_no_step_is_better_than_the_best_one(n, squared, seed):
    rng = np.random.default_rng(seed)
    y, C = rng.choice([-1.0, 1.0], n), rng.choice([0.0, 0.5, 2.0], n)
    f, d, (slope, curvature) = rng.standard_normal(n), rng.standard_normal(n), rng.uniform(0.1, 2, 2)

    def value(k):
        slack = np.maximum(0, 1 - y * (f + k * d))
        return slope * k + 0.5 * curvature * k**2 + C @ (slack**2 if squared else slack)

    problem = Problem(SquaredHinge() if squared else Hinge(), y > 0, C, classes=np.array([1]))
    best = _core.best_step(problem.core(), 0, slope, curvature, f, d)
    tries = np.concatenate([best + np.array([-1e-3, 1e-3, -1e-6, 1e-6]), np.linspace(-20, 20, 401)])
    assert value(best) <= min(map(value, tries)) + 1e-12
