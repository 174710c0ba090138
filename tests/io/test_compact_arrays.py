"""Numbers of model files in parts: what is read is what was written, bit for bit, and damaged parts are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from treille.io.compact_arrays import compacted, expanded
from treille.io.errors import InputError
from treille.io.model import FORMAT, model_bytes, read_model, signed_bytes

NUMBERS = st.sampled_from([0.0, 0.0, 0.0, -0.0, 1.0, -2.5, 1e-320, 1 / 3])


def classes_weights(n=2000, n_classes=40, density=0.2, different=700):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(different, n_classes)) * (rng.random((different, n_classes)) < density)
    return rows[rng.integers(0, different, n)]


@given(
    hnp.arrays(
        np.float64, st.one_of(st.tuples(st.integers(0, 40)), st.tuples(*[st.integers(0, 20)] * 2)), elements=NUMBERS
    )
)
def test_numbers_are_read_back_exactly(array):
    again = expanded(*compacted({"weights": array}))["weights"]
    assert again.shape == array.shape
    assert (again + 0.0).tobytes() == (array + 0.0).tobytes()  # but for the sign of a zero


def test_weights_of_many_classes_take_the_bytes_of_their_different_rows():
    weights = classes_weights()
    shapes, parts = compacted({"weights": weights})
    different = np.unique(weights + 0.0, axis=0)
    assert shapes == {"weights": [2000, 40]}
    assert parts["weights.values"].nbytes == 8 * np.count_nonzero(different)
    assert sum(part.nbytes for part in parts.values()) < weights.nbytes / 10


def test_numbers_that_would_not_be_smaller_and_other_arrays_stay_as_they_are():
    arrays = {"weights": np.random.default_rng(0).normal(size=(50, 3)), "ids": np.zeros((9, 9), np.int64)}
    shapes, parts = compacted(arrays)
    assert shapes == {}
    assert parts.keys() == arrays.keys()


def test_numbers_that_are_all_zero_are_read_back_within_the_budget_of_damaged_files():
    zeros = np.zeros((10**5, 200))
    assert np.array_equal(expanded(*compacted({"weights": zeros}))["weights"], zeros)


def test_the_same_arrays_give_the_same_bytes_in_any_order():
    arrays = {"weights": classes_weights(), "intercept": np.arange(3.0), "ids": np.arange(5)}
    assert model_bytes({}, arrays) == model_bytes({}, dict(reversed(arrays.items())))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"compact": []}, "'compact' is a list of 0, expected dict"),
        ({"compact": {"weights": 3}}, "the shape of the array 'weights' in the file is none"),
        ({"compact": {"weights": [2000, 40, 1]}}, "the shape of the array 'weights' in the file is none"),
        ({"compact": {"weights": [2000, "40"]}}, "the field 'shape' is '40', expected int"),
        ({"compact": {"weights": [2000, -1]}}, "the field 'shape' is -1"),
        ({"compact": {"weights": [2000, 41]}}, "do not fit together"),
        ({"compact": {"weights": [1999, 40]}}, "do not fit together"),
        ({"compact": {"weights": [2000, 39]}}, "do not fit together"),
        ({"compact": {"weights": [2**31, 40]}}, "expands to more than 200 times"),
        ({"compact": {"weights": [2000, 2**62]}}, "expands to more than 200 times"),
        ({"compact": {"others": [2000, 40]}}, "the array 'marks' is missing"),
        ({"weights.rows": np.full(2000, 10**6)}, "the array 'rows' has numbers outside"),
        ({"weights.marks": np.zeros((700, 5), np.uint8)}, "do not fit together"),
        ({"weights.marks": np.zeros((700, 6), np.uint8)}, "do not fit together"),
        ({"weights.values": np.zeros(3)}, "do not fit together"),
        ({"weights.values": np.zeros((3, 3))}, "do not fit together"),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_together_are_refused(change, message, tmp_path):
    shapes, parts = compacted({"weights": classes_weights()})
    arrays = parts | {name: array for name, array in change.items() if name != "compact"}
    spec = {"format": FORMAT, "compact": change.get("compact", shapes)}
    (tmp_path / "m").write_bytes(signed_bytes(spec, arrays))
    with pytest.raises(InputError, match=f"{tmp_path}/m: .*{message}"):
        read_model(tmp_path / "m")
