"""CRFsuite items as rows of numbers."""

import pytest

from treille import InputError, Vectors
from treille.io import read


def test_tokens_are_rows_with_their_weights(tmp_path):
    path = tmp_path / "a.crfsuite"
    path.write_text("B\tw=a\\:b\tlength:2.5\n\nI\tw=c\tw=c\n")
    examples = read(path)
    assert examples.labels == ["B", "I"]
    assert examples.lines == [1, 3]
    assert list(Vectors(examples.X)) == [{"w=a:b": 1.0, "length": 2.5}, {"w=c": 1.0}]
    assert "CRFsuite items (guessed from its name)" in examples.note
    assert read(path, label="label=B").labels == ["B", "not B"]
    assert read(path, labelled=False).labels is None
    (tmp_path / "a.txt").write_bytes(path.read_bytes())
    assert read(tmp_path / "a.txt", format="crfsuite").labels == ["B", "I"]


@pytest.mark.parametrize("weight", ["", "x", "nan", "inf", "1:1"])
def test_a_weight_that_is_not_a_number_is_refused_with_its_line(weight, tmp_path):
    path = tmp_path / "a.crfsuite"
    path.write_text(f"B\tw\n\nI\ta:{weight}\n")
    with pytest.raises(InputError, match=rf"a.crfsuite, line 3: the weight in 'a:{weight}' is not a finite number"):
        read(path)
