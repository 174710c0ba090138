"""The default C of LogisticRegression: how good probabilities and decisions are by C, with the default kernel of each kind.

    TREILLE_DATA=folder python benchmarks/peers/probabilities.py [--most 1000] [--write docs/generated/probabilities]

3 inner folds of the training parts of the sets of accuracy.py and of public sets of graphs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _accuracy_methods import wrapped
from _accuracy_sets import SETS, Problem, Set, folds, sampled

from harness import Page, arguments, sized
from public_sets import graphs

CS = sized((0.3, 1.0, 3.0, 10.0, 30.0, 100.0), (0.3, 1.0))
BINS = 10


def of_graphs(name: str) -> Problem:
    batch, labels = graphs(name)
    y = np.array([str(label) for label in labels])
    return Problem(batch, y, folds(y, 5))


GRAPHS = [Set(name, "graphs", lambda name=name: of_graphs(name)) for name in ("NCI1", "PROTEINS", "PTC_MR", "ENZYMES")]


def calibration_error(p: np.ndarray, right: np.ndarray) -> float:
    """The expected calibration error: the mean difference of confidence and accuracy in bins of confidence."""
    confidence = p.max(axis=1)
    bins = np.minimum((BINS * confidence).astype(int), BINS - 1)
    differences = np.bincount(bins, confidence - right, BINS)
    return float(np.abs(differences).sum() / len(p))


def measured(each: Set, most: int) -> np.ndarray:
    """Log loss, calibration error and accuracy, one row per C."""
    import treille

    problem = each.load()
    train = problem.splits[0][0]
    train = train[sampled(train, most)]
    groups = None if problem.groups is None else np.unique(problem.groups[train], return_inverse=True)[1]
    found: list[tuple[float, float, float]] = []

    def score(model: Any, X: Any, y: np.ndarray) -> float:
        p = model.predict_proba(X)
        right = model.classes_[p.argmax(axis=1)] == y
        known = np.isin(y, model.classes_)  # a fold may lack a rare class, of which the model knows nothing
        loss = -np.log(p[known, np.searchsorted(model.classes_, y[known])]).mean()
        found.append((loss, calibration_error(p, right), right.mean()))
        return -float(loss)

    splits = folds(problem.y[train], 3, groups)
    search = treille.LogisticRegressionCV(Cs=CS, cv=splits, scoring=score, n_jobs=1)
    search.fit(wrapped(each.kind)(problem.part(train)), problem.y[train])
    return np.array(found).reshape(len(splits), len(CS), 3).mean(axis=0)


MEASURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Log loss": lambda values: values[:, 0],
    "Expected calibration error": lambda values: values[:, 1],
    "Accuracy": lambda values: values[:, 2],
}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--most", type=int, default=sized(1000, 60), help="examples of each set, at most")
    parser.add_argument("--sets", metavar="WORD", nargs="+", help="only sets whose kind or name contains one of these")
    options = parser.parse_args()
    chosen = [s for s in (*SETS, *GRAPHS) if not options.sets or any(w in f"{s.kind}, {s.name}" for w in options.sets)]
    found = list[tuple[Set, np.ndarray]]()
    for each in chosen[: sized(None, 1)]:
        found.append((each, measured(each, options.most)))
        print(each.name, found[-1][1].round(3).tolist(), file=sys.stderr, flush=True)
    page = Page("Probabilities", ("scikit-learn",))
    page.say(f"\nInner folds of training parts, at most {options.most:,} examples of each set.")
    for title, column in MEASURES.items():
        rows = [[each.name, each.kind, *(f"{v:.3f}" for v in column(values))] for each, values in found]
        means = np.mean([column(values) for _, values in found], axis=0)
        rows.append(["**mean**", "", *(f"**{v:.3f}**" for v in means)])
        page.table(title, ("set", "kind", *(f"C = {C:g}" for C in CS)), rows)
    page.write(options.write, "probabilities")


if __name__ == "__main__":
    main()
