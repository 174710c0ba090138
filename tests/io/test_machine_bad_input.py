"""Invalid files of machines: each error names the place, what was found, and what to do."""

import gzip
import re
import struct
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_machines import assert_sound, parsed_columns, parsed_kaldi, parsed_mesh, tiny

from treille import Lattices
from treille.io import InputError, json_arcs, openfst, plf, read, slf
from treille.io.archive import archive_members
from treille.io.lattices import write_lattices
from treille.io.machine import MachineParts
from treille.io.symbols import read_symbols

BINARY = openfst.format_binary(tiny(["vine", "wine"], [0.5, 0.25]))


@pytest.mark.parametrize("size", [2, 9, 30, 70, 100, len(BINARY) - 30, len(BINARY) - 1])
def test_a_truncated_binary_names_what_is_missing(size):
    with pytest.raises(InputError, match=rf"a\.fst: ends after {size} bytes, expected .* truncated"):
        openfst.parse_binary(BINARY[:size], "a.fst")


def test_every_truncation_of_a_binary_is_refused():
    for size in range(len(BINARY)):
        with pytest.raises(InputError):
            openfst.parse_binary(BINARY[:size], "a.fst")


def replaced(old, new):
    assert old in BINARY
    return BINARY.replace(old, new)


def string(text):
    return struct.pack("<i", len(text)) + text.encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            replaced(string("log64"), string("expectation")),
            "arcs of type 'expectation', expected one of standard, log, log64",
        ),
        (replaced(string("vector"), string("const")), "is of type 'const', expected vector: fstconvert"),
        (b"0 1 a b\n" * 9, "does not begin as OpenFst's binary files do"),
        (replaced(struct.pack("<d", -np.log(0.25)), struct.pack("<d", np.nan)), "arc 1 has weight nan"),
        (
            replaced(struct.pack("<iid", 1, 1, -np.log(0.5)), struct.pack("<iid", 9, 1, 0.5)),
            "label 9, which has no symbol",
        ),
        (
            replaced(struct.pack("<diq", 0, 0, 0)[:0] + struct.pack("<qq", 0, 3), struct.pack("<qq", 7, 3)),
            "starts at 7",
        ),
    ],
)
def test_a_binary_of_another_kind_is_named(data, said):
    with pytest.raises(InputError, match=r"a\.fst") as error:
        openfst.parse_binary(data, "a.fst")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1 a b nan\n", "line 1: the weight is 'nan', expected a finite number"),
        ("0 1 a b inf\n", "line 1: the weight of an arc is inf"),
        ("0 1 a b 0.5\n1 x\n", "line 2: the weight is 'x'"),
        ("0 1 a b 0.5 7\n", "line 1: found 6 columns, expected 4 or 5 for an arc of a transducer"),
        ("0 1 a\n0 1 a b 0.5\n", "line 1: found 3 columns"),
        ("0 -1 a b\n", "line 1: found the state '-1'"),
        ("0 999999999 a b\n", "line 1: found the state '999999999'"),
        ("0 9999999999999 a b\n", "line 1: found the state '9999999999999'"),
        ("0 1 a b\n999999999\n", "found the final state 999999999, expected states numbered from 0"),
        ("0 1 a b\n1\n1 0.5\n", "line 3: state 1 is made final a second time"),
    ],
)
def test_a_broken_text_of_openfst_names_the_line(text, said):
    with pytest.raises(InputError, match=r"a\.txt") as error:
        openfst.parse_text(text, "a.txt", "real")
    assert said in str(error.value)


def test_labels_without_a_symbol_are_named():
    table = ["<eps>", "vine", ""]
    for text, said in (
        ("0 1 5 1\n", "label 5 has no symbol"),
        ("0 1 2 1\n", "label 2 has no symbol: the table leaves it out"),
    ):
        with pytest.raises(InputError, match=said):
            openfst.parse_text(text, "a.txt", "real", table, table)
    with pytest.raises(InputError, match="line 1: 'wine' is not in the symbol table of 2 symbols"):
        openfst.parse_text("0 1 wine vine\n", "a.txt", "real", table, table)
    with pytest.raises(InputError, match="reads label 3, which has no symbol"):
        plf.format_machine(MachineParts.of([(0, 3, 3, 1.0, 1)], {1: 1.0}, symbols=["<eps>", "vine"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("((('a', 1, 1),),", "column 17: found ''"),
        ("((('a', 1, 1),),) x", "column 19: found 'x'"),
        ("((('a', 1),),)", "column 3: found \"('a', 1),),)\""),
        ("((('a', 1, 1),,),)", "column 15: found ',),)'"),
        ("((('a', nan, 1),),)", "column 9: the weight is 'nan'"),
        ("((('a', -1e999, 1),),)", "column 9: the weight is '-1e999'"),
        ("((('a', one, 1),),)", "column 9: the weight is 'one'"),
        ("((('a', 1, 1.5),),)", "column 12: the distance is '1.5', expected a whole number"),
        ("((('a', 1, 3),),)", "column 12: an arc of state 0 leads 3 states on, expected 1 to 1"),
        ("((('a', 1, 0),),)", "column 12: an arc of state 0 leads 0 states on"),
        ("(", "column 2: found ''"),
        ("a vine", "column 1: found 'a vine', expected ((('word', weight, distance)"),
    ],
)
def test_a_broken_plf_names_line_and_column(text, said, tmp_path):
    path = tmp_path / "a.plf"
    path.write_text(f"((('a', 1, 1),),)\n{text}\n")
    with pytest.raises(InputError) as error:
        read(path)
    assert f"a.plf, line 2, {said}" in str(error.value)


SLF = "N=3 L=2\nI=0\nI=1 W=a\nI=2 W=b\nJ=0 S=0 E=1 a=-1\nJ=1 S=1 E=2 a=-1\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("N=3", "N=4", "the header declares N=4, but there are 3 nodes"),
        ("L=2", "L=3", "the header declares L=3, but there are 2 links"),
        ("N=3 L=2\n", "", "found no N="),
        ("E=2", "E=3", "line 6: found E=3, expected a whole number below 3"),
        ("a=-1\nJ=1", "a=nan\nJ=1", "line 5: found a=nan, expected a finite number"),
        ("E=2", "E=1", "expected one node that no link enters, found 0, 2; name it in the header: start=NODE"),
        ("S=1", "S=0", "expected one node that no link leaves, found 1, 2; name it in the header: end=NODE"),
        ("I=1 W=a", "I=1 L=sub", "lattices within lattices"),
        ("I=0\n", "I=0\nvine\n", "line 3: found 'vine', expected fields"),
        ("N=3", "base=1 N=3", "declares base=1"),
        ("N=3", "base=0 N=3", "line 5: a= is not positive"),
    ],
)
def test_a_broken_slf_says_where(old, new, said):
    assert slf.parse(SLF, "a.slf").n_states == 3
    with pytest.raises(InputError, match=r"a\.slf") as error:
        slf.parse(SLF.replace(old, new), "a.slf")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1 a 1,2,\n1\n", "line 1: found '0 1 a 1,2,', expected the id of an utterance"),
        ("utt\n0 1 a 1,nan,\n", "line 2: the weight is 'nan'"),
        ("utt\n0 1 a b c 1,2\n", "line 2: found '0 1 a b c', expected an arc"),
        ("utt\n0 1 a 1,2,\n0 1 1 a 1,2\n", "line 3: lattice utt has arcs of both kinds"),
    ],
)
def test_a_broken_archive_of_kaldi_names_the_line(text, said):
    with pytest.raises(InputError, match=r"a\.lat") as error:
        parsed_kaldi(text, "a.lat")
    assert said in str(error.value)


def test_a_binary_archive_of_other_objects_is_refused(tmp_path):
    (tmp_path / "a.ark").write_bytes(b"\0Butt")
    with pytest.raises(InputError, match=r"a\.ark: is a binary archive of other objects, expected lattices"):
        read(tmp_path / "a.ark")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("numaligns 2\nalign 0 a 1\n", "line 1: says numaligns 2, but 1 slots follow, none numbered 1"),
        ("numaligns 1\nalign 0 a 1 b\n", "line 2: found 3 words and numbers, expected pairs"),
        ("numaligns 1\nalign 0 a x\n", "line 2: the weight is 'x'"),
        ("numaligns 1\nalign 0 a 1\nalign 0 a 1\n", "line 3: slot 0 occurs twice"),
        ("align 0 a 1\n", "line 1: slot 0 comes before numaligns"),
        ("numaligns many\n", "line 1: found 'numaligns many', expected numaligns and a whole number"),
        ("numaligns 1\nalign 0 a -0.5\n", "there is a weight of -0.5, expected probabilities"),
    ],
)
def test_a_broken_mesh_names_the_line(text, said):
    with pytest.raises(InputError, match=r"a\.mesh") as error:
        parsed_mesh(text, "a.mesh")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"arcs": [[0, "a", 1]], "finals": {}}, 'arc 0: found [0, "a", 1], expected [source, input'),
        ({"arcs": [[0, "a", None, 1]], "finals": {}}, "arc 0: the weight is null, expected a finite number"),
        ({"arcs": [[0, "a", float("nan"), 1]], "finals": {}}, "the weight is NaN"),
        ({"arcs": [["x", "a", 1.0, 1]], "finals": {}}, 'the state is "x"'),
        ({"arcs": [[0, -1, 1.0, 1]], "finals": {}}, "the label is -1"),
        ({"arcs": [[0, 1, 1.0, 1]], "finals": [1]}, "expected the fields arcs, a list, and finals, an object"),
        ({"arcs": [], "finals": {}, "semiring": "max"}, 'semiring is "max"'),
        ({"arcs": [[0, 1, 1.0, 99999999]], "finals": {}}, "there is a state 99999999, but few arcs"),
    ],
)
def test_a_broken_machine_of_json_names_the_arc(record, said):
    with pytest.raises(InputError, match=r"a\.jsonl, line 1") as error:
        json_arcs.parse([record], ["a.jsonl, line 1"])
    assert said in str(error.value)


def test_weights_that_may_be_several_things_are_refused_and_so_are_other_words_for_them(tmp_path):
    path = tmp_path / "a.plf"
    path.write_text("((('a', -1, 1), ('b', 3, 1)),)\n")
    with pytest.raises(InputError, match=r"a\.plf: weights go from -1 to 3: costs or log-probabilities\. Say what"):
        read(path)
    assert read(path, weights="cost").X.machines[0].weights.tolist() == [-1, 3]
    with pytest.raises(InputError, match="weights is 'odds', expected one of cost, logprob, prob"):
        read(path, weights="odds")
    with pytest.raises(InputError, match="there is a weight of -1, expected probabilities"):
        read(path, weights="prob")
    (tmp_path / "a.slf").write_text(SLF)
    with pytest.raises(InputError, match="HTK SLF hold log-probabilities, not costs: leave --weights out"):
        read(tmp_path / "a.slf", weights="cost")


def test_lattices_that_a_format_cannot_hold_are_refused_by_name(tmp_path):
    transducer = MachineParts.of([(0, 1, 2, 1.0, 1)], {1: 1.0})
    cycle = MachineParts.of([(0, 1, 1, 0.5, 1), (1, 1, 1, 0.5, 0)], {1: 1.0})
    branch = MachineParts.of([(0, 1, 1, 0.5, 1), (1, 1, 1, 0.5, 2), (0, 1, 1, 0.5, 2)], {2: 1.0})
    negative = MachineParts.of([(0, 1, 1, -0.5, 1)], {1: 1.0})
    blank = tiny(["two words"], [1.0])
    for name, parts, said in (
        ("a.plf", transducer, "lattice 1: is a transducer, and PLF holds acceptors"),
        ("a.plf", cycle, "lattice 1: the states 0, 1 make a cycle, which this format cannot hold"),
        ("a.mesh", branch, "lattice 1 (lattice-1): is not a confusion network: an arc leads from state 0 to 2"),
        ("a.cn", MachineParts.nothing(), "lattice 1: is empty, which this form of confusion networks cannot say"),
        ("a.plf", negative, "lattice 1: a weight is -0.5, which has no logarithm"),
        ("a.ark", blank, "lattice 1 (lattice-1): the word 'two words' holds white space"),
        ("a.plf", tiny(["*EPS*"], [1.0]), "lattice 1: the word '*EPS*' would be read as the empty string"),
        ("a.ark", tiny(["0", "1"], [1.0, 1.0]), "all words are numbers, and '0' would be read as the empty string"),
        ("a.cn", tiny(["far"], [800.0], "log"), "lattice 1: a cost is 800, whose probability is no number"),
        ("a.cn", tiny(["far"], [-800.0], "log"), "lattice 1: a cost is -800, whose probability is no number"),
        ("a.fst", tiny(), "OpenFst binary holds one machine per file, and there are 2: name a folder"),
        ("a.lat", tiny(), "has the suffix of kaldi and of slf; name one format with --to"),
        ("a.doc", tiny(), "has the suffix of no format of lattices"),
    ):
        with pytest.raises(InputError) as error:
            write_lattices(tmp_path / name, [tiny(), parts])
        assert said in str(error.value)
    assert not list(tmp_path.iterdir())


def test_damaged_archives_folders_and_tables_are_refused(tmp_path):
    for name in ("a.zip", "a.tar.gz"):
        (tmp_path / name).write_bytes(b"no archive")
        with pytest.raises(InputError, match="is not an archive, or a damaged one"):
            archive_members(tmp_path / name)
        with pytest.raises(InputError, match="no such file"):
            archive_members(tmp_path / f"other-{name}")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="holds no file"):
        read(tmp_path / "folder")
    (tmp_path / "folder" / "a.plf.gz").write_bytes(gzip.compress(b"()" * 1000)[:-9])
    with pytest.raises(InputError, match="damaged gzip"):
        read(tmp_path / "folder")
    table = tmp_path / "words.txt"
    for text, said in (
        ("vine one\n", "line 1: found 'vine one', expected a symbol"),
        ("vine 99999999999\n", "labels up to"),
    ):
        table.write_text(text)
        with pytest.raises(InputError, match=said):
            read_symbols(table)


def test_an_unknown_format_and_a_file_without_lattices_are_refused(tmp_path):
    path = tmp_path / "a.ark"
    path.write_text("\n")
    with pytest.raises(InputError, match="unknown format 'fsm', expected one of jsonl"):
        read(path, format="fsm")
    with pytest.raises(InputError, match="holds no lattice"):
        read(path)
    with pytest.raises(InputError, match="the file is empty"):
        read(path, format="plf")


PARSERS = {
    "plf": (
        r"((('vi\'ne', -0.5, 1), ('wine', -0.9, 2),),(('s', 0, 1),),)",
        lambda t: plf.parse([t], ["a, line 1"], "a")[0],
    ),
    "slf": ("base=10 wdpenalty=-1\n" + SLF.replace("W=a", 'W="a b"'), lambda t: [slf.parse(t, "a")]),
    "kaldi": ("utt\n0 1 vine 1,2,3_4\n1 0.5,0\n\nutt-2\n0 1 17 vine 1,2\n1\n\n", lambda t: parsed_kaldi(t, "a")),
    "mesh": (
        "name utt\nnumaligns 2\nposterior 1\nalign 0 a 0.5 b 0.5\nalign 1 c 1\n",
        lambda t: parsed_mesh(t, "a"),
    ),
    "columns": ("a 0.5 b 0.5\nc 1\n\nd 1\n", lambda t: parsed_columns(t, "a")),
    "text": ("0 1 a b 0.5\n1 0 c d\n1 2.5\n", lambda t: [openfst.parse_text(t, "a", "log")]),
}


def assert_sound_or_refused(parse):
    """Of a damaged file, the machines are sound, or the error names the file."""
    refusal, found = None, []
    try:
        found = parse()
    except InputError as error:
        refusal = str(error)
    assert refusal is None or re.match(r"a(\.fst)?[,:]", refusal)
    for parts in found:
        assert_sound(parts)


@pytest.mark.parametrize("kind", PARSERS)
@given(st.data())
@settings(deadline=None)
def test_a_damaged_file_is_read_or_refused_and_never_worse(kind, data):
    text, parse = PARSERS[kind]
    for _ in range(data.draw(st.integers(1, 3))):
        at, size = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.text("01.-,()'\"\\ \n=xNLISEWaJ٣\u2028", max_size=3)) + text[at + size :]
    assert_sound_or_refused(lambda: parse(text))


@given(st.data())
@settings(deadline=None)
def test_a_damaged_binary_is_read_or_refused_and_never_worse(data):
    at = data.draw(st.integers(0, len(BINARY) - 1))
    damaged = BINARY[:at] + data.draw(st.binary(max_size=4)) + BINARY[at + data.draw(st.integers(0, 4)) :]
    assert_sound_or_refused(lambda: [openfst.parse_binary(damaged, "a.fst")])


def test_the_memory_of_a_reader_is_bounded_by_its_input(tmp_path):
    files = {
        "a.mesh": "name a\nnumaligns 99999999\nposterior 1\nalign 0 a 1\n",
        "b.mesh": f"name a\nnumaligns {'9' * 5000}\nposterior 1\nalign 0 a 1\n",
        "c.slf": f"N={'9' * 5000} L=1\nI=0\n",
        "d.fst.txt": f"0 {'1' * 5000} a a 0.5\n1\n",
        "e.fst.txt": f"0 1 {'1' * 5000} 5 0.5\n1\n",
        "f.plf": f"((('a', 0.5, {'1' * 400}),),)\n",
        "g.plf": f"((('a', 0.5, {'1' * 5000}),),)\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        tracemalloc.start()
        with pytest.raises(InputError, match=name):
            read(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
        tracemalloc.stop()


def test_scores_near_the_largest_number_are_read_or_refused_without_warnings(tmp_path):
    head, nodes = "base=2.718281828 acscale=1 lmscale=1\nN=2 L=2\n", "I=0\nI=1\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = tmp_path / "a.slf"
        path.write_text(f"{head}{nodes}J=0 S=0 E=1 W=a a=-1e299\nJ=1 S=0 E=1 W=b a=-1.5e299\n")
        assert Lattices(read(path).X).weights.tolist() == [1.0, 0.0]
        path.write_text(f"{head}{nodes}J=0 S=0 E=1 W=a a=-1e308\nJ=1 S=0 E=1 W=b a=0\n")
        with pytest.raises(InputError, match="expected a cost from -1e\\+300 to 1e\\+300"):
            Lattices(read(path).X)
        with pytest.raises(InputError, match="has the weight nan"):
            Lattices(read(path).X, scale={"acoustic": 10.0})
        path.write_text(f"{head}{nodes}J=0 S=0 E=1 W=a a=-1e308 l=-1e308\nJ=1 S=0 E=1 W=b a=0\n")
        with pytest.raises(
            InputError, match="line 5: the scores of the link, scaled, add up to more than a number can hold"
        ):
            read(path)
