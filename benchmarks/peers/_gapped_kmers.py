"""Gapped k-mers on the FastSK sets: the time of the matrix per pair, training on features, and the accuracy."""

from __future__ import annotations

import time
from typing import Any

from harness import Page, interleaved, shown, sized
from public_sets import fastsk

DNA = sized(("CTCF", "EP300", "JUND", "RAD21", "TP53"), ("CTCF",))
PROTEINS = sized(("1.1", "2.1", "2.34", "3.19"), ("1.1",))
FASTSK, LSGKM = (
    6.0,
    33.0 / (1288 * 1288 / 2) * 1e6 * (200 / 226) ** 2,
)  # microseconds per pair, as reported for these programs


def gapped_kmers(page: Page, repeats: int) -> None:
    """Tables for DNA (length 10, k 6) and for proteins (length 6, k 4), in upper case, without windows that contain N."""
    import treille
    from treille.kernels import GappedKmer

    matrices, trained = [], []
    sets = [(name, "dna", GappedKmer(10, 6, "ACGT", skip="N")) for name in DNA]
    sets += [(name, "protein", GappedKmer(6, 4)) for name in PROTEINS]
    for name, kind, kernel in sets:
        X, y = fastsk(name, kind)
        new, truth = fastsk(name, kind, split="test")
        batch, kept = kernel.batch(X), dict[str, Any]()

        def matrix(kernel: GappedKmer = kernel, batch: Any = batch) -> None:
            kernel(batch, n_jobs=2)

        def train(kernel: GappedKmer = kernel, X: Any = X, y: Any = y, kept: Any = kept) -> None:
            kept["model"] = treille.SVC(kernel.normalized(), n_jobs=2).fit(X, y)

        seconds = interleaved({"matrix": matrix, "train": train}, repeats)
        begun = time.perf_counter()
        scores = kept["model"].decision_function(new)
        predicted = time.perf_counter() - begun
        pairs = len(X) ** 2 / 2
        a_pair = [1e6 * s / pairs for s in seconds["matrix"]]
        mean = len(batch.symbols) / len(X)
        row = [name, f"{len(X):,}", f"{mean:.0f}", shown(a_pair)]
        if (
            kind == "dna"
        ):  # the cost of a pair is proportional to the product of its lengths; reported for 200 bases each
            scale = (mean / 200) ** 2
            row += [f"{FASTSK * scale / min(a_pair):.0f}", f"{LSGKM * scale / min(a_pair):.0f}"]
        else:
            row += ["", ""]
        matrices.append(row)
        report = kept["model"].report_
        trained.append(
            [
                name,
                f"{kernel.length}, {kernel.k}",
                f"{len(X):,}",
                shown(seconds["train"]),
                report.epochs,
                f"{report.relative_gap:.1e}",
                f"{len(new):,}",
                f"{predicted:.2g}",
                f"{_auc(truth, scores):.4f}",
            ]
        )
    page.table(
        "Matrix of gapped k-mers, two threads",
        ["set", "sequences", "mean length", "µs a pair", "times FastSK", "times LS-GKM"],
        matrices,
    )
    page.say(
        "\nEach pair is counted once. The last columns compare with 6 µs a pair of 200 bases (FastSK) and 33 s for 1,288"
        " sequences of 226 bases (LS-GKM), scaled to the length of the set by the product of the two lengths."
    )
    header = ["set", "length, k", "sequences", "train, s", "epochs", "gap", "to predict", "predict, s", "AUC"]
    page.table("SVC on features, normalised, C = 1, two threads", header, trained)


def _auc(truth: list[str], scores: Any) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score([label == "1" for label in truth], scores))
