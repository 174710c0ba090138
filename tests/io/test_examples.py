"""The result of `read`: its examples, and a repr that fits on a screen."""

import numpy as np
import pytest

from treille.io import read

LATTICE = "((('{}', 0.5, 1), ('wine', 0.5, 1)),)\n"
FILES = {
    "a.plf": "".join(LATTICE.format(f"word{i}") for i in range(1500)),
    "a.csv": "text,label\n" + "".join(f"{'vine ' * 20},x{i}\n" for i in range(1500)),
    "a.svm": "".join(f"1 {i + 1}:0.5\n" for i in range(1500)),
    "a.trees": "".join(f"(S (N{i} he) (VP sat))\n" for i in range(1500)),
}


@pytest.mark.parametrize("name", FILES)
def test_the_repr_of_examples_is_short(name, tmp_path):
    (tmp_path / name).write_text(FILES[name])
    examples = read(tmp_path / name)
    assert len(examples) == len(examples.X) == 1500
    assert len(repr(examples)) < 300
    assert repr(examples).startswith(f"Examples({tmp_path / name}: 1,500 ")
    if not isinstance(examples.X, list):
        assert len(repr(examples.X)) < 100


def test_lattices_of_two_sides_are_read_by_their_outputs_and_kept_as_they_are(tmp_path):
    (tmp_path / "a.fst.txt").write_text("0 1 1 2\n1\n")
    X = read(tmp_path / "a.fst.txt").X
    assert X[0].parts().inputs.tolist() == X[:1][0].parts().inputs.tolist() == [2]
    assert X.machines[0].inputs.tolist() == [1]
    assert [machine.is_acceptor for machine in X] == [True]
    assert len(repr(X.machines)) < 100
    assert np.array_equal(X[-1].parts().outputs, X.machines[-1].outputs)
