"""Ctrl-C ends the work of every kernel soon, and the process continues."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from treille import Lattices, Strings, Trees, Vectors
from treille.data import Graph, Graphs
from treille.kernels import (
    AllSubstrings,
    Conjunctions,
    GappedKmer,
    Gappy,
    Graphlets,
    Mismatch,
    NGram,
    PartialTree,
    Polynomial,
    RandomWalk,
    RootPaths,
    ShortestPath,
    Subpath,
    Subsequence,
    SubsetTree,
    SubTree,
    Walks,
    WeightedDegree,
    WeisfeilerLehman,
    Wildcard,
)
from treille.kernels.conjunction_features import items_of

SOON = 1.0  # processor seconds per thread; half of that, on a machine that does nothing else


def letters(n, alphabet="abcdefghij"):
    return (
        np.frombuffer(alphabet.encode(), np.uint8)[np.random.default_rng(0).integers(len(alphabet), size=n)]
        .tobytes()
        .decode()
    )


def texts(count, length, alphabet="abcdefghij"):
    whole = letters(count * length, alphabet)
    return [whole[i * length : (i + 1) * length] for i in range(count)]


def chain(n):
    return ["(a " * (n - 1) + "a" + ")" * (n - 1)]


def bushes(count, children):
    labels = texts(count, children)
    return ["(s " + " ".join(f"(x ({c} {c}) (y {c}))" for c in each) + ")" for each in labels]


def numbers(n_rows, n_columns, each):
    random = np.random.default_rng(0)
    columns = random.integers(n_columns, size=n_rows * each)
    return sp.csr_matrix((np.ones(len(columns)), columns, np.arange(0, len(columns) + 1, each)), (n_rows, n_columns))


def binary(n_rows, n_columns, each):
    matrix = numbers(n_rows, n_columns, each)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def random_graphs(count, n_nodes, n_edges):
    random = np.random.default_rng(0)
    one = Graphs([Graph(random.integers(9, size=n_nodes).tolist(), random.integers(n_nodes, size=(n_edges, 2)))])
    return one[np.zeros(count, int)]


def graphs(count, n_nodes, n_edges, alphabet):
    random = np.random.default_rng(0)
    labels = texts(count, n_nodes, alphabet)
    return [Graph(own, random.integers(n_nodes, size=(n_edges, 2))) for own in labels]


def features(kernel, batch, n_jobs):
    kernel.fit_features(batch, n_jobs)


def new_rows(kernel, batch, n_jobs):
    kernel.fit_features(batch[:9])[0].transform(batch, n_jobs)


def products_on_the_fly(kernel, batch, n_jobs):
    features, rows = kernel.fit_features(batch[:9])
    fly = features.rows_of(*items_of(features.columns, batch), batch, False)
    for _ in range(1000):
        fly.rmatvec(fly.matvec(np.ones((rows.n_features, 1)), n_jobs), n_jobs)


def gram(kernel, batch, n_jobs):
    kernel.gram(batch, None, n_jobs)


WORK = {
    "n-grams of one long text": (features, NGram(9), lambda: Strings([letters(4_000_000) * 3])),
    "n-grams of many texts": (features, NGram(9), lambda: Strings(texts(200_000, 100))),
    "gappy n-grams": (features, Gappy(4, max_gap=6), lambda: Strings(texts(100, 3000))),
    "gapped k-mers": (features, GappedKmer(14, 7), lambda: Strings(texts(2000, 300, "ACGT"))),
    "matrix of gapped k-mers": (gram, GappedKmer(12, 6), lambda: Strings(texts(20_000, 300, "ACGT"))),
    "a filter": (gram, GappedKmer(10, 6, "ACGT", filter="full"), lambda: Strings(texts(8, 60_000, "ACGT"))),
    "mismatches": (features, Mismatch(9, 3, "ACGT"), lambda: Strings(texts(500, 2000, "ACGT"))),
    "wildcards": (features, Wildcard(12, 5), lambda: Strings(texts(500, 2000, "ACGT"))),
    "weighted degree": (gram, WeightedDegree(20), lambda: Strings(texts(30_000, 100))),
    "weighted degree with shifts": (gram, WeightedDegree(20, shift=50), lambda: Strings(texts(2000, 1000))),
    "subsequences of two long texts": (gram, Subsequence(6), lambda: Strings(texts(2, 60_000))),
    "subsequences of many texts": (gram, Subsequence(6), lambda: Strings(texts(3000, 200))),
    "all substrings of one text": (gram, AllSubstrings(), lambda: Strings([letters(4_000_000) * 3])),
    "all substrings of many texts": (gram, AllSubstrings(), lambda: Strings(texts(8000, 500))),
    "subset trees of one deep tree": (gram, SubsetTree(), lambda: Trees(chain(100_000))),
    "subset trees of many trees": (gram, SubsetTree(), lambda: Trees(bushes(6000, 40))),
    "partial trees": (gram, PartialTree(), lambda: Trees(bushes(2000, 40))),
    "one wide tree": (gram, PartialTree(), lambda: Trees(["(a " + "(b c) " * 60_000 + ")"])),
    "subpaths": (gram, Subpath(), lambda: Trees(bushes(12_000, 60))),
    "products of columns": (features, Polynomial(2), lambda: Vectors(numbers(40_000, 20_000, 60))),
    "products of three columns of long rows": (features, Polynomial(3), lambda: Vectors(numbers(3, 2000, 600))),
    "products of columns in new rows": (new_rows, Polynomial(2), lambda: Vectors(numbers(200_000, 500, 60))),
    "conjunctions": (features, Conjunctions(3), lambda: Vectors(binary(10_000, 2000, 60))),
    "frequent conjunctions": (features, Conjunctions(3, 50), lambda: Vectors(binary(50_000, 300, 60))),
    "conjunctions in new rows": (new_rows, Conjunctions(3), lambda: Vectors(binary(100_000, 300, 60))),
    "conjunctions of rows on the fly": (products_on_the_fly, Conjunctions(3), lambda: Vectors(binary(9000, 300, 60))),
    "refined labels of one graph": (features, WeisfeilerLehman(30), lambda: random_graphs(1, 100_000, 300_000)),
    "refined labels of many graphs": (features, WeisfeilerLehman(20), lambda: random_graphs(50_000, 60, 120)),
    "refined labels of new graphs": (new_rows, WeisfeilerLehman(30), lambda: random_graphs(30_000, 60, 120)),
    "shortest paths of one graph": (features, ShortestPath(), lambda: random_graphs(1, 60_000, 120_000)),
    "shortest paths of many graphs": (features, ShortestPath(), lambda: random_graphs(5_000, 100, 200)),
    "graphlets of one graph": (features, Graphlets(4), lambda: random_graphs(1, 3000, 1_000_000)),
    "graphlets of many graphs": (features, Graphlets(4), lambda: random_graphs(20_000, 100, 1500)),
    "paths by weights": (features, ShortestPath(use_weights=True), lambda: random_graphs(1, 20_000, 60_000)),
    "random walks of many graphs": (gram, RandomWalk(), lambda: Graphs(graphs(2000, 40, 80, "CNO"))),
    "random walks of large graphs": (gram, RandomWalk(0.01), lambda: Graphs(graphs(12, 1500, 3000, "C"))),
    "geometric random walks": (gram, RandomWalk(1e-4, "geometric"), lambda: Graphs(graphs(3000, 40, 80, "CNO"))),
    "random walks without labels": (gram, RandomWalk(labels="none"), lambda: Graphs(graphs(30_000, 5, 5, "C"))),
    "walks": (features, Walks(6), lambda: Graphs(graphs(2000, 40, 80, "CNO"))),
    "walks in new graphs": (new_rows, Walks(6), lambda: Graphs(graphs(2000, 40, 80, "CNO"))),
    "expected n-grams": (features, Gappy(4, max_gap=5), lambda: Lattices(texts(300, 300))),
}


@pytest.mark.parametrize(("work", "n_jobs"), [(work, 1 + place % 2) for place, work in enumerate(WORK)])
def test_ctrl_c_ends_the_work_soon(work, n_jobs):
    action, kernel, examples = WORK[work]
    batch, waits = examples(), []
    while not waits or (waits[-1] >= SOON and len(waits) < 3):  # again if other processes may have taken the caches
        sent = []

        def interrupt(sent=sent):
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.4, interrupt)
        timer.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                action(kernel, batch, n_jobs)
            waits.append((time.process_time() - sent[0]) / n_jobs)
        finally:
            timer.cancel()
    assert waits[-1] < SOON
    NGram(2)(["ab", "abab"], n_jobs=n_jobs)  # and works again


def test_work_continues_after_a_handler_that_raises_nothing():
    kernel, seen = SubTree(), []
    batch = Trees(bushes(4000, 30))
    expected = RootPaths().gram(batch)
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(True))
    try:
        timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        kernel.gram(batch)
        assert np.array_equal(RootPaths().gram(batch), expected)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [True]


def test_computations_of_other_threads_continue():
    """A KeyboardInterrupt in another thread, such as a worker of a cluster or a server, would end its event loop."""
    one, many = Strings([letters(4_000_000) * 3]), Strings(texts(200, 300))
    expected, found, ended = AllSubstrings().gram(many), [], threading.Event()

    def compute():
        while not ended.is_set():
            found.append(AllSubstrings().gram(many))

    other, timer = threading.Thread(target=compute), threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    other.start()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        AllSubstrings().gram(one)
    so_far = len(found)
    while len(found) < so_far + 2 and other.is_alive():
        time.sleep(0.01)
    ended.set()
    other.join()
    assert len(found) >= so_far + 2
    assert all(np.array_equal(each, expected) for each in found)
