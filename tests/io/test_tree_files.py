"""Files of trees: recognised by name or content, with labels if the format has them."""

import gzip

import pytest
from refusals import assert_refused

from treille import Trees
from treille.io import read
from treille.io.guess import guess
from treille.kernels import Columns, Linear, SubTree

TREE = "(S (NP he) (VP sat))"


@pytest.fixture
def write(tmp_path):
    def writer(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return writer


def written_out(examples):
    return Trees(examples.X).to_brackets()


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("a.mrg", "( (S", ("trees", "name")),
        ("a.ptb.gz", "(S", ("trees", "name")),
        ("a.brackets", "(S)", ("trees", "name")),
        ("a.tsv", f"1\t{TREE}", ("trees", "content")),
        ("a.tsv", "1\t(yes)", ("tsv", "name")),
        ("a.tsv", f"1\t{TREE}\tmore", ("tsv", "name")),
        ("a.txt", TREE, ("trees", "content")),
        ("a.txt", "(a remark) about (something)", ("lines", "content")),
        ("a.txt", "((()))", ("lines", "content")),
        ("a.dat", f"1 |BT| {TREE} |ET|", ("trees", "content")),
        ("a.conllu", "# x", ("conllu", "name")),
        ("a.nwk", "(A,B);", ("newick", "name")),
        ("a.xml", "<a/>", ("xml", "name")),
        ("a.csv", f"1,{TREE}", ("csv", "name")),
    ],
)
def test_the_format_is_recognised_where_that_is_safe(name, line, expected):
    assert guess(name, line) == expected


def test_a_line_may_have_a_label_a_tab_and_a_tree(write):
    examples = read(write("a.tsv", f"yes\t{TREE}\n\nno\t(S)\n"))
    assert written_out(examples) == [TREE, "(S)"]
    assert examples.labels == ["yes", "no"]
    assert examples.lines == [1, 3]
    assert examples.note.endswith(
        "2 examples, trees in brackets (guessed from its content), 6 nodes, label first on its line"
    )
    assert read(write("b.tsv", f"3\t{TREE}\n"), labelled=False).labels is None


def test_penn_files_go_over_several_lines_and_have_no_labels(write):
    examples = read(write("a.mrg", "\n( (S (NP he)\n     (VP sat)) )\n( (S) )\n"))
    assert written_out(examples) == [TREE, "(S)"]
    assert examples.labels is None
    assert examples.lines == [2, 4]


def test_lines_of_svm_light_tk(write):
    examples = read(write("a.dat", f"1 |BT| {TREE} |ET|\n-1 |BT| (S) |ET|\n"))
    assert written_out(examples) == [TREE, "(S)"]
    assert examples.labels == ["1", "-1"]


def test_forests_and_vectors_of_svm_light_tk_are_columns(write):
    lines = [f"1 |BT| {TREE} |BT| (X (Y)) |ET| 1:0.5 3:2 |BV| 7:1 |EV|", "-1 |BT| (S) |BT| (X) |ET| 3:1 |EV|"]
    examples = read(write("a.dat", "\n".join(lines) + "\n"))
    assert list(examples.X.columns) == ["tree1", "tree2", "vector1", "vector2"]
    assert [str(tree) for tree in Trees(examples.X["tree2"])] == ["(X Y)", "(X)"]
    assert examples.X["vector1"].matrix.toarray().tolist() == [[0.5, 2.0], [0.0, 1.0]]
    assert examples.X["vector2"].matrix.toarray().tolist() == [[1.0], [0.0]]
    assert "tree1 = 6 nodes, tree2 = 3 nodes, vector1 = 2 columns of numbers" in examples.note
    K = Columns({"tree2": SubTree(), "vector1": Linear()})(examples.X)
    assert K[0].tolist() == [SubTree()(["(X (Y))"])[0, 0] + 4.25, 2.0]


def test_one_tree_and_a_vector_are_columns_of_which_text_chooses_one(write):
    path = write("a.dat", f"1 |BT| {TREE} |ET| 1:0.5 |EV|\n-1 |BT| (S) |ET|\n")
    assert list(read(path).X.columns) == ["tree", "vector"]
    assert written_out(read(path, format="trees", text="tree")) == [TREE, "(S)"]
    assert list(read(path, columns=["vector"]).X.columns) == ["vector"]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("1 |BT| (S) |ET|", "line 2: there is no 'tree2' here, but on other lines"),
        ("1 |BT| (S) |BT| (S) |ET| x |EV|", "line 2: found 'x', expected id:value"),
        ("1 |BT| (S) |BT| (S) |ET| 1:2 |EV| 3:4", "line 2: found '3:4' after |EV|, expected a mark"),
    ],
)
def test_lines_with_other_columns_are_refused(write, second, said):
    assert said in assert_refused(write("a.dat", f"1 |BT| (S) |BT| (S (X)) |ET| 1:1 |EV|\n{second}\n"))


def test_texts_and_dense_vectors_of_kelp_are_columns(write):
    line = "yes |BS:title| a vine |ES| |BDV:w2v| 0.5,1 |EDV| |BT| (S (X)) |ET| |BV:bow| a:b:2 |EV|"
    X = read(write("a.klp", line + "\n")).X
    assert (X["title"], X["w2v"].matrix.toarray().tolist(), X["bow"].names) == (["a vine"], [[0.5, 1.0]], ["a:b"])


def test_lines_of_kelp_have_several_trees_by_name(write):
    path = write("a.klp", f"HUM |BT:parse| {TREE} |ET| |BT:grct| (X(Y)) |ET|\n")
    assert list(read(path).X.columns) == ["parse", "grct"]
    assert written_out(read(path, format="trees", text="grct")) == ["(X Y)"]
    assert read(path, format="trees", text="grct").labels == ["HUM"]
    assert "there is no column 'lct'; there are: parse, grct" in assert_refused(path, format="trees", text="lct")


def test_conllu_has_its_labels_in_comments(write):
    rows = "1\the\the\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsat\tsit\tVERB\t_\t_\t0\troot\t_\t_\n"
    path = write("a.conllu", f"# label = yes\n# kind = x\n{rows}\n# label = no\n# kind = y\n{rows}")
    assert read(path).labels == ["yes", "no"]
    assert read(path, label="kind").labels == ["x", "y"]
    assert written_out(read(path)) == ["(root nsubj)"] * 2
    assert written_out(read(path, text="upos")) == ["(VERB PRON)"] * 2
    assert "expected the column" in assert_refused(path, text="words")
    assert read(write("b.conllu", rows)).labels is None
    assert "found no sentence" in assert_refused(write("c.conllu", "# nothing\n"))


def test_newick_with_and_without_labels(write):
    assert written_out(read(write("a.nwk", "(A,B);\n((A),\nB);\n"))) == ["(* (A) (B))", "(* (* A) (B))"]
    examples = read(write("b.nwk", "x\t(A,B);\ny\tA;\n"))
    assert examples.labels == ["x", "y"]
    assert "line 2, column 6: found ',' outside" in assert_refused(write("c.nwk", "x\tA;\ny\tA:1,B;\n"))
    assert "line 1: found 2 trees" in assert_refused(write("d.nwk", "x\tA;B;\n"))


def test_folders_of_xml_documents_have_labels_as_names(write, tmp_path):
    write("corpus/red/1.xml", "<a><b/></a>")
    write("corpus/white/2.xml", "<c/>")
    (tmp_path / "corpus/white/3.xml.gz").write_bytes(gzip.compress(b"<d/>"))
    examples = read(tmp_path / "corpus")
    assert written_out(examples) == ["(a b)", "(c)", "(d)"]
    assert examples.labels == ["red", "white", "white"]
    assert examples.note.endswith(
        "XML documents (guessed from its content), 4 nodes, not used: attributes and text, label = name of the folder"
    )
    assert read(tmp_path / "corpus/white").labels is None
    write("corpus/4.xml", "<a/>")
    assert "4.xml: is next to folders" in assert_refused(tmp_path / "corpus")


def test_html_documents_in_a_folder(write, tmp_path):
    pytest.importorskip("lxml")
    write("pages/x/1.html", "<p>one<p>two")
    assert written_out(read(tmp_path / "pages")) == ["(html (body (p) (p)))"]


def test_one_xml_file_is_one_tree(write):
    assert written_out(read(write("a.xml", "<a><b/></a>"))) == ["(a b)"]
    assert "a.xml, line 2, column 3: not valid XML: mismatched tag" in assert_refused(write("a.xml", "<a>\n</b>"))
    assert "expected XML" in assert_refused(write("a.xml", "no"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.tsv",
            f"1\t{TREE}\n2\t(S (NP)\n",
            "a.tsv, the tree on line 2, column 1: the bracket opened here is not closed",
        ),
        ("a.tsv", f"1\t{TREE}\n2\t\n", "a.tsv, the tree on line 2, column 1: there is no tree"),
        ("a.tsv", f"1\t{TREE}\n2\t(S) (S)\n", "a.tsv, the tree on line 2, column 5: a second tree begins here"),
        (
            "a.tsv",
            f"1\t{TREE}\n{TREE}\n",
            "a.tsv, line 2: found '(S (NP he) (VP sat))', expected a label, a tab and a tree",
        ),
        ("a.mrg", "(S\n(NP)\n(S))\nX\n", "a.mrg, the tree on line 4, column 1: found 'X', expected '('"),
        (
            "a.dat",
            f"1 |BT| {TREE} |ET|\nno\n",
            "a.dat, line 2: found 'no', expected a label and a tree between |BT| and |ET|",
        ),
    ],
)
def test_invalid_trees_are_refused_with_file_and_line(write, name, text, message):
    assert message in assert_refused(write(name, text))


def test_a_file_without_labels_is_refused_where_they_are_needed(write):
    assert "no field is called label" in assert_refused(write("a.mrg", "(S)"), labelled=True)


def test_an_empty_folder_is_refused(tmp_path):
    assert "holds no file" in assert_refused(tmp_path)


def test_notes_name_what_of_trees_is_not_read(tmp_path):
    (tmp_path / "a.nwk").write_text("(A:0.1,B:0.2)C;\n")
    assert "3 nodes, not used: lengths of branches, no labels" in read(tmp_path / "a.nwk").note
    (tmp_path / "a.xml").write_text('<vine age="3"><leaf>green</leaf></vine>')
    assert "2 nodes, not used: attributes and text, no labels" in read(tmp_path / "a.xml").note
