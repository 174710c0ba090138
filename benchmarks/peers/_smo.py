"""SMO compared with LIBSVM on the same matrix, and SMO where the matrix does not fit in memory."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from harness import Page, interleaved, peak_memory, ratio, shown, sized

SIZES = sized((2000, 5000), (100,))
LARGE = sized(20_000, 200)


def strings(n: int, length: int = 100) -> tuple[list[str], np.ndarray]:
    """Random DNA. One class has a motif with some mutations, and some labels are wrong."""
    rng = np.random.default_rng(0)
    letters = np.array(list("ACGT"))
    texts = rng.choice(letters, (n, length))
    codes = rng.integers(0, 2, n)
    motif = rng.choice(letters, 12)
    for i in np.flatnonzero(codes):
        at = rng.integers(0, length - 12)
        texts[i, at : at + 12] = np.where(rng.random(12) < 0.15, rng.choice(letters, 12), motif)
    flipped = rng.random(n) < 0.05
    return ["".join(row) for row in texts], np.where(flipped, 1 - codes, codes)


def smo(page: Page, repeats: int) -> None:
    """Training on a precomputed matrix with LIBSVM's stopping rule and eps, then with rows on demand."""
    from libsvm.svmutil import svm_parameter, svm_problem, svm_train

    from treille.kernels import NGram, Precomputed
    from treille.solvers import SMO, Problem
    from treille.solvers.problem import Hinge
    from treille.spaces import GramSpace

    rows = []
    for n in SIZES:
        texts, codes = strings(n)
        K, y = NGram(6).normalized()(texts, n_jobs=2), np.where(codes == 1, 1.0, -1.0)
        begun = time.perf_counter()
        problem = svm_problem(y, np.column_stack([np.arange(1, n + 1), K]), isKernel=True)
        building = time.perf_counter() - begun
        for C in (1.0, 100.0):
            kept: dict[str, Any] = {}

            def ours(K: Any = K, codes: Any = codes, C: float = C, kept: dict[str, Any] = kept) -> None:
                space = GramSpace(Precomputed(), Precomputed().batch(K))
                target = Problem(Hinge(), codes, np.full(len(codes), C), "free", np.array([1]))
                kept["ours"] = SMO(stopping="violation").solve(target, space, tol=1e-3).report

            def theirs(problem: Any = problem, C: float = C) -> None:
                svm_train(problem, svm_parameter(f"-t 4 -c {C} -e 0.001 -m 2000 -q"))

            seconds = interleaved({"treille": ours, "LIBSVM": theirs}, repeats)
            rows.append(
                [
                    n,
                    C,
                    *map(shown, seconds.values()),
                    ratio(seconds["LIBSVM"], seconds["treille"]),
                    f"{building:.3g}",
                    f"{kept['ours'].relative_gap:.1e}",
                ]
            )
    header = ("n", "C", "treille", "LIBSVM", "times faster", "LIBSVM: building its problem", "treille's gap")
    page.table(
        "SMO on a precomputed matrix, eps 0.001, seconds, median (minimum); treille's with its checks of the matrix",
        header,
        rows,
    )
    peak, work = peak_memory(on_demand, LARGE)
    texts, codes = strings(LARGE)
    begun = time.perf_counter()
    report = _train(texts, codes)
    page.table(
        f"SMO with a cache of 500 MB, {LARGE:,} strings: the whole matrix would take {8e-9 * LARGE**2:.1f} GB",
        ("seconds", "status", "gap", "epochs", "peak MB", "of which for training"),
        [
            [
                f"{time.perf_counter() - begun:.3g}",
                report.status,
                f"{report.relative_gap:.1e}",
                report.epochs,
                f"{peak:,.0f}",
                f"{work:,.0f}",
            ]
        ],
    )


def _train(texts: list[str], codes: np.ndarray) -> Any:
    import treille
    from treille.kernels import NGram
    from treille.solvers import SMO

    return treille.SVC(NGram(6).normalized(), solver=SMO(cache_mb=500)).fit(texts, codes).report_


def on_demand(mark: Any, n: int) -> None:
    texts, codes = strings(n)
    import treille  # noqa: F401

    mark()
    _train(texts, codes)
