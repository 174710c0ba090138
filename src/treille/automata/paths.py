"""The paths of a machine, and their number."""

import math
from collections import deque
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from treille.automata.validation import ONE
from treille.io.errors import InputError
from treille.io.machine import MachineParts

Labels = tuple[int, ...]
Step = tuple[int, int, float, int]  # input, output, weight, target
Product = tuple[float, int]  # a weight f 2^e: products over the reals may leave the range of floats and come back


class Walks:
    """Walks through a machine of which every state leads to a final one."""

    def __init__(self, parts: MachineParts):
        ends = np.searchsorted(parts.sources, np.arange(parts.n_states + 1)).tolist()
        columns = (parts.inputs, parts.outputs, parts.weights, parts.targets)
        arcs: list[Step] = list(zip(*(column.tolist() for column in columns), strict=True))
        self.start = parts.start
        self.arcs = [arcs[first:last] for first, last in pairwise(ends)]
        self.finals = dict(zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True))
        self.one = ONE[parts.semiring]
        self.multiplies = parts.semiring == "real"  # log and tropical weights are added up

    def times(self, path: Product, weight: float) -> Product:
        """The weight of a path that is longer by one arc."""
        factor, exponent = path
        if not self.multiplies:
            return factor + weight, 0
        product = factor * weight
        if 1e-290 < abs(product) < 1e290 or factor == 0 or weight == 0:
            return product, exponent
        (a, first), (b, second) = math.frexp(factor), math.frexp(weight)
        return a * b, exponent + first + second

    def ended(self, path: Product, weight: float) -> float:
        """The weight of a whole path."""
        factor, exponent = self.times(path, weight)
        try:
            return math.ldexp(factor, exponent) if exponent else factor
        except OverflowError:
            size = round(math.log10(abs(factor)) + exponent * math.log10(2))
            raise InputError(
                f"the weight of a path is about 10^{size}, too large for a number: use costs, astype('log')"
            ) from None

    def depth_first(self) -> Iterator[tuple[Labels, Labels, float]]:
        """For machines without cycles. Needs memory for one path only."""
        if self.start < 0:
            return
        inputs, outputs, weights = [0], [0], [(self.one, 0)]  # of the arcs so far
        stack = [iter(self.arcs[self.start])]
        if self.start in self.finals:
            yield (), (), self.finals[self.start]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                for column in (stack, inputs, outputs, weights):
                    column.pop()
                continue
            input, output, weight, target = step
            inputs.append(input)
            outputs.append(output)
            weights.append(self.times(weights[-1], weight))
            stack.append(iter(self.arcs[target]))
            if target in self.finals:
                total = self.ended(weights[-1], self.finals[target])
                yield tuple(filter(None, inputs)), tuple(filter(None, outputs)), total

    def by_length(self) -> Iterator[tuple[Labels, Labels, float]]:
        """For machines with cycles: by increasing number of arcs, endlessly. All paths of one length are in memory."""
        waiting: deque[tuple[int, Labels, Labels, Product]] = deque([(self.start, (), (), (self.one, 0))])
        while waiting:
            state, inputs, outputs, so_far = waiting.popleft()
            if state in self.finals:
                yield inputs, outputs, self.ended(so_far, self.finals[state])
            for input, output, weight, target in self.arcs[state]:
                read = (*inputs, input) if input else inputs
                written = (*outputs, output) if output else outputs
                waiting.append((target, read, written, self.times(so_far, weight)))


def count_paths(parts: MachineParts) -> int:
    """Counts the paths from the start to a final state, in a machine whose arcs lead to higher states only."""
    counts = [0] * parts.n_states
    if parts.n_states:
        counts[parts.start] = 1
    for source, target in zip(parts.sources.tolist(), parts.targets.tolist(), strict=True):
        counts[target] += counts[source]
    return sum(counts[state] for state in parts.final_states.tolist())
