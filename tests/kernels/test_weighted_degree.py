"""WeightedDegree against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import Features, InputError
from treille.kernels import WeightedDegree
from treille.testing import check_kernel

TEXTS = ["to be or not to be", "", "be", "to be, or not", "o", "TO BE \U0001f600", "\ud800 not", "not to be or to"]


def degree_kernel(d, shift=0):
    def agree(x, y, i, j, n):
        return i + n <= len(x) and j + n <= len(y) and list(x[i : i + n]) == list(y[j : j + n])

    def kernel(x, y):
        total = 0.0
        for n in range(1, d + 1):
            beta = 2 * (d - n + 1) / (d * (d + 1))
            for i in range(max(len(x), len(y))):
                for s in range(shift + 1):
                    total += beta / (2 * (s + 1)) * (agree(x, y, i + s, i, n) + agree(x, y, i, i + s, n))
        return total

    return kernel


@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_the_battery_passes(d):
    check_kernel(WeightedDegree(d), TEXTS, degree_kernel(d))


@pytest.mark.parametrize(("d", "shift"), [(1, 1), (3, 2), (4, 40)])
def test_the_battery_passes_with_shifts(d, shift):
    assert not WeightedDegree(d, shift).has_features
    check_kernel(WeightedDegree(d, shift), TEXTS, degree_kernel(d, shift))
    check_kernel(WeightedDegree(d, shift).normalized(), TEXTS)


def test_the_battery_passes_for_words_bytes_and_long_sequences():
    check_kernel(WeightedDegree(2, unit="word"), TEXTS, degree_kernel(2))
    check_kernel(WeightedDegree(2, unit="byte"), [bytes(range(256)), b"", b"b\xffa"], degree_kernel(2))
    check_kernel(WeightedDegree(2), [np.arange(400) % 7, np.arange(300) % 5, np.arange(3)], degree_kernel(2))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text("ab", max_size=12), min_size=2, max_size=5), st.integers(1, 6), st.integers(0, 15))
def test_random_strings_give_the_twins_values(texts, d, shift):
    slow = degree_kernel(d, shift)
    np.testing.assert_allclose(
        WeightedDegree(d, shift)(texts), [[slow(x, y) for y in texts] for x in texts], rtol=1e-12
    )


@pytest.mark.parametrize("shift", [1, 2, 3, 5, 20, 100])
def test_weights_of_shifts_make_a_positive_matrix_at_every_width(shift):
    """1, 1/4, 1/6, ..., 1/(2 (shift + 1)), 0, ...: the spectrum is 1 + sum of cos(s t) / (s + 1), never below 1/2."""
    t = np.linspace(0, np.pi, 20_001)
    spectrum = 1 + sum(np.cos(s * t) / (s + 1) for s in range(1, shift + 1))
    assert spectrum.min() >= 0.5 - 1e-12


def test_names_show_the_gram_and_its_place():
    assert Features(WeightedDegree(2)).fit(["ab"]).get_feature_names_out().tolist() == ["a at 1", "ab at 1", "b at 2"]


def test_a_model_is_saved_and_read_back(tmp_path):
    model = treille.SVC(WeightedDegree(3)).fit(TEXTS, [0, 1] * 4)
    model.save(tmp_path / "m.treille")
    new = [*TEXTS, "to be or not to be or not to be"]
    assert np.array_equal(treille.load(tmp_path / "m.treille").decision_function(new), model.decision_function(new))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"d": 0}, "d is 0, expected a whole number of at least 1"),
        ({"d": 2.0}, "d is 2.0, expected a whole number"),
        ({"shift": -1}, "shift is -1, expected a whole number of at least 0"),
        ({"shift": None}, "shift is None, expected a whole number"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(InputError, match=message):
        WeightedDegree(**params)(["abba"])
