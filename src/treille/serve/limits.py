"""Limits of a server, and the threads that do its work within them."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from treille.serve.requests import RequestError

TOGETHER = 64  # requests answered by one call of the core, at most
LARGE = 1 << 16  # bytes of requests that are answered together, at most


@dataclass(frozen=True)
class Limits:
    """Limits of one server: bytes of a body, seconds for a request, requests that wait for a thread, and threads."""

    body: int = 4_000_000
    seconds: float = 10.0
    waiting: int = 128
    threads: int = 2


Work = Callable[[Sequence[Any]], list[Any]]  # one result per request: the answer, or the exception


@dataclass(eq=False)
class Job:
    """A request that waits for a thread. Jobs with the same work may be done by one call."""

    work: Work
    request: Any
    size: int
    result: asyncio.Future[Any]


class Workers:
    """A few threads, and a queue of bounded length before them.

    The queue belongs to the event loop's thread as much as to the workers; how many jobs there are, only to the loop. A job
    counts until it has ended, also where nobody waits for it any longer: what runs in the core cannot be stopped.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self.jobs = 0
        self._queue: deque[Job] = deque()
        self._changed = threading.Condition()
        self._stopped = False
        self._threads: list[threading.Thread] = []

    async def run(self, work: Work, request: Any, size: int, seconds: float) -> Any:
        """Runs `work` for this request in one of the threads, and returns its result."""
        if self.jobs >= self.limits.waiting + self.limits.threads:
            message = f"{self.jobs} requests are being answered or wait, the most allowed: try again"
            raise RequestError(503, message, {"Retry-After": "1"})
        loop = asyncio.get_running_loop()
        job = Job(work, request, size, loop.create_future())
        self.jobs += 1
        with self._changed:
            self._queue.append(job)
            if len(self._threads) < self.limits.threads:
                name = f"treille-worker-{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._serve, name=name, daemon=True))
                self._threads[-1].start()
            self._changed.notify()
        end = loop.call_later(seconds, self._expire, job)  # much cheaper than asyncio.wait_for
        try:
            return await job.result
        finally:
            end.cancel()

    def _expire(self, job: Job) -> None:
        if not job.result.done():
            message = f"not answered within {self.limits.seconds:g} s, the time limit: send less at once"
            job.result.set_exception(RequestError(504, message))

    def stop(self) -> None:
        """Ends the threads once they are idle."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._stopped:
                    self._changed.wait()
                if not self._queue:
                    return
                jobs = self._next()
            waited_for = [job for job in jobs if not job.result.done()]
            results = jobs[0].work([job.request for job in waited_for]) if waited_for else []
            with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits
                jobs[0].result.get_loop().call_soon_threadsafe(self._deliver, len(jobs), waited_for, results)

    def _next(self) -> list[Job]:
        """The first job of the queue, and those after it that the same call can do."""
        jobs = [self._queue.popleft()]
        size = jobs[0].size
        while self._queue and len(jobs) < TOGETHER:
            job = self._queue[0]
            size += job.size
            if job.work != jobs[0].work or size > LARGE:
                break
            jobs.append(self._queue.popleft())
        return jobs

    def _deliver(self, n_jobs: int, jobs: Sequence[Job], results: Sequence[Any]) -> None:
        self.jobs -= n_jobs
        for job, result in zip(jobs, results, strict=True):
            if job.result.done():
                continue
            if isinstance(result, Exception):
                job.result.set_exception(result)
            else:
                job.result.set_result(result)
