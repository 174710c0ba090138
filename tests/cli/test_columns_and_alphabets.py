"""Columns on the command line, default kernels of sequences, and their notes."""

import numpy as np
import pytest

import treille
from treille.kernels.parse import parse_kernel

CSV = "Title,Year,Label\n" + "red wine,1987,r\nwhite wine,2001,w\n" * 4
TK = "1 |BT| (S (X a)) |BT| (T (U)) |ET| 1:1 |EV|\n-1 |BT| (S (Y a)) |BT| (T (V)) |ET| 2:1 |EV|\n" * 3


def test_columns_of_a_table_have_a_kernel_each(cli, tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    kernel = "columns(Title=ngram(2).normalized(), Year=0.000001*linear())"
    answer = cli("train", "a.csv", "--kernel", kernel, "--model", "m.treille")
    assert answer.code == 0, answer.err
    assert "text = Title + Year, one column each, label = Label" in answer.err
    assert cli("predict", "m.treille", "a.csv").out.split() == ["r", "w"] * 4
    assert cli("evaluate", "m.treille", "a.csv").out.startswith("accuracy 1.0000")
    shape = cli("gram", "a.csv", "--kernel", "columns({Title: ngram(2)})", "--output", "K.npy", "--json").json()[
        "shape"
    ]
    assert shape == [8, 8]
    (tmp_path / "b.csv").write_text(CSV.replace("2001", "old"))
    message = cli("train", "b.csv", "--kernel", kernel, "--cv", "2").err
    assert "b.csv, the example on line 3: 'Year' is 'old', expected a number" in message


def test_forests_and_vectors_get_the_sum_of_their_default_kernels(cli, tmp_path):
    (tmp_path / "a.dat").write_text(TK)
    answer = cli("train", "a.dat", "--model", "m.treille")
    assert answer.code == 0, answer.err
    assert "columns({'tree1': 3 * subsettree(0.2, leaves=True).normalized(), 'tree2': " in answer.out
    assert cli("predict", "m.treille", "a.dat").out.split() == ["1", "-1"] * 3
    assert cli("inspect", "a.dat").code == 0
    assert cli("features", "a.dat", "--json").json()["kernel"].startswith("columns({'tree1': subpath")
    some = cli("train", "a.dat", "--kernel", "columns(tree2=subtree(), vector=linear())", "--model", "m.treille")
    assert some.code == 0, some.err
    assert cli("predict", "m.treille", "a.dat").out.split() == ["1", "-1"] * 3
    one = cli("train", "a.dat", "--text", "tree1", "--kernel", "subtree()", "--model", "m.treille")
    assert one.code == 0, one.err
    assert cli("predict", "m.treille", "a.dat").out.split() == ["1", "-1"] * 3


def test_fields_of_trees_are_read_as_trees_unless_the_kernel_reads_texts(cli, tmp_path):
    lines = ['{"text": "(S (X a))", "label": 1}', '{"text": "(S (Y a))", "label": 0}'] * 3
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    answer = cli("train", "a.jsonl", "--model", "m.treille")
    assert "text = text, read as trees" in answer.err
    assert "3 * subsettree(0.2, leaves=True).normalized()" in answer.out
    assert cli("predict", "m.treille", "a.jsonl").out.split() == ["1", "0"] * 3
    answer = cli("train", "a.jsonl", "--kernel", "ngram(2)", "--model", "m.treille")
    assert "read as trees" not in answer.err
    assert cli("predict", "m.treille", "a.jsonl").out.split() == ["1", "0"] * 3


@pytest.mark.parametrize(
    ("alphabet", "letters", "kernel"),
    [
        ("dna", "acgt", "gappedkmer(10, k=6, skip=N, reverse_complement=True).weighted(nb).normalized()"),
        ("rna", "acgu", "gappedkmer(10, k=6, alphabet=ACGT, skip=N).normalized()"),
        ("protein", "mkvl", "gappedkmer(6, k=4, skip=X).normalized()"),
    ],
)
def test_sequences_get_gapped_k_mers_on_the_command_line_and_in_python(cli, tmp_path, alphabet, letters, kernel):
    texts = [letters * 4, letters[::-1] * 2 + letters[0] * 8] * 3
    (tmp_path / "a.fa").write_text("".join(f">{i % 2}\n{text}\n" for i, text in enumerate(texts)))
    value = cli("train", "a.fa", "--alphabet", alphabet, "--model", "m.treille", "--json").json()
    assert value["kernel"] == kernel
    assert parse_kernel(kernel).normalized()
    model = treille.load("m.treille")
    assert model.reading_ == {"alphabet": alphabet}
    upper = [text.upper() for text in texts]
    assert model.decision_function(texts).tolist() == model.decision_function(upper).tolist()
    make = {"dna": treille.dna, "protein": treille.protein}.get(alphabet, lambda X: treille.dna(X, rna=True))
    same = treille.SVC().fit(make(texts), ["0", "1"] * 3)
    assert same.plan_.kernel.spec() == model.plan_.kernel.spec()
    assert same.predict(texts).tolist() == model.predict(texts).tolist()
    same.save("python.treille")
    assert cli("predict", "python.treille", "a.fa", "--quiet").out.split() == ["0", "1"] * 3
    with pytest.raises(treille.InputError, match="position 1: found '!'"):
        treille.load("python.treille").predict(["a!"])


def test_sequences_without_an_alphabet_are_recognised_with_a_note(cli, tmp_path):
    rng = np.random.default_rng(0)
    for letters, alphabet, title in (("acgt", "dna", "DNA"), ("ACDEFGHIKLMNPQRSTVWY", "protein", "proteins")):
        texts = ["".join(rng.choice(list(letters), 30)) for _ in range(40)]
        (tmp_path / "a.csv").write_text("seq,label\n" + "".join(f"{text},{i % 2}\n" for i, text in enumerate(texts)))
        answer = cli("train", "a.csv", "--text", "seq", "--model", "m.treille", "--test", "a.csv")
        assert (
            f"the letters of these texts are those of {title}, so they are read as with --alphabet {alphabet}"
            in answer.err
        )
        assert "gappedkmer(" in answer.out
        assert treille.load("m.treille").reading_["alphabet"] == alphabet
        said = cli("train", "a.csv", "--text", "seq", "--model", "m.treille", "--kernel", "ngram(3)").err
        assert "the letters of these texts" not in said


def test_smiles_in_a_column_keep_their_case(cli, tmp_path):
    molecules = [
        "CC(=O)Oc1ccccc1C(=O)O",
        "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
        "c1ccccc1[N+](=O)[O-]",
        "OC[C@H](N)C(=O)O",
    ] * 5
    (tmp_path / "a.csv").write_text("smiles,label\n" + "".join(f"{m},{i % 2}\n" for i, m in enumerate(molecules)))
    answer = cli("train", "a.csv", "--text", "smiles", "--model", "m.treille")
    assert "those of SMILES, so they are read as with --alphabet smiles" in answer.err
    assert "2 * ngram(5, min_n=1, counts=log).normalized()" in answer.out
    assert cli("predict", "m.treille", "a.csv", "--quiet").code == 0


def test_a_sequence_and_its_reverse_complement_have_the_same_prediction(cli, tmp_path):
    (tmp_path / "a.fa").write_text(">1\nACGTTGCAAGGCTA\n>0\nTTTTTTTTTTTTTT\n")
    assert cli("train", "a.fa", "--alphabet", "dna", "--model", "m.treille").code == 0
    strands = ["ACGTTGCAAGGCTA", treille.reverse_complement("ACGTTGCAAGGCTA")]
    first, second = treille.load("m.treille").decision_function(strands)
    assert first == pytest.approx(second)


def test_errors_for_lower_case_dna_name_treille_dna_and_the_option_alphabet(cli, tmp_path):
    (tmp_path / "a.fa").write_text(">1\nacgtacgtacgt\n>0\nttttgtttttt\n")
    kernel = ["--kernel", "gapped_kmer(3, 2, reverse_complement=True)", "--model", "m.treille"]
    message = cli("train", "a.fa", *kernel).err
    assert "these look like DNA: --alphabet dna" in message
    assert "treille.dna(X) folds lower case (--alphabet dna on the command line)" in message
    assert "look like DNA" not in cli("train", "a.fa", *kernel, "--alphabet", "dna").err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ngrm(3)", "there is no kernel 'ngrm'; did you mean ngram?"),
        ("gapped_kmr(3)", "did you mean gappedkmer?"),
        ("ngram(3).normalised()", "did you mean .normalized()?"),
        (
            "ngram(3, unitt=word)",
            "ngram has no parameter 'unitt': it has n, min_n, order_weights, unit, counts; did you mean unit=...?",
        ),
        ("ngram(3, zzz=1)", "ngram has no parameter 'zzz': it has n,"),
        ("columns(title=ngrm(3))", "did you mean ngram?"),
        ("rbf(2)", "there is no kernel 'rbf'. Write a kernel as in"),
    ],
)
def test_errors_for_unknown_names_suggest_the_most_similar_name(text, said):
    with pytest.raises(treille.InputError) as caught:
        parse_kernel(text)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["gapped_kmer", "gappedkmer", "GappedKmer", "Gapped_Kmer"])
def test_names_of_kernels_are_found_in_every_spelling(name):
    assert repr(parse_kernel(f"{name}(3, 2)")) == "GappedKmer(length=3, k=2)"


@pytest.mark.parametrize("X", [treille.Trees(["(a (b))"]), [("a", ("b",))]], ids=["batch", "tuples"])
def test_a_kernel_of_strings_given_trees_names_the_kernels_that_read_them(X):
    with pytest.raises(treille.InputError, match=r"found trees, expected strings: .* Subpath, SubsetTree read trees"):
        treille.kernels.NGram(2)(X)
