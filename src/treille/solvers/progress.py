"""Progress of long work, on a terminal only."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress_bar(n_classes: int, tol: float, verbose: int) -> Iterator[Callable[[int, int, float], None] | None]:
    """Yields what a solver's `progress` expects: a bar that follows the gap down to `tol`, on standard error."""
    console = Console(stderr=True)
    if not verbose or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("training"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=n_classes)

        def follow(done: int, epochs: int, gap: float) -> None:
            # The gap falls about geometrically, so its logarithm tells how far the class at work is.
            part = 0.0 if not 0 < gap < 1 else min(1.0, math.log(gap) / math.log(tol)) if tol < 1 else 1.0
            several = f"class {min(done + 1, n_classes)} of {n_classes}, " if n_classes > 1 else ""
            bar.update(
                task, completed=min(n_classes, done + part), description=f"{several}epoch {epochs}, gap {gap:.2g}"
            )

        yield follow
