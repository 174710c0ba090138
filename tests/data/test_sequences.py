"""DNA and proteins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treille
from treille import InputError, Strings, dna, protein, reverse_complement

ANY_DNA = st.lists(st.text("ACGTacgtNnRYSWKMBDHVryswkmbdhv"), max_size=5)


@given(ANY_DNA)
def test_dna_is_folded_and_codes_become_n(texts):
    expected = ["".join(c if c in "ACGT" else "N" for c in text.upper()) for text in texts]
    batch = dna(texts)
    assert list(batch) == expected
    assert set(batch.alphabet) == {*"ACGT", *"".join(expected)}
    assert list(dna(Strings(texts))) == expected
    assert list(dna(batch)) == expected


@given(st.lists(st.text("ACDEFGHIKLMNPQRSTVWYacXBZJUOxbzjuo"), max_size=5), st.booleans())
def test_proteins_are_folded_rare_residues_become_x_and_a_last_stop_is_dropped(texts, stopped):
    expected = ["".join(c if c in "ACDEFGHIKLMNPQRSTVWY" else "X" for c in text.upper()) for text in texts]
    assert list(protein([text + "*" * stopped for text in texts])) == expected


def test_the_alphabet_is_whole_also_where_letters_are_missing():
    assert dna(["A"]).alphabet == list("ACGT")
    assert dna([]).alphabet == list("ACGT")
    assert len(protein(["", "*"]).alphabet) == 20
    assert list(protein(["", "*", "M*", "M"])) == ["", "", "M", "M"]
    assert list(protein(Strings(["M*", ""])[1:])) == [""]


def test_rna_is_read_as_dna_when_asked():
    assert list(dna(["ACGUu", "T"], rna=True)) == ["ACGTT", "T"]


def test_the_number_of_threads_changes_nothing():
    texts = ["acgtn" * 5000] * 5
    assert np.array_equal(dna(texts, n_jobs=3).symbols, dna(texts).symbols)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dna(["ACGT", "ACEGT"]), "item 1, position 2: found 'E', expected DNA: ACGT or a code of N"),
        (lambda: dna(["ACU"]), "item 0, position 2: found 'U', .*; rna=True reads U as T"),
        (lambda: dna(["A-C"]), "item 0, position 1: found '-', .*; take the gaps of an alignment out first"),
        (lambda: dna(["", "AnC"], unknown="error"), "item 1, position 1: found 'n', .*; unknown='keep' keeps it as N"),
        (lambda: dna(["AßC"]), "item 0, position 1: found 'ß'"),
        (lambda: protein(["MK*V"]), r"item 0, position 2: found '\*', .*; a stop is allowed only at the end"),
        (lambda: protein(["M", "MB"], unknown="error"), "item 1, position 1: found 'B', expected protein"),
        (lambda: protein(["M1"]), "item 0, position 1: found '1', expected protein: ACDEFGHIKLMNPQRSTVWY or"),
        (lambda: dna(["A"], unknown="drop"), "unknown is 'drop', expected 'keep' or 'error'"),
        (lambda: dna([b"ACGT"]), "unit 'byte', expected strings of letters"),
        (lambda: dna("ACGT"), "one str was given"),
        (lambda: dna(["A", None]), "item 1 is None"),
        (lambda: reverse_complement("ACE"), "found 'E', which has no complement"),
        (lambda: reverse_complement(Strings(["ACE"])), "found 'E', which has no complement"),
        (lambda: reverse_complement(["ACGT"]), "found list, expected a str or Strings of characters"),
        (lambda: reverse_complement(Strings([[1, 2]])), "found Strings, expected a str or Strings of characters"),
    ],
)
def test_invalid_sequences_are_refused_with_item_and_position(call, message):
    with pytest.raises(InputError, match=message):
        call()


@given(ANY_DNA)
def test_the_reverse_complement_is_its_own_inverse_and_that_of_each_letter(texts):
    pairs = dict(zip("ACGTNRYSWKMBDHV", "TGCANYRSWMKVHDB", strict=True))
    for text in texts:
        assert reverse_complement(text).upper() == "".join(pairs[c] for c in reversed(text.upper()))
        assert reverse_complement(reverse_complement(text)) == text
    batch = dna(texts)
    other = reverse_complement(batch)
    assert list(other) == [reverse_complement(text) for text in batch]
    assert other.alphabet == batch.alphabet
    assert list(reverse_complement(other)) == list(batch)


def test_the_complement_of_u_is_a_and_case_is_kept():
    assert reverse_complement("aUg") == "cAt"
    assert reverse_complement(Strings(["ac"])).alphabet == ["g", "t"]


def test_batches_of_dna_are_read_by_kernels():
    K = treille.kernels.NGram(2)(dna(["acgt", "ACGN"]), dna(["ACGT"]))
    assert K.tolist() == [[3.0], [2.0]]


def test_the_public_set_of_dna_reads_as_it_is(monkeypatch):
    from public_sets import data_folder, fastsk

    if data_folder() is None:
        pytest.skip("TREILLE_DATA is not set")
    for kind, over in (("dna", dna), ("protein", protein)):
        name = {"dna": "CTCF", "protein": "1.1"}[kind]
        sequences, _ = fastsk(name, kind, "test")
        batch = over(sequences)
        assert [a for a, b in zip(sequences, batch, strict=True) if a != b and "N" not in b and "X" not in b] == []
