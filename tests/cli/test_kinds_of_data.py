"""Sequences over an alphabet, rows of numbers, and scores on the command line."""

import pytest

GENES = "".join(f">g{i} class={'ab'[i % 2]}\n{('acgt', 'AATT')[i % 2] * 3}\n" for i in range(10))


@pytest.fixture
def genes(tmp_path):
    (tmp_path / "genes.fa").write_text(GENES)
    return tmp_path / "genes.fa"


@pytest.fixture
def model(cli, genes):
    answer = cli(
        "train", genes, "--label", "class", "--alphabet", "dna", "--kernel", "ngram(3)", "--model", "g.treille"
    )
    assert answer.code == 0, answer.err
    assert "alphabet: dna, no unknown letters" in answer.err
    return "g.treille"


def test_a_model_remembers_its_alphabet(cli, model):
    answer = cli("predict", model, "-", stdin=b">x\nACGTACGTn\n>y\naatt\n")
    assert answer.out == "x\ta\ny\tb\n"
    assert "alphabet: dna, 1 unknown of 13 letters read as N" in answer.err
    assert cli("evaluate", model, "genes.fa", "--label", "class").out.startswith("accuracy 1.0000")
    assert "reads:    alphabet: dna" in cli("inspect", model).out
    assert cli("inspect", model, "--json").json()["alphabet"] == "dna"


def test_letters_outside_the_alphabet_of_a_model_are_refused_with_file_line_and_position(cli, model, tmp_path):
    (tmp_path / "new.fa").write_text(">x\nACGT\n\n>y\nAC\nGEA\n")
    answer = cli("predict", model, "new.fa")
    assert answer.code == 1
    assert "new.fa, the example on line 4, position 3: found 'E', expected DNA: ACGT or a code of NRY" in answer.err


def test_rows_of_numbers_have_no_alphabet(cli, model, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    assert "a.svm: holds rows of numbers, expected texts over the alphabet dna" in cli("predict", model, "a.svm").err


def test_a_model_that_remembers_an_alphabet_of_the_future_is_refused(cli, model):
    from treille.io.model import read_model, write_model

    spec, arrays = read_model(model)
    write_model(model, spec | {"reading": {"alphabet": "xna"}}, arrays)
    answer = cli("predict", model, "genes.fa")
    assert answer.code == 1
    assert "reads texts over the alphabet 'xna', unknown to this version of treille" in answer.err


def test_scores_of_folds_and_of_a_test_file_are_read_over_the_alphabet_too(cli, genes):
    genes.with_name("test.fa").write_text(GENES.upper().replace("CLASS=A", "class=a").replace("CLASS=B", "class=b"))
    for how in (["--cv", "2"], ["--test", "test.fa"]):
        answer = cli("train", genes, "--label", "class", "--alphabet", "dna", "--kernel", "ngram(3)", *how)
        assert "accuracy 1.0000" in answer.out, answer.err


def test_rna_is_read_as_dna(cli, tmp_path):
    (tmp_path / "a.fa").write_text(">1\nACGU\n>2\nacgt\n")
    answer = cli("features", "a.fa", "--alphabet", "rna", "--kernel", "ngram(4)", "--json")
    assert answer.json()["frequent"] == [{"feature": "ACGT", "examples": 2, "total": 2.0}]
    assert "found 'U'" in cli("features", "a.fa", "--alphabet", "dna").err


def test_rows_of_numbers_are_trained_on_predicted_and_inspected(cli, tmp_path):
    lines = [f"{y} 1:{y * (1 + i / 10)} {i + 2}:1" for i in range(8) for y in (1, -1)]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n")
    answer = cli("train", "a.svm", "--model", "a.treille")
    assert answer.code == 0, answer.err
    assert "linear(), chosen: rows of numbers get a weight for each column" in answer.out
    assert "a.svm: 16 examples, SVM-light (guessed from its name), 9 columns, label first on its line" in answer.err
    assert cli("predict", "a.treille", "-", "--format", "svmlight", stdin=b"0 1:3 99:1\n0 1:-3\n").out == "1\n-1\n"
    assert cli("inspect", "a.svm", "--json").json()["columns"] == 9
    assert "16 are not zero" not in cli("inspect", "a.svm").out
    assert cli("features", "a.svm", "--json").json()["kernel"] == "linear()"


def test_conjunctions_of_binary_columns_are_trained_on_and_predicted(cli, tmp_path):
    rows = ["-1 1:1 2:1", "1 1:1", "1 2:1", "-1 3:1"]
    (tmp_path / "a.svm").write_text("\n".join(rows * 6) + "\n")
    kernel = "conjunctions(2, min_support=0.1)"
    answer = cli("train", "a.svm", "--kernel", kernel, "--C", "10", "--model", "a.treille")
    assert answer.code == 0, answer.err
    assert cli("predict", "a.treille", "-", "--format", "svmlight", stdin=b"0 1:1 2:1\n0 1:1\n").out == "-1\n1\n"
    (tmp_path / "b.svm").write_text("1 1:1\n-1 2:0.5\n")
    answer = cli("train", "b.svm", "--kernel", kernel, "--model", "b.treille")
    assert "row 1, column '2' is 0.5, expected 0 or 1" in answer.err
    answer = cli("train", "a.svm", "--kernel", "conjunctions(2, min_support=99)", "--model", "b.treille")
    assert "min_support is 99, but there are 24 examples" in answer.err


def test_a_kernel_of_texts_on_rows_of_numbers_is_refused(cli, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    answer = cli("train", "a.svm", "--kernel", "ngram(2)", "--model", "a.treille")
    assert answer.code == 1
    assert "found rows of numbers, expected strings: the default kernel for rows of numbers is linear()" in answer.err


def test_the_linear_kernel_on_texts_is_refused(cli, genes):
    answer = cli("train", genes, "--label", "class", "--kernel", "linear()", "--model", "a.treille")
    assert answer.code == 1
    assert "row 0 is str ('acgtacgtacgt'), expected a list of numbers" in answer.err


def test_labels_that_are_scores_are_refused_as_classes(cli, tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"{'ACGT' * i}\t{i / 7}\n" for i in range(1, 9)))
    answer = cli("train", "a.tsv", "--model", "a.treille")
    assert answer.code == 1
    assert "a.tsv: the labels are 8 different numbers, such as 0.14" in answer.err
    assert "scores, not classes. To learn scores use treille.SVR" in answer.err


def test_the_columns_of_a_table_with_no_header_are_chosen_by_number(cli, tmp_path):
    (tmp_path / "a.csv").write_text("".join(f"{i},{'good' if i % 2 else 'bad'},{'ab'[i % 2] * 5}\n" for i in range(9)))
    answer = cli("train", "a.csv", "--text", "3", "--label", "2", "--model", "a.treille", "--kernel", "ngram(2)")
    assert answer.code == 0, answer.err
    assert "CSV (guessed from its name) with no header, text = column 3, label = column 2" in answer.err
    assert cli("predict", "a.treille", "a.csv").out.split() == ["bad", "good"] * 4 + ["bad"]
    assert "so the columns are called 1, 2, 3" in cli("inspect", "a.csv").err


def test_trees_are_trained_on_predicted_and_inspected(cli, tmp_path):
    lines = [f"{'ab'[i % 2]}\t(S ({'XY'[i % 2]} w{i}) (Z))" for i in range(10)]
    (tmp_path / "trees.tsv").write_text("\n".join(lines) + "\n")
    answer = cli("train", "trees.tsv", "--kernel", "SubsetTree(0.4)", "--model", "t.treille")
    assert answer.code == 0, answer.err
    assert "trees.tsv: 10 examples, trees in brackets (guessed from its content), 40 nodes" in answer.err
    assert cli("predict", "t.treille", "-", stdin=b"(S (X q) (Z))\n(S (Y q) (Z))\n").out.split() == ["a", "b"]
    assert cli("evaluate", "t.treille", "trees.tsv").out.startswith("accuracy 1.0000")
    answer = cli("inspect", "trees.tsv")
    assert "4 to 4, median 4, 40 in all, 20 leaves" in answer.out
    assert "(S (X w0) (Z))" in answer.out
    assert cli("inspect", "trees.tsv", "--json").json()["labels"] == 14
    assert (
        "3 * subsettree(0.2, leaves=True).normalized(), chosen: fragments of trees"
        in cli("train", "trees.tsv", "--cv", "2").out
    )
    assert cli("gram", "trees.tsv", "--kernel", "partialtree()", "--output", "K.npy").code == 0
    assert cli("features", "trees.tsv", "--kernel", "subtree()", "--json").json()["examples"] == 10


def test_a_model_of_strings_refuses_trees_and_a_model_of_trees_strings(cli, tmp_path):
    (tmp_path / "trees.tsv").write_text("a\t(S (X))\nb\t(S (Y))\n")
    assert "found trees, expected strings" in cli("train", "trees.tsv", "--kernel", "ngram(2)", "--cv", "2").err
    assert "holds trees, expected texts over the alphabet" in cli("features", "trees.tsv", "--alphabet", "dna").err
    (tmp_path / "a.txt").write_text("a\tno tree\nb\tnone\n")
    assert (
        "item 0, column 1: found 'no', expected '('" in cli("train", "a.txt", "--kernel", "subtree()", "--cv", "2").err
    )
