"""Shared by the benchmarks: interleaved timing, peak memory in a separate process, tables, and a description of the machine.

With the option ``--smoke`` a script runs in seconds. Its tables mean nothing, but show that the script works: public sets are
replaced by samples (public_sets.py), sizes by small ones (`sized`), jobs run once, and processes are forked.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing as mp
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

SMOKE = "--smoke" in sys.argv
T = TypeVar("T")


def sized(full: T, smoke: T) -> T:
    """Returns the size for the benchmark, or in a smoke run the other one."""
    return smoke if SMOKE else full


def interleaved(
    jobs: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """The seconds of each job. Jobs take turns, so that a busy minute of the machine affects all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            begun = clock()
            job()
            seconds[name].append(clock() - begun)
    return seconds


def peak_memory(job: Callable[..., Any], *arguments: Any) -> tuple[float, float]:
    """The peak of resident megabytes of a new process that runs job(*arguments): in all, and in addition to the imports and the
    data, which `job` loads before it calls `mark()`."""
    context = mp.get_context(sized("spawn", "fork"))
    queue = context.Queue()
    process = context.Process(target=_measured, args=(queue, job, arguments))
    process.start()
    result = queue.get()
    process.join()
    return result


def _measured(queue: Any, job: Callable[..., Any], arguments: Sequence[Any]) -> None:
    before = [0.0]

    def mark() -> None:
        with contextlib.suppress(OSError):  # forget the peak of imports and loading
            Path("/proc/self/clear_refs").write_text("5")
        before[0] = _resident()

    job(mark, *arguments)
    peak = _peak()
    queue.put((peak, peak - before[0]))


def limited(job: Callable[[], Any], seconds: float) -> tuple[Any, float]:
    """The value that `job` returns in a separate process, and the peak of the megabytes that it allocates.

    Raises a RuntimeError with the reason if it fails. It is killed after `seconds`, which raises a RuntimeError, too.
    """
    context = mp.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, job))
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise RuntimeError(f"more than {seconds:.0f} s")
        answer, error, megabytes = receiver.recv()
    except EOFError:
        process.join()
        raise RuntimeError(f"the process ended with code {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
    if error:
        raise RuntimeError(error)
    return answer, megabytes


def _answer(sender: Any, job: Callable[[], Any]) -> None:
    with contextlib.suppress(OSError):  # forget the peak of the process that began this one
        Path("/proc/self/clear_refs").write_text("5")
    before = _resident()
    try:
        answer, error = job(), ""
    except Exception as found:
        answer, error = None, f"{type(found).__name__}: {found}"
    sender.send((answer, error, _peak() - before))


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def _resident() -> float:
    return _status("VmRSS") if Path("/proc/self/status").exists() else 0.0


def _peak() -> float:
    if Path("/proc/self/status").exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ratio(slow: list[float], fast: list[float]) -> str:
    """The speed-up by medians, and in parentheses by minima."""
    return f"{statistics.median(slow) / statistics.median(fast):.1f} ({min(slow) / min(fast):.1f})"


def shown(seconds: list[float]) -> str:
    """The median in seconds, and in parentheses the minimum."""
    return f"{statistics.median(seconds):.3g} ({min(seconds):.3g})"


def installed(distribution: str) -> bool:
    """Returns whether another program is installed; if not, prints that it is left out."""
    try:
        version(distribution)
    except PackageNotFoundError:
        print(
            f"{distribution} is not installed, so its comparisons are left out: pip install {distribution}", flush=True
        )
        return False
    return True


class Page:
    """A page of tables: printed line by line, and written to a file on request."""

    def __init__(self, title: str, peers: Sequence[str]):
        versions = ", ".join(f"{name} {version(name)}" for name in ("treille", *filter(installed, peers)))
        self.lines: list[str] = []
        self.say(f"# {title}\n\n{versions}; {machine()}.")

    def say(self, text: str) -> None:
        print(text, flush=True)
        self.lines.append(text)

    def table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        lines = [f"\n## {title}\n", f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
        self.say("\n".join(lines + [f"| {' | '.join(map(str, row))} |" for row in rows]))

    def write(self, folder: str | None, name: str) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            Path(folder, f"{name}.md").write_text("\n".join(self.lines) + "\n", encoding="utf-8")


def machine() -> str:
    """The processor, the cores and the interpreter."""
    model = platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":")[1].strip()
                break
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


def arguments(description: str) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repeats", type=int, default=sized(5, 1))
    parser.add_argument("--smoke", action="store_true", help="a run of seconds, to see whether the script works")
    parser.add_argument("--write", metavar="FOLDER", help="write the pages there, too")
    return parser
