"""Clusters for tests: a shared Dask cluster of two processes, and a cluster without Dask that computes at once."""

from itertools import pairwise

import numpy as np
import pytest

from treille.features import PartedRows, RowParts
from treille.solvers import Problem, bundle_method
from treille.spaces.parts import Cluster, ClusterSpace


class AtOnce(Cluster):
    """Computes what is submitted at once; futures are the values themselves."""

    def submit(self, function, *arguments):
        return function(*arguments)

    def keep(self, value):
        return value

    def gather(self, futures):
        return futures

    def total(self, futures):
        return sum(futures)

    def release(self, futures):
        pass


class InMemory(RowParts):
    """Rows of parts in a list."""

    def __init__(self, futures):
        self.futures, self.lengths = list(futures), np.array([len(rows) for rows in futures])

    def each(self, compute):
        return [compute(rows, part) for part, rows in enumerate(self.futures)]

    def total(self, compute):
        return sum(self.each(compute))

    def changed(self, change, others=()):
        return InMemory([change(*rows) for rows in zip(self.futures, *(own.futures for own in others), strict=True)])


def divided(rows, problem, cuts):
    """The space of rows divided at `cuts`, and the problem without examples."""
    parts = [rows.taken(np.arange(a, b)) for a, b in pairwise(cuts)]
    each = [
        Problem(problem.loss, problem.targets[a:b], problem.C[a:b], problem.intercept, problem.classes)
        for a, b in pairwise(cuts)
    ]
    whole = Problem(problem.loss, problem.targets[:0], problem.C[:0], problem.intercept, problem.classes)
    return whole, ClusterSpace(None, PartedRows(InMemory(parts), rows.n_features), AtOnce(), parts, each)


def local_cluster(n_workers=2, **options):
    """A local Dask cluster without a dashboard; the test is skipped where Dask is missing."""
    distributed = pytest.importorskip("distributed", reason="needs dask and distributed: pip install 'treille[dask]'")
    quiet = {"dashboard_address": ":0", "threads_per_worker": 1, "silence_logs": 50}
    return distributed.LocalCluster(n_workers=n_workers, **quiet, **options)


def in_round(monkeypatch, at, act):
    """Calls `act` at the beginning of the round `at` of `BundleMethod`."""

    def acting(self, *arguments, step=bundle_method.Rounds.step):
        if self.count == at:
            act()
        return step(self, *arguments)

    monkeypatch.setattr(bundle_method.Rounds, "step", acting)


def texts(n, seed=0, length=(5, 30), alphabet="abcdefg"):
    """Random texts, and 0, 1 or 2 for each: more 'a' than 'b', more 'c', or neither, with some noise."""
    random = np.random.default_rng(seed)
    X = ["".join(random.choice(list(alphabet), random.integers(*length))) for _ in range(n)]
    scores = np.array([[x.count("ab") + x.count("a"), x.count("b") + x.count("ca"), x.count("cc") + 3] for x in X])
    return X, (scores + random.normal(0, 1.0, scores.shape)).argmax(axis=1)
