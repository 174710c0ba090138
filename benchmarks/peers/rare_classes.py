"""Rare topics of the Reuters stories: F1 by C, loss and class weights, from one search of SVCCV per topic.

    TREILLE_DATA=folder python benchmarks/peers/rare_classes.py [--write docs/generated/rare_classes]

3 folds of 5,000 training stories, drawn by a seed; the default kernel of texts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Page, arguments, sized
from public_sets import reuters

STORIES = sized(5000, 300)
TOPICS = ("money-fx", "ship", "sugar", "coffee", "cocoa")[: sized(None, 1)]
CS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)[: sized(None, 2)]
GRID: dict[str, Any] = {"loss": ["hinge", "squared_hinge"], "class_weight": [None, "balanced"]}


def f1_by_parameters(texts: list[str], y: np.ndarray) -> dict[tuple[str, str, float], float]:
    """The mean F1 of class 1 over the folds, by loss, class weights and C."""
    from sklearn.model_selection import StratifiedKFold

    import treille

    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(y, y))
    search = treille.SVCCV(Cs=CS, grid=GRID, cv=splits, scoring="f1", n_jobs=2).fit(texts, y)
    points = [(each["loss"], each["class_weight"] or "none", each["C"]) for each in search.cv_results_["params"]]
    return dict(zip(points, search.cv_results_["mean_test_score"].tolist(), strict=True))


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    texts, topics = reuters("train")
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[:STORIES])
    counts = {topic: sum(topic in topics[i] for i in chosen) for topic in TOPICS}
    found = {}
    for topic in TOPICS:
        y = np.array([int(topic in topics[i]) for i in chosen])
        found[topic] = f1_by_parameters([texts[i] for i in chosen], y)
        print(topic, file=sys.stderr, flush=True)
    rows = []
    for loss, weights, C in next(iter(found.values())):
        scores = [found[topic][loss, weights, C] for topic in TOPICS]
        rows.append([loss, weights, f"{C:g}", *(f"{score:.3f}" for score in scores), f"{np.mean(scores):.3f}"])
    page = Page("Rare classes", ("scikit-learn",))
    header = ("loss", "class weights", "C", *(f"{topic} ({count})" for topic, count in counts.items()), "mean")
    page.table(f"F1 of rare topics among {len(chosen):,} Reuters stories", header, rows)
    page.write(options.write, "rare_classes")


if __name__ == "__main__":
    main()
