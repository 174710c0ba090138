"""Representations of rows: all have the same iterates, and each follows its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import SVC, Fst, InputError
from treille.automata import library
from treille.features import represent
from treille.features.compaction import REPRESENTATIONS
from treille.kernels import GappedKmer, Gappy, Linear, Mismatch, NGram, Rational, WeightedDegree, Wildcard
from treille.solvers import DualCD, Problem
from treille.solvers.problem import LOSSES, Hinge
from treille.spaces import RowsSpace

TEXTS = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog", "quick brown foxes", "lazy dogs sleep"]
TEXTS += ["the the the", "colourless green ideas", "sleep furiously now", "", "aaaaaaaa", "the cat sat on the mat"]
CODES = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])
NEW = ["the cat and the log", "colour of green dogs", "unheard-of ω", "", "aaaa"]

# Each: a kernel whose features are strings of symbols, and examples.
DNA = ["ACGTACGT", "ACCTACCA", "GGGTTTAC", "ACGAACGA", "TTTTTT", "GATTACA", "", "CCGT", "ACGGACGT", "TGCA", "AC"]
LATTICES = [
    0.7 * Fst.from_string(x, "ACGT") + 0.3 * Fst.from_string(y, "ACGT")
    for x, y in zip(DNA, DNA[1:] + DNA[:1], strict=True)
]
SPELLED = {
    "3-grams": (NGram(3), TEXTS),
    "1- to 4-grams, weighted": (NGram(4, 1, [1.0, 0.5, 0.25, 2.0]), TEXTS),
    "words, normalised": (NGram(2, 1, unit="word").normalized(), TEXTS),
    "bytes": (NGram(2, unit="byte"), [t.encode() for t in TEXTS]),
    "tokens": (NGram(2), [t.split() for t in TEXTS]),
    "gappy": (Gappy(3, decay=0.5, max_gap=2), TEXTS),
    "gappy, scaled and normalised": (2.0 * Gappy(2, decay=0.7, max_total_gap=3).normalized(), TEXTS),
    "mismatches": (Mismatch(3, 1, alphabet="ACGT"), DNA),
    "wildcards": (Wildcard(3, 1, 0.5), DNA),
    "gapped k-mers": (GappedKmer(4, 2), DNA),
    "a transducer": (Rational(library.gappy(2, "ACGT", 0.5)), DNA),
    "lattices": (NGram(2, 1, unit="word").normalized(), LATTICES),
}
KINDS = pytest.mark.parametrize("kind", SPELLED)


def space_of(kind):
    kernel, X = SPELLED[kind]
    return RowsSpace.build(kernel, kernel.batch(X))


@pytest.mark.filterwarnings("ignore::treille.solvers.ConvergenceWarning")
@KINDS
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("tol", [1e-9, 1e-3])  # W' in double, and in float
def test_all_representations_give_the_same_iterates(kind, loss, tol):
    """Without rests: whether a gradient of 0 is exactly 0 decides about a rest, and is a matter of rounding."""
    space, digits = space_of(kind), 1e-9 if tol < 1e-6 else 1e-4
    problem = Problem(LOSSES[loss](), CODES, np.full(len(CODES), 0.3), True, np.array([1, 0]))
    for epochs in (1, 2, 5):
        answers = {
            name: DualCD(shrinking=False, representation=name).solve(problem, space, max_epochs=epochs, tol=tol)
            for name in REPRESENTATIONS
        }
        flat = answers["flat"]
        for name, answer in answers.items():
            assert answer.alpha == pytest.approx(flat.alpha, rel=digits, abs=digits), name
            assert answer.weights == pytest.approx(flat.weights, rel=digits, abs=digits), name
            assert answer.report.primal == pytest.approx(flat.report.primal, rel=digits), name


@KINDS
@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_predictions_equal_those_with_flat_weights(kind, name):
    """Singletons of training texts count in new texts as with flat weights."""
    kernel, X = SPELLED[kind]
    new = {"bytes": [t.encode() for t in NEW], "tokens": [t.split() for t in NEW]}.get(
        kind, NEW if X is TEXTS else X[::-1]
    )
    flat = SVC(kernel, tol=1e-8, solver=DualCD(representation="flat")).fit(X, CODES)
    model = SVC(kernel, tol=1e-8, solver=DualCD(representation=name)).fit(X, CODES)
    assert model.report_.status == "converged"
    assert model.decision_function(new) == pytest.approx(flat.decision_function(new), abs=1e-3)
    assert model.plan_.representation.startswith("flat" if name == "auto" else name)


def test_a_singleton_has_its_weight():
    """zyx occurs in one training text only, so it has no cell during training."""
    X, y = ["abcabc zyx", "abcab abc", "cdecde", "decdec dec"], [0, 0, 1, 1]
    for name in REPRESENTATIONS:
        model = SVC(NGram(3), tol=1e-10, solver=DualCD(representation=name)).fit(X, y)
        flat = SVC(NGram(3), tol=1e-10, solver=DualCD(representation="flat")).fit(X, y)
        own = [i for i in range(model.features_.n_features) if model.features_.name(i) == "zyx"]
        assert model.coef_[0, own] == pytest.approx(flat.coef_[0, own], rel=1e-4)
        assert model.coef_[0, own[0]] < 0
        assert model.decision_function(["zyx"]) == pytest.approx(model.coef_[0, own] + model.intercept_)


def proportional_classes(matrix):
    """From the definition: columns with the same direction, those of one row alone joined row by row."""
    classes = {}
    for z, column in enumerate(matrix.T):
        held = np.flatnonzero(column)
        quotients = tuple(column[held] / column[held[0]]) if len(held) else ()
        classes.setdefault((tuple(held), quotients), []).append(z)
    return sorted(map(tuple, classes.values()))


texts = st.lists(st.text("abc", max_size=9), min_size=1, max_size=7)


def basis_of(representation):
    """One column per cell: the features in terms of the cells."""
    return representation.read(np.eye(representation.core.n_cells))


def classes_of(basis):
    return sorted(tuple(np.flatnonzero(cell)) for cell in basis.T)


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 4), st.integers(1, 3))
def test_a_merged_cell_is_a_class_of_proportional_columns(X, n, threads):
    features, rows = NGram(n).fit_features(NGram(n).batch(X))
    matrix = rows.to_csr().toarray()
    basis = basis_of(represent(features, rows, "merged", n_jobs=threads))
    assert classes_of(basis) == proportional_classes(matrix)
    assert basis.T @ basis == pytest.approx(np.eye(basis.shape[1]))
    assert matrix @ basis @ basis.T == pytest.approx(matrix)  # nothing is lost in the span of the classes


@settings(max_examples=40, deadline=None)
@given(texts, st.integers(1, 3))
def test_columns_that_are_not_proportional_stay_separate(X, n):
    """The same rows contain them, but with other ratios."""
    X = [x + x[:2] * 2 for x in X]
    features, rows = Gappy(n, decay=0.5, max_gap=1).fit_features(NGram(1).batch(X))
    basis = basis_of(represent(features, rows, "merged"))
    assert classes_of(basis) == proportional_classes(rows.to_csr().toarray())


@settings(max_examples=40, deadline=None)
@given(texts, st.integers(1, 3), st.integers(0, 2))
def test_a_trie_has_a_transition_for_each_prefix(X, min_n, more):
    kernel = NGram(min_n + more, min_n)
    features, rows = kernel.fit_features(kernel.batch(X))
    names = [features.name(z) for z in range(features.n_features)]
    form = represent(features, rows, "trie")
    assert form.core.n_arcs == len({name[:k] for name in names for k in range(1, len(name) + 1)})


SUMS = [NGram(1) + NGram(2), NGram(2).centered(), NGram(1).centered() + 2.0 * NGram(3).normalized()]


@pytest.mark.parametrize("kernel", SUMS, ids=repr)
@pytest.mark.parametrize("name", ["naive", "trie", "automaton"])
def test_representations_of_one_map_are_refused_for_sums_and_centred_kernels(kernel, name):
    with pytest.raises(InputError, match=f"representation is '{name}', which is for the features of one kernel"):
        SVC(kernel, solver=DualCD(representation=name)).fit(TEXTS, CODES)


@pytest.mark.filterwarnings("ignore::treille.solvers.ConvergenceWarning")
@pytest.mark.parametrize("kernel", SUMS, ids=repr)
def test_every_part_of_a_sum_is_compacted(kernel):
    features, rows = kernel.fit_features(kernel.batch(TEXTS))
    space = RowsSpace(rows, features)
    problem = Problem(Hinge(), CODES, np.full(len(CODES), 0.3), True, np.array([1, 0]))
    answers = [
        DualCD(shrinking=False, representation=name).solve(problem, space, tol=1e-9, max_epochs=5)
        for name in ("flat", "merged", "auto")
    ]
    for answer in answers[1:]:
        assert answer.alpha == pytest.approx(answers[0].alpha, rel=1e-9, abs=1e-9)
        assert answer.weights == pytest.approx(answers[0].weights, rel=1e-9, abs=1e-9)


def test_the_plan_shows_how_every_part_is_represented():
    shown = SVC(NGram(1) + NGram(2)).fit(TEXTS, CODES).plan_.representation
    assert shown.startswith("concatenated, part by part: flat, because only ")
    assert shown.count("entries are singletons") == 2


@pytest.mark.parametrize("name", ["trie", "automaton"])
def test_features_that_are_not_strings_are_refused(name):
    with pytest.raises(InputError, match="are not strings of symbols"):
        SVC(WeightedDegree(2), solver=DualCD(representation=name)).fit(TEXTS, CODES)
    with pytest.raises(InputError, match="are not strings of symbols"):
        SVC(Linear(), solver=DualCD(representation=name)).fit(np.eye(11), CODES)
    for numbers in ("naive", "flat", "merged"):
        SVC(Linear(), solver=DualCD(representation=numbers)).fit(np.eye(11), CODES)


def test_unknown_representations_are_refused():
    with pytest.raises(InputError, match="representation is 'dense', expected one of 'auto', 'naive'"):
        SVC(NGram(2), solver=DualCD(representation="dense")).fit(TEXTS, CODES)
    with pytest.raises(InputError, match="DualCD needs explicit features, which Subsequence"):
        SVC(treille.kernels.Subsequence(2, 0.5), solver=DualCD(representation="merged")).fit(TEXTS, CODES)
    with pytest.raises(InputError, match="representation is 'trie', but a Nystrom space has dense rows"):
        SVC(NGram(2), space="nystrom", solver=DualCD(representation="trie")).fit(TEXTS, CODES)


def test_many_classes_pay_for_merging_and_the_plan_says_so():
    X = [f"{a}{b}{a}{b}{b}{a}{a} end" for a in "abcdefgh" for b in "xyz"]
    model = SVC(NGram(3)).fit(X, [x[0] for x in X])
    assert model.plan_.representation.startswith("merged, because 120 of 216 entries are singletons, with 8 problems: ")
    assert " features in " in str(model.plan_)
    few = SVC(NGram(3)).fit(X, [x[1] for x in X])
    assert "flat, because only 120 of 216 entries are singletons, with 3 problems: " in few.plan_.representation
    again = SVC(NGram(3), solver=DualCD(representation="flat")).fit(X, [x[0] for x in X])
    assert model.decision_function(X) == pytest.approx(again.decision_function(X), abs=1e-2)


def test_no_examples_with_features_leave_nothing_to_keep():
    for name in REPRESENTATIONS:
        model = SVC(NGram(9), solver=DualCD(representation=name)).fit(["a", "b"], [0, 1])
        assert model.decision_function(["a", "bbbbbbbbbbbb"]).shape == (2,)
