"""The plan: which kernel, space and solver, and why."""

import numpy as np
import pandas as pd
import pytest

import treille
from treille import SVC, InputError, Strings
from treille.kernels import AllSubstrings, NGram, Subsequence
from treille.solvers import SMO, CuttingPlane, DualCD
from treille.spaces import GramSpace, Nystrom, RowsSpace, plan

CHARACTERS, BYTES, WORDS = (
    NGram(5).normalized(),
    NGram(5, unit="byte").normalized(),
    NGram(2, 1, unit="word").normalized(),
)


@pytest.mark.parametrize(
    ("X", "kernel"),
    [
        (["a text", "another"], CHARACTERS),
        (pd.Series(["a", "b"], index=[5, 6]), CHARACTERS),
        (np.array(["a", "b"]), CHARACTERS),
        ([], CHARACTERS),
        (Strings(["a"]), CHARACTERS),
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
    chosen = plan(None, X)
    assert repr(chosen.kernel) == repr(kernel)
    assert chosen.kernel_why.startswith("chosen: ")
    kernel.batch(X)  # the kernel chosen reads the data


@pytest.mark.parametrize("X", ["a text", None, 3, [None], [3.5]], ids=repr)
def test_data_of_no_known_kind_are_refused_with_or_without_a_kernel(X):
    for kernel in (None, NGram(2)):
        with pytest.raises(InputError):
            SVC(kernel).fit(X, [0, 1])


def test_the_model_says_what_was_chosen_and_how_large_it_was():
    model = SVC().fit(["the quick", "brown fox"], [0, 1])
    shown = str(model.plan_)
    assert shown.startswith("kernel: NGram(n=5).normalized(), chosen: 5-grams of characters")
    assert "\nspace: rows, because NGram has explicit features" in shown
    assert "\nsolver: DualCD, because it needs rows and reports its duality gap" in shown
    assert "\nsizes: 2 examples, 10 features, 10 entries, " in shown
    assert isinstance(model.plan_, treille.Plan)


def test_what_was_given_is_told_as_given():
    model = SVC(NGram(2), solver=treille.solvers.DualCD()).fit(["ab", "cd"], [0, 1])
    assert model.plan_.kernel is model.kernel
    assert model.plan_.kernel_why == model.plan_.solver_why == "as given"


def test_a_space_is_a_kernel_met_with_a_batch():
    space = RowsSpace.of(NGram(1), NGram(1).batch(["ab", "a"]), n_jobs=2)
    assert (len(space.rows), space.features.n_features) == (2, 2)


@pytest.mark.parametrize(
    ("kernel", "solver", "chosen"),
    [
        (NGram(2), "auto", ("rows", "DualCD")),
        (AllSubstrings(), "auto", ("product", "CuttingPlane")),
        (AllSubstrings().normalized() + NGram(1), "auto", ("product", "CuttingPlane")),
        (Subsequence(2), "auto", ("gram", "SMO")),
        (AllSubstrings() + Subsequence(2), "auto", ("gram", "SMO")),
        (NGram(2), CuttingPlane(), ("product", "CuttingPlane")),
        (NGram(2), SMO(), ("gram", "SMO")),
        (AllSubstrings(), SMO(), ("gram", "SMO")),
    ],
    ids=repr,
)
def test_the_cheapest_space_that_the_kernel_offers_and_the_solver_needs(kernel, solver, chosen):
    found = plan(kernel, ["ab"], solver)
    assert (found.space, found.solver) == chosen
    assert found.solver_why == "as given" or solver == "auto"
    assert "because" in found.space_why


def test_a_fast_product_is_told_with_its_reason():
    shown = str(plan(AllSubstrings(), ["ab"]))
    assert (
        "space: product, because AllSubstrings has no explicit features, but multiplies its matrix in less time"
        in shown
    )
    assert "solver: CuttingPlane, because it needs a product a round" in shown


def test_estimators_name_the_spaces_they_can_use():
    assert plan(AllSubstrings(), ["ab"], spaces=(RowsSpace, GramSpace)).space == "gram"
    assert "the estimator needs kernel values" in plan(NGram(2), ["ab"], spaces=(GramSpace,)).space_why
    model = treille.SVR(AllSubstrings()).fit(["ab", "cd", "ac"], [0.0, 1.0, 2.0])
    assert (model.plan_.space, model.plan_.solver) == ("gram", "SMO")


@pytest.mark.parametrize(
    ("kernel", "solver", "message"),
    [
        (Subsequence(2), CuttingPlane(), "CuttingPlane needs fast products of its matrix, which Subsequence.* has not"),
        (AllSubstrings(), DualCD(), "DualCD needs explicit features, which AllSubstrings.* has not"),
    ],
    ids=repr,
)
def test_a_solver_that_needs_what_the_kernel_has_not_is_refused(kernel, solver, message):
    with pytest.raises(InputError, match=message):
        SVC(kernel, solver=solver).fit(["ab", "cd"], [0, 1])


@pytest.mark.parametrize(("solver", "need"), [(SMO(), "kernel values"), (CuttingPlane(), "fast products")], ids=repr)
def test_landmarks_make_features_so_other_solvers_are_refused(solver, need):
    with pytest.raises(InputError, match=f"makes features, but the solver needs {need}"):
        SVC(NGram(2), solver=solver, space=Nystrom(2)).fit(["ab", "cd"], [0, 1])
