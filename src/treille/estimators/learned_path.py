"""How learned weights change with C or alpha."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.io.errors import InputError
from treille.solvers import Report


@dataclass(frozen=True, eq=False)
class LearnedPath:
    """Learned shares of the trace for several values of a parameter, computed one after another, each from the last.

    ``shares`` has one row for each of ``values`` and one column for each of ``names``: the features, or parts, that have a share
    at one value at least, the largest share first.

    >>> import treille
    >>> texts = ["good wine", "a good vine", "bad wine", "a bad vine"]
    >>> model = treille.LearnedSVC(treille.kernels.NGram(1, unit="word"))
    >>> path = model.path(texts, ["+", "+", "-", "-"], [0.1, 1.0, 10.0])
    >>> sorted(path.names), path.shares.sum(axis=1).round(6).tolist()
    (['bad', 'good'], [1.0, 1.0, 1.0])
    """

    parameter: str
    values: np.ndarray
    names: list[str]
    shares: np.ndarray
    reports: list[Report]

    def plot(self, ax: Any = None, count: int = 10) -> Any:
        """Draws the largest shares over the values of the parameter; returns the axes of matplotlib."""
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise InputError("plots need matplotlib: pip install 'treille[plot]'") from None
            ax = pyplot.subplots()[1]
        for name, column in zip(self.names[:count], self.shares.T[:count], strict=True):
            ax.plot(self.values, column, marker=".", label=name)
        ax.set(xscale="log", xlabel=self.parameter, ylabel="share of the trace")
        ax.legend(fontsize="small")
        return ax
