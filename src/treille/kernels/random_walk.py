"""Walks that two graphs have in common: kernel matrices from their direct products, and the random walk kernel."""

from dataclasses import dataclass
from math import ceil, inf, log
from typing import Any, Literal

import numpy as np

from treille import _core
from treille.data import Graphs
from treille.data.base import available_memory, readable_size
from treille.data.graphs import Labels
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_positive, check_whole, effective_n_jobs
from treille.kernels.base import check_finite
from treille.kernels.graph_features import GraphKernel

NONE = np.empty(0)
MOST_TERMS = 1000  # of a series that is summed from the numbers of walks of each graph
TAIL = 1e-15  # share of the sum that may be left out
MARGIN = {False: 1e-9, True: 1e-4}  # how near decay * radius may come to 1, undirected and directed
ARCS_PER_SECOND = 2e8  # products of arcs, all terms of a series, one thread
SECONDS = 3600.0


@dataclass(frozen=True)
class WalkSums:
    """The sums over n of mu_n W_n(x, y): W_n is the weight of walks of n steps that two graphs have in common.

    mu_n is decay^n / n!, decay^n, or 1 ("counts"), for n from `first` to `last`; None: without end.
    """

    kind: Literal["exponential", "geometric", "counts"]
    decay: float = 1.0
    first: int = 0
    last: int | None = None
    labels: Labels = "all"
    all_starts: bool = False

    def gram(self, left: Graphs, right: Graphs | None, threads: int) -> np.ndarray:
        """The matrix of two batches; `right` None: of `left` with itself."""
        whole = left if right is None else right
        arrays = self._arrays(left, whole)
        sides = (left,) if right is None else (left, right)
        if self._is_plain(arrays, whole) and (plain := self._moments(sides, arrays, threads)) is not None:
            coefficients, moments = plain
            K: np.ndarray = _core.moment_gram(moments[0], moments[-1], coefficients, right is None, threads)
            return K
        index = self._index(whole)
        graphs = index.graphs() if right is None else index.prepare(arrays)
        self._check_cost(index.cost(graphs), left, whole, right is None, threads)
        mine, theirs = self._radii(left, threads), self._radii(whole, threads)
        K = index.gram(graphs, self._series(*sides), mine, theirs, right is None, threads)
        return K

    def diagonal(self, batch: Graphs, threads: int) -> np.ndarray:
        """k(x, x) of each graph."""
        arrays = batch.core_arrays(self.labels)
        if self._is_plain(arrays, batch) and (plain := self._moments((batch,), arrays, threads)) is not None:
            coefficients, (moments,) = plain
            return (moments**2 * coefficients).sum(axis=1)
        if len(batch):
            largest = batch[[int(np.argmax(np.diff(batch.offsets)))]]
            index = self._index(largest)
            self._check_cost(index.cost(index.graphs()), largest, largest, True, 1)
        values: np.ndarray = self._index(batch).diagonal(self._series(batch), self._radii(batch, threads), threads)
        return values

    @property
    def is_endless(self) -> bool:
        """Whether the series may diverge."""
        return self.kind == "geometric" and self.last is None

    def _arrays(self, left: Graphs, whole: Graphs) -> Any:
        if left is whole:
            return left.core_arrays(self.labels)
        return left.core_arrays_over(whole.alphabet, whole.edge_alphabet, self.labels)

    def _series(self, *sides: Graphs) -> Any:
        kind = getattr(_core.WalkSeries.Kind, self.kind)
        last, directed = -1 if self.last is None else self.last, any(batch.directed for batch in sides)
        return _core.WalkSeries(kind, float(self.decay), self.first, last, directed, self.all_starts)

    def _index(self, batch: Graphs) -> Any:
        return batch.derived(("walks", self.labels), lambda: _core.WalkIndex(batch.core_arrays(self.labels)))

    def _radii(self, batch: Graphs, threads: int) -> np.ndarray:
        """Bounds on the spectral radius of the product of each graph with itself, where the series needs them."""
        if not self.is_endless:
            return NONE
        self._check_weights(batch)
        index, decay = self._index(batch), float(self.decay)
        key = ("walk radii", self.labels, decay)
        radii = batch.derived(key, lambda: index.radii(decay, batch.directed, threads))
        self._check_radii(batch, radii)
        return radii

    def _is_plain(self, arrays: Any, whole: Graphs) -> bool:
        """Returns whether there are no labels, so that W_n(x, y) is the product of the numbers of walks of each graph."""
        return len(arrays[4]) == 0 and (self.labels in ("edges", "none") or not whole.alphabet)

    def _moments(
        self, sides: tuple[Graphs, ...], arrays: Any, threads: int
    ) -> tuple[np.ndarray, list[np.ndarray]] | None:
        """mu_n scale^2n, and the numbers of walks of each graph divided by scale^n; None if the series has too many terms."""
        all_arrays = [arrays, *(batch.core_arrays("none") for batch in sides[1:])]
        radius = 0.0
        for batch, each in zip(sides, all_arrays, strict=True):
            if self.is_endless:
                self._check_weights(batch)
            if not len(batch):
                continue
            decay = float(self.decay) if self.is_endless else 0.0
            radii = batch.derived(("plain radii", decay), lambda: _growth(batch, each, decay, threads))  # noqa: B023
            if self.is_endless:
                self._check_radii(batch, radii)
            radius = max(radius, float(radii.max()))
        coefficients = self._coefficients(radius)
        if coefficients is None:
            return None
        scale = radius**0.5 if radius > 0 else 1.0
        return coefficients, [_core.walk_moments(each, len(coefficients), scale, threads) for each in all_arrays]

    def _coefficients(self, radius: float) -> np.ndarray | None:
        """The terms mu_n radius^n that contribute to the sum; None if there are too many or they are too large."""
        z = float(self.decay) * radius
        if z == 0:
            n_terms = 1
        elif self.kind == "exponential":
            n_terms, term = 1, z
            while n_terms <= MOST_TERMS and (n_terms < 2 * z or term > TAIL):
                n_terms += 1
                term *= z / n_terms
        else:
            n_terms = ceil(log(TAIL * (1 - z)) / log(z)) if self.is_endless else MOST_TERMS + 1
        if self.last is not None:
            n_terms = min(n_terms, self.last) + 1 if z > 0 else 1
        if n_terms > MOST_TERMS:
            return None
        steps = np.arange(n_terms)
        factors = {"exponential": z / np.maximum(steps, 1), "geometric": np.full(n_terms, z)}.get(
            self.kind, np.full(n_terms, radius)
        )
        factors[0] = 1.0
        with np.errstate(over="ignore"):
            coefficients = np.cumprod(factors)
        if not coefficients.max() < 1e250:
            return None
        coefficients[: self.first] = 0.0
        return coefficients

    def _check_weights(self, batch: Graphs) -> None:
        if not len(batch.weights) or batch.weights.min() >= 0:
            return
        arc = int(np.argmax(batch.weights < 0))
        graph = int(np.searchsorted(batch.arcs[batch.offsets], arc, side="right")) - 1
        one = batch[graph]
        edge = next(e for e, weight in enumerate(one.weights) if weight < 0)
        raise InputError(
            f"item {graph}, edge {edge}: its weight is {one.weights[edge]:g}, but a geometric series needs weights of at least 0: "
            "use series='exponential', or a number of steps"
        )

    def _check_radii(self, batch: Graphs, radii: np.ndarray) -> None:
        if not len(radii):
            return
        worst = int(np.argmax(radii))
        radius = float(radii[worst])
        if self.decay * radius < 1 - MARGIN[batch.directed]:
            return
        raise InputError(
            f"item {worst}: the geometric series does not converge: decay is {self.decay:g}, and the spectral radius of the "
            f"product of this graph with itself is {radius:.6g}. For these graphs the decay has to be below {1 / radius:.6g}; or "
            "use series='exponential', or a number of steps"
        )

    def _check_cost(self, cost: tuple[float, float], left: Graphs, whole: Graphs, own: bool, threads: int) -> None:
        cells, arcs = cost
        sizes = [np.diff(batch.offsets) for batch in (left, whole)]
        n_nodes = max((int(size.max()) for size in sizes if len(size)), default=0)
        instead = "WeisfeilerLehman is linear in the size of graphs, and labels='none' counts walks without labels in linear time"
        memory, seconds = 3 * 8 * cells * threads, arcs / (1 + own) / threads / ARCS_PER_SECOND
        if memory > available_memory():
            raise InputError(
                f"the product of the largest graphs would take {readable_size(int(memory))}, but "
                f"{readable_size(available_memory())} are free: the largest has {n_nodes:,} nodes; {instead}"
            )
        if seconds > SECONDS:
            raise InputError(
                f"the matrix of {len(left):,} by {len(whole):,} graphs would take about {seconds / 3600:,.0f} hours: "
                f"their products have {arcs:.2g} arcs in all; {instead}"
            )


def _growth(batch: Graphs, arrays: Any, decay: float, threads: int) -> np.ndarray:
    """The square of a bound on how much the number of walks grows with each step."""
    if len(batch.weights) and batch.weights.min() < 0:
        sums = np.concatenate([[0.0], np.cumsum(np.abs(batch.weights))])[batch.arcs]
        degrees = np.concatenate([np.diff(sums), [0.0]])
        starts = np.minimum(batch.offsets[:-1], len(degrees) - 1)
        return np.where(np.diff(batch.offsets) > 0, np.maximum.reduceat(degrees, starts), 0.0) ** 2
    radii: np.ndarray = _core.plain_radii(arrays, decay, batch.directed, threads)
    return np.where(np.isfinite(radii), radii, inf)


@dataclass(eq=False, repr=False)
class RandomWalk(GraphKernel):
    """Common walks of all lengths: k(x, y) = sum over n of mu_n W_n(x, y).

    W_n(x, y) is the number of pairs of walks of n steps, one in x and one in y, with equal labels of nodes and edges; with weights
    of edges, the sum of the products of their weights. mu_n is ``decay^n / n!`` (exponential) or ``decay^n`` (geometric). There are
    no explicit features; without labels a value costs less than a microsecond.

    Parameters
    ----------
    decay : float
        Positive: the factor of each step. The geometric series needs a decay below 1 / radius, the largest spectral radius of the
        product of a graph with itself; the error message reports it.
    series : {"exponential", "geometric"}
        The weights of lengths.
    labels : {"all", "nodes", "edges", "none"}
        Which labels have to be equal. "all": those that the graphs have.
    steps : int or None
        The largest number of steps; None: no limit.
    start : {"matching", "all"}
        Which pairs of nodes are common walks of no steps: those with equal labels, or all, as in GraKeL.

    References
    ----------
    Gärtner, Flach, Wrobel: On graph kernels: hardness results and efficient alternatives. COLT 2003.
    Vishwanathan, Schraudolph, Kondor, Borgwardt: Graph kernels. JMLR 2010.

    Examples
    --------
    >>> from treille.data import Graph
    >>> from treille.kernels import RandomWalk
    >>> water, peroxide = Graph("OHH", [(0, 1), (0, 2)]), Graph("OOHH", [(0, 1), (0, 2), (1, 3)])
    >>> RandomWalk(0.1, steps=1)([water, peroxide]).round(3).tolist()
    [[5.8, 6.8], [6.8, 9.2]]
    """

    decay: float = 0.1
    series: Literal["exponential", "geometric"] = "exponential"
    labels: Labels = "all"
    steps: int | None = None
    start: Literal["matching", "all"] = "matching"

    def check(self) -> None:
        check_positive("decay", self.decay)
        check_choice("labels", self.labels, "all", "nodes", "edges", "none")
        check_choice("series", self.series, "exponential", "geometric")
        check_choice("start", self.start, "matching", "all")
        if self.steps is not None:
            check_whole("steps", self.steps, 0)

    def _sums(self) -> WalkSums:
        last = None if self.steps is None else int(self.steps)
        return WalkSums(self.series, float(self.decay), 0, last, self.labels, self.start == "all")

    def gram(self, left: Graphs, right: Graphs | None = None, n_jobs: int | None = None) -> np.ndarray:
        return check_finite(self, self._sums().gram(left, right, effective_n_jobs(n_jobs)))

    def diagonal(self, batch: Graphs, n_jobs: int | None = None) -> np.ndarray:
        sums = self._sums()
        return batch.derived((repr(self), "diagonal"), lambda: self._diagonal(sums, batch, n_jobs))

    def _diagonal(self, sums: WalkSums, batch: Graphs, n_jobs: int | None) -> np.ndarray:
        values = check_finite(self, sums.diagonal(batch, effective_n_jobs(n_jobs)))
        values.flags.writeable = False
        return values
