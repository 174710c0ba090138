"""Examples that are 0 for a kernel, of which nothing can be learned: a warning names the cause, and defaults avoid it."""

import warnings

import numpy as np
import pytest

import treille
from treille import SVC, DataWarning, InputError, Trees, dna, protein
from treille.data import Graph
from treille.kernels import GappedKmer, Graphlets, NGram, Subpath, Subsequence, SubsetTree, WeisfeilerLehman

y = [0, 1] * 6
TEXTS = ["ab", "cd"] * 6
EDGE, NODE = Graph(["C", "O"], [(0, 1)]), Graph(["C"], [])


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (NGram(5), TEXTS),
        (NGram(3, unit="word"), TEXTS),
        (GappedKmer(10), TEXTS),
        (Subsequence(5, 0.5), TEXTS),
        (SubsetTree(0.4), Trees(["(a)", "(b)"] * 6)),
        (Graphlets(3), [EDGE, NODE] * 6),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, treille.kernels.Kernel) else "",
)
def test_a_kernel_that_is_zero_for_all_examples_is_named(kernel, X):
    with pytest.warns(
        DataWarning, match=r"is 0 for all 12 examples, which the model cannot tell apart: they may be too short"
    ):
        SVC(kernel).fit(X, y)


def test_a_kernel_that_is_zero_for_most_examples_is_named():
    with pytest.warns(DataWarning, match="is 0 for 9 of 12 examples"):
        SVC(NGram(3)).fit(["abc", "bcd", "abd", *["ab", "cd", "ef"] * 3], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC(NGram(2)).fit(TEXTS, y)
        SVC(WeisfeilerLehman(2)).fit([EDGE, NODE] * 6, y)
        SVC(Subpath(0.5)).fit(Trees(["(a)", "(b)"] * 6), y)


def test_examples_are_counted_where_every_class_has_its_weights():
    texts = ["ab", *["abc", "bcd", "cda"] * 4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC(NGram(3).weighted("nb")).fit(texts, [0, *[0, 1, 2] * 4])
    with pytest.warns(DataWarning, match="is 0 for 9 of 13 examples"):
        SVC(NGram(3).weighted("nb")).fit([*["ab"] * 9, "abc", "bcd", "cda", "abc"], [*[0, 1, 2] * 3, 0, 1, 2, 0])


def test_sequences_shorter_than_the_windows_of_the_default_get_3_mers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in (
            dna(["ACGTAC", "GGTTAA"] * 6),
            dna(["ACGUAC", "GGUUAA"] * 6, rna=True),
            protein(["MKVLA", "ACDEF"] * 6),
        ):
            model = SVC().fit(batch, y)
            assert model.plan_.kernel.spec()["params"]["kernel"]["params"]["length"] == 3
            assert "3-mers suit" in model.plan_.kernel_why
            assert model.score(batch, y) == 1.0


def test_dna_that_has_nearly_all_gapped_k_mers_gets_no_weights_by_class():
    texts = ["".join(row) for row in np.array(list("ACGT"))[np.random.default_rng(0).integers(4, size=(4, 11_000))]]
    model = SVC().fit(dna(texts), [0, 1, 0, 1])
    assert not model.plan_.kernel.needs_labels
    assert "DNA of more than 10,000 bases, which has nearly all of them" in model.plan_.kernel_why


def test_weights_by_class_that_are_zero_up_to_rounding_are_zero():
    texts = ["abc" * (i + 1) for i in range(6)]
    with pytest.raises(InputError, match=r"no feature is left: in .*, all 3 features are 0 .* use other weights"):
        SVC(NGram(2).weighted("nb")).fit(texts[1:], [0, 1, 1, 0, 1])


def test_windows_of_the_default_are_shorter_where_there_are_many_sequences():
    from treille.data.strings import residue_kernels

    sizes = {1_000: 10, 20_000: 10, 50_000: 9, 100_000: 8, 1_000_000: 7}
    for n, length in sizes.items():
        (kernel, why), _ = residue_kernels("dna", np.full(n, 200))
        assert kernel.startswith(f"gappedkmer({length}, k=6")
        assert (f"in windows of {length}" in why) == (length < 10)
