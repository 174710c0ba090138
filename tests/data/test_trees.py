"""Trees: readers, views, and refusals."""

import json
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import InputError, Trees
from treille.data.tree import Tree

DEEP = 100_000

NESTED = st.recursive(
    st.sampled_from("abc").map(lambda name: (name,)),
    lambda inner: st.tuples(st.sampled_from("abc"), st.lists(inner, max_size=4)).map(lambda pair: (pair[0], *pair[1])),
    max_leaves=15,
)


def same(left, right):
    return [str(tree) for tree in left] == [str(tree) for tree in right]


def assert_refused(make):
    with pytest.raises(InputError) as caught:
        make()
    return str(caught.value)


# Input


@settings(deadline=None, max_examples=60)
@given(st.lists(NESTED, min_size=1, max_size=5), st.integers(1, 3))
def test_tuples_brackets_and_parents_are_the_same_trees(trees, threads):
    batch = Trees(trees)
    assert same(batch, Trees(batch.to_brackets(), n_jobs=threads))
    assert same(batch, Trees.from_brackets("\n".join(batch.to_brackets())))
    assert same(batch, Trees.from_parents([(tree.labels, tree.parents) for tree in batch]))
    assert same(batch, Trees(list(batch)))
    assert same(batch, Trees.from_arrays(batch.labels, batch.parents, batch.offsets, batch.alphabet))


@settings(deadline=None, max_examples=60)
@given(NESTED, st.randoms(use_true_random=False))
def test_nodes_in_any_order_are_put_in_preorder(tree, random):
    (whole,) = Trees([tree])
    order = list(range(len(whole.labels)))
    random.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    parents = [whole.parents[old] for old in order]
    moved = Tree([whole.labels[old] for old in order], [-1 if p < 0 else place[p] for p in parents])
    (found,) = Trees.from_parents([moved])
    assert str(found) == str(moved)  # which keeps children in the order given
    assert sorted(found.labels) == sorted(whole.labels)
    assert all(parent < node for node, parent in enumerate(found.parents))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("( (S (NP he)))", "(S (NP he))"),
        ("(S(NP(PRP he))(VP sat))", "(S (NP (PRP he)) (VP sat))"),
        ("( S\n\t( NP  he ) )\n", "(S (NP he))"),
        ("(S the cat sat)", "(S (the) (cat) (sat))"),
        ("(S)", "(S)"),
        ("(SYNT##root(POS##WRB(LEX##how::w)))", "(SYNT##root (POS##WRB LEX##how::w))"),
        ("(Ä (ö ü))", "(Ä (ö ü))"),
    ],
)
def test_brackets_are_read_in_every_convention(text, expected):
    assert str(Trees([text])[0]) == expected


def test_several_trees_over_several_lines():
    text = "\n( (S (NP he)\n     (VP sat)) )\n\n(S\n)\n(NP it)\n"
    assert Trees.from_brackets(text).to_brackets() == ["(S (NP he) (VP sat))", "(S)", "(NP it)"]
    assert same(Trees.from_brackets(text), Trees.from_brackets(text.splitlines()))


def test_lines_of_svm_light_tk_and_kelp():
    lines = ["1 |BT| (S (NP he)) |ET| 1:0.5 |EV|", "ENTY |BT:grct| (S(NP)) |ET|"]
    assert Trees.from_brackets(lines).to_brackets() == ["(S (NP he))", "(S NP)"]


def test_trees_of_nltk_are_read():
    nltk = pytest.importorskip("nltk")
    tree = nltk.Tree.fromstring("(S (NP (PRP he)) (VP (V sat)))")
    assert Trees([tree]).to_brackets() == ["(S (NP (PRP he)) (VP (V sat)))"]


def test_alphabets_are_sorted_as_python_sorts():
    names = ["z", "é", "a", "\U0001f600", "～"]
    assert Trees([f"({name})" for name in names]).alphabet == sorted(names)


def test_xml_with_attributes_and_text():
    document = '<?xml version="1.0"?><a xmlns="urn:x" k="v w">one<b/>two <!-- no --> three<c>4</c></a>'
    assert str(Trees.from_xml([document])[0]) == "(a (b) (c))"
    assert str(Trees.from_xml([document.encode()], text=True)[0]) == "(a (one) (b) (two) (three) (c 4))"
    assert str(Trees.from_xml([document], attributes=True)[0]) == "(a (@k v_w) (b) (c))"


def test_xml_is_read_from_files(tmp_path):
    (tmp_path / "a.xml").write_text("<a><b/></a>")
    assert Trees.from_xml([tmp_path / "a.xml", "<a><b/></a>"]).to_brackets() == ["(a b)", "(a b)"]
    assert "no such file" in assert_refused(lambda: Trees.from_xml([tmp_path / "nowhere.xml"]))


def test_html_is_repaired():
    pytest.importorskip("lxml")
    found = Trees.from_html(["<p class=x>one<p>two <b>three</p><!-- no -->"], text=True, attributes=True)
    assert str(found[0]) == "(html (body (p (@class x) (one)) (p (two) (b three))))"
    assert str(Trees.from_html([b"<ul><li>one<li>two</ul>"])[0]) == "(html (body (ul (li) (li))))"


def test_html_without_lxml_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lxml", None)
    assert "pip install lxml" in assert_refused(lambda: Trees.from_html(["<p>"]))


def test_json_documents():
    document = {"a": [1, 2.5, "x"], "b": {"c": None, "d": True}}
    assert str(Trees.from_json([document])[0]) == "($ (a ([] 1) ([] 2.5) ([] x)) (b (c null) (d true)))"
    assert same(Trees.from_json([document]), Trees.from_json([json.dumps(document)]))
    expected = "($ (a ([] number) ([] number) ([] string)) (b (c null) (d true)))"
    assert str(Trees.from_json([document], values=False)[0]) == expected
    assert str(Trees.from_json([[]])[0]) == "($)"


def test_python_source_becomes_its_syntax_tree():
    found = Trees.from_ast(["def f(x):\n    return x + 1"])
    assert str(found[0]) == "(Module (FunctionDef (arguments arg) (Return (BinOp (Name) (Add) (Constant)))))"


def test_conllu_becomes_trees_of_relations():
    rows = [
        "# text = The cat sat",
        "1-2\tThecat" + "\t_" * 8,
        "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_",
        "2\tcat\tcat\tNOUN\tNN\t_\t3\tnsubj\t_\t_",
        "3\tsat\tsit\tVERB\tVB\t_\t0\troot\t_\t_",
        "3.1\tx" + "\t_" * 8,
        "",
        "1\tone\tone\tNUM\t_\t_\t0\troot\t_\t_",
        "2\ttwo\ttwo\tNUM\t_\t_\t0\troot\t_\t_",
    ]
    assert Trees.from_conllu(rows).to_brackets() == ["(root (nsubj det))", "(ROOT (root) (root))"]
    assert Trees.from_conllu("\n".join(rows), label="form").to_brackets()[0] == "(sat (cat The))"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(A,B,(C,D)E)F;", "(F (A) (B) (E (C) (D)))"),
        ("(A:0.1,B:0.2,(C:0.3,D:0.4):0.5)[comment];", "(* (A) (B) (* (C) (D)))"),
        ("A;", "(A)"),
        ("(,);", "(* (*) (*))"),
        ("('it''s',b):1e-3;", "(* (it's) (b))"),
    ],
)
def test_newick_becomes_trees(text, expected):
    assert str(Trees.from_newick(text)[0]) == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda: Trees(["(a " * DEEP + ")" * DEEP]),
        lambda: Trees.from_brackets("(a " * DEEP + ")" * DEEP),
        lambda: Trees.from_parents([(["a"] * DEEP, range(-1, DEEP - 1))]),
        lambda: Trees.from_parents([(["a"] * DEEP, [*range(1, DEEP), -1])]),
        lambda: Trees.from_xml(["<a>" * DEEP + "</a>" * DEEP]),
        lambda: Trees.from_newick("(" * (DEEP - 1) + ")" * (DEEP - 1) + ";"),
    ],
)
def test_the_depth_of_trees_is_not_limited(make):
    batch = make()
    assert batch.parents.tolist() == list(range(-1, DEEP - 1))
    assert len(batch.to_brackets()[0]) > DEEP
    assert batch.strip_words().offsets[-1] == DEEP - 1


def test_the_depth_of_documents_and_tuples_is_not_limited():
    document, nested = 1, ("a",)
    for _ in range(DEEP):
        document, nested = [document], ("a", nested)
    assert Trees.from_json([document]).offsets[-1] == DEEP + 2
    assert Trees([nested]).offsets[-1] == DEEP + 1
    while isinstance(document, list):  # taken apart one by one: Python itself would recurse
        document, nested = document[0], nested[-1]


def test_depth_that_the_parser_of_a_format_refuses_is_reported():
    assert "json cannot read them" in assert_refused(lambda: Trees.from_json(["[" * DEEP + "]" * DEEP]))
    assert "item 0" in assert_refused(lambda: Trees.from_ast(["(" * DEEP + ")" * DEEP]))


# Views


def test_views_change_labels_and_leaves_alone_otherwise():
    batch = Trees(["(S (NP-SBJ-1 (NNP Pierre)) (VP=2 (-NONE- *-1) (X-Y)))", "(Word)"])
    assert batch.strip_function_tags().to_brackets() == ["(S (NP (NNP Pierre)) (VP (-NONE- *-1) (X-Y)))", "(Word)"]
    assert batch.lowercase().to_brackets()[0] == "(S (NP-SBJ-1 (NNP pierre)) (VP=2 (-NONE- *-1) (x-y)))"
    assert batch.strip_words().to_brackets() == ["(S (NP-SBJ-1 NNP) (VP=2 -NONE-))", "(Word)"]
    assert batch.strip_words().strip_words().to_brackets()[0] == "(S (NP-SBJ-1) (VP=2))"
    assert "Pierre" not in batch.lowercase().alphabet


def test_a_batch_is_indexed_pickled_and_kept_in_model_files():
    batch = Trees(["(a b)", "(c)", "(a (b) (c))"])
    assert batch[[2, 0]].to_brackets() == ["(a (b) (c))", "(a b)"]
    assert batch[1:].to_brackets() == ["(c)", "(a (b) (c))"]
    assert batch[np.array([True, False, True])].to_brackets() == ["(a b)", "(a (b) (c))"]
    assert str(batch[-1]) == "(a (b) (c))"
    assert same(pickle.loads(pickle.dumps(batch)), batch)
    assert same(treille.Batch.from_state(*batch.state()), batch)
    assert [len(run) for run in batch.chunks(3)] == [2, 1]
    assert len(Trees([])) == 0
    with pytest.raises(ValueError, match="read-only"):
        batch.labels[0] = 0


# Refusals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP he)", "item 1, column 1: the bracket opened here is not closed"),
        ("(S\n (NP he)", "item 1, column 1: the bracket opened here is not closed"),
        ("(S (NP he)))", "item 1, column 12: ')' without its '('"),
        ("(S (N)P he))", "item 1, column 12: ')' without its '('"),
        ("", "item 1, column 1: there is no tree"),
        ("  ", "there is no tree"),
        ("()", "item 1, column 1: the bracket has no label"),
        ("(S ())", "item 1, column 4: the bracket has no label"),
        ("(())", "item 1, column 2: the bracket has no label"),
        ("(S) (NP)", "item 1, column 5: a second tree begins here, expected one a line"),
        ("( (S) (NP))", "item 1, column 7: a second root"),
        ("( (S) he)", "item 1, column 7: found 'he' outside of any bracket with a label"),
        ("S (NP)", "item 1, column 1: found 'S', expected '(', which begins a tree"),
        ("(S) he", "item 1, column 5: found 'he' after the end of the tree"),
        ("(Ä (é)", "item 1, column 1: the bracket opened here"),
        ("(Ä é))", "item 1, column 6: ')' without"),
        ("(a\ud800)", "item 1, column 3: a lone surrogate"),
    ],
)
def test_invalid_brackets_are_refused_with_their_position(text, message):
    assert message in assert_refused(lambda: Trees(["(S)", text]))
    assert message in assert_refused(lambda: Trees(["(S)", text, *["(S (NP))"] * 30_000], n_jobs=3))


def test_errors_in_lines_name_the_line():
    assert "line 3, column 5: a second tree begins here" in assert_refused(
        lambda: Trees.from_brackets("(S)\n\n(S) (S)\n")
    )
    assert "line 2, column 1: the bracket opened here" in assert_refused(
        lambda: Trees.from_brackets(["(S)", "(S", "(NP)"])
    )
    assert "line 2: there are two trees" in assert_refused(lambda: Trees.from_brackets(["", "|BT| (S) |BT| (S) |ET|"]))


def test_a_label_with_a_bracket_or_a_blank_is_held_but_not_written():
    batch = Trees([("f", "(", "x y")])
    assert batch[0].labels == ["f", "(", "x y"]
    assert str(batch[0]) == "(f (-LRB-) (x_y))"
    assert "the label '(' cannot be written in brackets" in assert_refused(batch.to_brackets)
    assert Trees([("f", "(", "x y"), ("g",)])[1:].to_brackets() == ["(g)"]


@pytest.mark.parametrize(
    ("labels", "parents", "message"),
    [
        ("abc", [-1, 2, 1], "item 0, node 1: its parents lead in a circle"),
        ("ab", [1, 0], "item 0, node 0: its parents lead in a circle"),
        ("ab", [-1, -1], "item 0, node 1: a second root: node 0 is one already"),
        ("ab", [-1, 7], "item 0, node 1: the parent is 7, expected -1 or one of the 2 nodes"),
        ("ab", [-1, -2], "the parent is -2"),
        ("ab", [-1, 2**40], "node 1: the parent is"),
        ("ab", [-1], "there are 2 labels and 1 parents"),
        ("", [], "item 0: the tree is empty"),
        (["a", 3], [-1, 0], "item 0: a label is 3, expected a str"),
    ],
)
def test_invalid_lists_of_parents_are_refused(labels, parents, message):
    assert message in assert_refused(lambda: Trees.from_parents([(list(labels), parents)]))


def test_inconsistent_arrays_are_refused():
    assert "do not fit together" in assert_refused(lambda: Trees.from_arrays([0], [-1], [0, 2], ["a"]))
    assert "labels must lie in 0..0" in assert_refused(lambda: Trees.from_arrays([1], [-1], [0, 1], ["a"]))
    assert "not in preorder" in assert_refused(lambda: Trees.from_arrays([0, 0], [1, -1], [0, 2], ["a"]))
    assert "tree 0, node 0: the tree is empty" in assert_refused(lambda: Trees.from_arrays([], [], [0, 0], ["a"]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("(S)", "one str was given, expected a list of trees"),
        (3, "found int, expected a list of trees"),
        ([3], "item 0: found int"),
        ([("S", 3)], "item 0: found int"),
        ([("S", ())], "item 0: found an empty tree"),
        ([(3,)], "a label is 3"),
        (["(S)", ("S",)], "item 1 is tuple, expected str like the items before it"),
    ],
)
def test_invalid_trees_are_refused(data, message):
    assert message in assert_refused(lambda: Trees(data))


def test_a_batch_of_strings_is_refused_as_trees():
    assert "expected trees" in assert_refused(lambda: Trees(treille.Strings(["(S)"])))
    assert "expected a list of trees" in assert_refused(lambda: Trees({"a": 1}))


def test_documents_that_cannot_be_read_are_refused_with_their_line():
    assert "item 1, line 2, column 3: not valid XML: mismatched tag" in assert_refused(
        lambda: Trees.from_xml(["<a/>", "<a>\n</b>"])
    )
    assert "one str was given" in assert_refused(lambda: Trees.from_xml("<a/>"))
    assert "item 0: found int" in assert_refused(lambda: Trees.from_xml([3]))
    assert "item 0, line 1, column 2: not valid JSON" in assert_refused(lambda: Trees.from_json(["{a"]))
    assert "found set, expected what JSON has" in assert_refused(lambda: Trees.from_json([{"a": {1}}]))
    assert "item 0, line 2, column 5: not Python" in assert_refused(lambda: Trees.from_ast(["x = 1\ny = )"]))
    assert "label is 'x', expected one of form" in assert_refused(lambda: Trees.from_conllu("", label="x"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta", "CoNLL-U, line 1: found 2 columns, expected the ten"),
        ("1\ta\ta\tX\t_\t_\t7\tdep\t_\t_", "line 1: the head is '7'"),
        ("1\ta\ta\tX\t_\t_\t2\tdep\t_\t_\n2\ta\ta\tX\t_\t_\t1\tdep\t_\t_", "line 1: the heads lead in a circle"),
    ],
)
def test_conllu_that_does_not_describe_a_tree_is_refused(text, message):
    assert message in assert_refused(lambda: Trees.from_conllu(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(A,B)", "the text ends, expected ';'"),
        ("(A,B));", "column 6: ')' without its '('"),
        ("((A,B);", "the tree ends, but 1 of its brackets are not closed"),
        (";", "found ';', expected a tree"),
        ("A,B;", "a second root"),
        ("(A(B));", "found '(' after a name"),
        ("(A:x);", "found 'x', expected the length"),
        ("(A B);", "found 'B' after a name"),
        ("('A);", "that is not closed"),
    ],
)
def test_invalid_newick_is_refused(text, message):
    assert message in assert_refused(lambda: Trees.from_newick(text))
