"""Fst in and out: text, files of any format, and the objects of pynini."""

import math

import pytest

from treille import InputError
from treille.automata import Fst

T = Fst.from_arcs([(0, "a", "b", 0.5, 1), (1, "b", "", 0.25, 0)], {1: 2.0})


def arcs(fst):
    names = [fst.input_symbols, fst.output_symbols]
    return sorted((s, names[0][i], names[1][o], w, t) for s, i, o, w, t in fst.arcs())


def test_text_is_read_back_as_written():
    back = Fst.from_text(T.to_text("real"), "real")
    assert arcs(back) == arcs(T)
    assert back("ab" * 1 + "a", "bb") == T("aba", "bb")
    assert Fst.from_text("0").n_states == 1
    assert Fst.from_text("").n_states == 0


def test_text_is_read_from_a_file_with_tables(tmp_path):
    (tmp_path / "a.txt").write_text("0 1 1 2 0.5\n1\n")
    (tmp_path / "words.txt").write_text("<eps> 0\na 1\nb 2\n")
    table = str(tmp_path / "words.txt")
    for path in (tmp_path / "a.txt", str(tmp_path / "a.txt")):
        assert arcs(Fst.from_text(path, "real", isymbols=table, osymbols=["<eps>", "a", "b"])) == [
            (0, "a", "b", 0.5, 1)
        ]
    assert Fst.from_text("0 1 1 0.5\n1\n", isymbols=table).to_text() == "0\t1\ta\ta\t0.5\n1\t0.0\n"
    assert Fst.from_text("0 1 1 2\n1\n", acceptor=True).to_text() == "0\t1\t1\t1\t2.0\n1\t0.0\n"


def test_text_holds_costs_unless_told_otherwise_as_files_do(tmp_path):
    text = "0 1 a b 2.0\n0 1 a b 2.0\n1 0.5\n"
    (tmp_path / "a.fst.txt").write_text(text)
    costs, file = Fst.from_text(text), Fst.read(tmp_path / "a.fst.txt")
    assert costs.semiring == file.semiring == "log"
    assert costs == file
    assert costs.astype("real")("a", "b") == pytest.approx(2 * math.exp(-2.5))
    assert Fst.from_text(text, "tropical")("a", "b") == 2.5
    assert Fst.from_text(text, "real")("a", "b") == 2.0


def test_text_of_weights_is_read_back_as_costs():
    back = Fst.from_text(T.to_text())
    assert back.astype("real")("aba", "bb") == pytest.approx(T("aba", "bb"))
    assert Fst.from_text(T.astype("tropical").to_text(), "tropical")("aba", "bb") == T.astype("tropical")("aba", "bb")
    negative = T * -1.0
    assert Fst.from_text(negative.to_text("real"), "real")("aba", "bb") == negative("aba", "bb")
    with pytest.raises(InputError, match="only positive weights have costs"):
        negative.to_text()


@pytest.mark.parametrize("name", ["a.fst", "a.fst.txt", "a.jsonl", "a.ark"])
def test_files_are_read_back_as_written(tmp_path, name):
    T.write(tmp_path / name)
    back = Fst.read(tmp_path / name).astype("real")
    assert back("aba", "bb") == pytest.approx(T("aba", "bb"))


def test_files_of_acceptors_have_the_requested_kind_of_weights(tmp_path):
    chain = Fst.from_arcs([(0, "vine", "vine", 0.5, 1)], {1: 1.0})
    chain.write(tmp_path / "a.plf", weights="prob")
    assert (tmp_path / "a.plf").read_text() == "((('vine', 0.5, 1),),)\n"
    assert Fst.read(tmp_path / "a.plf").semiring == "real"
    assert Fst.read(tmp_path / "a.plf", weights="cost").semiring == "log"


def test_files_that_are_not_one_machine_are_refused(tmp_path):
    (tmp_path / "a.plf").write_text("()\n()\n")
    with pytest.raises(InputError, match=r"a\.plf: holds 2 machines, expected one"):
        Fst.read(tmp_path / "a.plf")
    (tmp_path / "a.txt").write_text("0 1 a b\n")
    with pytest.raises(InputError, match="expected a machine; name its format"):
        Fst.read(tmp_path / "a.txt")
    with pytest.raises(InputError, match="no such file"):
        Fst.from_text("absent.txt")
    with pytest.raises(InputError, match="semiring is 'max'"):
        Fst.from_text("0 1 a b\n", semiring="max")
    with pytest.raises(InputError, match="text, line 1: the weight is 'x'"):
        Fst.from_text("0 1 a b x\n")


def test_machines_are_exchanged_with_pynini():
    pynini = pytest.importorskip("pynini")
    pywrapfst = pytest.importorskip("pywrapfst")
    back = Fst.from_pynini(T.to_pynini())
    assert back.semiring == "log"
    assert back.astype("real")("aba", "bb") == pytest.approx(T("aba", "bb"))
    assert Fst.from_pynini(pywrapfst.convert(pynini.accep("ab"), "const")).n_arcs == 2
    tropical = Fst.from_pynini(pynini.cross("a", "b"))
    assert tropical.semiring == "tropical"
    assert tropical.to_pynini().arc_type() == "standard"
    with pytest.raises(InputError, match="found str, expected a machine of pynini"):
        Fst.from_pynini("ab")


def test_an_error_names_pynini_where_it_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pynini", None)
    with pytest.raises(InputError, match="pynini is not installed: pip install pynini"):
        T.to_pynini()
