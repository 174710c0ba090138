"""OneClassSVM compared with LIBSVM, and its refusals."""

import numpy as np
import pytest
from sklearn.base import clone

import treille
from treille import InputError, OneClassSVM
from treille.kernels import NGram, Subsequence
from treille.solvers import SMO

RANDOM = np.random.default_rng(0)
X = ["".join(RANDOM.choice(list("abcd"), RANDOM.integers(4, 12), p=[0.4, 0.4, 0.1, 0.1])) for _ in range(70)]
NEW = ["abab", "ccdd", "xyz", "", "babab"]
KERNEL = NGram(2, min_n=1).normalized()


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("solver", [SMO(), SMO(stopping="violation"), SMO(cache_mb=0.002)], ids=repr)
def test_decisions_are_libsvms(nu, solver):
    svmutil = pytest.importorskip("libsvm.svmutil", reason="libsvm-official is not installed")
    K = KERNEL(X).astype(np.float32).astype(np.float64)  # LIBSVM keeps its matrix in float32
    data = np.column_stack([np.arange(1, len(K) + 1), K])
    theirs = svmutil.svm_train(
        svmutil.svm_problem(np.ones(len(K)), data, isKernel=True),
        svmutil.svm_parameter(f"-s 2 -t 4 -n {nu} -e 1e-10 -q"),
    )
    coefficients = np.zeros(len(K))
    coefficients[np.array(theirs.get_sv_indices()) - 1] = np.ravel(theirs.get_sv_coef())
    model = OneClassSVM("precomputed", nu=nu, tol=1e-10, max_epochs=100_000, solver=solver).fit(K)
    decisions = K @ coefficients - theirs.rho[0]
    np.testing.assert_allclose(model.decision_function(K), decisions, atol=1e-6 * np.abs(K @ coefficients).max())
    assert model.offset_ == pytest.approx(theirs.rho[0], rel=1e-6)
    assert model.report_.primal == pytest.approx(-0.5 * coefficients @ K @ coefficients, rel=1e-6)
    assert model.report_.status == "converged"


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_nu_bounds_the_part_outside(nu):
    model = OneClassSVM(KERNEL, nu=nu, tol=1e-8, max_epochs=10_000).fit(X)
    assert np.mean(model.decision_function(X) < -1e-6) <= nu
    assert model.report_.relative_gap <= 1e-8


@pytest.mark.parametrize("kernel", [KERNEL, Subsequence(2, 0.5).normalized()], ids=repr)
def test_models_save_load_and_clone(kernel, tmp_path):
    model = OneClassSVM(kernel, nu=0.2).fit(X)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.decision_function(NEW), model.decision_function(NEW))
    assert again.predict(NEW).tolist() == model.predict(NEW).tolist()
    assert repr(clone(model)) == repr(OneClassSVM(kernel, nu=0.2))
    np.testing.assert_allclose(model.score_samples(NEW) - model.offset_, model.decision_function(NEW), atol=1e-15)
    assert model.predict(["zzz"]).tolist() == [-1]
    assert set(model.fit_predict(X)) == {-1, 1}
    assert "because SMO supports this problem" in str(model.plan_) or not kernel.has_features


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"nu": 0}, "nu is 0, expected a positive number"),
        ({"nu": 1.5}, "nu is 1.5, expected a number above 0 and at most 1"),
        ({"nu": float("nan")}, "nu is nan, expected a positive number"),
        ({"tol": 0}, "tol is 0, expected a positive number"),
        ({"max_epochs": 0}, "max_epochs is 0, expected a whole number"),
        (
            {"solver": treille.solvers.DualCD()},
            "DualCD solves problems with the losses .*, not OneClass",
        ),
        ({"kernel": "rbf"}, "there is no kernel 'rbf'"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(InputError, match=message):
        OneClassSVM(**({"kernel": KERNEL} | params)).fit(X)


def test_no_examples_are_refused():
    with pytest.raises(InputError, match="there are no examples"):
        OneClassSVM(KERNEL).fit([])
