"""Contributions of parts compared with sums over all occurrences of every feature."""

from collections import Counter, defaultdict
from itertools import combinations, product
from math import factorial, log1p, prod, sqrt

import numpy as np
import pytest

from lattice_twins import DIAMONDS
from treille import Fst, Lattices, Strings
from treille.data import Graph
from treille.kernels import (
    Columns,
    Conjunctions,
    GappedKmer,
    Gappy,
    Linear,
    Mismatch,
    NGram,
    NodeAttributes,
    Polynomial,
    Rational,
    Walks,
    WeisfeilerLehman,
    Wildcard,
)

RANDOM = np.random.default_rng(0)


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)


def contributions(kernel, X, fitted_on=None):
    """Features, weights of two functions, and the contributions: one array for each example, and the base."""
    batch = kernel.batch(X)
    features, _ = kernel.fit_features(batch if fitted_on is None else kernel.batch(fitted_on))
    weights = RANDOM.normal(size=(features.n_features, 2))
    found = features.contributions(batch, weights)
    assert_close(found.sums(), features.transform(batch).matvec(weights))
    each = [np.split(values, part.part_offsets[1:-1]) for part, values in found.shares.values()]
    assert len(each) == 1
    return features, weights, each[0], found.base


# Sequences


@pytest.mark.parametrize("counts", ["raw", "log", "binary"])
@pytest.mark.parametrize("both", [False, True], ids=["one strand", "both strands"])
def test_a_gapped_kmer_is_shared_by_the_symbols_it_fixes(both, counts):
    texts = ["ACGTTGCAAC", "", "ACNTTGACGT", "GGA", "TTGCATT"]
    kernel = GappedKmer(4, 2, alphabet="ACGT", skip="N", reverse_complement=both, counts=counts)
    features, weights, found, _ = contributions(kernel, texts * 20, texts[:3] * 20)
    ids = {features.name(z): z for z in range(features.n_features)}
    rows = features.transform(kernel.batch(texts)).to_csr().toarray()
    for i, text in enumerate(texts):
        expected, occurrences = np.zeros((len(text), 2)), []
        strands = [(text, range(len(text)))]
        if both:
            complement = text[::-1].translate(str.maketrans("ACGT", "TGCA"))
            strands.append((complement, range(len(text))[::-1]))
        for strand, at in strands:
            for start in range(len(text) - 3):
                window = strand[start : start + 4]
                for fixed in combinations(range(4), 2):
                    z = ids.get("".join(window[j] if j in fixed else "." for j in range(4)))
                    if z is not None and "N" not in window:
                        occurrences.append((z, [at[start + j] for j in fixed]))
        times = Counter(z for z, _ in occurrences)
        for z, covered in occurrences:
            expected[covered] += weights[z] * rows[i, z] / times[z] / 2
        assert_close(found[i], expected)


# Lattices: the expectation over the sequences of all paths.


def lattice(seed, n_states=5, symbols="abc"):
    random, arcs = np.random.default_rng(seed), []
    for s in range(n_states - 1):
        for t in {s + 1, min(s + 2, n_states - 1)}:
            for symbol in random.choice(list(symbols), 2, replace=False):
                arcs.append((s, str(symbol), str(symbol), float(random.uniform(0.1, 1)), t))
        arcs += [(s, "", "", 0.3, s + 1)] * int(random.integers(2))
    return Fst.from_arcs(arcs, {n_states - 1: 1.0, 2: 0.5})


def paths(batch, i):
    """The arcs of every path of lattice i, and its weight."""
    arcs = range(batch.offsets[i], batch.offsets[i + 1])
    finals = batch.finals[batch.states[i] : batch.states[i + 1]]

    def onwards(state, path, weight):
        if finals[state]:
            yield path, weight * finals[state]
        for arc in arcs:
            if batch.sources[arc] == state:
                yield from onwards(batch.targets[arc], [*path, arc], weight * batch.weights[arc])

    return onwards(0, [], 1.0)


def expected_in_paths(features, batch, i, weights):
    """The contributions in the sequence of each path, times the weight of the path, added up by arc; and their base."""
    values, base = np.zeros((int(batch.offsets[-1]), weights.shape[1])), np.zeros(weights.shape[1])
    for path, weight in paths(batch, i):
        read = [arc for arc in path if batch.symbols[arc] >= 0]
        codes = batch.symbols[read].astype(np.int32)
        sequence = Strings.from_arrays(codes, np.array([0, len(codes)]), batch.alphabet, batch.unit)
        found = features.contributions(sequence, weights)
        np.add.at(values, read, weight * found.shares[id(sequence)][1])
        base += weight * found.base[0]
    return values[batch.offsets[i] : batch.offsets[i + 1]], base


def bigrams(symbols):
    skip = [(state, symbol, "", 0.9, state) for state in (0, 2) for symbol in symbols]
    return Fst.from_arcs([*skip, *((k, s, s, 1.5, k + 1) for k in (0, 1) for s in symbols)], {2: 1.0})


DNA = Lattices([lattice(seed, 6, "ACGT") for seed in range(4)])
LATTICES = [
    (kernel, data)
    for data in (
        Lattices([DIAMONDS, *map(lattice, range(4)), ["c", "a"], []]),
        Lattices([DIAMONDS, *map(lattice, range(4))], normalize=False),
    )
    for kernel in (
        NGram(2),
        NGram(3, min_n=1, order_weights=[1.0, 0.5, 2.0]),
        Gappy(2, max_gap=2, decay=0.5),
        Gappy(3, max_gap=1, max_total_gap=1),
        Wildcard(3, 1, decay=0.5),
        Mismatch(2, 1, alphabet="abc"),
        Rational(bigrams("abc")),
        NGram(2).weighted("idf"),
    )
] + [(GappedKmer(3, 2, alphabet="ACGT", reverse_complement=both), DNA) for both in (False, True)]


@pytest.mark.parametrize(("kernel", "batch"), LATTICES, ids=lambda value: repr(value)[:60])
def test_arcs_have_the_expected_shares_of_all_paths(kernel, batch):
    features, weights, found, base = contributions(kernel, batch, batch[::2])
    for i in range(len(batch)):
        expected, expected_base = expected_in_paths(features, batch, i, weights)
        assert_close(found[i], expected)
        assert_close(base[i], expected_base)
        assert_close(found[i][batch.symbols[batch.offsets[i] : batch.offsets[i + 1]] < 0], 0)


@pytest.mark.parametrize("counts", ["log", "binary"])
@pytest.mark.parametrize(
    "kernel", [NGram(2, min_n=1), Wildcard(2, 1, decay=0.5), Gappy(2, max_gap=1, decay=1.0)], ids=repr
)
def test_occurrences_in_lattices_share_the_value_of_their_feature(kernel, counts):
    batch = Lattices([DIAMONDS, *map(lattice, range(4))])
    features, weights, found, _ = contributions(type(kernel)(**kernel.get_params() | {"counts": counts}), batch)
    raw, rows = kernel.fit_features(batch)
    assert [raw.name(z) for z in range(raw.n_features)] == [features.name(z) for z in range(features.n_features)]
    values = features.transform(batch).to_csr().toarray()
    sums = rows.to_csr().toarray()
    for i in range(len(batch)):
        slope = np.divide(values[i], sums[i], out=np.zeros_like(sums[i]), where=sums[i] != 0)
        assert_close(found[i], expected_in_paths(raw, batch, i, slope[:, None] * weights)[0])
    if counts == "log" and isinstance(kernel, NGram):
        assert_close(values, np.vectorize(log1p)(sums))


def test_weights_that_no_double_multiplies_are_shared_too():
    arcs = [(k, "a", "a", 1e-200 if k < 4 else 1e200, k + 1) for k in range(8)]
    batch = Lattices([Fst.from_arcs(arcs, {8: 1.0})], normalize=False)
    for kernel in (NGram(8), Rational(bigrams("a"))):
        _, _, found, _ = contributions(kernel, batch)
        assert (found[0] != 0).all()


def test_arcs_are_named_by_their_states_and_symbol():
    names = Lattices([DIAMONDS]).part_names(0)
    assert sorted(names) == ["0→1 a", "0→1 b", "1→2 <eps>", "1→2 a", "2→3 b"]


# Products: every tuple of features, each of which has the same share for its occurrences.


def places(gram, text):
    return [range(s, s + len(gram)) for s in range(len(text) - len(gram) + 1) if text[s : s + len(gram)] == gram]


def shared(features, weights, text, value_of):
    """Each product by the names of its factors: an equal share for each factor, equally for its occurrences and their symbols."""
    values = np.zeros((len(text), 2))
    for z in range(features.n_features):
        grams = features.name(z).split(", ")
        each = [places(gram, text) for gram in grams]
        value = value_of(grams, [len(found) for found in each])
        for found in each:
            for symbols in found:
                values[symbols] += weights[z] * value / len(each) / len(found) / len(symbols)
    return values


def test_a_product_of_two_kernels_is_shared_by_pairs():
    texts = ["abab", "ba", "", "aabb"]
    features, weights, found, _ = contributions(NGram(2) * NGram(1), texts, texts[:2])
    for text, values in zip(texts, found, strict=True):
        pairs = np.zeros((len(text), 2))
        for z, (left, right) in enumerate(features.name(z).split(", ") for z in range(features.n_features)):
            for one, other in product(places(left, text), places(right, text)):
                pairs[one] += weights[z] / 2 / len(left)
                pairs[other] += weights[z] / 2 / len(right)
        assert_close(values, pairs)
        assert_close(values, shared(features, weights, text, lambda _, counts: prod(counts)))


def test_a_power_is_shared_among_its_factors():
    texts = ["abca", "ba", "", "ccb"]
    features, weights, found, _ = contributions(NGram(1) ** 3, texts)

    def value(grams, counts):
        return sqrt(factorial(3) / prod(map(factorial, Counter(grams).values()))) * prod(counts)

    for text, values in zip(texts, found, strict=True):
        assert_close(values, shared(features, weights, text, value))


def test_factors_of_factors_have_equal_shares_and_constants_none():
    texts = ["ab", "ba b", "c"]
    for kernel in (NGram(1) * NGram(1) * NGram(1), NGram(1) * (NGram(1) * NGram(1))):
        features, weights, found, _ = contributions(kernel, texts)
        for text, values in zip(texts, found, strict=True):
            assert_close(values, shared(features, weights, text, lambda _, counts: prod(counts)))
    features, weights, found, base = contributions((1 + NGram(1)) ** 2, ["ab"])
    names = [tuple(part[-1] for part in features.name(z).split(", ")) for z in range(features.n_features)]
    of = dict(zip(names, weights, strict=True))  # t is the end of "constant"
    assert_close(base[0], of["t", "t"])
    assert_close(found[0][0], sqrt(2) * of["t", "a"] + of["a", "a"] + of["a", "b"] / sqrt(2))
    assert_close(found[0][1], sqrt(2) * of["t", "b"] + of["b", "b"] + of["a", "b"] / sqrt(2))


@pytest.mark.parametrize(
    "kernel",
    [
        ((NGram(1) + NGram(1, unit="word")) ** 2).normalized(),
        NGram(1).centered() * NGram(2),
        (NGram(1) * NGram(1, unit="word")).centered(),
        NGram(1).weighted("idf").normalized() ** 2,
        Columns({"a": NGram(1) * NGram(2), "b": NGram(1) ** 2}),
    ],
    ids=repr,
)
def test_contributions_in_many_examples_are_those_in_each(kernel):
    texts = ["ab a", "", "bb c", "ca"]
    batch = kernel.batch({"a": texts, "b": texts[::-1]} if isinstance(kernel, Columns) else texts)
    features, _ = kernel.fit_features(batch[:3])
    weights = RANDOM.normal(size=(features.n_features, 2))
    found = features.contributions(batch, weights)
    assert_close(found.sums(), features.transform(batch).matvec(weights))
    for i in range(len(batch)):
        one = features.contributions(batch[i : i + 1], weights)
        assert_close(one.base[0], found.base[i])
        for (part, values), (_, own) in zip(found.shares.values(), one.shares.values(), strict=False):
            assert_close(values[part.part_offsets[i] : part.part_offsets[i + 1]], own)


# Rows of numbers


@pytest.mark.parametrize(
    "kernel", [Conjunctions(3), Conjunctions(2, min_support=2, coef0=0.5), Polynomial(3)], ids=repr
)
def test_a_conjunction_is_shared_by_its_columns(kernel):
    rows = (RANDOM.random((8, 5)) < 0.6).astype(float)
    assert_products_are_shared(kernel, rows, " & ")


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3, coef0=0), Linear() ** 2], ids=repr)
def test_a_product_of_columns_is_shared_by_its_columns(kernel):
    rows = RANDOM.normal(size=(6, 4)) * (RANDOM.random((6, 4)) < 0.7)
    assert_products_are_shared(kernel, rows, ", " if isinstance(kernel, type(Linear() ** 2)) else " * ")


def test_numbers_are_shared_by_features_of_binary_rows():
    kernel, rows = Polynomial(2), (RANDOM.random((8, 4)) < 0.6).astype(float)
    assert_products_are_shared(kernel, RANDOM.normal(size=(3, 4)), " & ", rows)


def assert_products_are_shared(kernel, rows, between, fitted_on=None):
    features, weights, found, base = contributions(kernel, rows, fitted_on)
    values = features.transform(kernel.batch(rows)).to_csr().toarray()
    for i, row in enumerate(rows):
        by_column, rest = defaultdict(lambda: np.zeros(2)), np.zeros(2)
        for z, value in enumerate(values[i]):
            name = features.name(z)
            if name == "constant":
                rest += value * weights[z]
                continue
            columns = name.split(between)
            for column in columns:
                by_column[int(column[1:])] += value * weights[z] / len(columns)
        assert_close(found[i], [by_column[j] for j in np.flatnonzero(row)] or np.zeros((0, 2)))
        assert_close(base[i], rest)


# Graphs

GRAPHS = [
    Graph(list("COHC"), [(0, 1), (1, 2), (1, 3), (0, 3)], attributes=RANDOM.normal(size=(4, 2))),
    Graph(list("CO"), [(0, 1)], attributes=RANDOM.normal(size=(2, 2))),
    Graph(list("H"), [], attributes=RANDOM.normal(size=(1, 2))),
    Graph(list("CCO"), [(0, 1), (1, 2)], attributes=RANDOM.normal(size=(3, 2))),
]
WEIGHTED = [
    Graph(list("COC"), [(0, 1), (1, 2), (1, 0)], ["x", "y", "x"], [0.5, 2.0, 3.0], directed=True),
    Graph(list("OC"), [(1, 0)], ["x"], [0.25], directed=True),
]


def walks(graph, k):
    """The visits of every walk of k steps: nodes and edges; labels, and the product of the weights."""
    n = graph.n_nodes
    steps = defaultdict(list)
    for e, (u, v) in enumerate(graph.edges):
        label = "" if graph.edge_labels is None else graph.edge_labels[e]
        weight = 1.0 if graph.weights is None else graph.weights[e]
        steps[u].append((v, n + e, label, weight))
        if not graph.directed and u != v:
            steps[v].append((u, n + e, label, weight))

    def onwards(visits, labels, weight):
        if len(visits) == 2 * k + 1:
            yield visits, labels, weight
            return
        for v, edge, label, more in steps[visits[-1]]:
            yield from onwards([*visits, edge, v], [*labels, label, graph.nodes[v]], weight * more)

    for v in range(n):
        yield from onwards([v], [graph.nodes[v]], 1.0)


def walk_name(labels, directed):
    arrow = ">" if directed else "-"
    if not any(labels[1::2]):
        return arrow.join(labels[::2])
    edges = (f" -{edge}{arrow} {node}" for edge, node in zip(labels[1::2], labels[2::2], strict=True))
    return labels[0] + "".join(edges)


@pytest.mark.parametrize(
    "kernel", [Walks(2), Walks(3, min_k=0), Walks(2, counts="log"), Walks(2, min_k=1, counts="binary")], ids=repr
)
@pytest.mark.parametrize("graphs", [GRAPHS, WEIGHTED], ids=["undirected", "directed, with weights"])
def test_a_walk_is_shared_by_its_visits(kernel, graphs):
    if kernel.counts != "raw" and graphs is WEIGHTED:
        graphs = [Graph(g.nodes, g.edges, g.edge_labels, directed=True) for g in graphs]
    features, weights, found, _ = contributions(kernel, graphs, graphs[::2] if len(graphs) > 2 else graphs)
    ids = {features.name(z): z for z in range(features.n_features)}
    rows = features.transform(kernel.batch(graphs)).to_csr().toarray()
    for i, graph in enumerate(kernel.batch(graphs)):  # with its edges in order
        values, totals, all_walks = np.zeros_like(found[i]), Counter(), []
        for k in range(kernel.k if kernel.min_k is None else kernel.min_k, kernel.k + 1):
            for visits, labels, weight in walks(graph, k):
                z = ids.get(walk_name(labels, graph.directed))
                if z is not None:
                    totals[z] += weight
                    all_walks.append((visits, z, weight))
        for visits, z, weight in all_walks:
            np.add.at(values, visits, weights[z] * weight * rows[i, z] / totals[z] / len(visits))
        assert_close(found[i], values)


def test_attributes_are_those_of_their_node():
    for kernel in (NodeAttributes(), NodeAttributes(labels="none", mean=True)):
        features, weights, found, _ = contributions(kernel, GRAPHS, GRAPHS[::2])
        ids = {features.name(z): z for z in range(features.n_features)}
        for graph, values in zip(GRAPHS, found, strict=True):
            expected = np.zeros_like(values)
            for v, d in product(range(graph.n_nodes), range(2)):
                z = ids.get(f"{graph.nodes[v]} {d}" if kernel.labels == "nodes" else f"{d}")
                if z is not None:
                    expected[v] += weights[z] * graph.attributes[v][d] / (graph.n_nodes if kernel.mean else 1)
            assert_close(values, expected)


def test_products_of_graph_kernels_share_by_factor():
    left, right = WeisfeilerLehman(1), Walks(1)
    features, weights, found, _ = contributions(left * right, GRAPHS)
    batch = left.batch(GRAPHS)
    maps = features.maps
    rows = [each.transform(batch).to_csr().toarray() for each in maps]
    expected = 0
    for z, pair in enumerate(features.tuples.tolist()):
        for own, other in ((0, 1), (1, 0)):
            unit = np.zeros((maps[own].n_features, 1))
            unit[pair[own]] = 1.0
            values = maps[own].contributions(batch, unit)
            [(part, values)] = values.shares.values()
            sizes = np.diff(part.part_offsets)
            expected = expected + values / 2 * np.repeat(rows[other][:, pair[other]], sizes)[:, None] * weights[z]
    assert_close(np.concatenate(found), expected)


# Transducers

ARCS = [
    *((state, symbol, "", 0.9, state) for state in (0, 3) for symbol in "abc"),
    *((0, symbol, symbol, 1.5, 1) for symbol in "ab"),
    (1, "b", "c", 0.5, 3),
    (1, "", "b", 0.25, 2),
    (2, "c", "", 2.0, 3),
    (2, "c", "a", 2.0, 3),
    (0, "", "c", 0.125, 3),
]


def ways(text):
    """Every way of reading a text: what it writes, its weight, and the positions that it reads while writing."""

    def onwards(state, place, written, weight, covered):
        if state == 3 and place == len(text):
            yield "".join(written), weight, covered
        for source, read, write, more, target in ARCS:
            if source != state or (read and (place == len(text) or text[place] != read)):
                continue
            own = [*covered, place] if read and write else covered
            yield from onwards(target, place + len(read), [*written, write], weight * more, own)

    return onwards(0, 0, [], 1.0, [])


def test_symbols_that_a_transducer_rewrites_share_the_weight_of_the_way():
    texts = ["abc", "", "ac", "bcab", "c", "abab"]
    features, weights, found, base = contributions(Rational(Fst.from_arcs(ARCS, {3: 1.0})), texts, texts[::2])
    ids = {features.name(z): z for z in range(features.n_features)}
    for text, values, rest in zip(texts, found, base, strict=True):
        expected, without = np.zeros((len(text), 2)), np.zeros(2)
        for written, weight, covered in ways(text):
            z = ids.get(written)
            if z is None:
                continue
            if covered:
                expected[covered] += weight * weights[z] / len(covered)
            else:
                without += weight * weights[z]
        assert_close(values, expected)
        assert_close(rest, without)
