"""Class weights that change little are reported in the plan: by the dual variables, which the weights bound."""

import numpy as np
import pytest

import treille
from treille.kernels import NGram
from treille.solvers import SMO, CuttingPlane, DualCD

RANDOM = np.random.default_rng(0)
TEXTS = ["".join(RANDOM.choice(list("abcdef"), 12)) + ("ab" if i % 8 == 0 else "") for i in range(160)]
Y = np.array(["rare" if i % 8 == 0 else "common" for i in range(160)])


def fitted(C, class_weight="balanced", y=Y, **options):
    kernel = NGram(4, min_n=1).normalized()
    return treille.SVC(kernel, C=C, class_weight=class_weight, tol=1e-6, **options).fit(TEXTS, y)


@pytest.mark.parametrize("solver", ["auto", DualCD(), SMO(), CuttingPlane()], ids=str)
def test_weights_without_effect_are_reported_with_every_solver(solver):
    weighted, plain = fitted(100.0, solver=solver), fitted(100.0, None, solver=solver)
    assert weighted.plan_.class_weights.startswith("change little: at most 0% of the dual variables of any class")
    assert "Use C=10, or let SVCCV(scoring='f1_macro') choose C" in weighted.plan_.class_weights
    assert "class weights: change little" in str(weighted.plan_)
    np.testing.assert_allclose(weighted.decision_function(TEXTS), plain.decision_function(TEXTS), atol=1e-2)


def test_weights_with_an_effect_are_not_reported():
    weighted, plain = fitted(0.1), fitted(0.1, None)
    assert weighted.plan_.class_weights == ""
    assert "class weights" not in str(weighted.plan_)
    assert abs(weighted.decision_function(TEXTS) - plain.decision_function(TEXTS)).max() > 0.2


def test_weights_that_only_lower_a_class_count_as_well():
    assert fitted(100.0, {"common": 0.9}).plan_.class_weights
    assert not fitted(1.0, {"common": 0.01}).plan_.class_weights


def test_no_weights_and_weights_of_1_are_not_reported():
    assert not fitted(100.0, None).plan_.class_weights
    assert not fitted(100.0, {"rare": 1.0}).plan_.class_weights


def test_losses_without_a_bound_are_not_judged():
    assert not fitted(100.0, loss="squared_hinge").plan_.class_weights
    assert not treille.LogisticRegression(NGram(2), C=100.0, class_weight="balanced").fit(TEXTS, Y).plan_.class_weights


def test_of_several_classes_each_is_judged_in_the_problem_that_it_is_the_positive_class_of():
    y = np.where(np.arange(160) % 5 == 1, "third", Y)
    assert fitted(100.0, y=y).plan_.class_weights
    assert not fitted(0.1, y=y).plan_.class_weights


def test_a_search_reports_of_the_model_that_it_chose():
    search = treille.SVCCV(NGram(4, min_n=1).normalized(), Cs=[100.0], cv=2, class_weight="balanced").fit(TEXTS, Y)
    assert search.plan_.class_weights
