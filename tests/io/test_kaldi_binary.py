"""Kaldi's binary archives, and alignments of compact lattices in text and binary."""

import contextlib
import struct
import warnings

import numpy as np
import pytest

from treille import Fst, Lattices
from treille.io import read
from treille.io.errors import InputError
from treille.io.lattices import write_lattices

TEXT = "utt-1\n0 1 3 1.5,2.0,7_8\n0 1 4 0.5,-1.0,\n1 0.25,0,9\n\nutt-2\n0 0,0,\n\n"


def machine(states, arc_type="compactlattice44", start=0):
    """The bytes of a machine: for each state its final weight (graph, acoustic, alignment) and its arcs."""
    real = "d" if arc_type.rstrip("4").endswith("8") or arc_type.endswith("8") else "f"

    def weight(graph, acoustic, alignment=()):
        pair = struct.pack(f"<2{real}", graph, acoustic)
        return pair + (
            struct.pack(f"<{1 + len(alignment)}i", len(alignment), *alignment) if "compact" in arc_type else b""
        )

    def string(text):
        return struct.pack("<i", len(text)) + text.encode()

    n_arcs = sum(len(arcs) for _, arcs in states)
    out = struct.pack("<i", 2125659606) + string("vector") + string(arc_type)
    out += struct.pack("<iiQqqq", 2, 0, 3, start, len(states), n_arcs)
    for final, arcs in states:
        out += weight(*final) + struct.pack("<q", len(arcs))
        for input, output, cost, target in arcs:
            out += struct.pack("<ii", input, output) + weight(*cost) + struct.pack("<i", target)
    return out


NEVER = (float("inf"), float("inf"))
COMPACT = machine([(NEVER, [(3, 3, (1.5, 2.0, (7, 8)), 1), (4, 4, (0.5, -1.0), 1)]), ((0.25, 0.0, (9,)), [])])
ARCHIVE = b"utt-1 " + COMPACT + b"utt-2 " + machine([((0.0, 0.0), [])])


def test_binary_archives_are_read_as_their_text_is(tmp_path):
    (tmp_path / "a.ark").write_bytes(ARCHIVE)
    (tmp_path / "b.ark").write_text(TEXT)
    (tmp_path / "c").write_bytes(ARCHIVE)  # recognised by its content
    binary, text, unnamed = (read(tmp_path / name) for name in ("a.ark", "b.ark", "c"))
    assert {examples.format for examples in (binary, text, unnamed)} == {"kaldi"}
    for one, other in zip(binary.X.machines, text.X.machines, strict=True):
        assert one.name == other.name
        for name in ("sources", "inputs", "outputs", "weights", "targets", "final_states", "final_weights"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.scores["acoustic"], other.scores["acoustic"])
        np.testing.assert_array_equal(one.final_scores["language"], other.final_scores["language"])
    assert [a.tolist() for a in binary.X.machines[0].alignments] == [[7, 8], []]
    assert [a.tolist() for a in binary.X.machines[0].final_alignments] == [[9]]
    assert [a.tolist() for a in text.X.machines[0].alignments] == [[7, 8], []]


@pytest.mark.parametrize("arc_type", ["lattice4", "lattice8", "compactlattice84"])
def test_all_kinds_of_lattices_are_read(tmp_path, arc_type):
    states = [(NEVER, [(5, 3, (1.5, 2.0), 1)]), ((0.25, 0.0), [])]
    (tmp_path / "a.ark").write_bytes(b"u " + machine(states, arc_type))
    (tmp_path / "one.fst").write_bytes(machine(states, arc_type))
    for name in ("a.ark", "one.fst"):
        (lattice,) = read(tmp_path / name, symbols=["<eps>", "a", "b", "vine", "c", "d"]).X.machines
        assert lattice.weights.tolist() == [3.5]
        assert lattice.words("outputs") == ["vine"]
        assert lattice.inputs.tolist() == [5]
        assert bool(len(lattice.alignments)) == arc_type.startswith("compact")


def test_alignments_are_written_and_read_back(tmp_path):
    (tmp_path / "a.ark").write_bytes(ARCHIVE)
    machines = read(tmp_path / "a.ark").X.machines
    write_lattices(tmp_path / "b.ark", machines)
    (first, second) = read(tmp_path / "b.ark").X.machines
    assert [a.tolist() for a in first.alignments] == [[7, 8], []]
    assert [a.tolist() for a in first.final_alignments] == [[9]]
    assert not len(second.alignments)


def test_an_alignment_that_is_none_is_refused(tmp_path):
    (tmp_path / "a.ark").write_text("utt-1\n0 1 3 1.5,2.0,7_x\n1 0,0,\n\n")
    with pytest.raises(InputError, match="line 2: the alignment is '7_x', expected transitions"):
        read(tmp_path / "a.ark")


def test_damaged_archives_are_refused_with_the_place(tmp_path):
    path = tmp_path / "a.ark"
    for end in range(10, len(ARCHIVE)):  # from the magic number on
        path.write_bytes(ARCHIVE[:end])
        if end != len(ARCHIVE) - len(b"utt-2 " + machine([((0.0, 0.0), [])])):
            with pytest.raises(InputError, match=r"a\.ark"):
                read(path, format="kaldi")
    rng = np.random.default_rng(0)
    for _ in range(500):
        damaged = bytearray(ARCHIVE)
        for place in rng.integers(0, len(damaged), 3):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with contextlib.suppress(InputError):
                Lattices(read(path, format="kaldi").X)


def test_items_of_files_are_machines_with_paths(tmp_path):
    (tmp_path / "a.ark").write_text(TEXT)
    X = read(tmp_path / "a.ark").X
    lattice = X[0]
    assert isinstance(lattice, Fst)
    assert sorted(lattice.paths()) == [((3,), (3,), 3.75), ((4,), (4,), -0.25)]
    assert repr(lattice) == "<Fst 'utt-1': 2 states, 2 arcs, 1 final, no symbols, log>"
    assert repr(X) == "MachineList(2 machines)"
    assert [one.origin.name for one in X] == ["utt-1", "utt-2"]
    assert lattice.to_dot().count("->") == 2
    picked = [X[1], X[0]]  # as a split of scikit-learn picks
    assert Lattices(picked, scale={"acoustic": 0.0}).weights.tolist() == pytest.approx(
        Lattices(X, scale={"acoustic": 0.0}).weights.tolist()
    )
    assert Lattices(X)[0].total() == pytest.approx(1.0)
