"""GappedKmer against its definition: features, buckets, filters."""

from collections import Counter
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import SVC, Features, InputError, Strings
from treille.kernels import GappedKmer, NGram
from treille.solvers import DualCD
from treille.testing import check_kernel
from twins import cosine

DNA = ["ACGTACGTAC", "", "AC", "TTTTACGNTTACG", "GATTACA", "GATTACAGATTACA", "CCCCCCCC", "NNNN"]
FLIP = str.maketrans("ACGTacgt", "TGCAtgca")


def windows(x, length, skip=""):
    found = [list(x[i : i + length]) for i in range(len(x) - length + 1)]
    return [w for w in found if not set(w) & set(skip)]


def mismatches(a, b):
    return sum(p != q for p, q in zip(a, b, strict=True))


def gapped_kernel(length, k, skip="", both=False):
    """The features themselves: (places, symbols there)."""

    def features(x):
        phi = Counter()
        for strand in (x, x[::-1].translate(FLIP)) if both else (x,):
            for w in windows(strand, length, skip):
                phi.update((places, tuple(w[p] for p in places)) for places in combinations(range(length), k))
        return phi

    def kernel(x, y):
        phi, psi = features(x), features(y)
        return sum(value * psi[z] for z, value in phi.items())

    return kernel


def projection(length, k, alphabet):
    """The orthogonal projection of functions on words onto sums of functions of k positions, as a matrix."""
    words = list(product(alphabet, repeat=length))
    indicators = np.array(
        [
            [all(w[p] == s for p, s in zip(places, symbols, strict=True)) for w in words]
            for places in combinations(range(length), k)
            for symbols in product(alphabet, repeat=k)
        ],
        dtype=float,
    )
    return words, np.linalg.pinv(indicators) @ indicators


@pytest.mark.parametrize(("length", "k"), [(1, 1), (3, 3), (4, 2), (5, 3), (6, 1)])
def test_the_battery_passes(length, k):
    check_kernel(GappedKmer(length, k), DNA, gapped_kernel(length, k))
    check_kernel(GappedKmer(length, k, "ACGT", skip="N"), DNA, gapped_kernel(length, k, "N"))
    both = gapped_kernel(length, k, "N", both=True)
    check_kernel(GappedKmer(length, k, skip="N", reverse_complement=True).normalized(), DNA, cosine(both))


def test_patterns_too_many_for_a_table_obey_the_laws_too():
    texts = ["to be or not to be", "", "be", "not two bees", "or not to be, \U0001f600", "TO BE OR NOT"]
    check_kernel(GappedKmer(6, 5), [*texts, "".join(map(chr, range(300)))], gapped_kernel(6, 5))
    check_kernel(GappedKmer(3, 2, unit="word"), texts, gapped_kernel(3, 2))
    check_kernel(GappedKmer(3, 2), [np.arange(3000), np.arange(9), np.arange(9)[::-1]], gapped_kernel(3, 2))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text("ACGTN", max_size=14), min_size=2, max_size=5), st.integers(1, 6), st.booleans(), st.data())
def test_random_strings_give_the_twins_values(texts, length, both, data):
    k = data.draw(st.integers(1, length))
    slow = gapped_kernel(length, k, "N", both)
    kernel = GappedKmer(length, k, "ACGT", "N", both)
    expected = [[slow(x, y) for y in texts] for x in texts]
    assert np.array_equal(kernel(texts), expected)
    assert np.array_equal(kernel(texts[1:], texts), expected[1:])
    assert np.array_equal(kernel.diag(texts), np.diagonal(expected))
    phi = Features(kernel).fit_transform(texts)
    np.testing.assert_allclose(
        (phi @ phi.T).toarray(), expected, rtol=1e-12
    )  # values of both strands have the factor sqrt(2)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_many_and_repetitive_sequences_are_exact(n_jobs):
    """Windows that stand more than 255 times in a sequence, and sums beyond 32 bits."""
    rng = np.random.default_rng(0)
    texts = ["A" * 700, "AC" * 400, "".join(rng.choice(list("ACGT"), 500)), "A" * 20_000]
    K = GappedKmer(6, 3)(texts, n_jobs=n_jobs)
    phi = Features(GappedKmer(6, 3)).fit_transform(texts)
    assert np.array_equal(K, (phi @ phi.T).toarray())
    assert K[0, 3] == comb(6, 3) * 695 * 19_995
    assert K[3, 3] == comb(6, 3) * 19_995**2
    assert np.array_equal(GappedKmer(6, 3)(texts[:2], texts, n_jobs=n_jobs), K[:2])


def test_all_positions_are_n_grams():
    assert np.array_equal(GappedKmer(4, 4)(DNA), NGram(4)(DNA))


@pytest.mark.parametrize("both", [False, True])
def test_a_strand_and_its_reverse_complement_are_one(both):
    flipped = [x[::-1].translate(FLIP) for x in DNA]
    kernel = GappedKmer(4, 3, "ACGT", "N", reverse_complement=both)
    assert np.array_equal(kernel(DNA, flipped), kernel(DNA)) == both


@pytest.mark.parametrize("alphabet", ["ab", "abc"])
@pytest.mark.parametrize(("length", "k"), [(1, 1), (3, 1), (4, 2), (4, 3), (3, 3)])
def test_the_full_filter_is_the_projection_on_functions_of_k_positions(length, k, alphabet):
    words, P = projection(length, k, alphabet)
    kernel = GappedKmer(length, k, alphabet, filter="full")
    np.testing.assert_allclose(kernel(["".join(w) for w in words]), P, atol=1e-12)


@pytest.mark.parametrize("filter", ["full", "truncated"])
@pytest.mark.parametrize("both", [False, True])
def test_filters_weigh_pairs_of_windows_by_their_mismatches(filter, both):
    kernel = GappedKmer(5, 3, "ACGT", "N", both, filter)
    c = kernel.mismatch_values()
    assert not kernel.has_features
    assert c[0] > 0
    assert filter == "full" or (c >= 0).all()

    def slow(x, y):
        pairs = product(
            *([w for s in (z, z[::-1].translate(FLIP))[: 1 + both] for w in windows(s, 5, "N")] for z in (x, y))
        )
        return sum(c[mismatches(a, b)] for a, b in pairs)

    check_kernel(kernel, DNA, slow)
    expected = np.array([[slow(x, y) for y in DNA] for x in DNA])
    for threads in (1, 2):
        np.testing.assert_allclose(kernel(DNA, n_jobs=threads), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(kernel(DNA[2:], DNA, n_jobs=threads), expected[2:], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(DNA), expected.diagonal(), rtol=1e-12)


def test_truncated_is_the_correlation_of_the_positive_head_of_the_filter():
    truncated = GappedKmer(10, 6, "ACGT", filter="truncated").mismatch_values()
    np.testing.assert_allclose(truncated[:4], [0.169598, 0.055735, 0.01495, 0.002779], atol=5e-7)  # LS-GKM's, -t 2
    words = ["".join(word) for word in product("abc", repeat=4)]
    head = GappedKmer(4, 2, "abc", filter="full").mismatch_values()
    head[int(np.argmax(head <= 0)) :] = 0
    filtered = np.array([[head[mismatches(x, y)] for y in words] for x in words])
    np.testing.assert_allclose(GappedKmer(4, 2, "abc", filter="truncated")(words), filtered @ filtered, atol=1e-12)


@pytest.mark.parametrize("filter", ["count", "full", "truncated"])
@pytest.mark.parametrize("bound", [0, 1, 2, 5])
def test_pairs_with_more_mismatches_than_the_bound_count_nothing(filter, bound):
    kernel = GappedKmer(5, 3, "ACGT", "N", filter=filter, max_mismatches=bound)
    c = GappedKmer(5, 3, "ACGT", "N", filter=filter).mismatch_values()
    c[bound + 1 :] = 0
    assert kernel.has_features == (filter == "count" and bound >= 2)
    expected = [
        [sum(c[mismatches(a, b)] for a, b in product(windows(x, 5, "N"), windows(y, 5, "N"))) for y in DNA] for x in DNA
    ]
    np.testing.assert_allclose(kernel(DNA), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(DNA), np.diag(expected), rtol=1e-12)


def test_names_show_free_positions_as_dots():
    assert sorted(Features(GappedKmer(3, 2)).fit(["CAT"]).get_feature_names_out()) == [".AT", "C.T", "CA."]


def test_a_model_is_saved_and_read_back(tmp_path):
    model = treille.SVC(GappedKmer(4, 2, skip="N").normalized()).fit(DNA, [0, 1, 0, 1, 0, 1, 0, 1])
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    new = [*DNA, "ACXTGATXX"]
    assert np.array_equal(again.decision_function(new), model.decision_function(new))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"length": 0}, "length is 0, expected a whole number of at least 1"),
        ({"k": 2.5}, "k is 2.5, expected a whole number"),
        ({"length": 3, "k": 4}, "k is 4, more than length, which is 3"),
        ({"length": 100, "k": 50}, "choices of positions, expected at most 100,000"),
        ({"length": 32768, "k": 32767}, "more than 10,000,000 positions in all choices"),
        ({"filter": "half"}, "filter is 'half', expected 'count', 'full' or 'truncated'"),
        ({"filter": "full"}, "filter='full' depends on the number of symbols: declare them"),
        ({"alphabet": "ACGTN", "skip": "N"}, "the symbol 'N' is both in alphabet and in skip"),
        ({"alphabet": "ACGTN", "reverse_complement": True}, "the alphabet contains 'N' without its complement"),
        ({"alphabet": "ACG", "reverse_complement": True}, "the alphabet contains 'A' without its complement"),
        ({"reverse_complement": "yes"}, "reverse_complement is 'yes', expected True or False"),
        ({"alphabet": 4}, "alphabet is 4, expected a string"),
        ({"max_mismatches": -1}, "max_mismatches is -1, expected a whole number of at least 0"),
        ({"skip": 4}, "skip is 4, expected a string"),
        ({"length": 300, "k": 1, "alphabet": "ACGT", "filter": "full"}, "length is 300, expected at most 255"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    kernel = GappedKmer(**params)
    for use in (kernel, kernel.diag):
        with pytest.raises(InputError, match=message):
            use(["ACCA"])


def test_a_symbol_outside_the_alphabet_is_named_with_its_place():
    kernel = GappedKmer(3, 2, "ACGT", skip="N")
    with pytest.raises(InputError, match="item 2: the symbol 'x' at position 1 is not in the alphabet 'ACGT'"):
        kernel(["ACN", "", "AxT"])
    with pytest.raises(InputError, match="item 0: the symbol 'a' at position 3"):
        GappedKmer(3, 2, reverse_complement=True)(Strings(["ACGa"]))


@pytest.mark.parametrize("cells", [np.ones((1, 3)), np.zeros((1, 3)), np.array([[1, 9, 0]]), np.ones((1, 2))], ids=str)
def test_patterns_that_do_not_fit_the_kernel_are_refused(cells):
    with pytest.raises(InputError, match="the patterns in the file do not fit its kernel"):
        GappedKmer(3, 2).load_features({"alphabet": ["A", "C"], "unit": "char"}, {"patterns": cells.astype(np.int32)})


def test_many_patterns_of_few_sequences_are_trained_by_kernel_values():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 40)) for _ in range(60)]
    kernel, labels = GappedKmer(10, 4).normalized(), np.arange(60) % 2
    by_values = SVC(kernel, tol=1e-8).fit(texts, labels)
    assert by_values.plan_.space.name == "gram"
    assert (
        by_values.plan_.space_why
        == "because kernel values cost less than the explicit features of GappedKmer for these examples"
    )
    by_rows = SVC(kernel, tol=1e-8, solver=DualCD()).fit(texts, labels)
    assert by_rows.plan_.space.name == "rows"
    assert np.allclose(by_values.decision_function(texts), by_rows.decision_function(texts), atol=1e-5)
    assert SVC(GappedKmer(6, 4).normalized()).fit(texts, labels).plan_.space.name == "rows"
    many = GappedKmer(10, 4).batch(texts * 40)
    assert GappedKmer(10, 4).prefers_features(many)


def test_a_pattern_and_its_reverse_complement_are_one_feature():
    kernel, texts = GappedKmer(4, 2, reverse_complement=True), ["ACGTTGCA", "GATTACAGA", "TCTGTAATC"]
    features = Features(kernel).fit(texts)
    names = set(features.get_feature_names_out())
    complement = str.maketrans("ACGT", "TGCA")
    turned = {name[::-1].translate(complement) for name in names}
    assert all(name == name[::-1].translate(complement) for name in names & turned)  # patterns that are their own
    phi = features.transform(texts)
    assert np.allclose((phi @ phi.T).toarray(), kernel(texts))
    assert np.array_equal(phi[1].toarray(), phi[2].toarray())
