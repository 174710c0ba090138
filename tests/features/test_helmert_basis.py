"""Rows in a turned basis of the features: the same inner products, the same weights, the same model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from treille.spaces.weights import turned_form

from treille import SVC
from treille.kernels import GappedKmer, Gappy, NGram
from treille.solvers import DualCD
from treille.spaces import RowsSpace

KERNELS = {
    "10 choose 4": GappedKmer(10, 4),
    "normalised": GappedKmer(10, 4, "ACGT").normalized(),
    "both strands": GappedKmer(9, 4, reverse_complement=True),
    "with gaps in the sequences": GappedKmer(9, 4, "ACGT", skip="N").normalized(),
    "far shifts": GappedKmer(12, 3),
}
KINDS = pytest.mark.parametrize("kind", KERNELS)


def sequences(count, seed=0, symbols="ACGT", length=120):
    """Random ones with repeats and low complexity, so that counts differ; an empty and a short one among them."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list(symbols), length + rng.integers(40))) for _ in range(count - 3)]
    return [*texts, "A" * (2 * length), texts[0][:30] * 6, ""]


def both(kernel, X, threads=1):
    batch = kernel.batch(X)
    features, rows = kernel.fit_features(batch)
    found = kernel.fit_turned(batch, threads)
    assert found is not None
    return features, rows, *found


@KINDS
def test_inner_products_stay_what_they_are(kind):
    X = sequences(12, symbols="ACGTACGTACGTACGTN" if kind == "with gaps in the sequences" else "ACGT")
    _, rows, _, turned, turn = both(KERNELS[kind], X)
    np.testing.assert_allclose(turned.gram(None, 1), rows.gram(None, 1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(turned.diag(), rows.diag(), rtol=1e-12)
    assert turned.n_entries < rows.n_entries
    assert turn.n_families < turn.n_cells


@KINDS
def test_features_and_their_ids_are_those_of_the_plain_rows(kind):
    plain, _, same, _, _ = both(KERNELS[kind], sequences(8))
    assert [same.name(id) for id in range(0, same.n_features, 97)] == [
        plain.name(id) for id in range(0, plain.n_features, 97)
    ]
    assert same.n_features == plain.n_features


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(sorted(KERNELS)), st.integers(1, 3))
def test_weights_are_read_back(seed, kind, n_functions):
    X = sequences(9, seed)
    features, rows, _, turned, turn = both(KERNELS[kind], X)
    coefficients = np.random.default_rng(seed).normal(size=(len(X), n_functions))
    form = turned_form(features, turned, turn)
    np.testing.assert_allclose(form.read(turned.combine(coefficients, 1)), rows.rmatvec(coefficients, 1), atol=1e-10)


def test_rows_do_not_depend_on_the_number_of_threads():
    X = sequences(60, length=400)
    one, two = (both(KERNELS["normalised"], X, threads)[3] for threads in (1, 2))
    assert (one.to_csr() != two.to_csr()).nnz == 0


def test_sorted_entries_as_all_rows_have():
    turned = both(KERNELS["normalised"], sequences(10))[3]
    ids = turned.entries >> turned.code_bits
    for start, stop in zip(turned.indptr, turned.indptr[1:], strict=False):
        assert (np.diff(ids[start:stop].astype(np.int64)) > 0).all()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_model_is_the_one_of_flat_weights(classes, loss):
    X, y = sequences(30), np.arange(30) % classes
    kernel = KERNELS["with gaps in the sequences"]
    auto, flat = (SVC(kernel, C=0.5, loss=loss, tol=1e-9, weights=weights).fit(X, y) for weights in ("auto", "flat"))
    assert "weights: turned, shifts of a pattern as one family, because rows are long" in str(auto.plan_)
    new = sequences(7, seed=1)
    # A gap of 1e-9 leaves |w - w*| its square root.
    np.testing.assert_allclose(auto.decision_function(new), flat.decision_function(new), atol=1e-4)
    np.testing.assert_allclose(auto.report_.primal, flat.report_.primal, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::treille.solvers.ConvergenceWarning")
def test_iterates_are_those_of_flat_weights():
    kernel = KERNELS["normalised"]
    batch = kernel.batch(sequences(30))
    turned, flat = RowsSpace.in_form(kernel, batch, "auto"), RowsSpace.build(kernel, batch)
    codes, C = np.arange(30) % 2, np.full(30, 2.0)
    for epochs in (1, 3):
        answers = [
            DualCD(shrinking=False).solve(space, codes, np.array([1]), C, tol=1e-9, max_epochs=epochs)
            for space in (turned, flat)
        ]
        np.testing.assert_allclose(answers[0].alpha, answers[1].alpha, atol=1e-10)
        np.testing.assert_allclose(answers[0].weights, answers[1].weights, atol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (GappedKmer(10, 4), ["ACGTACGTACGTAC", "ACGGGACCGT"]),  # short rows
        (GappedKmer(6, 6), sequences(5)),  # no room to shift
        (GappedKmer(10, 4, unit="word"), [" ".join(str(n) for n in range(300))]),  # too many symbols for a table
        (Gappy(3, decay=0.5, max_gap=2), sequences(5)),
        (NGram(3).normalized(), sequences(5)),
        (GappedKmer(10, 4, "ACGT", skip="N"), ["N" * 200, "N" * 300]),  # no patterns
    ],
)
def test_other_rows_are_not_turned(kernel, X):
    assert kernel.fit_turned(kernel.batch(X)) is None
