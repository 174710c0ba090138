"""Runs targets in a child process each: a crash, a foreign exception, too much time or memory is a finding, with its input saved.

Case number i of a target is the same in every run with the same seed.
"""

import json
import mmap
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treille.io.errors import InputError

MEMORY = 2 << 30  # bytes beyond those of the process before the first case
SECONDS = 10.0
Make = Callable[[Path], Any]  # makes a target that may write to the folder


@dataclass(frozen=True)
class Finding:
    """A failure, and the case that caused it."""

    target: str
    case: int
    what: str
    detail: str
    data: bytes


def fuzz(
    name: str, make: Make, seconds: float, seed: int, first: int = 0, count: int = 1 << 60
) -> tuple[int, list[Finding]]:
    """Runs cases until time is up, `count` of them at most; returns how many, and the findings, one for each place in the code."""
    end, findings, done = time.monotonic() + seconds, dict[str, Finding](), 0
    with tempfile.TemporaryDirectory(dir=_fast_folder()) as folder:
        while time.monotonic() < end and done < count:
            shared = mmap.mmap(-1, 24)  # the case that runs, when it began, how many ended
            report = Path(folder) / "report"
            report.write_bytes(b"")
            child = os.fork()
            if child == 0:
                _work(name, make, Path(folder), shared, report, end, seed, first + done, count - done)
            how = _watch(child, shared)
            case, _, ended = struct.unpack("qdq", shared)
            done = ended
            for line in report.read_text().splitlines():
                found = json.loads(line)
                key = found["detail"]
                findings.setdefault(key, Finding(name, found["case"], found["what"], key, bytes.fromhex(found["data"])))
            if how:
                target = make(Path(folder))
                data = target.case(_generator(name, seed, case))
                where = _where(Path(folder) / "stack")
                findings.setdefault(how + where, Finding(name, case, how, where, data))
                done = case - first + 1
                shared[16:] = struct.pack("q", done)
            else:
                break
    return done, list(findings.values())


def _generator(name: str, seed: int, case: int) -> random.Random:
    return random.Random(f"{name} {seed} {case}")


def _fast_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _work(
    name: str, make: Make, folder: Path, shared: mmap.mmap, report: Path, end: float, seed: int, first: int, count: int
) -> None:
    """The child: never returns."""
    import faulthandler

    warnings.simplefilter("ignore")
    faulthandler.enable(open(folder / "stack", "w"))  # noqa: SIM115 (open until the process ends)
    faulthandler.register(signal.SIGUSR1, open(folder / "stack", "w"))  # noqa: SIM115
    try:
        target = make(folder)
        used = (
            int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            if sys.platform == "linux"
            else 0
        )
        if used and not os.environ.get("LD_PRELOAD"):  # sanitizers reserve terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        seen = set[str]()
        with report.open("a") as out:
            for case in range(first, first + count):
                shared[:] = struct.pack("qdq", case, time.monotonic(), case - first)
                if time.monotonic() > end:
                    break
                data = target.case(_generator(name, seed, case))
                try:
                    target.run(data)
                except InputError:
                    pass
                except BaseException as error:
                    detail = f"{type(error).__name__} at {_place(error)}"
                    if detail not in seen:
                        seen.add(detail)
                        what = "".join(traceback.format_exception(error)[-6:])
                        out.write(json.dumps({"case": case, "what": what, "detail": detail, "data": data.hex()}) + "\n")
                        out.flush()
                shared[16:] = struct.pack("q", case - first + 1)
        shared[8:16] = struct.pack("d", 0.0)
    except BaseException:
        traceback.print_exc()
        os._exit(99)
    os._exit(0)


def _watch(child: int, shared: mmap.mmap) -> str:
    """Waits for the child; returns how it failed, or an empty string."""
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            if os.WIFSIGNALED(status):
                return f"crash: {signal.Signals(os.WTERMSIG(status)).name}"
            if os.WEXITSTATUS(status) == 99:
                raise RuntimeError("the target cannot be run, see above")
            return "" if os.WEXITSTATUS(status) == 0 else f"crash: exit {os.WEXITSTATUS(status)}"
        _, begun, _ = struct.unpack("qdq", shared)
        if begun and time.monotonic() - begun > SECONDS:
            os.kill(child, signal.SIGUSR1)
            time.sleep(0.3)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"slow: more than {SECONDS:.0f} s"
        time.sleep(0.05)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "treille" in f.filename and "tests" not in f.filename]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in (own or frames)[::-1][:2])


def _where(stack: Path) -> str:
    lines = stack.read_text().splitlines() if stack.exists() else []
    frames = [line.split("/")[-1] for line in lines if "File" in line and "treille/" in line]
    return " < ".join(frames[:2])
