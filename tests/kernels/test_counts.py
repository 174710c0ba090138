"""Kernels of counts with the logarithm of counts, or whether there are any, against the definition phi_z(x) = s_z t(c_z(x))."""

import pickle
from collections import Counter
from itertools import combinations, pairwise, product
from math import log, log1p, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_twins import children_of

import treille
from lattice_twins import DIAMONDS, machines
from machine_twins import slow_paths
from treille import Fst, InputError, Lattices, Strings, Trees
from treille.data import Graph
from treille.kernels import (
    EdgeHistogram,
    GappedKmer,
    Gappy,
    Kernel,
    Mismatch,
    NGram,
    RootPaths,
    ShortestPath,
    Subpath,
    SubTree,
    VertexHistogram,
    WeisfeilerLehman,
    Wildcard,
)
from treille.kernels.graph_features import GraphPatternKernel
from treille.kernels.parse import format_kernel, parse_kernel
from treille.solvers import SMO, CuttingPlane
from treille.spaces import ProductSpace
from treille.testing import check_kernel
from twins import ngram_counts, path_counts

TRANSFORMS = {
    "raw": lambda c: c,
    "log": lambda c: 1 + log(c) if c else 0.0,
    "binary": lambda c: float(c > 0),
}
EXPECTED = {**TRANSFORMS, "log": log1p}
TEXTS = ["abababab", "", "ab", "ccbbccbbcab", "c", "aaaaaaaa", "abcabcabcc", "bababcc", "cacacacaca", "ddadd"]
TREES = Trees(
    [
        "(a (b c) (b c) (b c))",
        "(a)",
        "(a (a (a (a b))) (a b))",
        "(b (c a) (b (c a) (c a)))",
        "(d (d d) (d d))",
        "(a (b (c (b (c (b c))))) (b (c d)) (b (a d)))",
        "(c (b (c (b a)) (b a)))",
    ]
)


def ngrams(n, min_n=None, weights=None):
    """Of a sequence: the number of occurrences of each feature; and the factor of a feature."""
    factors = dict(zip(range(min_n or n, n + 1), weights or [1.0] * n, strict=False))
    return lambda x: ngram_counts(x, n, min_n), lambda z: sqrt(factors[len(z)])


def gappy(n, decay, max_gap, count="gaps"):
    def sums(x):
        c = Counter()
        for places in combinations(range(len(x)), n):
            gaps = [b - a - 1 for a, b in pairwise(places)]
            if max(gaps, default=0) <= max_gap:
                c[tuple(x[p] for p in places)] += decay ** sum(gaps)
        return c

    return sums, lambda z: decay**n if count == "span" else 1.0


def windows(x, k):
    return [tuple(x[i : i + k]) for i in range(len(x) - k + 1)]


def wildcards(k, m, decay=1.0):
    def counts(x):
        open_places = [places for j in range(m + 1) for places in combinations(range(k), j)]
        return Counter(
            tuple("*" if i in places else s for i, s in enumerate(window))
            for window in windows(x, k)
            for places in open_places
        )

    return counts, lambda z: decay ** z.count("*")


def mismatches(k, m, alphabet):
    def near(z, window):
        return sum(a != b for a, b in zip(z, window, strict=True)) <= m

    def counts(x):
        return Counter({z: sum(near(z, w) for w in windows(x, k)) for z in product(alphabet, repeat=k)})

    return counts, lambda z: 1.0


def gapped_kmers(length, k, skip=()):
    def counts(x):
        clean = [w for w in windows(x, length) if not set(w) & set(skip)]
        return Counter(
            (places, tuple(w[i] for i in places)) for w in clean for places in combinations(range(length), k)
        )

    return counts, lambda z: 1.0


def subtrees(decay, leaves=False):
    def counts(tree):
        below, found = children_of(tree), Counter()

        def text_of(node):
            parts = [text_of(child) for child in below[node]]
            inner = bool(below[node] or leaves)
            subtree = tree.labels[node], tuple(parts), inner + sum(part[2] for part in parts)
            if inner:
                found[subtree] += 1
            return subtree

        text_of(0)
        return found

    return counts, lambda z: sqrt(decay ** z[2])


def paths(decay, max_length=10**9, from_root=False):
    def counts(tree):
        return Counter({p: c for p, c in path_counts(tree, from_root).items() if len(p) <= max_length})

    return counts, lambda z: sqrt(decay ** len(z))


OF_STRINGS = [
    (NGram(2), ngrams(2)),
    (NGram(3, min_n=1, order_weights=[0.25, 1.0, 4.0]), ngrams(3, 1, [0.25, 1.0, 4.0])),
    (Gappy(2, decay=1.0, max_gap=2), gappy(2, 1.0, 2)),
    (Gappy(2, decay=1.5, max_gap=2, count="span"), gappy(2, 1.5, 2, "span")),
    (Gappy(2, decay=0.5, max_gap=2), gappy(2, 0.5, 2)),
    (Gappy(3, decay=0.7, max_gap=1, count="span"), gappy(3, 0.7, 1, "span")),
    (Wildcard(3, m=1), wildcards(3, 1)),
    (Wildcard(3, m=2, decay=0.3), wildcards(3, 2, 0.3)),
    (Mismatch(3, m=1, alphabet="abcd"), mismatches(3, 1, "abcd")),
    (GappedKmer(3, 2), gapped_kmers(3, 2)),
    (GappedKmer(4, 2, skip="c"), gapped_kmers(4, 2, "c")),
    (GappedKmer(3, 2, alphabet="abcd"), gapped_kmers(3, 2)),
]
OF_TREES = [
    (SubTree(0.4), subtrees(0.4)),
    (SubTree(0.7, leaves=True), subtrees(0.7, leaves=True)),
    (Subpath(0.5), paths(0.5)),
    (Subpath(0.8, max_length=3), paths(0.8, 3)),
    (RootPaths(0.7), paths(0.7, from_root=True)),
]


def variants(kernels, choices=("log", "binary")):
    """Each kernel with each choice of counts that it takes, and its definition."""
    found = []
    for kernel, definition in kernels:
        for counts in choices:
            if counts != "log" or not isinstance(kernel, Gappy) or kernel.decay >= 1:
                changed = type(kernel)(**{**kernel.get_params(deep=False), "counts": counts})
                found.append(pytest.param(changed, definition, id=repr(changed)))
    return found


def values(definition, t, counted):
    """phi by its definition."""
    _, factor = definition
    return {z: factor(z) * t(c) for z, c in counted.items()}


def dot(left, right):
    return sum(value * right.get(z, 0.0) for z, value in left.items())


def matrix(lefts, rights):
    return np.array([[dot(x, y) for y in rights] for x in lefts])


def slow_kernel(kernel, definition):
    t = TRANSFORMS[kernel.counts]
    return lambda x, y: dot(*(values(definition, t, definition[0](one)) for one in (x, y)))


def assert_rows_follow(kernel, fitted_on, new, known, phi):
    """Rows of new examples, whose features need not all have been fitted, agree with phi; so do their norms."""
    features, rows = kernel.fit_features(fitted_on)
    others = features.transform(new)
    np.testing.assert_allclose(
        (others.to_csr() @ rows.to_csr().T).toarray(), matrix(phi, known), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(others.diag(), [dot(x, x) for x in phi], rtol=1e-12)
    np.testing.assert_allclose(rows.diag(), [dot(x, x) for x in known], rtol=1e-12)


@pytest.mark.parametrize(("kernel", "definition"), variants(OF_STRINGS))
def test_the_laws_hold_on_strings(kernel, definition):
    check_kernel(kernel, TEXTS, slow_kernel(kernel, definition))


@pytest.mark.parametrize(("kernel", "definition"), variants(OF_TREES))
def test_the_laws_hold_on_trees(kernel, definition):
    check_kernel(kernel, TREES, slow_kernel(kernel, definition))


@pytest.mark.parametrize(("kernel", "definition"), variants(OF_STRINGS))
def test_the_laws_hold_on_lattices(kernel, definition):
    other = Fst.from_arcs([(0, "b", "b", 1.0, 1), (1, "c", "c", 0.1, 2), (1, "a", "a", 0.9, 2)], {2: 1.0})
    X = Lattices([DIAMONDS, other, Fst.from_arcs([], {}), list("abcabab"), Fst.from_arcs([], {0: 1.0}), list("abab")])
    check_kernel(kernel, X)


@pytest.mark.parametrize(("kernel", "definition"), variants(OF_STRINGS, ("raw", "log", "binary")))
@settings(max_examples=15)
@given(
    fitted_on=st.lists(st.text("ab", max_size=9), min_size=1, max_size=4),
    new=st.lists(st.text("abcd", max_size=12), min_size=1, max_size=4),
)
def test_new_strings_have_the_values_and_norms_of_the_definition(kernel, definition, fitted_on, new):
    t = TRANSFORMS[kernel.counts]
    known, phi = ([values(definition, t, definition[0](x)) for x in part] for part in (fitted_on, new))
    assert_rows_follow(kernel, kernel.batch(fitted_on), kernel.batch(new), known, phi)


@st.composite
def forests(draw, labels):
    """Deep and narrow, so that paths match in part."""
    trees = []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(1, 12))
        parents = [-1, *(draw(st.integers(max(0, node - 3), node - 1)) for node in range(1, size))]
        trees.append((draw(st.lists(st.sampled_from(labels), min_size=size, max_size=size)), parents))
    return Trees.from_parents(trees)


@pytest.mark.parametrize(("kernel", "definition"), variants(OF_TREES, ("raw", "log", "binary")))
@settings(max_examples=30)
@given(fitted_on=forests("ab"), new=forests("abc"))
def test_new_trees_have_the_values_and_norms_of_the_definition(kernel, definition, fitted_on, new):
    t = TRANSFORMS[kernel.counts]
    known, phi = ([values(definition, t, definition[0](x)) for x in part] for part in (fitted_on, new))
    assert_rows_follow(kernel, fitted_on, new, known, phi)


@pytest.mark.parametrize(("kernel", "definition"), variants(OF_STRINGS, ("raw", "log", "binary")))
@settings(max_examples=15)
@given(
    fitted_on=st.lists(machines("ab"), min_size=1, max_size=3),
    new=st.lists(machines("abcd"), min_size=1, max_size=3),
)
def test_lattices_have_the_values_and_norms_of_expected_counts(kernel, definition, fitted_on, new):
    def phi(machine):
        sums = Counter()
        for symbols, _, weight in slow_paths(machine):
            for z, c in definition[0](list(symbols)).items():
                sums[z] += weight * c
        return values(definition, EXPECTED[kernel.counts], {z: c for z, c in sums.items() if c})

    left, right = (Lattices(part, normalize=False) for part in (fitted_on, new))
    assert_rows_follow(kernel, left, right, [phi(x) for x in fitted_on], [phi(x) for x in new])


def test_both_strands_are_counted_together():
    # AC.T is in the sequence, and in its reverse complement: two occurrences, not one of each.
    kernel = GappedKmer(4, 4, reverse_complement=True, counts="log")
    assert kernel.diag(["ACGT"]).tolist() == [pytest.approx((1 + log(2)) ** 2)]
    np.testing.assert_allclose(kernel(["AAGT", "ACTT"]), np.full((2, 2), 2.0))


def test_patterns_too_many_for_a_table_are_transformed_too():
    texts = [list("ababab"), list("ba"), list("abbaabba")]
    symbols = [*"ab", *(f"other{i}" for i in range(400))]
    for kernel in (Mismatch(2, 1, symbols[:40], counts="log"), GappedKmer(4, 3, symbols, counts="log")):
        table = type(kernel)(**{**kernel.get_params(deep=False), "alphabet": ["a", "b"]})
        if isinstance(kernel, GappedKmer):
            np.testing.assert_allclose(kernel(texts), table(texts), rtol=1e-14)
        check_kernel(kernel, texts)


@pytest.mark.parametrize("counts", ["log", "binary"])
def test_occurrences_share_the_value_of_their_feature(counts):
    kernel = NGram(2, min_n=1, order_weights=[1.0, 4.0], counts=counts)
    batch = kernel.batch(["abab", "a", "aab"])
    features, _ = kernel.fit_features(batch)
    found = features.occurrences(batch)
    first = [value for id, value in zip(found.features, found.values, strict=True) if features.name(int(id)) == "ab"]
    assert first == pytest.approx([TRANSFORMS[counts](2)] * 2 + [2.0])


@pytest.mark.parametrize(("kernel", "definition"), variants([*OF_STRINGS, *OF_TREES]))
def test_models_are_saved_and_read_back(kernel, definition, tmp_path):
    X = TREES if isinstance(kernel, (SubTree, Subpath, RootPaths)) else TEXTS
    y = np.arange(len(X)) // 2 % 2
    model = treille.SVC(kernel.normalized()).fit(X[::2], y[::2])
    model.save(tmp_path / "model")
    again = treille.load(tmp_path / "model")
    assert again.kernel.kernel.counts == kernel.counts
    for other in (again, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_features_of_different_counts_are_not_merged():
    one, other = (NGram(2, counts=c).fit_features(Strings(["abab"]))[0] for c in ("log", "raw"))
    with pytest.raises(InputError, match="merge features of the same kernel"):
        one.merge(other)


@pytest.mark.parametrize(("kernel", "X"), [(NGram(2, counts="log"), TEXTS), (Subpath(counts="binary"), TREES)])
def test_there_are_products_for_raw_counts_only(kernel, X):
    batch, y = kernel.batch(X), np.arange(len(X)) % 2
    assert not kernel.multiplies(batch)
    assert not ProductSpace.offered(kernel, batch)
    assert type(kernel)().multiplies(batch)
    with pytest.raises(InputError, match=r"the fast product needs counts='raw', found '(log|binary)': use explicit"):
        kernel.fit_product(batch)
    scores = [
        treille.SVC(kernel, solver=s, tol=1e-6).fit(X, y).decision_function(X) for s in ("auto", CuttingPlane(), SMO())
    ]
    np.testing.assert_allclose(scores[1:], [scores[0]] * 2, atol=1e-2)


@pytest.mark.parametrize("text", ["ngram(5, counts=log)", "gappedkmer(6, k=3, counts=binary).normalized()"])
def test_kernels_as_text_have_counts(text):
    kernel = parse_kernel(text)
    assert format_kernel(kernel) == text
    assert Kernel.from_spec(kernel.spec()).spec() == kernel.spec()


@pytest.mark.parametrize("counts", ["Log", "", None, 1, True, ["log"], np.array(["log"])])
@pytest.mark.parametrize(
    "kernel",
    [
        NGram(2),
        Gappy(2, max_gap=1),
        Wildcard(3),
        Mismatch(3, alphabet="ab"),
        GappedKmer(3, 2),
        SubTree(),
        Subpath(),
        RootPaths(),
        VertexHistogram(),
        EdgeHistogram(),
        ShortestPath(),
        WeisfeilerLehman(),
    ],
    ids=repr,
)
def test_other_counts_are_refused(kernel, counts):
    X = (
        [Graph(2, [(0, 1)])]
        if isinstance(kernel, GraphPatternKernel)
        else TREES
        if isinstance(kernel, (SubTree, Subpath, RootPaths))
        else ["abab", "ab"]
    )
    kernel.set_params(counts=counts)
    for use in (kernel.check, lambda: kernel(X), lambda: kernel.fit_features(kernel.batch(X))):
        with pytest.raises(InputError, match=r"counts is .*, expected 'raw', 'log' or 'binary'"):
            use()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            Gappy(2, decay=0.5, max_gap=1, counts="log"),
            "counts='log' needs counts of at least 1, but decay=0.5 weighs occurrences with gaps less: "
            "use decay=1, or counts='binary'",
        ),
        (GappedKmer(3, 2, alphabet="abcd", filter="full", counts="log"), "counts='log' changes .*: use filter='count'"),
        (GappedKmer(4, 2, max_mismatches=1, counts="binary"), "counts='binary' changes .* max_mismatches=None"),
        (
            Subpath(index="xbw", counts="log"),
            "counts='log' needs features, and index='xbw' has none: use index='arrays'",
        ),
    ],
    ids=repr,
)
def test_counts_that_a_kernel_cannot_transform_are_refused(kernel, message):
    X = TREES if isinstance(kernel, Subpath) else TEXTS
    for use in (kernel.check, lambda: kernel(X), lambda: treille.SVC(kernel).fit(X, np.arange(len(X)) % 2)):
        with pytest.raises(InputError, match=message):
            use()


@pytest.mark.parametrize("kernel", [NGram(1, counts="log"), Wildcard(1, m=0, counts="binary")], ids=repr)
def test_weights_below_zero_are_refused(kernel):
    arc = Fst.from_arcs([(0, "a", "a", -0.5, 1)], {1: 1.0})
    final = Fst.from_arcs([(0, "a", "a", 0.5, 1)], {1: -1.0})
    fine = Fst.from_arcs([(0, "a", "a", 0.5, 1)], {1: 1.0})
    for machine in (arc, final):
        batch = Lattices([fine, machine], normalize=False)
        message = "item 1 has the weight -.*: counts='(log|binary)' needs weights of 0 or more"
        with pytest.raises(InputError, match=message):
            kernel.fit_features(batch)
        features, _ = kernel.fit_features(Lattices([fine], normalize=False))
        with pytest.raises(InputError, match=message):
            features.transform(batch)
