"""The plan: the choice of kernel, space and solver, with reasons."""

import numpy as np
import pandas as pd
import pytest

import treille
from treille import SVC, SVR, InputError, Ridge, Strings
from treille.estimators.plan import choose_kernel, plan
from treille.kernels import AllSubstrings, Linear, NGram, Subsequence
from treille.solvers import (
    SMO,
    Cholesky,
    ConjugateGradient,
    CuttingPlane,
    DualCD,
    FiniteNewton,
    NormalEquations,
    Problem,
)
from treille.solvers.problem import Logistic
from treille.spaces import MemorySource, Nystrom, RowsSpace

TEXT = (
    NGram(2, 1, unit="word+lower", counts="log").weighted("idf").normalized()
    + NGram(5, unit="char+lower", counts="log").weighted("idf").normalized()
)
BYTES, WORDS = (
    2 * NGram(5, unit="byte", counts="log").weighted("idf").normalized(),
    2 * NGram(2, 1, unit="word", counts="log").weighted("idf").normalized(),
)


@pytest.mark.parametrize(
    ("X", "kernel"),
    [
        (["a text", "another"], TEXT),
        (pd.Series(["a", "b"], index=[5, 6]), TEXT),
        (np.array(["a", "b"]), TEXT),
        ([], TEXT),
        (Strings(["a"]), TEXT),  # the same as for a list
        ([b"a", b"b"], BYTES),
        (Strings(["a"], unit="byte"), BYTES),
        ([["a", "b"], ["c"]], WORDS),
        ([[], ["c"]], WORDS),
        ([np.arange(3)], WORDS),
        (np.array([[1, 2], [3, 4]]), WORDS),
        (Strings(["a b"], unit="word"), WORDS),
        (Strings(["a b"], unit=str.split), WORDS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_kernel_means_one_for_the_kind_of_the_data(X, kernel):
    chosen, why = choose_kernel(None, X)
    assert repr(chosen) == repr(kernel)
    assert why.startswith("chosen: ")
    kernel.batch(X)  # the kernel chosen reads the data


@pytest.mark.parametrize("X", ["a text", None, 3, [None], [3.5]], ids=repr)
def test_data_of_no_known_kind_are_refused_with_or_without_a_kernel(X):
    for kernel in (None, NGram(2)):
        with pytest.raises(InputError):
            SVC(kernel).fit(X, [0, 1])


def test_the_model_says_what_was_chosen_and_how_large_it_was():
    model = SVC().fit(["the quick", "brown fox"], [0, 1])
    shown = str(model.plan_)
    assert shown.startswith(f"kernel: {TEXT!r}, chosen: words, pairs of words and 5-grams of characters")
    assert "\nspace: rows, because Sum has explicit features" in shown
    assert "\nsolver: DualCD(), because it works on rows and reports its duality gap" in shown
    assert "\nsizes: 2 examples, 16 features, 16 entries, " in shown
    assert isinstance(model.plan_, treille.Plan)


def test_a_given_choice_is_reported_as_given():
    model = SVC(NGram(2), solver=treille.solvers.DualCD()).fit(["ab", "cd"], [0, 1])
    assert model.plan_.kernel is model.kernel
    assert model.plan_.kernel_why == model.plan_.solver_why == "as given"


def test_a_space_is_a_kernel_applied_to_a_batch():
    space = RowsSpace.build(NGram(1), NGram(1).batch(["ab", "a"]), n_jobs=2)
    assert (len(space.rows), space.features.n_features) == (2, 2)


TEXTS, CODES, Y = ["ab", "cd", "ac", "b"], [0, 1, 1, 0], [0.0, 1.0, 2.0, 0.5]


@pytest.mark.parametrize(
    ("model", "chosen"),
    [
        (SVC(NGram(2)), ("rows", DualCD)),
        (SVC(AllSubstrings()), ("product", CuttingPlane)),
        (SVC(AllSubstrings().normalized() + NGram(1)), ("product", CuttingPlane)),
        (SVC(Subsequence(2)), ("gram", SMO)),
        (SVC(AllSubstrings() + Subsequence(2)), ("gram", SMO)),
        (SVC(NGram(2), solver=CuttingPlane()), ("product", CuttingPlane)),
        (SVC(NGram(2).centered(), solver=CuttingPlane()), ("rows", CuttingPlane)),
        (SVC(NGram(2), solver=SMO()), ("gram", SMO)),
        (SVC(AllSubstrings(), solver=SMO()), ("gram", SMO)),
        (SVC(NGram(2), fit_intercept="free"), ("gram", SMO)),
        (SVC(AllSubstrings(), fit_intercept="free"), ("gram", SMO)),
        (SVC(Subsequence(2), space="nystrom"), ("nystrom", DualCD)),
        (SVR(NGram(2)), ("rows", DualCD)),
        (SVR(AllSubstrings()), ("gram", SMO)),
        (SVR(AllSubstrings(), space=Nystrom(2)), ("nystrom", DualCD)),
        (Ridge(NGram(1, unit="byte")), ("rows", ConjugateGradient)),
        (Ridge(NGram(4)), ("rows", NormalEquations)),
        (Ridge(AllSubstrings()), ("product", ConjugateGradient)),
        (Ridge(Subsequence(2)), ("gram", Cholesky)),
        (Ridge(NGram(1), solver=Cholesky()), ("gram", Cholesky)),
        (Ridge(Subsequence(2), space=Nystrom(2)), ("nystrom", NormalEquations)),
    ],
    ids=repr,
)
def test_the_cheapest_space_that_the_kernel_offers_and_a_solver_supports(model, chosen):
    fitted = model.fit(TEXTS, CODES if isinstance(model, SVC) else Y)
    found = fitted.plan_
    assert (found.space.name, type(found.solver)) == chosen
    assert (found.solver_why == "as given") == (model.solver != "auto")
    assert found.space_why.startswith(("because", "as given"))
    assert fitted.report_.status == "converged"


def test_a_fast_product_is_reported_with_its_reason():
    shown = str(SVC(AllSubstrings()).fit(TEXTS, CODES).plan_)
    assert (
        "space: product, because AllSubstrings multiplies its matrix in less time than it takes to write it out"
        in shown
    )
    assert "solver: CuttingPlane(), because it needs one product with the kernel matrix per round" in shown


@pytest.mark.parametrize("copies", [1, 2, 20])
@pytest.mark.parametrize("intercept", [False, True, "free"])
@pytest.mark.parametrize("kernel", [(1 + NGram(2)) ** 2, NGram(2) * NGram(1), NGram(2)], ids=repr)
def test_the_number_of_examples_does_not_change_the_problem(kernel, intercept, copies):
    """Every text twice with half the C is the same problem, whichever space is cheaper for so many."""
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcd"), 12)) for _ in range(12)]
    codes = rng.integers(0, 2, 12).tolist()
    options = {"tol": 1e-8, "max_epochs": 10**6, "fit_intercept": intercept}
    once = SVC(kernel, **options).fit(texts, codes)
    again = SVC(kernel, C=1 / copies, **options).fit(copies * texts, copies * codes)
    assert again.report_.primal == pytest.approx(once.report_.primal, rel=1e-6)
    assert again.intercept_ == pytest.approx(once.intercept_, rel=1e-2, abs=1e-4)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            SVC(Subsequence(2), solver=CuttingPlane()),
            "CuttingPlane needs fast products with its matrix or explicit features, which Sub",
        ),
        (
            SVC(AllSubstrings(), solver=DualCD()),
            r"DualCD needs explicit features, which AllSubstrings\(.*\) does not provide",
        ),
        (Ridge(Subsequence(2), solver=NormalEquations()), "NormalEquations needs explicit features"),
        (
            SVC(NGram(2), solver=SMO(), space=Nystrom(2)),
            r"provides rows, which SMO does not use: use solver='auto' or DualCD\(\)",
        ),
        (SVC(NGram(2), fit_intercept="free", space=Nystrom(2)), "provides rows, which SMO does not use"),
        (
            SVC(NGram(2), fit_intercept="free", solver=DualCD()),
            "DualCD supports the intercepts False or True, not 'free'",
        ),
        (SVC(NGram(2), fit_intercept="maybe"), "fit_intercept is 'maybe', expected False, True or 'free'"),
        (SVC(NGram(2), solver=Cholesky()), "Cholesky solves problems with the losses SquaredError, not Hinge"),
        (
            Ridge(NGram(2), solver="cholesky"),
            r"solver is 'cholesky', expected 'auto' or a solver such as treille.solvers.DualCD\(\)",
        ),
        (
            SVR(NGram(2), solver=CuttingPlane()),
            "CuttingPlane solves problems with the losses Hinge, SquaredHinge, not Epsilon",
        ),
    ],
    ids=repr,
)
def test_incompatible_choices_are_refused_before_work_begins(model, message):
    with pytest.raises(InputError, match=message):
        model.fit(TEXTS, CODES)


def test_weights_by_classes_are_a_default_only_where_there_are_classes():
    X = treille.dna(["ACGTACGTACGT", "TTGACCATTGAC", "ACGTACGTACGA", "TTGACCATTGAA"])
    classifier, regressor = SVC().fit(X, [0, 1, 0, 1]), treille.Ridge().fit(X, [0.0, 1.0, 0.0, 1.0])
    assert classifier.plan_.kernel.needs_labels
    assert not regressor.plan_.kernel.needs_labels
    assert classifier.predict(X).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("n", "C", "loss", "solver"),
    [
        (200, 1.0, "squared_hinge", FiniteNewton),
        (30, 1.0, "squared_hinge", FiniteNewton),
        (29, 1.0, "squared_hinge", DualCD),
        (200, 0.1, "squared_hinge", DualCD),
        (200, 1.0, "hinge", DualCD),
    ],
)
def test_newton_steps_are_chosen_for_smooth_losses_few_features_and_large_C(n, C, loss, solver):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 10))
    y = X[:, 0] + random.normal(size=n) > 0
    model = SVC(Linear(), C=C, loss=loss).fit(X, y)
    assert type(model.plan_.solver) is solver
    assert model.report_.status == "converged"


def test_the_logistic_loss_has_a_solver_in_every_space():
    spaces = (
        (NGram(2), "rows", DualCD),
        (AllSubstrings(), "product", FiniteNewton),
        (Subsequence(2), "gram", FiniteNewton),
    )
    for kernel, space, solver in spaces:
        problem = Problem(Logistic(), np.array(CODES), np.ones(len(CODES)), True, np.array([1]))
        chosen, built = plan(MemorySource(kernel, "", kernel.batch(TEXTS)), problem)
        assert (chosen.space.name, type(chosen.solver)) == (space, solver)
        assert chosen.solver.solve(problem, built).report.status == "converged"
