"""The objective that a report states is the one of the fitted model's decision function, whatever solved the problem."""

import warnings

import numpy as np
import pytest

import treille
from treille.kernels import NGram
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
from treille.solvers.problem import LOSSES, REGRESSION_LOSSES, Logistic, OneClass, Problem, SquaredError

KERNEL = NGram(2, min_n=1)
CLASSIFIERS = [
    *((treille.SVC, {"loss": loss}, solver) for loss in LOSSES for solver in (DualCD(), SMO(), CuttingPlane())),
    (treille.SVC, {"loss": "squared_hinge"}, FiniteNewton()),
    *((treille.LogisticRegression, {}, solver) for solver in (DualCD(), FiniteNewton())),
]
REGRESSORS = [
    *((treille.SVR, {"loss": loss}, solver) for loss in REGRESSION_LOSSES for solver in (DualCD(), SMO())),
    *((treille.SVR, {"loss": loss}, FiniteNewton()) for loss in REGRESSION_LOSSES if loss != "epsilon_insensitive"),
    *((treille.Ridge, {}, solver) for solver in (NormalEquations(), ConjugateGradient(), Cholesky())),
]


def cases(estimators, *more):
    """The estimators with each kind of intercept that their solvers support."""
    return [
        pytest.param(
            made, options | {"solver": solver, "fit_intercept": intercept}, *rest, id="-".join(map(str, names))
        )
        for made, options, solver in estimators
        for intercept in (False, True, "free")
        if intercept in solver.intercepts
        for rest in more or [()]
        for names in [(made.__name__, *options.values(), type(solver).__name__, intercept, *rest)]
    ]


def examples(seed, n=24):
    """Texts, some of them empty or alike, and sample weights, some of them 0."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("abc"), rng.integers(0, 7))) for _ in range(n)]
    return texts, rng.permutation(n) % 3, rng.normal(size=n), np.where(rng.random(n) < 0.3, 0.0, rng.uniform(0.1, 3, n))


def check_primal(model, X, problem, shift=0.0):
    """Recomputes the objective of each problem from the outputs, in float64."""
    outputs = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X) - shift
    outputs = outputs.reshape(len(X), -1)
    reports = model.report_.per_class or [model.report_]
    assert len(reports) == outputs.shape[1] == problem.n_problems
    for k, report in enumerate(reports):
        b = float(np.atleast_1d(model.intercept_)[k] - shift)
        square = float(np.square(model.functions_.weights[:, k]).sum())
        primal = problem.primal(square, outputs[:, k], b, k)
        assert report.primal == pytest.approx(primal, rel=1e-9, abs=1e-12)
        assert report.dual <= report.primal * (1 + 1e-12)


@pytest.mark.parametrize("max_epochs", [3, 100_000])
@pytest.mark.parametrize(
    ("made", "options", "weighting"),
    cases(CLASSIFIERS, ("even",), ("samples",), ("balanced",), ("nb",)),
)
def test_the_reported_primal_is_that_of_the_decision_function_of_classifiers(made, options, weighting, max_epochs):
    for seed, n_classes in ((0, 3), (1, 2)):
        if weighting == "nb" and n_classes > 2 and isinstance(options["solver"], SMO):
            continue  # one kernel matrix per class
        X, codes, _, weights = examples(seed)
        codes = codes % n_classes
        weights = weights if weighting == "samples" else np.ones(len(X))
        kernel = KERNEL.weighted("nb") if weighting == "nb" else KERNEL
        if weighting == "balanced":
            options = options | {"class_weight": "balanced"}
        model = made(kernel, C=2.0, tol=1e-6, max_epochs=max_epochs, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", treille.solvers.ConvergenceWarning)
            model.fit(X, codes, sample_weight=weights)
        C = 2.0 * weights
        if weighting == "balanced":
            C = C * (len(X) / (n_classes * np.bincount(codes)))[codes]
        classes = np.arange(n_classes) if n_classes > 2 else np.array([1])
        loss = Logistic() if made is treille.LogisticRegression else LOSSES[options["loss"]]()
        check_primal(model, X, Problem(loss, codes, C, options["fit_intercept"], classes))


@pytest.mark.parametrize("max_epochs", [3, 100_000])
@pytest.mark.parametrize(("made", "options", "weighting"), cases(REGRESSORS, ("even",), ("samples",)))
def test_the_reported_primal_is_that_of_the_predictions_of_regressors(made, options, weighting, max_epochs):
    for seed in (0, 1):
        X, _, y, weights = examples(seed)
        weights = weights if weighting == "samples" else np.ones(len(X))
        ridge = made is treille.Ridge
        model = made(KERNEL, **{"alpha" if ridge else "C": 2.0}, tol=1e-6, max_epochs=max_epochs, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", treille.solvers.ConvergenceWarning)
            model.fit(X, y + 5, sample_weight=weights)
        shift = np.average(y + 5, weights=weights) if options["fit_intercept"] is True else 0.0
        loss = SquaredError() if ridge else REGRESSION_LOSSES[options["loss"]](0.1)
        C = weights / 4 if ridge else 2.0 * weights
        check_primal(model, X, Problem(loss, y + 5 - shift, C, options["fit_intercept"]), shift)


def test_the_reported_primal_is_that_of_the_decision_function_of_one_class_machines():
    X = examples(0)[0]
    model = treille.OneClassSVM(KERNEL, nu=0.3, tol=1e-6).fit(X)
    check_primal(model, X, Problem(OneClass(0.3), np.zeros(len(X)), np.ones(len(X)), "free"))


@pytest.mark.parametrize("averaged", [True, False])
def test_the_reported_margin_is_that_of_the_decision_function_of_perceptrons(averaged):
    X, codes, _, weights = examples(0)
    model = treille.Perceptron(KERNEL, averaged=averaged, max_epochs=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", treille.solvers.ConvergenceWarning)
        model.fit(X, codes, sample_weight=weights)
    problem = Problem(PerceptronSolver.losses[0](), codes, weights, bool(model.fit_intercept), np.arange(3))
    check_primal(model, X, problem)
