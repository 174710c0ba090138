"""DNA, RNA, proteins and SMILES among plain texts, and texts that are none of these."""

import base64
import hashlib
import string
import warnings

import numpy as np
import pytest

from public_sets import amazon_reviews, data_file, fisher_callhome, reuters
from treille import SVC, SVCCV, DataWarning, Strings, dna
from treille.data.recognition import as_recognised, recognised
from treille.io import read
from treille.kernels import NGram

RANDOM = np.random.default_rng(0)


def some(letters, n=200, least=8, most=40):
    return ["".join(RANDOM.choice(list(letters), RANDOM.integers(least, most))) for _ in range(n)]


OTHERS = {
    "hexadecimal": some("0123456789abcdef"),
    "hexadecimal in capitals": some("0123456789ABCDEF"),
    "hexadecimal letters": some("ABCDEF"),
    "base64": [base64.b64encode(RANDOM.bytes(24)).decode() for _ in range(200)],
    "base32": [base64.b32encode(RANDOM.bytes(25)).decode() for _ in range(200)],
    "digests": [hashlib.md5(str(i).encode()).hexdigest().upper() for i in range(200)],
    "capitals": some(string.ascii_uppercase),
    "lower case": some(string.ascii_lowercase),
    "numbers": some(string.digits),
    "telephones": [f"(555)-{i:07}" for i in range(200)],
    "user names": [f"anna{i}" for i in range(200)],
    "capital user names": [f"GATTACA{i}" for i in range(200)],
    "moves": some("LRUD"),
    "keys": some("WASD"),
    "tones": some("CDEFGAB"),
    "two letters": some("AT"),
    "three letters": some("ACG"),
    "secondary structure": some("HHHHEEECC", most=200),
    "seats": [f"C{i}" for i in range(200)],
    "formulas": ["C6H12O6", "C2H5OH", "C8H10N4O2"] * 50,
    "short words of the letters of DNA": ["cat", "tag", "act", "gag"] * 100,
    "too little DNA": ["GATTACAGATTACA"],
    "words of the letters of molecules": ["coconut", "snoop", "cocoon", "bonbon"] * 100,
    "texts with blanks": ["GATTACA GATTACA"] * 100,
    "empty texts": [""] * 100,
    "bytes": [b"GATTACAGATTACA"] * 100,
    "tokens": [["GATTACA"] * 20] * 20,
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_texts_are_not_taken_for_sequences(name):
    assert recognised(OTHERS[name]) is None


@pytest.mark.parametrize(
    ("letters", "found"),
    [
        ("ACGT", "dna"),
        ("acgtACGTacgtACGTN", "dna"),
        ("ACGU", "rna"),
        ("ACDEFGHIKLMNPQRSTVWY", "protein"),
    ],
)
def test_sequences_are_recognised_by_their_letters(letters, found):
    texts = some(letters, least=12)
    assert recognised(texts) == recognised(np.array(texts)) == recognised(Strings(texts)) == found
    assert as_recognised(texts)[0].residues == found
    assert recognised([*texts, "two words"]) is None
    assert recognised([*texts, "AC-GT"]) is None


def test_molecules_are_recognised_if_their_rings_and_parentheses_close():
    molecules = ["CC(=O)Oc1ccccc1C(=O)O", "C/C=C/[C@H](Cl)Br", "[Na+].[Cl-].CC(N)=O"] * 10
    assert recognised(molecules) == "smiles"
    assert recognised([*molecules, "CC(=O"]) is recognised([*molecules, "C1CC"]) is None


def test_no_public_set_of_texts_is_taken_for_sequences():
    texts, _ = reuters("all")
    words = sorted({word for text in texts for word in text.split()})
    letters = ["".join(c for c in text.upper() if "A" <= c <= "Z") for text in texts[:500]]
    spoken = fisher_callhome("fisher_dev")
    sets = [texts, words, [word.upper() for word in words], [word for word in words if len(word) > 10], letters]
    sets += [spoken[1], spoken[2], ["".join(text.split()) for text in spoken[1] if text.strip()]]
    sets += [amazon_reviews(domain)[0] for domain in ("books", "dvd", "electronics", "kitchen")]
    assert [recognised(each) for each in sets] == [None] * len(sets)


@pytest.mark.parametrize(("kind", "name"), [("dna", "TP53"), ("dna", "CTCF"), ("protein", "1.1"), ("protein", "3.19")])
def test_public_sets_of_sequences_are_recognised(kind, name):
    texts = list(read(data_file("fastsk", kind, f"{name}.train.fasta.gz"), format="fasta", labelled=True).X)
    assert recognised(texts) == kind
    if kind == "dna":
        assert recognised([text.replace("T", "U").replace("t", "u") for text in texts]) == "rna"


def test_estimators_read_dna_as_such_and_say_so_once():
    X, y = some("acgt", 60, 20), np.arange(60) % 2
    with pytest.warns(
        DataWarning, match="those of DNA, and no kernel is given: .* Write X = treille.dna.X. to say so, or give a"
    ):
        model = SVC().fit(X, y)
    assert model.plan_.kernel.spec() == SVC().fit(dna(X), y).plan_.kernel.spec()
    assert model.plan_.kernel_why.endswith("suit DNA; the texts were recognised as DNA by their letters")
    assert model.predict([text.upper() for text in X]).tolist() == model.predict(X).tolist()
    with pytest.warns(DataWarning, match="those of DNA") as caught:
        SVCCV(Cs=[0.1, 1.0], cv=2).fit(X, y)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC(NGram(3)).fit(X, y)
        SVC().fit(dna(X), y)


def test_smiles_are_read_with_their_case_and_pointed_to_graphs():
    X = ["CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"] * 10
    with pytest.warns(DataWarning, match="those of SMILES.* treille.Graphs.from_smiles.X. for graphs of atoms"):
        model = SVC().fit(X, [0, 1] * 10)
    assert model.plan_.kernel.reads.units == ("char",)
    assert model.reading_ == {"alphabet": "smiles"}
    assert model.predict(X[:2]).tolist() == [0, 1]


def test_only_the_letters_of_the_texts_themselves_count_in_a_batch_of_some():
    batch = Strings(["a red wine", *some("ACGT", least=12)])
    assert recognised(batch) is None
    assert recognised(batch[1:]) == "dna"
