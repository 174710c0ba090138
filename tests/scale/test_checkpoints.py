"""A run that ends early, wherever that is, and is continued, ends at the same numbers, bit for bit."""

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import count

import numpy as np
import pytest
from sklearn.base import clone
from small_parts import divided, some_texts

import treille
from timing import interrupt, processor_seconds
from treille import SVC, InputError, LogisticRegression, Ridge
from treille.kernels import Conjunctions, NGram
from treille.scale import Parts, counting
from treille.scale import folder as folders
from treille.scale.folder import Folder
from treille.solvers import BlockMinimization, ConvergenceWarning, block_minimization
from treille.solvers.block_minimization import BlockRun

X, y = some_texts(60, 3)
ONES = [dict.fromkeys(text, 1) for text in X]


class Killed(BaseException):
    """Ends a run as SIGKILL would: nothing is written afterwards."""


class Killer:
    """Ends a run at its event number `at`: before or after a file is written, or a block visited."""

    def __init__(self, monkeypatch):
        self.at, self.events = 0, 0
        write, visit = folders.atomic_write, BlockRun._visit
        monkeypatch.setattr(folders, "atomic_write", lambda *given: self.around(write, *given))
        monkeypatch.setattr(BlockRun, "_visit", lambda *given: self.around(visit, *given))

    def around(self, do, *given):
        self.event()
        do(*given)
        self.event()

    def event(self):
        self.events += 1
        if self.events == self.at:
            raise Killed

    def run(self, fit, at=0):
        """The model, or None if the run was ended."""
        self.at, self.events = at, 0
        try:
            return fit()
        except Killed:
            return None


CASES = {
    "n-grams": (SVC(NGram(2).normalized(), tol=0.01), X, y, 1),
    "weights by class, frequent features": (SVC(NGram(2).weighted("nb").normalized(), tol=0.02), X, y, 2),
    "ids that move": (LogisticRegression(Conjunctions(2), tol=0.01), ONES, y > 0, 1),
    "ids that move, frequent features": (SVC((Conjunctions(2) + 1).normalized(), tol=0.05), ONES, y > 0, 3),
    "least squares": (Ridge(NGram(1)), X, y, 1),
}


def fitted(estimator, data, labels, least, folder):
    return clone(estimator).fit(divided(data, labels, 10, min_count=least, checkpoint=folder))


def same(one, two):
    equal = (one.coef_ == two.coef_).all() and np.array_equal(one.intercept_, two.intercept_)
    return equal and one.report_.primal == two.report_.primal and one.report_.epochs == two.report_.epochs


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_ends_anywhere_continues_to_the_same_numbers(name, small_blocks, checkpoints, monkeypatch, tmp_path):
    estimator, data, labels, least = CASES[name]
    expected = estimator.fit(divided(data, labels, 10, min_count=least))
    killer, folder = Killer(monkeypatch), tmp_path / "undisturbed"

    def fit():
        return fitted(estimator, data, labels, least, folder)

    assert same(killer.run(fit), expected)
    n_events = killer.events
    assert n_events > 10
    for at in np.unique(np.linspace(1, n_events, 12).astype(int)):
        folder = tmp_path / f"at-{at}"
        assert killer.run(fit, at) is None
        assert same(killer.run(fit), expected)
        assert not [file.name for file in folder.iterdir() if file.name.startswith(".")]


def test_a_run_that_ends_again_and_again_gets_done(small_blocks, checkpoints, monkeypatch, tmp_path):
    estimator, data, labels, least = CASES["n-grams"]
    expected = fitted(estimator, data, labels, least, tmp_path / "undisturbed")
    killer, runs, model = Killer(monkeypatch), 0, None
    while model is None:
        model = killer.run(lambda: fitted(estimator, data, labels, least, tmp_path / "run"), 25)
        runs += 1
        assert runs < 500
    assert runs > 5
    assert same(model, expected)


def test_a_run_that_is_done_can_be_repeated(small_blocks, checkpoints, tmp_path):
    estimator, data, labels, least = CASES["weights by class, frequent features"]
    one, two = (fitted(estimator, data, labels, least, tmp_path) for _ in range(2))
    assert same(one, two)


def test_counted_parts_are_not_counted_again(small_blocks, checkpoints, monkeypatch, tmp_path):
    counted, visited, fit_features, visit = [], [], NGram.fit_features, BlockRun._visit

    def counting(self, batch, n_jobs):
        counted.append(len(batch))
        return fit_features(self, batch, n_jobs)

    def visiting(self, block, rows):
        visited.append(block)
        visit(self, block, rows)

    monkeypatch.setattr(NGram, "fit_features", counting)
    monkeypatch.setattr(BlockRun, "_visit", visiting)
    SVC(NGram(2)).fit(divided(X, y, 10, checkpoint=tmp_path))
    first = len(visited)
    assert len(set(visited)) > 2  # blocks
    SVC(NGram(2)).fit(divided(X, y, 10, checkpoint=tmp_path))
    assert counted == [1] + [10] * 6  # an example of the first part is measured
    assert len(visited) - first < first / 2


def test_without_a_checkpoint_nothing_is_left(small_blocks, monkeypatch, tmp_path):
    SVC(NGram(2)).fit(divided(X, y, 10, scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []
    killer = Killer(monkeypatch)
    for at in (1, 5, 20):
        killer.run(lambda: SVC(NGram(2)).fit(divided(X, y, 10, scratch=tmp_path)), at)
        assert list(tmp_path.iterdir()) == []


def test_a_time_limit_keeps_the_state_for_the_next_run(small_blocks, tmp_path):
    with pytest.warns(ConvergenceWarning):
        ended = SVC(NGram(2).normalized(), tol=1e-6, solver=BlockMinimization(max_seconds=1e-9)).fit(
            divided(X, y, 10, checkpoint=tmp_path)
        )
    assert ended.report_.status == "max_seconds"
    found = folders.read_arrays(tmp_path / "solver.state")[0]["state"]
    assert found["visited"] == 1
    model = SVC(NGram(2).normalized(), tol=1e-6).fit(divided(X, y, 10, checkpoint=tmp_path))
    assert same(model, SVC(NGram(2).normalized(), tol=1e-6).fit(divided(X, y, 10)))


def test_a_finer_tolerance_continues_from_the_coarser_one(small_blocks, checkpoints, tmp_path):
    coarse = SVC(NGram(2).normalized(), tol=0.1).fit(divided(X, y, 10, checkpoint=tmp_path))
    fine = SVC(NGram(2).normalized(), tol=1e-5).fit(divided(X, y, 10, checkpoint=tmp_path))
    assert fine.report_.relative_gap <= 1e-5 < coarse.report_.relative_gap


OTHER_RUNS = {
    "kernel was NGram(n=2), and is NGram(n=3) now": lambda parts: SVC(NGram(3)).fit(parts()),
    "min_count was 1, and is 2 now": lambda parts: SVC(NGram(2)).fit(parts(min_count=2)),
    "memory was 2.0 GB, and is 3.0 GB now": lambda parts: SVC(NGram(2)).fit(parts(memory="3GB")),
    "loss was Hinge(), and is SquaredHinge() now": lambda parts: SVC(NGram(2), loss="squared_hinge").fit(parts()),
    "sum of C over examples was 60.0, and is 120.0 now": lambda parts: SVC(NGram(2), C=2.0).fit(parts()),
    "intercept was True, and is False now": lambda parts: SVC(NGram(2), fit_intercept=False).fit(parts()),
    "random_state was 0, and is 5 now": lambda parts: SVC(NGram(2), random_state=5).fit(parts()),
    "labels was classes, and is numbers now": lambda parts: Ridge(NGram(2)).fit(parts()),
    "the first part differs": lambda parts: SVC(NGram(2)).fit(parts(data=X[::-1])),
}


@pytest.mark.parametrize("message", OTHER_RUNS)
def test_a_checkpoint_of_another_run_is_refused_and_stays_as_it_was(message, small_blocks, checkpoints, tmp_path):
    def parts(data=X, **limits):
        return divided(data, y, 10, checkpoint=tmp_path, **limits)

    model = SVC(NGram(2)).fit(parts())
    before = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir() if file.name != "lock"}
    with pytest.raises(InputError, match="holds the checkpoint of another run") as raised:
        OTHER_RUNS[message](parts)
    assert message in str(raised.value)
    assert str(tmp_path) in str(raised.value)
    rows = {name for name in before if not name.startswith("scales")}
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir() if file.name in rows} == {
        name: before[name] for name in rows
    }
    assert same(SVC(NGram(2)).fit(parts()), model)


def test_weights_that_the_name_of_a_kernel_does_not_show_belong_to_a_run(small_blocks, checkpoints, tmp_path):
    weights = dict.fromkeys(["ab", "ba", "cd", "dc", "ef"], 2.0)
    SVC(NGram(2).weighted(weights)).fit(divided(X, y, 10, checkpoint=tmp_path))
    with pytest.raises(InputError, match="the kernel's parameters differs"):
        SVC(NGram(2).weighted(weights | {"ef": 3.0})).fit(divided(X, y, 10, checkpoint=tmp_path))


def test_another_version_of_treille_is_refused(small_blocks, checkpoints, monkeypatch, tmp_path):
    SVC(NGram(2)).fit(divided(X, y, 10, checkpoint=tmp_path))
    monkeypatch.setattr(counting, "version", lambda name: "99.0")
    with pytest.raises(InputError, match=r"treille was [0-9.]+, and is 99\.0 now"):
        SVC(NGram(2)).fit(divided(X, y, 10, checkpoint=tmp_path))


def test_a_folder_that_another_process_uses_is_refused(small_blocks, tmp_path):
    inside = []

    def parts():
        yield X[:30], y[:30]
        try:
            SVC(NGram(2)).fit(divided(X, y, 10, checkpoint=tmp_path))
        except InputError as error:
            inside.append(str(error))
        yield X[30:], y[30:]

    SVC(NGram(2)).fit(Parts.of(parts(), checkpoint=tmp_path))
    assert len(inside) == 1
    assert "another process uses this checkpoint: wait until it ends, or name another folder" in inside[0]


def test_states_are_written_seldom(monkeypatch):
    folder = Folder(path=None, kept=True)
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    folder.written, folder.took = 100.0, 1.0
    now[0] = 110.0
    assert not folder.due()  # one that takes a second, every 20 seconds
    now[0] = 121.0
    assert folder.due()
    assert not Folder(path=None, kept=False).due()


SCRIPT = """
import sys
import treille.scale.folder as folder, treille.scale.parts as parts, treille.solvers.block_minimization as solver
folder.SECONDS, folder.SHARE, solver.SHARES, parts.PER_CHARACTER = 0.0, 0, {shares}, 4000
import treille
from treille.kernels import NGram
from treille.scale import Parts
data = Parts.read({path!r}, memory="1GB", checkpoint=sys.argv[1] or None)
print("begun", flush=True)
model = treille.SVC(NGram(4).normalized(), tol={tol}, max_epochs=10**6).fit(data)
model.save(sys.argv[2])
"""


def written_texts(path, n):
    texts, labels = some_texts(n, 3, seed=8)
    path.write_text(
        "".join(f'{{"text": "{10 * text}", "label": "class {k}"}}\n' for text, k in zip(texts, labels, strict=True))
    )
    return path


@pytest.mark.slow
def test_fifty_runs_killed_at_a_random_moment_continue_to_the_same_model(tmp_path):
    path, random = written_texts(tmp_path / "texts.jsonl", 4000), np.random.default_rng(0)
    script = SCRIPT.format(path=str(path), shares=20_000, tol=1e-5)

    def start(checkpoint, model):
        process = subprocess.Popen([sys.executable, "-c", script, checkpoint, model], stdout=subprocess.PIPE)
        process.stdout.readline()  # until Python has read its libraries
        return process

    assert start("", tmp_path / "whole.treille").wait() == 0
    expected, undisturbed, killed = (
        treille.load(tmp_path / "whole.treille"),
        start(tmp_path / "run", tmp_path / "unused.treille"),
        0,
    )
    begun = time.monotonic()
    undisturbed.wait()
    took = time.monotonic() - begun
    for number in count():
        folder, out = tmp_path / f"run-{number}", tmp_path / f"model-{number}.treille"
        while not out.exists():
            process = start(folder, out)
            try:
                process.wait(random.uniform(0, 0.7 * took))
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.wait()
        found = treille.load(out)
        assert (found.coef_ == expected.coef_).all()
        assert (found.intercept_ == expected.intercept_).all()
        assert found.report_.primal == expected.report_.primal
        if killed >= 50:
            break


@pytest.mark.parametrize(
    "after", [0.5, *(pytest.param(after, marks=pytest.mark.slow) for after in (0.0, 0.2, 1.0, 2.0))]
)
def test_ctrl_c_ends_training_within_half_a_second(after, tmp_path):
    path = written_texts(tmp_path / "texts.jsonl", 6000)
    script = SCRIPT.format(path=str(path), shares=20_000, tol=1e-17)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "run"), str(tmp_path / "unused")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    time.sleep(after)
    errors, seconds = interrupt(process)
    assert seconds < 1.5  # half a second, and the end of the interpreter
    assert errors.decode().rstrip().endswith("KeyboardInterrupt")


def test_ctrl_c_does_not_wait_for_the_thread_that_reads_ahead(small_blocks, monkeypatch):
    """Reading a block may take long on a slow disk: it stops between pieces."""
    monkeypatch.setattr(block_minimization, "AT_ONCE", 64)
    data = divided(X * 20, np.tile(y, 20), 600)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with processor_seconds(1.3), pytest.raises(KeyboardInterrupt):
        SVC(NGram(3), tol=1e-15, max_epochs=10**6).fit(data)
