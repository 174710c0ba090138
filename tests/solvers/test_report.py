"""Reports: values, warnings, and JSON."""

import json

import numpy as np
import pytest
import sklearn.exceptions

from treille import SVC, ConvergenceWarning, Report
from treille.kernels import AllSubstrings, NGram
from treille.solvers import SMO, CuttingPlane, DualCD, FiniteNewton

ONE = Report(primal=4.0, dual=3.0, epochs=5, seconds=0.25, status="converged", seed=1)
OTHER = Report(primal=2.0, dual=1.9, epochs=9, seconds=0.25, status="max_epochs", seed=1)
BOTH = Report(6.0, 4.9, 9, 0.25, "max_epochs", 1, (ONE, OTHER))


def test_the_gap_is_primal_minus_dual():
    assert (ONE.gap, ONE.relative_gap) == (1.0, 0.25)
    assert BOTH.gap == pytest.approx(1.1)
    assert BOTH.relative_gap == 0.25


def test_rounding_makes_no_negative_gap():
    assert Report(1.0, 1.0 + 1e-16, 1, 0.0, "converged", 0).gap == 0


def test_a_primal_of_zero_has_no_relative_gap():
    assert Report(0.0, 0.0, 1, 0.0, "converged", 0).relative_gap == 0


@pytest.mark.parametrize("report", [ONE, BOTH])
def test_a_report_survives_json(report):
    values = json.loads(json.dumps(report.as_dict()))
    assert values["gap"] == report.gap
    assert Report.from_dict(values) == report


def test_the_repr_tells_what_matters():
    shown = "status='converged', relative_gap=0.25, primal=4, dual=3, epochs=5, seconds=0.25, seed=1"
    assert repr(ONE) == f"Report({shown})"
    assert repr(BOTH).endswith("seed=1, 2 classes)")


def test_the_warning_is_also_scikit_learns():
    assert issubclass(ConvergenceWarning, sklearn.exceptions.ConvergenceWarning)


@pytest.mark.parametrize(
    ("kernel", "solver"),
    [
        (NGram(2), DualCD()),
        (NGram(2), FiniteNewton()),
        (NGram(2), CuttingPlane()),
        (NGram(2), SMO()),
        (NGram(2).weighted("nb"), DualCD()),
        (AllSubstrings(0.5), FiniteNewton()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_on_the_way_are_recorded(kernel, solver, n_classes):
    random = np.random.default_rng(0)
    X = ["".join(random.choice(list("abcd"), 30)) for _ in range(200)]
    model = SVC(kernel, loss="squared_hinge", tol=1e-4, solver=solver).fit(X, random.integers(0, n_classes, 200))
    report = model.report_
    seconds, primal, dual = np.array(report.history).T
    assert (np.diff(seconds) >= 0).all()
    assert seconds[-1] <= report.seconds
    assert (primal[-1], dual[-1]) == pytest.approx((report.primal, report.dual), rel=1e-12)
    assert (dual <= report.primal * (1 + 1e-9)).all(), "a dual value is a bound at any time"
    assert len(seconds) >= 3
    assert Report.from_dict(json.loads(json.dumps(report.as_dict()))) == report
