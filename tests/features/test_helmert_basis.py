"""Rows in the Helmert basis of shifted patterns: the same inner products, weights and models, for any kernel with such features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import SVC
from treille.features import represent
from treille.kernels import GappedKmer, Gappy, NGram
from treille.solvers import DualCD, Problem
from treille.solvers.problem import Hinge
from treille.spaces import RowsSpace

KERNELS = {
    "10 choose 4": GappedKmer(10, 4),
    "normalised": GappedKmer(10, 4, "ACGT").normalized(),
    "scaled": 2.0 * GappedKmer(10, 4, "ACGT"),
    "both strands": GappedKmer(9, 4, reverse_complement=True),
    "with gaps in the sequences": GappedKmer(9, 4, "ACGT", skip="N").normalized(),
    "far shifts": GappedKmer(12, 3),
}
KINDS = pytest.mark.parametrize("kind", KERNELS)
SUM = NGram(3) + 0.5 * GappedKmer(10, 4).normalized()


def sequences(count, seed=0, symbols="ACGT", length=120):
    """Random ones with repeats and low complexity, so that counts differ; an empty and a short one among them."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list(symbols), length + rng.integers(40))) for _ in range(count - 3)]
    return [*texts, "A" * (2 * length), texts[0][:30] * 6, ""]


def compacted(kernel, X, n_jobs=1):
    features, rows = kernel.fit_features(kernel.batch(X))
    return features, rows, represent(features, rows, "auto", 1, n_jobs)


@KINDS
def test_long_rows_of_shifted_patterns_get_shorter(kind):
    X = sequences(12, symbols="ACGTACGTACGTACGTN" if kind == "with gaps in the sequences" else "ACGT")
    _, rows, compact = compacted(KERNELS[kind], X)
    assert compact.name == "helmert"
    assert compact.core.n_entries < rows.n_entries
    assert compact.core.n_families < compact.core.n_cells


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(sorted(KERNELS)), st.integers(1, 3))
def test_cells_are_an_orthonormal_basis(seed, kind, n_functions):
    """So that weights that are combinations of rows have the same norm in both."""
    features, _, compact = compacted(KERNELS[kind], sequences(9, seed))
    cells = np.random.default_rng(seed).normal(size=(compact.core.n_cells, n_functions))
    weights = compact.read(cells)
    assert weights.shape == (features.n_features, n_functions)
    members = features.families()[0]
    complete = np.bincount(members.family, minlength=len(members.sizes)) == members.sizes
    if complete.all():
        np.testing.assert_allclose((weights**2).sum(axis=0), (cells**2).sum(axis=0))
    else:
        assert ((weights**2).sum(axis=0) <= (cells**2).sum(axis=0) * (1 + 1e-12)).all()


@pytest.mark.filterwarnings("ignore::treille.solvers.ConvergenceWarning")
@pytest.mark.parametrize("kernel", [*KERNELS.values(), SUM], ids=[*KERNELS, "sum"])
@pytest.mark.parametrize("threads", [1, 2])
def test_iterates_are_those_of_flat_rows(kernel, threads):
    space = RowsSpace.build(kernel, kernel.batch(sequences(30)), threads)
    problem = Problem(Hinge(), np.arange(30) % 2, np.full(30, 2.0), True, np.array([1]))
    for epochs in (1, 3):
        answers = [
            DualCD(shrinking=False, representation=name).solve(problem, space, tol=1e-9, max_epochs=epochs)
            for name in ("auto", "flat")
        ]
        np.testing.assert_allclose(answers[0].alpha, answers[1].alpha, atol=1e-10)
        np.testing.assert_allclose(answers[0].weights, answers[1].weights, atol=1e-10)


def test_every_part_of_a_sum_has_its_own_representation():
    shown = str(compacted(SUM, sequences(12))[2])
    assert shown.startswith("concatenated, part by part: flat, because only ")
    assert "; helmert, because rows are long and families of columns nearly equal: " in shown


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_model_equals_that_of_flat_weights(classes, loss):
    X, y = sequences(30), np.arange(30) % classes
    kernel = KERNELS["with gaps in the sequences"]
    solvers = (DualCD(), DualCD(representation="flat"))
    auto, flat = (SVC(kernel, C=0.5, loss=loss, tol=1e-9, solver=solver).fit(X, y) for solver in solvers)
    assert "representation: helmert, because rows are long" in str(auto.plan_)
    new = sequences(7, seed=1)
    # A gap of 1e-9 leaves |w - w*| its square root.
    np.testing.assert_allclose(auto.decision_function(new), flat.decision_function(new), atol=1e-4)
    np.testing.assert_allclose(auto.report_.primal, flat.report_.primal, rtol=1e-8)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (GappedKmer(10, 4), ["ACGTACGTACGTAC", "ACGGGACCGT"]),  # short rows
        (GappedKmer(6, 6), sequences(5)),  # one shift only
        (GappedKmer(10, 4, unit="word"), [" ".join(str(n) for n in range(300))]),  # too many symbols for a table
        (Gappy(3, decay=0.5, max_gap=2), sequences(5)),
        (NGram(3).normalized(), sequences(5)),
        (GappedKmer(10, 4, "ACGT", skip="N"), ["N" * 200, "N" * 300]),  # no patterns
    ],
)
def test_other_rows_keep_their_columns(kernel, X):
    assert compacted(kernel, X)[2].name in ("flat", "merged")
