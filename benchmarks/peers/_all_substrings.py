"""All substrings of the Reuters stories: the cost of building and of a product, compared with features of 5-grams, and growth."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from _cells import reuters

from harness import Page, interleaved, ratio, shown, sized

SYMBOLS = sized((1_250_000, 2_500_000, 5_000_000, 10_000_000), (10_000, 20_000))


def all_substrings(page: Page, repeats: int) -> None:
    """Tables of costs compared with 5-grams, of n-gram ranges, and of growth with the number of symbols; one thread."""
    from treille.kernels import AllSubstrings, NGram

    kernel, five = AllSubstrings(0.5), NGram(5)
    batch = kernel.batch(reuters()[0])
    fitted = kernel.fit_product(batch)
    random = np.random.default_rng(0)
    one, eight = (random.normal(size=(len(batch), width)) for width in (1, 8))
    jobs = {
        "5-gram features": lambda: five.fit_features(batch),
        "building": lambda: kernel.fit_product(batch),
        "a product": lambda: fitted.matvec(one),
        "a product with 8 columns": lambda: fitted.matvec(eight),
        "the diagonal": lambda: kernel.diagonal(batch),
    }
    seconds = interleaved(jobs, repeats)
    rows = [[name, shown(s), ratio(s, seconds["5-gram features"])] for name, s in seconds.items()]
    page.table(
        f"All substrings, decay 0.5: {len(batch):,} stories, {fitted.sizes()}; seconds, median (minimum)",
        ("job", "seconds", "times a pass of 5-gram features"),
        rows,
    )
    _ranges(page, batch, one, repeats)
    _growth(page, kernel, batch, repeats)


def _ranges(page: Page, batch: Any, beta: np.ndarray, repeats: int) -> None:
    from treille.kernels import NGram

    rows = []
    for n in (3, 5, 8):
        kernel = NGram(n, min_n=1)
        fitted = kernel.fit_product(batch)
        jobs = {
            "features": lambda kernel=kernel: kernel.fit_features(batch),
            "building": lambda kernel=kernel: kernel.fit_product(batch),
            "product": lambda fitted=fitted: fitted.matvec(beta),
        }
        rows.append([f"1 to {n}", *map(shown, interleaved(jobs, min(repeats, 2)).values())])
    header = ("orders", "features: a pass per order", "building the suffix structure", "a product")
    page.table("N-gram ranges, two ways; seconds, median (minimum)", header, rows)


def _growth(page: Page, kernel: Any, batch: Any, repeats: int) -> None:
    stops = np.searchsorted(batch.offsets, SYMBOLS, side="right") - 1
    times = np.full((2, len(stops)), np.inf)
    for _ in range(repeats):  # sizes take turns, so that a busy minute of the machine does not change the slope
        for k, stop in enumerate(stops):
            part, beta = batch[:stop], np.ones(stop)
            begun = time.perf_counter()
            fitted = kernel.fit_product(part)
            built = time.perf_counter()
            fitted.matvec(beta)
            times[:, k] = np.minimum(times[:, k], (built - begun, time.perf_counter() - built))
    build, multiply = times
    symbols = batch.offsets[stops]
    slopes = [np.polyfit(np.log(symbols), np.log(t), 1)[0] for t in (build + multiply, build, multiply)]
    rows = [[f"{n:,}", f"{b:.3g}", f"{m:.3g}"] for n, b, m in zip(symbols, build, multiply, strict=True)]
    total, building, product = (f"{slope:.2f}" for slope in slopes)
    page.table(
        f"Growth: log-log slope {total} in all, {building} of building, {product} of a product; seconds, minimum",
        ("symbols", "building", "a product"),
        rows,
    )
