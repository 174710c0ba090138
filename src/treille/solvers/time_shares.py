"""The rule of core/solve/monitor.hpp by which problems share a limit of time, for loops in Python."""

import time
from math import ceil, inf


def deadline_after(max_seconds: float | None) -> float:
    """The time by ``time.perf_counter()`` at which the seconds from now on are over."""
    return inf if max_seconds is None else time.perf_counter() + max_seconds


def share_of(deadline: float, turns: int) -> float:
    """The deadline of the next problem, of those that end by `deadline` in so many turns.

    All have the same share, and the others get what one leaves unused.

    >>> round(share_of(time.perf_counter() + 8.0, turns=4) - time.perf_counter())
    2
    """
    now = time.perf_counter()
    return now + max(0.0, deadline - now) / turns


class TimeShares:
    """The shares of n problems that advance together, `at_once` at a time.

    >>> TimeShares(inf, n=3, at_once=2).over(0)
    False
    """

    def __init__(self, deadline: float, n: int, at_once: int):
        self.deadline, self.n, self.at_once = deadline, n, at_once
        self.shares = dict[int, float]()

    def over(self, problem: int) -> bool:
        """Whether the time of a problem is over. It begins with the first call."""
        if problem not in self.shares:
            turns = ceil(self.n / self.at_once) - len(self.shares) // self.at_once
            self.shares[problem] = share_of(self.deadline, turns)
        return time.perf_counter() >= self.shares[problem]
