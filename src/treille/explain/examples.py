"""Names of labels and examples, and some of the examples of any container."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from treille.io import Examples
from treille.io.fields import label_text
from treille.io.packed import PackedExamples, selected


def label_name(label: Any) -> str:
    """A label as files write it.

    >>> label_name(1.0), label_name("spam"), label_name(True)
    ('1', 'spam', 'true')
    """
    value = label.item() if isinstance(label, np.generic) else label
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return label_text(value) or str(value)


def listed_examples(X: Any) -> Any:
    """Examples that can be read more than once."""
    return list(X) if isinstance(X, Iterator) else X


def names_of(examples: Examples) -> list[str]:
    """The names of the examples on the page: their ids, otherwise their lines, otherwise their numbers from 1."""
    if examples.ids:
        return examples.ids
    lines = () if examples.sources else examples.lines  # of one file
    return [f"line {line}" for line in lines] or [f"example {i}" for i in range(1, len(examples) + 1)]


def size_of(X: Any) -> int:
    """The number of examples."""
    X = next(iter(X.values()), ()) if isinstance(X, Mapping) else X  # columns
    return int(X.shape[0]) if issparse(X) else len(X)


def some_of(X: Any, rows: np.ndarray) -> Any:
    """The examples at these positions, in a container of the same type."""
    if isinstance(X, Mapping):
        return {name: some_of(column, rows) for name, column in X.items()}
    if isinstance(X, (list, tuple, PackedExamples)):
        return selected(X, rows.tolist())
    return X.iloc[rows] if hasattr(X, "iloc") else (X.tocsr() if issparse(X) else X)[rows]


def sample(n: int, most: int) -> np.ndarray:
    """All of n rows, or `most` of them, drawn with a fixed seed.

    >>> sample(3, 5).tolist(), len(sample(100, 5))
    ([0, 1, 2], 5)
    """
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))
