"""What one part does for the cascade: it solves its own problem once, and then only tells which examples leave it, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treille import _core
from treille.features import DivisibleRows, FeatureRows
from treille.features.abilities import having
from treille.solvers.cluster_part import ClusterPart, signs
from treille.solvers.part_targets import true_weights, weights_of

ENOUGH = 0.1  # the relative gap of a part's own problem
EPOCHS = 10  # for it, at most


@dataclass(frozen=True)
class Alone:
    """A part whose own problems are solved. The variables of examples that stay in the part never change again."""

    part: ClusterPart
    problems: tuple[int, ...]
    alpha: np.ndarray  # one row per problem
    free: np.ndarray  # examples that are not held at a bound in one of the problems

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.part.__sizeof__() + self.alpha.nbytes


@dataclass(frozen=True)
class Leaving:
    """Examples that leave a part, with all that belongs to them."""

    examples: np.ndarray  # their numbers in the part
    rows: list[FeatureRows]
    targets: np.ndarray
    C: np.ndarray
    alpha: np.ndarray


@dataclass(frozen=True)
class Answer:
    """What the examples that have not left the part so far add to the values of each problem, and which of them should leave."""

    losses: np.ndarray  # at w
    dual: np.ndarray  # besides |w|^2
    free: np.ndarray  # numbers of the examples in the part
    nbytes: int  # of their rows, about


def solve_alone(part: ClusterPart, problems: tuple[int, ...], coupling: float, seed: int, *starts: np.ndarray) -> Alone:
    """Solves the part's own problems as if the other parts were like it: it is 1/coupling of the data.

    With dual variables to start from, one array for each part of the data that was joined, these are taken as they are.
    """
    n, K, F = len(part), len(problems), part.rows[0].n_features
    if starts:
        return Alone(part, problems, np.concatenate(starts, axis=1), np.zeros(n, bool))
    u, b, alpha, free = np.zeros((K, F)), np.zeros(K), np.zeros((K, n)), np.zeros(n, bool)
    if n:
        rows, targets = part.for_core(problems, coupling)
        bias, none = float(part.problem.intercept), np.zeros(K)
        _core.solve_part(
            rows, targets, bias, ENOUGH, EPOCHS, seed, u.reshape(-1), b, none, alpha.reshape(-1), 1, lambda *_: True
        )
        alpha /= coupling
        w = np.concatenate([true_weights(u, weights_of(part.rows_of(problems[0])[0])), b[:, None]], axis=1)
        for place, k in enumerate(problems):
            free |= part.free(k, part.outputs(k, w[place]), signs(part.problem, k) * alpha[place])
    return Alone(part, problems, alpha, free)


def sums_of(alone: Alone) -> np.ndarray:
    """w(alpha) of the part, one row per problem; the last number is the intercept's."""
    part, each = alone.part, zip(alone.problems, alone.alpha, strict=True)
    return np.stack([part.sums(k, signs(part.problem, k) * own)[:, 0] for k, own in each])


def free_examples(alone: Alone) -> Answer:
    """The examples that the part's own problem left free."""
    dual = np.array([alone.part.conjugate(k, _beta(alone, place)) for place, k in enumerate(alone.problems)])
    return _answer(alone, np.zeros_like(dual), dual, alone.free)


def check(alone: Alone, w: np.ndarray, gone: np.ndarray) -> Answer:
    """Which of the examples that stay are not held where they are at w, one row per problem. One pass over the rows."""
    part, here = alone.part, np.ones(len(alone.part), bool)
    here[gone] = False
    free, losses, dual = np.zeros(len(part), bool), np.zeros(len(w)), np.zeros(len(w))
    loss, C = part.problem.loss, part.problem.C
    for place, k in enumerate(alone.problems):
        y, beta, f = part.problem.y(k), _beta(alone, place), part.outputs(k, w[place])
        losses[place] = C[here] @ loss.value(y, f)[here]
        dual[place] = loss.conjugate(y, beta, C)[here].sum()
        free |= part.free(k, f, beta)
    return _answer(alone, losses, dual, free & here)


def leaving(alone: Alone, examples: np.ndarray) -> Leaving:
    """These examples of the part, by number."""
    part, each, at = alone.part, list[FeatureRows](), 0
    for rows in part.rows_of(alone.problems[0]):
        inside = examples[(at <= examples) & (examples < at + len(rows))] - at
        if len(inside):
            each.append(having(rows, DivisibleRows).taken(inside))
        at += len(rows)
    return Leaving(examples, each, part.problem.targets[examples], part.problem.C[examples], alone.alpha[:, examples])


def dual_variables(alone: Alone) -> np.ndarray:
    """Of all examples of the part, as they were when it was solved alone."""
    return alone.alpha


def add_arrays(*arrays: np.ndarray) -> np.ndarray:
    """Their sum."""
    return sum(arrays[1:], arrays[0])


def _beta(alone: Alone, place: int) -> np.ndarray:
    beta: np.ndarray = signs(alone.part.problem, alone.problems[place]) * alone.alpha[place]
    return beta


def _answer(alone: Alone, losses: np.ndarray, dual: np.ndarray, free: np.ndarray) -> Answer:
    part, examples = alone.part, np.flatnonzero(free)
    size = sum(rows.nbytes for rows in part.rows_of(alone.problems[0])) / max(1, len(part))
    return Answer(losses, dual, examples, int(size * len(examples)))
