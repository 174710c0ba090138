"""Progress of long work, on a terminal only."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar
from rich.text import Text

from treille import _core


def readable_time(seconds: float) -> str:
    """Seconds, minutes or hours.

    >>> readable_time(7.4), readable_time(130), readable_time(20_000)
    ('7 s', '2 min', '5.6 h')
    """
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


class CoreBar(ProgressColumn):
    """A bar for work in the core, which counts its items itself."""

    def render(self, task: Task) -> ProgressBar:
        done, total = _core.progress()
        return ProgressBar(
            total=total or None, completed=done, pulse=not total, width=20, animation_time=time.monotonic()
        )


class CoreCount(ProgressColumn):
    """The share of items done, and the time left at this rate."""

    def render(self, task: Task) -> Text:
        done, total = _core.progress()
        if task.fields.get("epochs") or not 0 < done <= total:
            return Text("")
        left = (task.elapsed or 0.0) / done * (total - done)
        return Text(f"{done / total:.0%}, {left:.0f} s left" if left >= 1 else f"{done / total:.0%}")


@contextmanager
def _columns(verbose: int, *columns: ProgressColumn) -> Iterator[Progress | None]:
    """A line of these columns on standard error; None where it would not be seen."""
    console = Console(stderr=True)
    if not verbose or not console.is_terminal:
        yield None
        return
    _core.begin_progress()
    with Progress(*columns, console=console, transient=True) as bar:
        yield bar


@contextmanager
def stage(title: str, verbose: int) -> Iterator[None]:
    """Shows which stage of the work runs, how far it is and how long it will take, on standard error.

    >>> with stage("computing features", verbose=0):
    ...     pass
    """
    columns = TextColumn("{task.description}", markup=False), CoreBar(), CoreCount(), TimeElapsedColumn()
    with _columns(verbose, *columns) as bar:
        if bar is not None:
            bar.add_task(title, total=None)
        yield


@contextmanager
def progress_bar(
    n_classes: int, tol: float, verbose: int, what: str = "class", measure: str = "gap", unit: str = "epoch"
) -> Iterator[Callable[[int, int, float], None] | None]:
    """Yields what a solver's `progress` expects: a bar that follows the gap down to `tol`, on standard error."""
    columns = TextColumn("training"), BarColumn(), TextColumn("{task.description}"), CoreCount(), TimeElapsedColumn()
    with _columns(verbose, *columns) as bar:
        if bar is None:
            yield None
            return
        task, begun = bar.add_task("", total=n_classes), time.perf_counter()

        def follow(done: int, epochs: int, gap: float) -> None:
            # The gap falls about geometrically, so its logarithm shows the progress of the current class.
            part = 0.0 if not 0 < gap < 1 else min(1.0, math.log(gap) / math.log(tol)) if tol < 1 else 1.0
            several = f"{what} {min(done + 1, n_classes):,} of {n_classes:,}, " if n_classes > 1 else ""
            if n_classes > 1 and 0 < done < n_classes:
                left = (time.perf_counter() - begun) / done * (n_classes - done)
                several += f"{readable_time(left)} left, "
            bar.update(
                task,
                completed=min(n_classes, done + part),
                description=f"{several}{unit} {epochs}, {measure} {gap:.2g}",
                epochs=epochs,
            )

        yield follow


@contextmanager
def running_text(verbose: int) -> Iterator[Callable[[str], None]]:
    """Yields a function that shows how far work of unknown length is, on standard error.

    >>> with running_text(verbose=0) as show:
    ...     show("3 parts read")
    """
    with _columns(verbose, SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()) as bar:
        if bar is None:
            yield lambda text: None
            return
        task = bar.add_task("")
        yield lambda text: bar.update(task, description=text)
