"""The subsequence kernel compared with strkernels, on one thread each."""

from __future__ import annotations

import numpy as np

from harness import Page, interleaved, ratio, shown, sized

COUNT, LENGTH, SAMPLE = sized(500, 20), sized(400, 50), sized(40, 10)


def subsequence(page: Page, repeats: int) -> None:
    """The matrix of 500 strings of 400 symbols at n = 3. strkernels would take minutes, so it computes the matrix of 40 of them,
    and its time is scaled by the number of pairs. Its values are sums over the lengths 1 to n, from the same table."""
    from strkernels import SubsequenceStringKernel

    from treille.kernels import Subsequence

    rng = np.random.default_rng(0)
    rows = []
    for name, letters in (("DNA", "ACGT"), ("protein", "ACDEFGHIKLMNPQRSTVWY")):
        texts = ["".join(row) for row in rng.choice(list(letters), (COUNT, LENGTH))]
        peer, sample = SubsequenceStringKernel(maxlen=3, ssk_lambda=0.5, normalizer=None), np.array(texts[:SAMPLE])
        seconds = interleaved(
            {
                "treille": lambda texts=texts: Subsequence(3, 0.5)(texts),
                "strkernels": lambda peer=peer, sample=sample: peer(sample, sample),
            },
            repeats,
        )
        pairs = COUNT * (COUNT + 1) / (SAMPLE * (SAMPLE + 1))
        scaled = [s * pairs for s in seconds["strkernels"]]
        rows.append([name, shown(seconds["treille"]), shown(scaled), ratio(scaled, seconds["treille"])])
    header = ("strings", "treille", "strkernels (scaled)", "times faster")
    page.table(
        f"Subsequences of 3, matrix of {COUNT} strings of {LENGTH} symbols, seconds, median (minimum), one thread",
        header,
        rows,
    )
