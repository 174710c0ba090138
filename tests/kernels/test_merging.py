"""Maps of features fitted on parts with different alphabets, and merged: for every kernel with features."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from graph_twins import random_graphs

import treille.kernels
from treille import Fst, InputError, Strings
from treille.data import Graph, Graphs
from treille.features import DependentFeaturesError, MergingMap
from treille.features.abilities import having
from treille.kernels import (
    Columns,
    Conjunctions,
    Constant,
    EdgeHistogram,
    GappedKmer,
    Gappy,
    Graphlets,
    Kernel,
    Linear,
    Mismatch,
    NGram,
    NodeAttributes,
    Polynomial,
    Rational,
    RootPaths,
    ShortestPath,
    Subpath,
    SubTree,
    VertexHistogram,
    Walks,
    WeightedDegree,
    WeisfeilerLehman,
    Wildcard,
)

TEXTS = [["abab", "cb"], ["", "dd"], ["bca", "ea", "ab"]]
WORDS = [["to be or", "be"], [""], ["or not to be", "not"]]
DNA = [["ACGTA", "CCGT"], ["GGAT"], ["TTTT", "ACGA"]]
TREES = [["(S (NP he) (VP sat))"], ["(x)", "(S (NP it) (VP (V ate) (NP he)))"], ["(NP he)", "(S (VP sat) (NP he))"]]
ONES = [[{"a": 1, "c": 1}], [{"b": 1, "c": 1, "d": 1}, {}], [{"a": 1, "d": 1, "e": 1}, {"b": 1}]]
NUMBERS = [[{"a": 2.0, "c": 1.0}], [{"b": 0.5, "c": 1.0, "d": -1.0}, {}], [{"a": 1.0, "d": 3.0}, {"e": 1.5}]]
DENSE = [[[1.0, 0.5, 0.0]], [[0.0, 0.0, 2.0]], [[1.0, 1.5, 1.0], [0.0, 0.0, 0.0]]]


def packed_graphs(directed=False):
    graphs = random_graphs(9, directed=directed)
    renamed = [graph._replace(nodes=[{"a": "z"}.get(label, label) for label in graph.nodes]) for graph in graphs[3:6]]
    return [graphs[:3], renamed, [Graph([], [], [], directed=directed), *graphs[6:]]]


def with_attributes(parts):
    draw = np.random.default_rng(1).normal
    return [[graph._replace(attributes=draw(size=(graph.n_nodes, 2)).tolist()) for graph in part] for part in parts]


GRAPHS = packed_graphs()
ATTRIBUTED = with_attributes(GRAPHS)
BIGRAMS = Fst.from_arcs(
    [
        *((state, symbol, "", 1.0, state) for state in (0, 2) for symbol in "abcde"),
        *((k, symbol, symbol, 1.0, k + 1) for k in (0, 1) for symbol in "abcde"),
    ],
    {2: 1.0},
)

CASES = [
    (NGram(2), TEXTS),
    (NGram(3, min_n=1, counts="log"), TEXTS),
    (NGram(1, unit="word"), WORDS),
    (Gappy(2, max_gap=1), TEXTS),
    (Wildcard(2, 1), TEXTS),
    (GappedKmer(3, 2), TEXTS),
    (Mismatch(2, 1, alphabet="ACGT"), DNA),
    (WeightedDegree(3), TEXTS),
    (Rational(BIGRAMS), TEXTS),
    (SubTree(), TREES),
    (SubTree(leaves=True, counts="log"), TREES),
    (RootPaths(decay=0.5), TREES),
    (VertexHistogram(), GRAPHS),
    (EdgeHistogram(ends=True), GRAPHS),
    (ShortestPath(), GRAPHS),
    (Graphlets(3), GRAPHS),
    *((Walks(2, min_k=1, labels=labels), GRAPHS) for labels in ("all", "nodes", "edges", "none")),
    (Walks(2), packed_graphs(directed=True)),
    (NodeAttributes(), ATTRIBUTED),
    (NodeAttributes(labels="none", mean=True), ATTRIBUTED),
    (WeisfeilerLehman(2), GRAPHS),
    *(
        (WeisfeilerLehman(1, base=base), GRAPHS)
        for base in (
            EdgeHistogram(ends=True),
            ShortestPath().normalized(),
            WeisfeilerLehman(1),
            WeisfeilerLehman(1, base=VertexHistogram()),
            Walks(1),
            Graphlets(3) + 0.5 * VertexHistogram(),
            VertexHistogram() * EdgeHistogram(),
        )
    ),
    (WeisfeilerLehman(1, base=NodeAttributes()), ATTRIBUTED),
    (Linear(), NUMBERS),
    (Linear(), DENSE),
    (Polynomial(2), NUMBERS),
    (Polynomial(3, coef0=0.0), NUMBERS),
    (Polynomial(2), DENSE),
    (Polynomial(3), ONES),
    (Conjunctions(3), ONES),
    (Conjunctions(2, coef0=0.0), ONES),
    ((1 + Linear()) ** 2, [*ONES, *NUMBERS]),
    (NGram(1) * NGram(2), TEXTS),
    (NGram(1) ** 3, TEXTS),
    ((1 + NGram(1)) ** 2, TEXTS),
    ((NGram(1) * NGram(2) + 2.0 * NGram(1)).normalized(), TEXTS),
    (NGram(2, min_n=1).balanced(), TEXTS),
    (NGram(1) + NGram(1, unit="word"), WORDS),
    (
        Columns({"text": NGram(1).normalized(), "tree": SubTree() ** 2}),
        [{"text": a[:1], "tree": b[:1]} for a, b in zip(TEXTS, TREES, strict=True)],
    ),
]
WITHOUT = {"CallableKernel", "Precomputed", "AllSubstrings", "PartialTree", "RandomWalk", "Subsequence", "SubsetTree"}
DEPENDENT = {"Subpath", "Weighted", "Centered"}


def parts_of(kernel):
    inner = [v for value in vars(kernel).values() for v in (value.values() if isinstance(value, dict) else (value,))]
    return {type(kernel).__name__}.union(*(parts_of(each) for each in inner if isinstance(each, Kernel)))


def test_every_kernel_with_features_is_tried():
    tried = set().union(*(parts_of(kernel) for kernel, _ in CASES))
    assert tried == {*treille.kernels.__all__} - WITHOUT - DEPENDENT - {"Kernel", "Reads"}


def joined(parts):
    if isinstance(parts[0], dict):
        return {name: [x for part in parts for x in part[name]] for name in parts[0]}
    return [x for part in parts for x in part]


def fitted(kernel, X):
    batch = kernel.batch(X)
    return kernel.fit_features(batch)[0], batch


def names(features):
    return [features.name(id) for id in range(features.n_features)]


def columns(features, batch):
    """The names and values of the features, whatever their numbering."""
    values = features.transform(batch).to_csr().toarray().round(9) + 0.0
    return sorted(zip(names(features), values.T.tolist(), strict=True))


def ids_of_parts(maps):
    """The maps merged one after the other, and the ids of the features of each in the result."""
    both, ids = maps[0], [np.arange(maps[0].n_features)]
    for each in maps[1:]:
        both, mine, theirs = both.merge(each)
        ids = [*(mine[own] for own in ids), theirs]
    return both, ids


@pytest.mark.parametrize(("kernel", "parts"), CASES, ids=lambda v: repr(v) if isinstance(v, Kernel) else "")
def test_parts_with_different_alphabets_merge_to_all(kernel, parts):
    nothing = {name: [] for name in parts[0]} if isinstance(parts[0], dict) else []
    whole, everything = fitted(kernel, joined(parts))
    for order in list(permutations([*parts[:3], nothing]))[::5]:
        maps, batches = zip(*(fitted(kernel, part) for part in [*order, *parts[3:]]), strict=True)
        last = (*maps[:-2], maps[-2].merge(maps[-1])[0])
        for grouped in (last, maps):
            both, ids = ids_of_parts(grouped)
            assert columns(both, everything) == columns(whole, everything)
            assert both.transform(everything).diag() == pytest.approx(whole.transform(everything).diag())
            for features, own in zip(grouped, ids, strict=True):
                assert [both.name(int(id)) for id in own] == names(features)
        for batch, features, own in zip(batches, maps, ids, strict=True):
            rows = np.zeros((len(batch), both.n_features))
            rows[:, own] = features.transform(batch).to_csr().toarray()
            assert both.transform(batch).to_csr().toarray() == pytest.approx(rows)


@pytest.mark.parametrize(("kernel", "parts"), CASES, ids=lambda v: repr(v) if isinstance(v, Kernel) else "")
def test_merged_maps_are_restricted_pickled_and_read_back(kernel, parts):
    both, _ = ids_of_parts([fitted(kernel, part)[0] for part in parts])
    everything = kernel.batch(joined(parts))
    some = both.restrict(both.ids_for_norms(np.arange(both.n_features)[1::2]))
    for features in (both, some):
        for again in (pickle.loads(pickle.dumps(features)), kernel.load_features(*features.state())):
            assert names(again) == names(features)
            assert columns(again, everything) == columns(features, everything)


@pytest.mark.parametrize(("kernel", "parts"), CASES, ids=lambda v: repr(v) if isinstance(v, Kernel) else "")
def test_restricted_maps_merge_to_the_union_of_their_features(kernel, parts):
    random = np.random.default_rng(0)
    maps = [fitted(kernel, part)[0] for part in parts[:2]]
    some = [each.restrict(each.ids_for_norms(np.flatnonzero(random.random(each.n_features) < 0.5))) for each in maps]
    both, mine, theirs = some[0].merge(some[1])
    assert sorted(names(both)) == sorted({*names(some[0]), *names(some[1])})
    for features, ids in zip(some, (mine, theirs), strict=True):
        assert [both.name(int(id)) for id in ids] == names(features)
    for part in parts[:2]:
        found, of_all = columns(both, kernel.batch(part)), columns(maps[0].merge(maps[1])[0], kernel.batch(part))
        assert [each for each in of_all if each[0] in names(both)] == found


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ((NGram(2), "ab"), (NGram(3), "ab"), r"differ in orders: Orders\(min_n=2.*min_n=3"),
        (
            (NGram(1), "ab"),
            (NGram(1, unit="word"), "ab"),
            "differ in unit: 'char' and 'word': merge features of the same",
        ),
        ((NGram(2), "ab"), (Wildcard(2, 1), "ab"), "differ in kernel: NGramMap and PatternMap"),
        ((Wildcard(2, 1), "ab"), (Wildcard(2, 1, decay=0.5), "ab"), r"differ in kernel: Wildcard\(k=2\) and Wildcard"),
        ((Wildcard(2, 1), "ab"), (Wildcard(2, 1, unit="byte"), "ab"), "differ in kernel|unit"),
        ((SubTree(), "(a b)"), (SubTree(decay=1.0), "(a b)"), r"differ in kernel: SubTree\(decay=0.4\) and SubTree"),
        ((SubTree(), "(a b)"), (RootPaths(), "(a b)"), "differ in kernel: SubTreeMap and RootPathsMap"),
        ((RootPaths(), "(a b)"), (RootPaths(counts="log"), "(a b)"), "differ in kernel"),
        ((Rational(BIGRAMS), "ab"), (Rational(2.0 * BIGRAMS), "ab"), "differ in T"),
        ((Rational(BIGRAMS), "ab"), (Rational(BIGRAMS, unit="word"), "a b"), "differ in unit: 'char' and 'word'"),
        ((NGram(1) ** 2, "ab"), (NGram(1) ** 3, "ab"), r"differ in kernel: NGram\(n=1\) \*\* 2 and"),
        ((Polynomial(2), [1.0, 1.0]), (Polynomial(3), [1.0, 1.0]), r"differ in powers: Powers\(degree=2"),
        ((Polynomial(2), [2.0, 1.0]), (Polynomial(3), [1.0, 1.0]), "differ in kernel"),
        ((Linear(), [2.0, 1.0]), (Linear(), {"a": 1.0}), "some columns have names and others have none"),
        ((Linear(), [2.0, 1.0]), (Linear(), [1.0]), "have 1 columns, expected 2"),
        ((Walks(2), Graph("ab", [(0, 1)])), (Walks(3), Graph("abc", [(0, 1)])), "differ in kernel"),
        ((Walks(1), Graph("ab", [(0, 1)])), (Walks(1), Graph(2, [(0, 1)])), "with and without labels of nodes"),
        ((Walks(1), Graph("ab", [(0, 1)])), (Walks(1), Graph("ab", [(0, 1)], [7])), "with and without labels of edges"),
        (
            (Walks(1), Graph("ab", [(0, 1)])),
            (Walks(1), Graph("ab", [(0, 1)], directed=True)),
            "undirected and of directed",
        ),
        ((Graphlets(3), Graph(3, [])), (Graphlets(4), Graph(3, [])), "differ in kernel"),
        (
            (WeisfeilerLehman(1, base=VertexHistogram()), Graph("ab", [(0, 1)])),
            (WeisfeilerLehman(2, base=VertexHistogram()), Graph("ab", [(0, 1)])),
            "differ in kernel",
        ),
        (
            (WeisfeilerLehman(1, base=VertexHistogram()), Graph("ab", [(0, 1)])),
            (WeisfeilerLehman(1, base=EdgeHistogram()), Graph("ab", [(0, 1)])),
            "differ in kernel",
        ),
        (
            (NodeAttributes(), Graph("a", [], attributes=[[1.0]])),
            (NodeAttributes(), Graph("a", [], attributes=[[1.0, 2.0]])),
            "with 1 attributes and with 2",
        ),
        (
            (NodeAttributes(), Graph("a", [], attributes=[[1.0]])),
            (NodeAttributes(), Graph(1, [], attributes=[[1.0]])),
            "with and without labels of nodes",
        ),
    ],
)
def test_maps_of_another_kind_are_refused_and_the_error_says_what_differs(one, other, message):
    first, second = (fitted(kernel, [x])[0] for kernel, x in (one, other))
    with pytest.raises(InputError, match=message):
        first.merge(second)
    with pytest.raises(InputError, match=r"differ in|the features are of|columns"):
        second.merge(first)


def test_equal_transducers_merge_whether_or_not_they_are_one_object():
    one, two = fitted(Rational(BIGRAMS), ["ab"])[0], fitted(Rational(BIGRAMS), ["bc"])[0]
    assert names(one.merge(pickle.loads(pickle.dumps(two)))[0]) == ["ab", "bc"]


def test_a_part_without_symbols_merges_whatever_its_unit():
    nothing = fitted(NGram(1), [])[0]
    tokens = NGram(1).fit_features(Strings([["to", "be"]]))[0]
    for both in (nothing.merge(tokens)[0], tokens.merge(nothing)[0]):
        assert (names(both), both.unit) == (["to", "be"], tokens.unit)


@pytest.mark.parametrize(
    ("kernel", "parts", "message"),
    [
        (Subpath(), TREES, "edges of the suffix tree of all examples.*RootPaths or SubTree"),
        (Subpath().normalized() + RootPaths(), TREES, "edges of the suffix tree"),
        (Conjunctions(2, min_support=2), [[{"a": 1}] * 2] * 2, "depends on all examples.*use min_support=1"),
        (Conjunctions(2, min_support=0.4), ONES, "use min_support=1"),
        (Polynomial(2), [ONES[0], NUMBERS[1]], r"use \(1 \+ Linear\(\)\) \*\* 2"),
        (Polynomial(2, coef0=0.0), [NUMBERS[1], ONES[0]], r"use Linear\(\) \*\* 2"),
    ],
    ids=repr,
)
def test_features_that_depend_on_all_examples_are_refused_with_what_to_do(kernel, parts, message):
    one, other = (fitted(kernel, part)[0] for part in parts[:2])
    with pytest.raises(DependentFeaturesError, match=message):
        having(one, MergingMap).merge(other)


def test_the_constant_of_a_part_without_numbers_is_that_of_products():
    zeros, numbers = (fitted(Polynomial(2), part)[0] for part in ([{}], NUMBERS[0]))
    for one, other in ((zeros, numbers), (numbers, zeros)):
        both, mine, theirs = one.merge(other)
        assert sorted(names(both)) == sorted(names(numbers))
        assert (both.name(mine[0]), both.name(theirs[0])) == ("constant", "constant")


def test_names_of_products_do_not_depend_on_the_numbering():
    one, other = (fitted(NGram(1) ** 2, [text])[0] for text in ("ba", "ab"))
    assert sorted(names(one)) == sorted(names(other)) == ["a, a", "a, b", "b, b"]
    assert {"x2 * x10", "x9 * x10"} < {*names(fitted(Polynomial(2), [[2.0] * 11])[0])}


def test_refined_labels_of_any_base_kernel_are_spelled_out():
    water = Graphs([Graph("OHH", [(0, 1), (0, 2)])])
    for base, expected in (
        (VertexHistogram().normalized(), "1: O(H,H)"),
        (WeisfeilerLehman(1), '1: "O(H,H)"("H(O)","H(O)")'),
        (Walks(1), "1: O(H,H)-H(O)"),
        (
            1 + VertexHistogram() * EdgeHistogram(),
            "1: VertexHistogram(counts='raw') * EdgeHistogram(ends=False): O(H,H), edge",
        ),
    ):
        found = names(WeisfeilerLehman(1, base=base).fit_features(water)[0])
        assert expected in found, found


@pytest.mark.parametrize(
    "kernel",
    [
        WeisfeilerLehman(2),
        WeisfeilerLehman(1, base=WeisfeilerLehman(1)),
        WeisfeilerLehman(1, base=Walks(1, min_k=0)),
        WeisfeilerLehman(1, base=EdgeHistogram(ends=True)),
        Walks(1, min_k=0),
        Walks(0),
        EdgeHistogram(),
        ShortestPath(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("directed", [False, True])
def test_graphs_without_edges_merge_with_those_of_any_kind(kernel, directed):
    graphs = [
        Graph("ab", [(0, 1)], ["x"], directed=directed),
        Graph("bca", [(0, 1), (1, 2)], ["y", "x"], directed=directed),
    ]
    atoms = [Graph("a", []), Graph("dc", [])]
    whole, batch = fitted(kernel, [*graphs, *(atom._replace(directed=directed, edge_labels=[]) for atom in atoms)])
    maps = [fitted(kernel, part)[0] for part in (graphs[:1], atoms[:1], graphs[1:], atoms[1:])]
    for order in permutations(maps):
        both, ids = ids_of_parts(order)
        assert columns(both, batch) == columns(whole, batch)
        for features, own in zip(order, ids, strict=True):
            assert [both.name(int(id)) for id in own] == names(features)


def test_a_constant_merges_with_its_like_only():
    batch = NGram(1).batch(["a"])
    one, other = (Constant(value).fit_features(batch)[0] for value in (1.0, 2.0))
    assert one.merge(one)[0].n_features == 1
    with pytest.raises(InputError, match=r"differ in value: 1\.0 and 2\.0"):
        one.merge(other)
