"""Thousands of classes: what they will take is said before, in time and in memory, and they can be interrupted."""

import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from problems import random_problem

import treille
from timing import processor_seconds
from treille.io.errors import InputError
from treille.kernels import NGram
from treille.solvers import DualCD, LongTrainingWarning, Problem, Report, progress, solver
from treille.solvers.problem import Hinge
from treille.solvers.progress import progress_bar
from treille.solvers.report import combined_history


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=100.0)
    for module in (solver, progress):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now.seconds, monotonic=time.monotonic))
    return now


def many(n_classes, n=2000):
    """The problem of many classes, with one or two examples each."""
    one = random_problem(n=n)
    return one.space, Problem(Hinge(), np.arange(n) % n_classes, np.ones(n), True, np.arange(n_classes))


def test_one_warning_says_how_long_many_problems_will_take_judged_by_the_first(clock):
    follow = solver.with_estimate(None, 10_000, "10,000 problems, one per class, on 20,000 examples")
    clock.seconds += 1.0
    follow(50, 3, 0.1)  # too early to tell
    clock.seconds += 2.0
    expected = "10,000 problems, one per class, on 20,000 examples: the first 100 of 10,000 took 3 s, the others .* about 5 min"
    with pytest.warns(LongTrainingWarning, match=expected):
        follow(100, 3, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        follow(200, 3, 0.1)


def test_short_work_and_work_with_its_own_progress_have_no_estimate(clock):
    follow = solver.with_estimate(None, 100, "100 problems")
    clock.seconds += 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        follow(50, 3, 0.1)
    assert solver.with_estimate(print, 100, "100 problems") is print
    assert solver.with_estimate(None, 1, "1 problem") is None


def test_the_warning_comes_from_the_call_of_the_user(monkeypatch):
    monkeypatch.setattr(solver, "LONG", 0.0)
    monkeypatch.setattr(solver, "JUDGED_AFTER", 0.0)
    texts = ["".join(row) for row in np.random.default_rng(0).choice(list("abcdefgh"), (600, 8))]
    with pytest.warns(LongTrainingWarning, match="600 problems, one per class, on 600 examples") as caught:
        treille.SVC(NGram(2)).fit(texts, range(600))
    assert caught[0].filename == __file__


def test_on_a_terminal_the_bar_says_what_is_left_for_all_classes(monkeypatch, capsys, clock):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar(4000, 1e-3, verbose=1) as follow:
        clock.seconds += 30.0
        follow(1000, 7, 0.01)
    assert "class 1,001 of 4,000, 90 s left, epoch 7, gap 0.01" in capsys.readouterr().err


def test_an_interrupt_ends_thousands_of_problems_at_once():
    space, problem = many(2000)

    def interrupt(done, epochs, gap):
        raise KeyboardInterrupt

    with processor_seconds(1), pytest.raises(KeyboardInterrupt):
        DualCD().solve(problem, space, tol=1e-9, max_epochs=10**6, progress=interrupt)


def test_problems_whose_answers_do_not_fit_in_memory_are_refused_before_the_work(monkeypatch):
    space, problem = many(1000)
    monkeypatch.setattr(solver, "available_memory", lambda: 10**7)
    message = "the weights and dual variables of 1,000 problems, one per class, on 2,000 examples would take .*10.0 MB are free"
    with pytest.raises(InputError, match=message):
        DualCD().solve(problem, space)


def test_reports_of_thousands_of_problems_are_combined_in_linear_time():
    def history(k):
        return tuple((t + 1e-6 * k, 2.0 / (t + 1), 1.0) for t in range(30))

    each = [Report(1.0, 1.0, 1, 0.0, "converged", 0, history=history(k)) for k in range(4000)]
    with processor_seconds(3):
        found = combined_history([report.history for report in each])
    assert len(found) <= 201
    assert found[-1][1] == pytest.approx(4000 * 2.0 / 30)
