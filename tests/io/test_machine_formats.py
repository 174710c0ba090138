"""Every format of machines: written files are read back, and files of other programs are read as these define them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from random_machines import (
    WORDS,
    assert_equal_parts,
    assert_same,
    machines,
    parsed_columns,
    parsed_kaldi,
    parsed_mesh,
    strings,
    tiny,
)

from treille.io import confusion, json_arcs, kaldi, openfst, plf, slf
from treille.io.lattices import write_lattices
from treille.io.machine import MachineParts
from treille.io.weights import as_kind, kind_of

NO_BLANKS = [word for word in WORDS if " " not in word]


@given(machines(words=NO_BLANKS, named=True))
@settings(deadline=None)
def test_openfst_text_is_read_back(parts):
    assert_same(openfst.parse_text(openfst.format_text(parts), "a.txt", parts.semiring), parts)


@given(machines(words=NO_BLANKS, named=False))
@settings(deadline=None)
def test_openfst_text_of_plain_labels_is_read_back_with_the_same_states_and_labels(parts):
    back = openfst.parse_text(openfst.format_text(parts), "a.txt", parts.semiring, acceptor=False)
    assert_same(back, parts)
    assert back.input_symbols is None


@given(machines(words=NO_BLANKS))
@settings(deadline=None)
def test_openfst_is_read_back(parts):
    back = openfst.parse_binary(openfst.format_binary(parts, "log64"), "a.fst")
    assert_same(back, parts)
    assert back.semiring == "log"
    if parts.semiring == "log" and parts.n_states:
        order = np.argsort(parts.sources, kind="stable")
        assert np.array_equal(back.weights, parts.weights[order])
        assert back.input_symbols == parts.input_symbols


@given(machines(words=NO_BLANKS))
@settings(deadline=None)
def test_kaldi_is_read_back(parts):
    (back,) = parsed_kaldi(kaldi.format_machine(parts), "a.lat")
    assert_same(back, parts)


@given(machines(acceptor=True))
@settings(deadline=None)
def test_slf_is_read_back(parts):
    assert_same(slf.parse(slf.format_machine(parts), "a.slf"), parts)


@given(machines(acceptor=True))
@settings(max_examples=200, deadline=None)
def test_plf_is_read_back_whatever_its_numbers_are(parts):
    for kind in ("cost", "logprob", "prob"):
        (back,), meant, how = plf.parse([plf.format_machine(parts, kind)], ["a.plf, line 1"], "a.plf", kind)
        assert_same(back, parts)
        assert (meant, how) == (kind, "as requested")


@given(machines(acceptor=True, words=NO_BLANKS, sausage=True))
@settings(deadline=None)
def test_confusion_networks_are_read_back_in_both_formats(parts):
    (mesh,) = parsed_mesh(confusion.format_mesh(parts), "a.mesh")
    assert_same(mesh, parts)
    for kind in ("prob", "cost"):
        (columns,) = parsed_columns(confusion.format_columns(parts, kind), "a.cn", kind)
        assert_same(columns, parts)


@given(machines())
@settings(deadline=None)
def test_json_arcs_are_read_back(parts):
    import json

    (back,) = json_arcs.parse([json.loads(json_arcs.format_machine(parts))], ["a.jsonl, line 1"])
    assert_same(back, parts)
    if parts.n_states:
        assert back.semiring == parts.semiring


# Files of OpenFst are compared with OpenFst.


@given(machines(words=NO_BLANKS))
@settings(max_examples=60, deadline=None)
def test_pynini_reads_what_is_written_and_writes_what_is_read(parts):
    pywrapfst = pytest.importorskip("pywrapfst")
    for arc_type in ("log64", "log", "standard"):
        fst = pywrapfst.Fst.read_from_string(openfst.format_binary(parts, arc_type))
        assert (fst.arc_type(), fst.num_states()) == (arc_type, parts.n_states)
        assert fst.verify()
        back = openfst.parse_binary(fst.write_to_string(), "a.fst")
        assert back.semiring == ("tropical" if arc_type == "standard" else "log")
        left, right = strings(parts), strings(back)
        assert left.keys() == right.keys()
        for pair, weight in left.items():
            assert math.isclose(weight, right[pair], rel_tol=1e-4 if arc_type != "log64" else 1e-9)


def test_a_machine_of_pynini_with_tables_that_have_gaps(tmp_path):
    pywrapfst = pytest.importorskip("pywrapfst")
    fst = pywrapfst.VectorFst("log")
    table = pywrapfst.SymbolTable()
    table.add_symbol("eps"), table.add_symbol("vine", 3)
    states = [fst.add_state() for _ in range(2)]
    fst.set_start(states[1])
    fst.add_arc(states[1], pywrapfst.Arc(3, 3, pywrapfst.Weight("log", 0.5), states[0]))
    fst.set_final(states[0], pywrapfst.Weight("log", 0.25))
    fst.set_input_symbols(table), fst.set_output_symbols(table)
    fst.write(str(tmp_path / "a.fst"))
    parts = openfst.parse_binary((tmp_path / "a.fst").read_bytes(), "a.fst")
    assert parts.words() == ["vine"]
    assert parts.start == 1
    assert parts.input_symbols == ["<eps>", "<unused-1>", "<unused-2>", "vine"]
    assert (parts.weights.tolist(), parts.final_weights.tolist()) == ([0.5], [0.25])


def test_pynini_compiles_the_text_with_the_tables_that_are_written_beside_it(tmp_path):
    pywrapfst = pytest.importorskip("pywrapfst")
    parts = tiny(["vine", "wine"], [0.5, 0.25], "log")
    files = write_lattices(tmp_path / "a.fst.txt", [parts])
    assert [path.name for path in files] == ["a.fst.txt", "a.isyms", "a.osyms"]
    tables = [pywrapfst.SymbolTable.read_text(str(path)) for path in files[1:]]
    compiler = pywrapfst.Compiler(
        arc_type="log64", isymbols=tables[0], osymbols=tables[1], keep_isymbols=True, keep_osymbols=True
    )
    compiler.write(files[0].read_text())
    assert_same(openfst.parse_binary(compiler.compile().write_to_string(), "a.fst"), parts)


# Files of other programs.


def test_openfst_text_of_the_manual_is_understood():
    text = "0 1 a x .5\n0 1 b y 1.5\n1 2 c z 2.5\n2 3.5\n"
    parts = openfst.parse_text(text, "a.txt", "tropical")
    assert strings(parts).keys() == {(("a", "c"), ("x", "z")), (("b", "c"), ("y", "z"))}
    assert parts.weights.tolist() == [0.5, 1.5, 2.5]
    assert parts.final_weights.tolist() == [3.5]


@pytest.mark.parametrize(
    ("text", "acceptor", "weights"),
    [
        ("0 1 a\n1\n", True, [1.0]),
        ("0 1 a 0.5\n1\n", True, [0.5]),
        ("0 1 a 0.5\n0 1 b\n1\n", True, [0.5, 1.0]),
        ("0 1 a 5\n1\n", False, [1.0]),
        ("0 1 a b\n1\n", False, [1.0]),
        ("0 1 a 0.5\n0 1 b c 0.5\n1\n", False, [1.0, 0.5]),
    ],
)
def test_text_of_four_columns_is_recognised_as_documented(text, acceptor, weights):
    parts = openfst.parse_text(text, "a.txt", "real")
    assert (parts.is_acceptor, parts.weights.tolist()) == (acceptor, weights)


def test_a_weight_left_out_is_one_and_infinity_is_not_final():
    assert openfst.parse_text("0 1 a a\n1\n", "a.txt", "log").weights.tolist() == [0.0]
    assert openfst.parse_text("0 1 a a\n1 Infinity\n", "a.txt", "log").final_states.tolist() == []


def test_kaldi_lattices_and_compact_lattices():
    compact = "utt-a \n0\t1\thello\t4.5,-2.0,1_2_2\n0\t1\tyellow\t1,1,\n1\t0.5,0.25,3_4\n\nutt-b\n0 1 hello\n1\n\n"
    one, other = parsed_kaldi(compact, "a.lat")
    assert (one.name, other.name) == ("utt-a", "utt-b")
    assert one.scores["acoustic"].tolist() == [-2.0, 1.0]
    assert one.scores["language"].tolist() == [4.5, 1.0]
    assert one.final_scores["acoustic"].tolist() == [0.25]
    assert (one.weights.tolist(), other.weights.tolist()) == ([2.5, 2.0], [0.0])
    assert one.output_symbols is other.output_symbols
    lattice, empty = parsed_kaldi("utt\n0 1 17 hello 1,2\n0 1 18 <eps> 3,4\n1 0,0\n\nempty\n\n", "a.lat")
    assert lattice.inputs.tolist() == [17, 18]
    assert lattice.input_symbols is None
    assert lattice.words("outputs") == ["hello", ""]
    assert not lattice.is_acceptor
    assert empty.n_states == 0
    numbers = parsed_kaldi("utt\n0 1 2 1,2,\n1\n\n", "a.lat", ["<eps>", "yellow", "hello"])
    assert numbers[0].words() == ["hello"]


def test_kaldi_keeps_acoustic_costs_when_it_is_written():
    text = "utt\n0\t1\thello\t4.5,-2.0,1_2\n1\t0.5,0.25,\n\n"
    (one,) = parsed_kaldi(text, "a.lat")
    (back,) = parsed_kaldi(kaldi.format_machine(one), "a.lat")
    for scores in ("scores", "final_scores"):
        for name, values in getattr(one, scores).items():
            assert getattr(back, scores)[name].tolist() == values.tolist()
    assert slf.parse(slf.format_machine(one), "a.slf").scores["acoustic"].tolist() == [-2.0, 0.25]


SLF = """# from a recogniser
VERSION=1.0
UTTERANCE=utt-1
base={base} lmscale=2.0 wdpenalty=-0.5 acscale=0.5
N=4 L=4
I=0 t=0.0
I=1 t=0.1 W=!NULL
I=2 t=0.2 W=vine v=1
I=3 t=0.3 W=</s>
J=0 S=0 E=1 a=-4 l=0
J=1 S=1 E=2 a=-2 l=-1
J=2 S=0 E=2 a=-1 l=-3 r=-1
J=3 S=2 E=3 a=0 l=0
"""


def test_slf_weighs_links_as_its_header_says():
    lattice = slf.parse(SLF.format(base=math.e), "a.slf")
    assert lattice.words() == ["", "vine", "vine", "</s>"]
    assert lattice.weights.tolist() == [2.0, 1 + 2 + 0.5, 0.5 + 6 + 1 + 0.5, 0.5]
    assert lattice.scores["acoustic"].tolist() == [4, 2, 1, 0]
    assert (lattice.name, lattice.start, lattice.final_states.tolist()) == ("utt-1", 0, [3])
    ten = slf.parse(SLF.format(base=10), "a.slf")
    assert np.allclose(ten.weights, lattice.weights * math.log(10))
    linear = slf.parse("base=0\nN=2 L=1\nI=0\nI=1 W=a\nJ=0 S=0 E=1 a=0.25\n", "a.slf")
    assert math.isclose(linear.weights[0], math.log(4))


def test_slf_with_words_on_links_quotes_and_a_word_at_the_start():
    text = "N=2 L=3\nI=0\nI=1\nJ=0 S=0 E=1 W=\"two words\"\nJ=1 S=0 E=1 W='EM\nJ=2 S=0 E=1 W=\\'t\\303\\251\n"
    assert slf.parse(text, "a.slf").words() == ["two words", "'EM", "'té"]
    first = slf.parse("N=2 L=1\nI=0 W=<s>\nI=1 W=vine\nJ=0 S=0 E=1 a=-1\n", "a.slf")
    assert strings(first).keys() == {(("<s>", "vine"), ("<s>", "vine"))}
    long = slf.parse("NODES=2 LINKS=1\nI=0\nI=1\nJ=0 START=0 END=1 WORD=vine acoustic=-1 language=-2\n", "a.slf")
    assert long.weights.tolist() == [3.0]


def test_plf_with_escapes_other_quotes_blanks_and_states_without_arcs():
    texts = [r"((('\'',1.0,1),),)", '( ( ( "it\'s" , 1 , 1 , ) ) , )', "((('*EPS*',1,2),),(),(('a',1,1)))", "()", "  "]
    found, kind, _ = plf.parse(texts, texts, "a.plf")
    assert [lattice.words() for lattice in found] == [["'"], ["it's"], ["", "a"], [], []]
    assert [lattice.n_states for lattice in found] == [2, 2, 4, 0, 0]
    assert kind == "prob"
    assert found[2].sources.tolist() == [0, 2]
    assert len({id(lattice.input_symbols) for lattice in found}) == 1


def test_meshes_of_srilm_and_columns_of_moses():
    mesh = "name utt-1\nnumaligns 2\nposterior 1\nalign 0 a 0.6 *DELETE* 0.4\nreference 0 a\ninfo 0 x\nalign 1 b 1\n"
    one, other = parsed_mesh(mesh + mesh.replace("utt-1", "utt-2"), "a.mesh")
    assert strings(one) == {(("a", "b"), ("a", "b")): 0.6, (("b",), ("b",)): 0.4}
    assert other.name == "utt-2"
    columns = parsed_columns("a 0.6 *EPS* 0.4\nb 1\n\n\nc 1.0\n", "a.cn")
    assert [len(strings(parts)) for parts in columns] == [2, 1]
    assert strings(columns[0]) == strings(one)


# The meaning of numbers.


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([-0.5, 0.0], "logprob"),
        ([-0.5, 5e-5], "logprob"),
        ([0.0, 0.0], "logprob"),
        ([], "logprob"),
        ([1.0, 1.0], "prob"),
        ([0.0, 1.0], "prob"),
        ([0.2, 0.8], "prob"),
        ([0.2, 3.0], "cost"),
        ([2.0], "cost"),
    ],
)
def test_the_kind_of_weights_is_recognised_by_their_values(values, kind):
    assert kind_of(np.array(values), "a.plf")[0] == kind


def test_weights_of_zero_are_left_out_where_there_is_no_logarithm():
    parts = MachineParts.of([(0, 1, 1, 0.0, 1), (0, 2, 2, 0.5, 1)], {0: 0.0, 1: 1.0})
    costs = as_kind(parts, "cost")
    assert costs.inputs.tolist() == [2]
    assert costs.final_states.tolist() == [1]
    assert_equal_parts(
        as_kind(parts, "prob"),
        costs.__class__(**{**vars(costs), "weights": np.array([0.5]), "final_weights": np.ones(1)}),
    )


def test_an_empty_lattice_and_the_empty_string_are_not_the_same():
    empty, string = MachineParts.nothing(), MachineParts.of([], {0: 1.0})
    for text, n in ((plf.format_machine(empty), 0), (plf.format_machine(string), 1)):
        assert len(strings(plf.parse([text], [""], "a.plf")[0][0])) == n
    for parts, n in ((empty, 0), (string, 1)):
        assert len(strings(parsed_kaldi(kaldi.format_machine(parts), "a")[0])) == n
        assert len(strings(slf.parse(slf.format_machine(parts), "a"))) == n
        assert len(strings(openfst.parse_binary(openfst.format_binary(parts), "a"))) == n
        assert len(strings(openfst.parse_text(openfst.format_text(parts), "a", "real"))) == n
        assert len(strings(parsed_mesh(confusion.format_mesh(parts), "a")[0])) == n
