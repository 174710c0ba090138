"""Generated graphs similar to molecules, and the growth of the training time with their number."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import Page, peak_memory, sized
from treille import SVC, Graphs
from treille.data import Graph
from treille.kernels import WeisfeilerLehman

ATOMS, SHARES = list("CNOSFPBI"), [0.72, 0.1, 0.1, 0.03, 0.02, 0.01, 0.01, 0.01]
SIZES = sized((12_500, 25_000, 50_000, 100_000), (50, 100))


def molecules(n: int, seed: int = 0) -> tuple[list[Graph], np.ndarray]:
    """Chains with branches and rings, 30 atoms on average. The class is whether O is bonded to N, and wrong for one in ten."""
    random = np.random.default_rng(seed)
    found, classes = [], np.empty(n, int)
    for i in range(n):
        size = int(random.integers(10, 51))
        labels = random.choice(len(ATOMS), size, p=SHARES)
        back = np.where(random.random(size) < 0.8, 1, random.integers(1, 6, size))
        edges = {(max(0, v - int(back[v])), v) for v in range(1, size)}
        for start in random.integers(0, size, size // 8):
            other = int(start) + int(random.integers(4, 6))
            edges |= {(int(start), other)} if other < size else set()
        special = sum({ATOMS[labels[u]], ATOMS[labels[v]]} == {"N", "O"} for u, v in edges)
        classes[i] = (special > 0) ^ (random.random() < 0.1)
        found.append(Graph([ATOMS[label] for label in labels], sorted(edges)))
    return found, classes


def train(mark: Callable[[], Any], n: int) -> None:
    """Trains in a separate process, to measure its memory."""
    examples, classes = molecules(n)
    mark()
    SVC(WeisfeilerLehman(5).normalized()).fit(Graphs(examples), classes)


def scale(page: Page, repeats: int) -> None:
    """The seconds from Python objects to a model, on one thread, and the slope of their logarithm."""
    rows, logs = [], []
    for n in SIZES:
        examples, classes = molecules(n)
        seconds = []
        for _ in range(repeats):
            begun = time.perf_counter()
            batch = Graphs(examples)
            packed = time.perf_counter()
            model = SVC(WeisfeilerLehman(5).normalized()).fit(batch, classes)
            seconds.append((packed - begun, time.perf_counter() - packed))
        packing, fitting = np.median(seconds, axis=0)
        logs.append((np.log(n), np.log(packing + fitting)))
        whole, added = peak_memory(train, n)
        counts = [f"{n:,}", f"{len(batch.labels):,}", f"{model.features_.n_features:,}"]
        times = [f"{packing:.2f}", f"{fitting:.2f}", f"{packing + fitting:.2f}"]
        rows.append([*counts, *times, f"{whole:,.0f}", f"{added:,.0f}", f"{model.report_.relative_gap:.0e}"])
    slope = np.polyfit(*zip(*logs, strict=True), 1)[0]
    header = ("graphs", "nodes", "features", "packing", "training", "seconds in all", "peak MB", "of it added", "gap")
    page.table(f"Weisfeiler-Lehman, h = 5, one thread, medians of {repeats}: slope {slope:.2f}", header, rows)
