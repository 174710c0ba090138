"""Every fragment of a tree, one by one: slow twins of what tree kernels share, and of their heaviest fragments."""

from collections import defaultdict
from itertools import combinations, product
from math import sqrt

import numpy as np


def children_of(tree):
    below = [[] for _ in tree.labels]
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            below[parent].append(node)
    return below


def spelling(label, inside):
    return f"({' '.join([label, *inside])})"


def subset_fragments(tree, decay, sigma, leaves):
    """(spelling, value, covered nodes) of each fragment occurrence; the kernel is the sum over pairs of equal spelling."""
    below, cache = children_of(tree), {}

    def at(u):
        if u in cache:
            return cache[u]
        if not below[u]:
            cache[u] = [(spelling(tree.labels[u], []), sqrt(decay), (u,))] if leaves else []
            return cache[u]
        choices = []
        for c in below[u]:
            # A cut node may be a leaf or not; a leaf is also a fragment of its own where it counts for more than a cut node.
            cut = (
                [(spelling(tree.labels[c] + ("…" if leaves or sigma < 1 else ""), []), sqrt(sigma), (c,))]
                if sigma
                else []
            )
            leaf = (
                [(spelling(tree.labels[c], []), sqrt(decay if leaves else 1 - sigma), (c,))]
                if leaves or sigma < 1
                else []
            )
            choices.append(cut + (at(c) if below[c] else leaf))
        cache[u] = [
            (
                spelling(tree.labels[u], [z for z, _, _ in chosen]),
                sqrt(decay) * float(np.prod([v for _, v, _ in chosen])),
                (u, *(node for _, _, nodes in chosen for node in nodes)),
            )
            for chosen in product(*choices)
        ]
        return cache[u]

    return [found for u in range(len(tree.labels)) for found in at(u)]


def partial_fragments(tree, decay, mu, count):
    below, cache = children_of(tree), {}

    def at(u):
        if u in cache:
            return cache[u]
        found = [(spelling(tree.labels[u], []), sqrt(mu) * decay, (u,))]
        for size in range(1, len(below[u]) + 1):
            for places in combinations(range(len(below[u])), size):
                d = places[-1] - places[0] - (size - 1 if count == "gaps" else 0)
                for chosen in product(*(at(below[u][p]) for p in places)):
                    value = sqrt(mu) * decay**d * float(np.prod([v for _, v, _ in chosen]))
                    nodes = (u, *(node for _, _, inside in chosen for node in inside))
                    found.append((spelling(tree.labels[u], [z for z, _, _ in chosen]), value, nodes))
        cache[u] = found
        return found

    return [one for u in range(len(tree.labels)) for one in at(u)]


def fragments_of(kernel, tree):
    if hasattr(kernel, "mu"):
        return partial_fragments(tree, kernel.decay, kernel.mu, kernel.count)
    return subset_fragments(tree, kernel.decay, kernel.sigma, kernel.leaves)


def fragment_weights(kernel, trees, coefficients):
    """The weight of every fragment, by function: the sum over trees of coefficient times value."""
    weights = defaultdict(lambda: np.zeros(coefficients.shape[1]))
    for tree, beta in zip(trees, coefficients, strict=True):
        for z, value, _ in fragments_of(kernel, tree):
            weights[z] += value * beta
    return weights


def fragment_shares(kernel, tree, weights):
    """What each node adds to the sum over fragments of weight times value, each occurrence split equally."""
    shares = np.zeros((len(tree.labels), len(next(iter(weights.values())))))
    for z, value, nodes in fragments_of(kernel, tree):
        if z in weights:
            shares[list(nodes)] += weights[z] * value / len(nodes)
    return shares
