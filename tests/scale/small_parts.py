"""Small data, in memory and in many parts."""

from itertools import pairwise

import numpy as np

from treille.scale import Parts


def some_texts(n=120, n_classes=2, seed=0):
    """Texts whose letters depend on their class, to some degree."""
    random = np.random.default_rng(seed)
    y = random.integers(n_classes, size=n)
    shares = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    texts = ["".join(random.choice(list("abcdefgh"), random.integers(4, 16), p=np.roll(shares, 2 * k))) for k in y]
    return texts, y


def divided(X, y=None, size=20, weights=None, **limits):
    """Examples in memory as parts of this size, or of these sizes."""
    cuts = np.cumsum([0, *size]) if isinstance(size, list) else np.arange(0, len(X) + size, size)
    ranges = [slice(a, b) for a, b in pairwise(cuts)]
    if y is None:
        return Parts.of([X[own] for own in ranges], **limits)
    if weights is None:
        return Parts.of([(X[own], y[own]) for own in ranges], **limits)
    return Parts.of([(X[own], y[own], weights[own]) for own in ranges], **limits)
