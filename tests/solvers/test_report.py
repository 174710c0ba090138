"""Reports: what they say, and that they survive JSON."""

import json

import pytest
import sklearn.exceptions

from treille import ConvergenceWarning, Report

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
