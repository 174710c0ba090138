"""FiniteNewton compared with LIBLINEAR's primal Newton method (-s 2) and with DualCD: the squared hinge to the same gap.

    TREILLE_DATA=folder python benchmarks/peers/newton.py [--parts liblinear solvers] [--write docs/generated/newton]

The jobs take turns, on the same matrix, with one thread, and are timed by the processor time they use. LIBLINEAR reports no gap:
it runs with the largest eps of a grid whose w has the requested gap, computed here as 1/2 |gradient|^2, as in FiniteNewton.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _cells import fastsk, reviews

from harness import Page, arguments, installed, interleaved, ratio, shown, sized

EPS = tuple(float(f"{10**-e:.3g}") for e in np.arange(0.0, 8.01, sized(0.25, 2.0)))
EPOCHS = 1000  # the default of SVC
Data = tuple[sp.csr_matrix, np.ndarray]


def of_kernel(kernel: Any, examples: tuple[list[str], np.ndarray]) -> Data:
    import treille

    texts, labels = examples
    return treille.Features(kernel, n_jobs=2).fit_transform(texts), (labels == np.unique(labels)[1]).astype(int)


def words() -> Data:
    from treille.kernels import NGram

    return of_kernel(NGram(2, min_n=1, unit="word").normalized(), reviews())


def characters() -> Data:
    from treille.kernels import NGram

    return of_kernel(NGram(5).normalized(), reviews())


def dna() -> Data:
    from treille.kernels import NGram

    return of_kernel(NGram(6, min_n=1).normalized(), fastsk("EP300", "dna"))


def tokens(n: int = sized(40_000, 400), n_features: int = 60_000, per_row: int = 45) -> Data:
    """Binary features of tokens, as of a tagger, with frequencies similar to the frequencies of words."""
    random = np.random.default_rng(0)
    chance = 1 / np.arange(1, n_features + 1)
    columns = random.choice(n_features, size=(n, per_row), p=chance / chance.sum())
    matrix = sp.csr_matrix((np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, per_row)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    w = random.normal(size=matrix.shape[1]) * (random.random(matrix.shape[1]) < 0.3)
    return matrix, (matrix @ w + 1.5 * random.normal(size=n) > 0).astype(int)


def numbers(n: int, n_features: int) -> Data:
    """Dense columns of numbers, and classes that overlap."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, n_features))
    y = X @ random.normal(size=n_features) / np.sqrt(n_features) + random.normal(size=n) > 0
    return sp.csr_matrix(X), y.astype(int)


DATA: dict[str, Callable[[], Data]] = {
    "reviews, words 1-2": words,
    "reviews, characters 5": characters,
    "DNA, characters 1-6": dna,
    "tokens, 45 binary features": tokens,
    "dense, 100 columns": lambda: numbers(sized(20_000, 200), 100),
    "dense, 10 columns": lambda: numbers(sized(100_000, 200), 10),
    "dense, 2000 columns": lambda: numbers(sized(500, 50), sized(2000, 200)),
    "dense, 300 columns, 2 rows each": lambda: numbers(sized(600, 60), sized(300, 30)),
    "dense, 300 columns, 3 rows each": lambda: numbers(sized(900, 90), sized(300, 30)),
    "tokens, 20 of 1000 binary features": lambda: tokens(sized(40_000, 400), 1000, 20),
}


class Liblinear:
    """LIBLINEAR's primal Newton method on a given matrix. Building the problem is not timed."""

    def __init__(self, matrix: sp.csr_matrix, y: np.ndarray):
        from liblinear.liblinearutil import problem

        self.matrix, self.signs = sp.hstack([matrix, np.ones((len(y), 1))]).tocsr(), np.where(y == 1, 1.0, -1.0)
        self.problem = problem(self.signs, matrix, bias=1)

    def train(self, C: float, eps: float) -> Any:
        from liblinear.liblinearutil import parameter, train

        return train(self.problem, parameter(f"-s 2 -c {C} -B 1 -e {eps} -q"))

    def gap(self, C: float, eps: float) -> float:
        model = self.train(C, eps)
        w = np.array(model.w[: self.matrix.shape[1]]) * model.label[0]
        slack = np.maximum(0, 1 - self.signs * (self.matrix @ w))
        gradient = w - self.matrix.T @ (2 * C * slack * self.signs)
        return float(0.5 * gradient @ gradient / (0.5 * w @ w + C * (slack**2).sum()))

    def eps_for(self, C: float, gap: float) -> float | None:
        return next((eps for eps in EPS if self.gap(C, eps) <= gap), None)


def space_of(matrix: sp.csr_matrix) -> Any:
    from treille.kernels import Linear
    from treille.spaces import RowsSpace

    return RowsSpace.build(Linear(), Linear().batch(matrix))


def problem_of(y: np.ndarray, C: float) -> Any:
    from treille.solvers import Problem
    from treille.solvers.problem import SquaredHinge

    return Problem(SquaredHinge(), y, np.full(len(y), C), True, np.array([1]))


def train(solver: Any, space: Any, y: np.ndarray, C: float, gap: float, epochs: int = 10**6) -> Any:
    """Trains once; returns the report."""
    from treille.solvers import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solver.solve(problem_of(y, C), space, tol=gap, max_epochs=epochs).report


def against_liblinear(page: Page, repeats: int) -> None:
    rows = []
    for name, load in list(DATA.items())[:: sized(1, 4)]:
        matrix, y = load()
        peer, space = Liblinear(matrix, y), space_of(matrix)
        for C, gap in ((1.0, 1e-2), (1.0, 1e-3), (1.0, 1e-5), (10.0, 1e-3)):
            rows.append([name, f"{C:g}", f"{gap:g}", *beside(peer, space, y, C, gap, repeats)])
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    header = ("data", "C", "relative gap", "FiniteNewton", "LIBLINEAR -s 2", "times faster", "LIBLINEAR's eps")
    page.table(f"Processor seconds, median (minimum) of {repeats}, one thread", header, rows)


def beside(peer: Liblinear, space: Any, y: np.ndarray, C: float, gap: float, repeats: int) -> list[Any]:
    from treille.solvers import FiniteNewton

    eps = peer.eps_for(C, gap)
    jobs: dict[str, Callable[[], Any]] = {"ours": lambda: train(FiniteNewton(), space, y, C, gap)}
    if eps is None:
        return [shown(interleaved(jobs, repeats, time.process_time)["ours"]), "-", "-", "-"]
    seconds = interleaved(jobs | {"theirs": lambda: peer.train(C, eps)}, repeats, time.process_time)
    return [shown(seconds["ours"]), shown(seconds["theirs"]), ratio(seconds["theirs"], seconds["ours"]), eps]


def against_dual_cd(page: Page, repeats: int) -> None:
    from treille.solvers import DualCD, FiniteNewton

    rows = []
    for name, load in list(DATA.items())[:: sized(1, 4)]:
        matrix, y = load()
        space = space_of(matrix)
        for C in (0.1, 1.0, 10.0, 100.0):
            cells = [
                " / ".join(time_to(gap, solver, space, y, C) for solver in (FiniteNewton(), DualCD()))
                for gap in (1e-2, 1e-3, 1e-5)
            ]
            auto = "FiniteNewton" if FiniteNewton().recommended(space, problem_of(y, C)) else "DualCD"
            rows.append([name, f"{matrix.shape[0]:,}", f"{matrix.shape[1]:,}", f"{C:g}", *cells, auto])
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    header = ("data", "examples", "features", "C", "gap 0.01", "gap 0.001", "gap 0.00001", "auto picks")
    page.table(
        f"FiniteNewton / DualCD: processor seconds, one thread, at most {EPOCHS} epochs (>: gap not reached)",
        header,
        rows,
    )


def time_to(gap: float, solver: Any, space: Any, y: np.ndarray, C: float) -> str:
    """The seconds of one run, or of the faster of two short runs."""
    best = np.inf
    for _ in range(2):
        begun = time.process_time()
        report = train(solver, space, y, C, gap, EPOCHS)
        best = min(best, time.process_time() - begun)
        if best > 1:
            break
    return f"{best:.2g}" if report.status == "converged" else f"> {best:.2g}"


PARTS = {"liblinear": against_liblinear, "solvers": against_dual_cd}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        if part == "liblinear" and not installed("liblinear-official"):
            continue
        page = Page(f"Newton's method in the primal: {part}", ("liblinear-official",))
        PARTS[part](page, options.repeats)
        page.write(options.write, part)


if __name__ == "__main__":
    main()
