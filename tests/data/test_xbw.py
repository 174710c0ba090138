"""The index of trees compared with the trees."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Batch, InputError, Trees
from treille.io.model import write_model
from treille.trees import XBW

RANDOM = np.random.default_rng(0)


class Pointers:
    """The same forest with a pointer for everything, its nodes matched with those of the index from the roots down."""

    def __init__(self, trees, index):
        self.labels, self.parents, self.children, self.trees = [], [], [], []
        for i, tree in enumerate(trees):
            first = len(self.labels)
            self.labels += tree.labels
            self.parents += [first + p if p >= 0 else -1 for p in tree.parents]
            self.children += [[] for _ in tree.labels]
            self.trees += [i] * len(tree.labels)
            for node in range(first, len(self.labels)):
                if self.parents[node] >= 0:
                    self.children[self.parents[node]].append(node)
        self.place = {}
        waiting = [(node, tree) for tree, node in enumerate(n for n, p in enumerate(self.parents) if p < 0)]
        while waiting:
            node, place = waiting.pop()
            self.place[node] = place
            waiting += zip(self.children[node], index.children(place), strict=True)

    def path_to(self, node, length):
        labels = []
        while node >= 0 and len(labels) < length:
            labels.append(self.labels[node])
            node = self.parents[node]
        return labels[::-1]


def random_forest(n_trees, most, n_labels):
    trees = []
    for size in RANDOM.integers(1, most + 1, n_trees).tolist():
        reach = int(RANDOM.integers(1, 9))
        parents = [-1, *(int(RANDOM.integers(max(0, node - reach), node)) for node in range(1, size))]
        trees.append(([f"x{int(n_labels * u * u)}" for u in RANDOM.random(size)], parents))
    return Trees.from_parents(trees)


def assert_answers_are_those_of_pointers(trees, index, n_queries):
    """The answers of the index to this many random questions equal those of the forest with pointers."""
    told = Pointers(trees, index)
    node_at = {place: node for node, place in told.place.items()}
    assert sorted(node_at) == list(range(len(told.labels)))
    by_path = {}
    for node in range(len(told.labels)):
        for length in range(1, 5):
            path = told.path_to(node, length)
            if len(path) == length:
                by_path.setdefault(tuple(path), []).append(told.place[node])
    for node in RANDOM.integers(0, len(told.labels), n_queries // 5).tolist():
        place, parent = told.place[node], told.parents[node]
        assert index.label(place) == told.labels[node]
        assert index.is_leaf(place) == (not told.children[node])
        assert index.parent(place) == (None if parent < 0 else told.place[parent])
        assert [node_at[child] for child in index.children(place)] == told.children[node]
        path = told.path_to(node, int(RANDOM.integers(1, 5)))
        if RANDOM.random() < 0.3:
            path[0] = told.labels[int(RANDOM.integers(len(told.labels)))]
        assert index.count(path) == len(by_path.get(tuple(path), ()))
    for node in RANDOM.integers(0, len(told.labels), n_queries // 500).tolist():
        path = told.path_to(node, int(RANDOM.integers(1, 5)))
        assert index.find("/".join(path)).tolist() == sorted(by_path[tuple(path)])
        assert index.tree(told.place[node]) == told.trees[node]


@pytest.mark.parametrize("n_labels", [1, 2, 5, 300])
def test_its_answers_equal_those_of_a_forest_with_pointers(n_labels):
    trees = random_forest(60, 60, n_labels)
    assert_answers_are_those_of_pointers(trees, XBW(trees), 5000)


@pytest.mark.slow
def test_its_answers_to_a_million_questions_equal_those_of_a_forest_with_pointers():
    for n_labels in (1, 4, 40, 4000):
        trees = random_forest(3000, 60, n_labels)
        assert_answers_are_those_of_pointers(trees, XBW(trees), 250_000)


@st.composite
def forests(draw):
    trees = []
    for _ in range(draw(st.integers(0, 4))):
        size = draw(st.integers(1, 10))
        labels = draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))
        trees.append((labels, [-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))]))
    return Trees.from_parents(trees)


@settings(deadline=None, max_examples=100)
@given(forests())
def test_the_index_is_decoded_to_the_same_trees(trees):
    index = XBW(trees)
    assert index.trees().to_brackets() == trees.to_brackets()
    again = Batch.from_state(*index.state())
    assert again.trees().to_brackets() == trees.to_brackets()
    assert len(index) == len(trees)
    assert index.n_nodes == len(trees.labels)
    if len(trees):
        assert_answers_are_those_of_pointers(trees, index, 500)


def test_it_is_a_batch():
    trees = random_forest(40, 30, 6)
    index = XBW(trees)
    assert str(index[3]) == str(trees[3])
    assert str(index[-1]) == str(trees[-1])
    assert index[5:9].trees().to_brackets() == trees[5:9].to_brackets()
    mask = RANDOM.random(40) < 0.5
    assert index[mask].trees().to_brackets() == trees[mask].to_brackets()
    assert [str(tree) for tree in index] == trees.to_brackets()
    assert pickle.loads(pickle.dumps(index)).trees().to_brackets() == trees.to_brackets()
    assert repr(index) == f"XBW(40 trees, {len(trees.labels)} nodes, {len(trees.alphabet)} labels)"
    assert index.trees(n_jobs=3).to_brackets() == trees.to_brackets()


def test_many_trees_come_back_with_any_number_of_threads():
    trees = random_forest(500, 5, 3)
    index = XBW(trees[np.tile(np.arange(500), 12)])
    one = index.trees()
    for threads in (2, 5):
        for left, right in zip(one.arrays, index.trees(threads).arrays, strict=True):
            assert np.array_equal(left, right)


def test_chains_and_stars_are_indexed():
    n = 100_000
    labels, offsets = np.zeros(2 * n, np.int32), [0, n, 2 * n]
    parents = np.concatenate([np.arange(-1, n - 1), [-1], np.zeros(n - 1)])
    trees = Trees.from_arrays(labels, parents, offsets, ["a"])
    index = XBW(trees)
    assert index.count(["a"] * n) == 1
    assert index.count(["a"] * 2) == 2 * (n - 1)
    assert len(index.children(1)) == n - 1
    assert np.array_equal(index.trees().parents, trees.parents)
    assert index.tree(index.find(["a"] * n)[0]) == 0


def test_its_size_is_near_the_bound():
    trees = random_forest(2000, 60, 40)
    index = XBW(trees)
    share = np.bincount(trees.labels) / len(trees.labels)
    entropy = -(share[share > 0] * np.log2(share[share > 0])).sum()
    assert 8 * index.nbytes < 1.3 * (2 + entropy) * index.n_nodes


def test_paths_are_strings_or_lists():
    index = XBW([("and/or", ("x", "y")), ("x", "y")])
    assert index.count("x/y") == 2
    assert index.count(["and/or", "x", "y"]) == 1
    assert index.count("and/or/x") == 0
    assert index.find("z").tolist() == []
    assert index.count("y/x") == index.count("x/y/y") == 0


def test_no_trees_make_an_empty_index():
    index = XBW([])
    assert (len(index), index.n_nodes, index.trees().to_brackets(), index.count("a")) == (0, 0, [], 0)


@pytest.mark.parametrize("ask", ["label", "parent", "children", "is_leaf", "tree", "subtree"])
def test_nodes_that_do_not_exist_are_refused(ask):
    for node in (-1, 3):
        with pytest.raises(IndexError, match=f"node {node} does not exist: there are 3"):
            getattr(XBW(["(a (b) (c))"]), ask)(node)


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(InputError, match="the path is empty"):
        XBW(["(a)"]).count([])
    write_model(tmp_path / "other", {"estimator": "SVC"}, {})
    with pytest.raises(InputError, match="no index of trees, expected a file"):
        XBW.load(tmp_path / "other")
    with pytest.raises(InputError, match="there is no such file"):
        XBW.load(tmp_path / "none")


def test_it_comes_back_from_its_file(tmp_path):
    trees = random_forest(50, 50, 9)
    XBW(trees).save(tmp_path / "trees.xbw")
    assert XBW.load(tmp_path / "trees.xbw").trees().to_brackets() == trees.to_brackets()


DAMAGES = [
    lambda s, a: s.update(n_nodes=s["n_nodes"] + 64),
    lambda s, a: s.update(n_nodes=-1),
    lambda s, a: s.update(alphabet=["a"]),
    lambda s, a: a.update(last=a["last"] * 0),
    lambda s, a: a.update(symbols=a["symbols"][::-1]),
    lambda s, a: a.update(symbols=a["symbols"][1:]),
    lambda s, a: a.update(lengths=a["lengths"] + 1),
    lambda s, a: a.update(lengths=a["lengths"] * 0 + 200),
    lambda s, a: a.update(words=a["words"][:-1]),
    lambda s, a: a.update(words=a["words"] * 0),
    lambda s, a: a.update(words=~a["words"]),
    lambda s, a: a.update(sizes=a["sizes"][::-1]),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_indexes_are_refused(damage):
    spec, arrays = XBW(random_forest(50, 50, 9)).state()
    damage(spec, arrays)
    with pytest.raises(
        InputError, match=r"the index in the file|the array 'symbols' has numbers outside|the field 'n_nodes' is -1"
    ):
        Batch.from_state(spec, arrays)


def test_invalid_bits_are_refused_and_never_hang():
    spec, arrays = XBW(random_forest(20, 20, 3)).state()
    for _ in range(200):
        bad = {name: array.copy() for name, array in arrays.items()}
        words = bad[str(RANDOM.choice(["last", "words"]))]
        words[RANDOM.integers(len(words))] ^= np.uint64(1) << np.uint64(RANDOM.integers(64))
        refusal = ""
        try:
            index = Batch.from_state(spec, bad)
            sizes = np.diff(index.trees().offsets)
            trees = [index.tree(node) for node in range(index.n_nodes)]
        except ValueError as error:  # InputError is one
            refusal = str(error)
        assert re.search("is damaged", refusal) or np.array_equal(np.bincount(trees), sizes)
