"""Drawings: everything inside the picture, no overlaps, bounded, deterministic, safe."""

import re
import time
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

import treille
from treille.data import Graph, Graphs
from treille.data.tree import Tree
from treille.drawing import graph_layout, layered, tidy_tree
from treille.drawing.layered import Machine, draw_machine
from treille.drawing.svg import Shares, clipped, text_width, visible
from treille.drawing.tidy_tree import draw_tree

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</text><script>alert(1)</script>",
    "a\"b'c",
    "\x1b[31mred",
    "\u202ertl",
    "\x00",
    "]]>",
    "<!--",
    "&amp;",
    "\ud800",
]


def random_tree(n, seed, reach=30):
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(max(0, i - reach), i)) for i in range(1, n))]
    return treille.Trees.from_parents([([f"n{i}" for i in range(n)], parents)])[0]


def random_machine(n, seed, cycles=True):
    rng = np.random.default_rng(seed)
    sources, targets = rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n)
    if not cycles:
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
        sources, targets = sources[sources < targets], targets[sources < targets]
    return Machine(0, n, sources, targets, [f"label {k}" for k in range(len(sources))], {n - 1: "0.5"})


def random_graph(n, edges, seed, directed=False):
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(map(int, rng.integers(0, n, 2)))) for _ in range(edges)}
    return graph_layout.Graph(
        [f"v{i}" for i in range(n)], sorted(pairs), [f"e{k}" for k in range(len(pairs))], directed
    )


def checked(svg):
    """The picture, parsed, after a check that all its boxes and texts are inside."""
    drawn = ElementTree.fromstring(svg)
    width, height = map(float, drawn.get("viewBox").split()[2:])
    for rect in drawn.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height
    for text in drawn.iter(f"{SVG}text"):
        size = float(text.get("font-size", 13))
        half = text_width("".join(text.itertext()), size) / 2
        x, y = float(text.get("x")), float(text.get("y"))
        left, right = (x - half, x + half) if text.get("text-anchor") is None else (x, x + 2 * half)
        assert left >= -0.5
        assert right <= width + 0.5
        assert 0 <= y <= height
    for path in drawn.iter(f"{SVG}path"):
        if not re.search("[a-z]", path.get("d")):
            numbers = re.findall(r"-?[\d.]+", re.sub(r"H[^A-Z]*", "", path.get("d")))
            assert all(-30 <= float(v) <= max(width, height) + 30 for v in numbers)
    return drawn


@pytest.mark.parametrize("seed", range(5))
def test_nodes_of_a_level_of_a_tree_do_not_overlap_and_parents_are_in_the_middle(seed):
    tree = random_tree(120, seed, reach=5 + 20 * seed)
    plan = tidy_tree.lay_out(tree.labels, tree.parents, np.zeros(120))
    for level in range(int(plan.levels.max()) + 1):
        own = np.flatnonzero(plan.levels == level)
        assert (np.diff(plan.x[own]) > 0).all()  # children keep their order
        left, right = plan.x[own] - plan.widths[own] / 2, plan.x[own] + plan.widths[own] / 2
        assert (left[1:] - right[:-1] >= tidy_tree.GAP - 1e-9).all()
    for k in set(plan.parents) - {-1}:
        children = [j for j, parent in enumerate(plan.parents) if parent == k]
        assert plan.x[k] == pytest.approx((plan.x[children[0]] + plan.x[children[-1]]) / 2)
    checked(draw_tree(tree.labels, tree.parents))


@pytest.mark.parametrize("seed", range(5))
def test_items_of_a_layer_of_a_machine_do_not_overlap(seed):
    machine = random_machine(4 + 3 * seed, seed, cycles=seed % 2 == 0)
    other = machine.sources != machine.targets
    plan = layered.lay_out(machine.n_states, machine.sources[other], machine.targets[other], 38.0, 21.0)
    heights = np.full(len(plan.layer), 10.5)
    heights[plan.labels], heights[: machine.n_states] = 21.0, 38.0
    for layer in range(int(plan.layer.max()) + 1):
        own = np.flatnonzero(plan.layer == layer)
        own = own[np.argsort(plan.y[own], kind="stable")]
        assert (np.diff(plan.y[own]) >= (heights[own][1:] + heights[own][:-1]) / 2 - 1e-6).all()
    for chain in plan.chains:
        assert (np.diff(plan.layer[chain]) == 1).all()
    checked(draw_machine(machine))


def test_arcs_lead_from_left_to_right_unless_they_close_a_cycle():
    machine = random_machine(20, 1, cycles=False)
    plan = layered.lay_out(20, machine.sources, machine.targets, 38.0, 21.0)
    assert all(plan.forward)
    plan = layered.lay_out(3, np.array([0, 1, 2]), np.array([1, 2, 0]), 38.0, 21.0)
    assert plan.forward == [True, True, False]


def test_parallel_arcs_and_loops_have_their_own_labels():
    machine = Machine(0, 2, np.array([0, 0, 0]), np.array([1, 1, 0]), ["vine", "wine", "again"], {1: ""})
    texts = ["".join(text.itertext()) for text in checked(draw_machine(machine)).iter(f"{SVG}text")]
    assert sorted(texts) == ["0", "1", "again", "vine", "wine"]


def test_many_parallel_arcs_are_one_with_a_list_unless_each_has_its_share():
    machine = Machine(0, 2, np.zeros(26, int), np.ones(26, int), list("abcdefghijklmnopqrstuvwxyz"), {1: ""})
    assert "a, b, c, … (26)" in draw_machine(machine)
    assert len(list(checked(draw_machine(machine, Shares(np.ones(26)))).iter(f"{SVG}path"))) == 26


@pytest.mark.parametrize("seed", range(5))
def test_nodes_of_a_graph_do_not_overlap(seed):
    graph = random_graph(10 + 20 * seed, 12 + 25 * seed, seed, directed=bool(seed % 2))
    widths = np.full(len(graph.labels), 40.0)
    places, size = graph_layout.lay_out(widths, graph.edges)
    for a, b in combinations(range(len(widths)), 2):
        dx, dy = np.abs(places[a] - places[b])
        assert dx >= 40 or dy >= graph_layout.HEIGHT
    assert (places - [20, 12] >= 0).all()
    assert (size - places >= [20, 12]).all()
    checked(graph_layout.draw_graph(graph))


def test_distances_of_a_path_and_a_cycle_are_kept():
    path = graph_layout.least_stress(graph_layout.distances(8, [(i, i + 1) for i in range(7)]))
    assert np.hypot(*(path[0] - path[7])) == pytest.approx(7, abs=0.3)
    cycle = graph_layout.least_stress(graph_layout.distances(6, [(i, (i + 1) % 6) for i in range(6)]))
    edges = [np.hypot(*(cycle[i] - cycle[(i + 1) % 6])) for i in range(6)]
    assert max(edges) / min(edges) < 1.1


def test_drawings_are_the_same_every_time():
    tree, machine, graph = random_tree(60, 0), random_machine(12, 0), random_graph(30, 50, 0)
    for draw in (lambda: draw_tree(*tree), lambda: draw_machine(machine), lambda: graph_layout.draw_graph(graph)):
        assert draw() == draw()


@pytest.mark.parametrize("shares", [False, True])
def test_large_examples_are_drawn_in_part_quickly_and_say_so(shares):
    rng = np.random.default_rng(0)
    tree = random_tree(5000, 0)

    def own(n):
        return Shares(rng.normal(size=n).clip(-1, 1)) if shares else None

    sources = np.repeat(np.arange(4000), 5)
    lattice = Machine(0, 4005, sources, sources + np.tile([1, 2, 3, 4, 5], 4000), ["w"] * 20_000, {4004: ""})
    chain = Machine(
        0, 3001, np.append(np.arange(3000), np.zeros(3000, int)), np.tile(np.arange(1, 3001), 2), ["w"] * 6000, {}
    )
    graph = random_graph(3000, 12_000, 0)
    pictures = {
        "of 5,000 nodes": lambda: draw_tree(tree.labels, tree.parents, own(5000)),
        "of 4,999 nodes": lambda: draw_tree(["x"] * 4999, [-1, *range(4998)], own(4999)),
        "of 20,000 arcs": lambda: draw_machine(lattice, own(20_000)),
        "of 6,000 arcs": lambda: draw_machine(chain, own(6000)),
        "of 3,000 nodes": lambda: graph_layout.draw_graph(graph, own(3000 + len(graph.edges))),
    }
    for note, draw in pictures.items():
        began = time.process_time()
        svg = draw()
        assert time.process_time() - began < 1.0
        assert note in svg
        assert len(svg) < 300_000
        checked(svg)


def test_the_heaviest_parts_of_large_examples_are_drawn():
    shares = np.zeros(5000)
    shares[4000] = 1.0
    parents = [-1, *([0] * 70), *(1 + i // 71 for i in range(4929))]
    labels = [f"n{i}" for i in range(5000)]
    assert ">n4000<" in draw_tree(labels, parents, Shares(shares))
    assert ">n4000<" not in draw_tree(labels, parents)
    sources, shares = np.arange(20_000), np.zeros(20_000)
    shares[15_000] = -1.0
    labels = [f"w{k}" for k in sources]
    svg = draw_machine(Machine(0, 20_001, sources, sources + 1, labels, {}), Shares(shares))
    assert ">w15000<" in svg
    assert ">w0<" not in svg
    assert 'class="against"' in svg


def test_parts_have_a_class_a_share_and_a_hint():
    svg = treille.Trees(["(S (NP he))"]).svg(0, [0.0, 0.4, -1.0], ["+0", "+0.2", "-0.5"])
    groups = list(ElementTree.fromstring(svg).iter(f"{SVG}g"))
    assert [group.get("class") for group in groups] == [None, "for", "against"]
    assert [group.get("style") for group in groups] == [None, "--share: 0.40", "--share: 1.00"]
    assert [group.find(f"{SVG}title").text for group in groups] == ["S: +0", "NP: +0.2", "he: -0.5"]


def test_parts_of_graphs_are_nodes_then_edges_and_of_lattices_arcs():
    graph = Graphs([Graph(["O", "H"], [(0, 1)], edge_labels=["single"])])
    titles = [t.text for t in ElementTree.fromstring(graph.svg(0, [0, 0, 1], ["a", "b", "c"])).iter(f"{SVG}title")]
    assert {"0 O: a", "1 H: b", "0 - 1 single: c"} <= set(titles)
    lattices = treille.Lattices([treille.Fst.from_string("ab"), treille.Fst.from_string("cd")])
    svg = lattices.svg(1, [0.5, -0.5], ["x", "y"])
    assert "c: x" in svg
    assert "d: y" in svg
    assert "a: x" not in svg


@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_labels_are_escaped(label):
    pictures = [
        draw_tree([label, label], [-1, 0], Shares([1, -1], [label] * 2)),
        draw_machine(Machine(0, 2, np.array([0, 1]), np.array([1, 1]), [label] * 2, {1: label})),
        graph_layout.draw_graph(graph_layout.Graph([label] * 2, [(0, 1), (1, 1)], [label] * 2, True)),
    ]
    for svg in pictures:
        svg.encode("utf-8")
        drawn = ElementTree.fromstring(svg)
        assert {element.tag.removeprefix(SVG) for element in drawn.iter()} <= {
            *("svg", "title", "g", "path", "rect", "text", "polygon")
        }
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", svg)


def test_long_labels_are_cut_and_full_in_the_hint():
    svg = draw_tree(["x" * 100_000], [-1])
    assert len(svg) < 3000
    assert "x" * 300 in svg
    assert clipped("a" * 30) == "a" * 23 + "…"
    assert visible("a\tb\n\x07", blanks=False) == "a⇥b↵\\x07"


@pytest.mark.parametrize(
    "item",
    [
        Tree(["S"], [-1]),
        Tree(["NP", "S"], [1, -1]),
        Graph(0, []),
        Graph(3, [(0, 1), (2, 2)], directed=True),
        treille.Fst.from_arcs([], {}),
        treille.Fst.from_string(""),
        treille.Fst.from_string("vine"),
    ],
    ids=repr,
)
def test_items_draw_themselves_in_notebooks(item):
    svg = item._repr_svg_()
    checked(svg)
    assert "prefers-color-scheme" in svg  # colours of its own


def test_batches_draw_items_and_other_kinds_do_not():
    assert treille.Strings(["ab"]).svg(0) is None
    for batch in (treille.Trees(["(S (NP))"]), Graphs([Graph(2, [(0, 1)])]), treille.Lattices(["ab", "c"])):
        svg = batch.svg(0)
        checked(svg)
        assert "<style>" not in svg  # inside a page, it has the colours of the page
