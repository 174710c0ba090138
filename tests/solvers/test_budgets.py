"""Epochs, seconds and Ctrl-C: a solver stops at a limit with the solution so far, and reports it."""

import _thread
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
from problems import endless_problem, random_problem

from timing import processor_seconds
from treille.kernels import NGram
from treille.solvers import ConvergenceWarning, DualCD
from treille.solvers.progress import progress_bar, stage


@pytest.fixture(scope="module")
def endless():
    return endless_problem()


def test_max_epochs_warns_with_advice_and_reports_the_gap_it_reached(endless):
    advice = (
        r"stopped at max_epochs with a relative duality gap of .*, asked for 1e-09: raise max_epochs, use a larger tol"
    )
    with pytest.warns(ConvergenceWarning, match=advice):
        report = endless.solve(max_epochs=3).report
    assert (report.status, report.epochs) == ("max_epochs", 3)
    assert report.dual < report.primal
    assert report.relative_gap > 1e-9


def test_solutions_after_too_few_epochs_are_valid(endless):
    with pytest.warns(ConvergenceWarning):
        solution = endless.solve(max_epochs=2)
    upper, lower = endless.values(solution.alpha[0], solution.intercept[0])
    assert solution.report.primal == pytest.approx(upper, rel=1e-9)
    assert solution.report.dual == pytest.approx(lower, rel=1e-9)


def test_one_class_that_fails_is_the_status_of_all():
    problem = random_problem(n=90, n_classes=3, C=100)
    with pytest.warns(ConvergenceWarning):
        report = problem.solve(classes=range(3), max_epochs=2, tol=1e-12).report
    assert report.status == "max_epochs"
    assert len(report.per_class) == 3


@pytest.mark.parametrize("tol", [0.5, 0.1, 1e-3])
@pytest.mark.parametrize("max_epochs", [1, 3, 10, 30])
def test_a_gap_within_tol_is_converged_also_at_the_last_epoch(tol, max_epochs):
    problem = random_problem(n=60, C=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        report = problem.solve(tol=tol, max_epochs=max_epochs).report
    assert (report.status == "converged") == (report.relative_gap <= tol)


def test_max_seconds_stops_in_time_and_warns(endless):
    with processor_seconds(3), pytest.warns(ConvergenceWarning, match="stopped at max_seconds"):
        report = endless.solve(DualCD(max_seconds=0.3), max_epochs=10**9).report
    assert report.status == "max_seconds"
    assert report.seconds >= 0.3
    assert report.dual < report.primal


def test_max_seconds_stops_every_class():
    problem = endless_problem()
    with pytest.warns(ConvergenceWarning, match="stopped at max_seconds"):
        report = problem.solve(DualCD(max_seconds=0.2), classes=[0, 1, 0, 1], max_epochs=10**9, n_jobs=2).report
    assert [r.status for r in report.per_class] == ["max_seconds"] * 4


def test_progress_is_reported_a_few_times_a_second(endless):
    told = []
    with pytest.warns(ConvergenceWarning):
        endless.solve(DualCD(max_seconds=0.5), max_epochs=10**9, progress=lambda *state: told.append(state))
    assert 3 <= len(told) <= 20
    done, epochs, gaps = zip(*told, strict=True)
    assert set(done) == {0}
    assert list(epochs) == sorted(epochs)
    assert all(gap > 0 for gap in gaps)


def test_an_error_in_progress_ends_the_solver_and_comes_through(endless):
    def fail(*state):
        raise RuntimeError("the terminal is gone")

    with pytest.raises(RuntimeError, match="the terminal is gone"):
        endless.solve(max_epochs=10**9, progress=fail)


def test_ctrl_c_ends_the_solver_at_once(endless):
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    try:
        with processor_seconds(3), pytest.raises(KeyboardInterrupt):
            endless.solve(DualCD(max_seconds=30), max_epochs=10**9)  # ends anyway if the interrupt does not arrive
    finally:
        timer.cancel()


def test_after_an_interrupt_the_process_lives_and_trains_again():
    script = textwrap.dedent("""
        from problems import endless_problem, random_problem
        from treille.solvers import DualCD
        problem = endless_problem()
        print("ready", flush=True)
        try:
            problem.solve(DualCD(max_seconds=30), classes=[0, 1], n_jobs=2, max_epochs=10**9)
        except KeyboardInterrupt:
            print("interrupted", random_problem().solve().report.status, flush=True)
    """)
    here = os.path.dirname(__file__)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([here, os.path.dirname(here), *sys.path])}
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60)[0] == "interrupted converged\n"
        assert child.returncode == 0
    finally:
        child.kill()
        child.wait(timeout=60)


def test_the_bar_is_silent_where_there_is_no_terminal(capsys):
    with progress_bar(1, 1e-3, verbose=1) as progress:
        assert progress is None
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_the_bar_follows_the_gap(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar(3, 1e-3, verbose=1) as progress:
        for state in ((0, 1, np.inf), (0, 2, 0.5), (1, 7, 1e-2), (2, 9, 0.0), (3, 9, 1e-4)):
            progress(*state)
    assert "class 3 of 3, epoch 9, gap 0.0001" in capsys.readouterr().err


def test_on_a_terminal_a_stage_shows_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with stage("computing [features]", verbose=1):
        NGram(3)(["abcabc"] * 100)
    shown = capsys.readouterr().err
    assert "computing [features]" in shown
    assert "100%" in shown
    with stage("computing features", verbose=0):
        assert capsys.readouterr() == ("", "")
