"""Slow twins of the kernels of trees, from the definition, and trees to compare them on."""

from collections import Counter
from itertools import combinations
from math import prod

from hypothesis import strategies as st

from fragment_twins import children_of

LABELS = "abc"


def pairs_kernel(delta):
    """k(x, y) = the sum over pairs of nodes of delta(x, u, y, v)."""
    return lambda x, y: sum(delta(x, u, y, v) for u in range(len(x.labels)) for v in range(len(y.labels)))


def subset_tree_kernel(decay, sigma=1.0, leaves=False):
    def production(tree, node):
        return tree.labels[node], [tree.labels[child] for child in children_of(tree)[node]]

    def factor(x, u, y, v):
        both_leaves = not children_of(x)[u] and not children_of(y)[v]
        return 1.0 if both_leaves and not leaves else sigma + delta(x, u, y, v)

    def delta(x, u, y, v):
        below = children_of(x)[u], children_of(y)[v]
        if production(x, u) != production(y, v) or (not below[0] and not leaves):
            return 0.0
        return decay * prod(factor(x, i, y, j) for i, j in zip(*below, strict=True))

    return pairs_kernel(delta)


def subtree_kernel(decay, leaves=False):
    """k(x, y) = the sum over complete subtrees of decay^(nodes) count_x count_y."""

    def counts(tree):
        below, found = children_of(tree), Counter()

        def text_of(node):
            parts = [text_of(child) for child in below[node]]
            text = (tree.labels[node], tuple(part for part, _ in parts))
            size = (1 if below[node] or leaves else 0) + sum(size for _, size in parts)
            if below[node] or leaves:
                found[text, size] += 1
            return text, size

        text_of(0)
        return found

    def k(x, y):
        left, right = counts(x), counts(y)
        return sum(decay ** s[1] * left[s] * right[s] for s in left)

    return k


def partial_tree_kernel(decay, mu, count="gaps"):
    def d(places):
        span = places[-1] - places[0]
        return span if count == "span" else span - (len(places) - 1)

    def delta(x, u, y, v):
        if x.labels[u] != y.labels[v]:
            return 0.0
        left, right = children_of(x)[u], children_of(y)[v]
        total = decay**2
        for size in range(1, min(len(left), len(right)) + 1):
            for I in combinations(range(len(left)), size):
                for J in combinations(range(len(right)), size):
                    matched = prod(delta(x, left[i], y, right[j]) for i, j in zip(I, J, strict=True))
                    total += decay ** (d(I) + d(J)) * matched
        return mu * total

    return pairs_kernel(delta)


def nested(labels=LABELS, most=12):
    """Random trees as nested tuples."""
    names = st.sampled_from(labels)
    return st.recursive(
        names.map(lambda name: (name,)),
        lambda inner: st.tuples(names, st.lists(inner, max_size=4)).map(lambda pair: (pair[0], *pair[1])),
        max_leaves=most,
    )


EXAMPLES = [
    "(S (NP (DT the) (NN cat)) (VP (V sat) (PP (IN on) (NP (DT the) (NN mat)))))",
    "(S (NP (DT the) (NN dog)) (VP (V sat)))",
    "(S (NP (DT the) (NN cat)) (VP (V sat) (PP (IN on) (NP (DT the) (NN mat)))))",
    "(S (NP) (VP (V ran) (NP (DT the) (NN cat)) (PP) (PP (IN on) it)))",
    "(X)",
    "(NP (DT the) (NN mat))",
    "(S (X y) z (X (X y)))",
]
