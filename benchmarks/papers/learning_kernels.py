"""Learning sequence kernels (Cortes, Mohri, Rostamizadeh 2008): Figure 3, the time of its quadratic program, and more features.

The paper learns weights of about a thousand word bigrams: for five classes of Reuters-21578 with 1,000 random training stories,
ten times, by support vector machines; and for the ratings of four domains of Amazon reviews, in ten folds, by ridge regression.
Errors are divided by the errors of the same machine with equal weights. The paper does not say which bigrams it uses, nor how it
chose C. Here, bigrams are the most frequent ones of the training part. C is chosen by the error on the other 8,603 training
stories, and lambda / Lambda by the error on a fifth of the training part, for the baseline as well. In "two Cs" the predictor and
the learning problem have different values of C, or lambda; "chosen" is the method with the smallest held-out error. Each part is a
separate page. The data are read from the folder that TREILLE_DATA names.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from harness import SMOKE, Page, arguments, installed, interleaved, ratio, shown, sized
from public_sets import amazon_reviews, reuters
from treille import SVC, ConvergenceWarning, Features, LearnedRidge, LearnedSVC, Ridge
from treille.kernels import Linear, NGram
from treille.learning import learn_weights
from treille.solvers.problem import Hinge, Problem

PAPER = {  # bigrams, and the error divided by the baseline's, in Figure 3 (a)
    "acq": (1500, "0.916 ± 0.063"), "crude": (1200, "0.845 ± 0.083"), "earn": (900, "0.920 ± 0.071"),
    "grain": (1200, "0.971 ± 0.029"), "money-fx": (1500, "0.968 ± 0.040"), "kitchen": (912, "0.985 ± 0.012"),
    "electronics": (1047, "0.980 ± 0.010"), "dvd": (1397, "0.991 ± 0.013"), "books": (1349, "0.988 ± 0.014"),
}  # fmt: skip
SETS = ("acq", "kitchen") if SMOKE else tuple(PAPER)
BIGRAMS = NGram(2, unit="word+lower+alnum")
CS = 2.0 ** np.arange(-10, 11, sized(2, 10))
LEARNING = 2.0 ** np.arange(-8, 3, sized(2, 5))  # C of learning, where it differs from the C of the predictor
RATIOS = 2.0 ** np.arange(-10, 4, sized(1, 5))  # lambda / Lambda
LEARNING_RATIOS = RATIOS[1:10:2]
TRAINING = sized(1000, 60)
GROWTH = sized(("crude", "kitchen"), SETS)  # the sets of Figure 3 (b)
COUNTS = sized((250, 500, 1000, 2000, 4000, 8000, 0), (250, 0))  # bigrams there; 0: all


def most_frequent(texts: list[str], n: int) -> tuple[Features, np.ndarray]:
    """The bigrams of texts, and the ids of the n most frequent; of all if n is 0."""
    features = Features(BIGRAMS).fit(texts)
    counts = np.asarray(features.transform(texts).sum(axis=0)).ravel()
    return features, np.sort(np.argsort(-counts, kind="stable")[: n or len(counts)])


def scaled(X: sp.csr_matrix) -> float:
    """The factor that makes the mean squared norm of rows 1, as the trace of the learned kernel's matrix requires."""
    return 1 / np.sqrt(X.multiply(X).sum() / X.shape[0])


Errors = dict[str, float]  # of the test part, by the way of learning


def svm_errors(topic: str, n: int, trials: int) -> Iterator[Errors]:
    """The test errors of each trial."""
    texts, topics = reuters("train")
    test, test_topics = reuters("test")
    truth = np.array([topic in each for each in test_topics])
    y = np.array([topic in each for each in topics])
    for trial in range(trials):
        drawn = np.random.default_rng(trial).permutation(len(texts))
        train, other = drawn[:TRAINING], drawn[TRAINING:]
        features, kept = most_frequent([texts[i] for i in train], n)
        X, X_other, X_test = (
            features.transform(part)[:, kept] for part in ([texts[i] for i in train], [texts[i] for i in other], test)
        )
        ways: dict[str, list[Any]] = {
            "baseline": [SVC(Linear(), C=C) for C in CS],
            "learned": [LearnedSVC(Linear(), C=C) for C in CS],
            "even": [LearnedSVC(Linear(), C=C, spread="even") for C in CS],
            "two Cs": [LearnedSVC(Linear(), C=C, learning_C=first) for first in LEARNING for C in CS],
            "alignment": [LearnedSVC(Linear(), C=C, learn="alignment") for C in CS],
        }
        factor = scaled(X)

        def error(model: Any, part: Any, labels: np.ndarray) -> float:
            return float(np.mean(model.predict(part) != labels))

        found = {}
        for name, models in ways.items():
            for model in models:
                model.fit(X * factor, y[train])
            held_out = [error(model, X_other * factor, y[other]) for model in models]
            found[name] = (min(held_out), error(models[int(np.argmin(held_out))], X_test * factor, truth))
        yield with_choice(found)


def ridge_errors(domain: str, n: int, folds: int) -> Iterator[Errors]:
    """The root mean squared errors of each fold. The mean squared norm of rows is 1, so that Lambda is their number."""
    texts, ratings = amazon_reviews(domain)
    y = np.asarray(ratings, float)
    learned = LearnedRidge(Linear(), tol=1e-4)
    ways: dict[str, list[tuple[Any, dict[str, float]]]] = {
        "baseline": [(Ridge(Linear()), {"alpha": r}) for r in RATIOS],
        "learned": [(learned, {"alpha": r}) for r in RATIOS],
        "even": [(clone(learned).set_params(spread="even"), {"alpha": r}) for r in RATIOS],
        "two Cs": [(learned, {"alpha": r, "learning_alpha": first}) for first in LEARNING_RATIOS for r in RATIOS],
        "alignment": [(clone(learned).set_params(learn="alignment"), {"alpha": r}) for r in RATIOS],
    }
    for train, test in islice(KFold(10, shuffle=True, random_state=0).split(y), folds):
        features, kept = most_frequent([texts[i] for i in train], n)
        X, X_test = (features.transform([texts[i] for i in part])[:, kept] for part in (train, test))
        factor, own = scaled(X), np.arange(len(train)) % 5 > 0

        def error(way: Any, of: Any, targets: np.ndarray, part: Any, truth: np.ndarray) -> float:
            ratios = {name: ratio * of.shape[0] for name, ratio in way[1].items()}
            model = clone(way[0]).set_params(**ratios).fit(of, targets)
            return float(np.sqrt(np.mean((model.predict(part) - truth) ** 2)))

        found = {}
        for name, candidates in ways.items():
            parts = (X[own] * factor, y[train][own], X[~own] * factor, y[train][~own])
            held_out = [error(each, *parts) for each in candidates]
            best = candidates[int(np.argmin(held_out))]
            found[name] = (min(held_out), error(best, X * factor, y[train], X_test * factor, y[test]))
        yield with_choice(found)


def with_choice(found: dict[str, tuple[float, float]]) -> Errors:
    """The test errors of each method, and of the method with the smallest held-out error."""
    best = min((name for name in found if name != "baseline"), key=lambda name: found[name][0])
    return {name: test for name, (_, test) in found.items()} | {"chosen": found[best][1]}


def normalised(errors: list[Errors], name: str) -> str:
    values = [each[name] / each["baseline"] for each in errors]
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def errors_of(name: str, n: int, trials: int) -> list[Errors]:
    topics = ("acq", "crude", "earn", "grain", "money-fx")
    return list(svm_errors(name, n, trials) if name in topics else ridge_errors(name, n, trials))


WAYS = ("learned", "even", "two Cs", "alignment", "chosen")


def figure_3a(page: Page, trials: int, everything: bool) -> None:
    rows = []
    for name in SETS:
        n, paper = PAPER[name]
        errors = errors_of(name, 0 if everything else n, trials)
        base = np.mean([e["baseline"] for e in errors])
        bigrams = [] if everything else [n]
        rows.append([name, *bigrams, paper, *(normalised(errors, way) for way in WAYS), f"{base:.4f}"])
        print(*rows[-1], flush=True)
    which = "all bigrams" if everything else "as many bigrams as in the paper"
    header = ["set", *([] if everything else ["bigrams"]), "paper", *WAYS, "error of equal weights"]
    page.table(f"Figure 3 (a), {which}: errors divided by those of equal weights, {trials} trials", header, rows)


def figure_3b(page: Page, trials: int) -> None:
    rows = []
    for n in COUNTS:
        errors = {name: errors_of(name, n, trials) for name in GROWTH}
        rows.append([n or "all", *(normalised(own, way) for own in errors.values() for way in ("learned", "chosen"))])
        print(*rows[-1], flush=True)
    header = ["bigrams", *(f"{name}, {way}" for name in GROWTH for way in ("learned", "chosen"))]
    page.table(f"Figure 3 (b): errors divided by those of equal weights, {trials} trials", header, rows)


def clarabel_optimum(X: sp.csr_matrix, y: np.ndarray, C: float, trace: float) -> float:
    """The paper's program (15) by clarabel: max 2 a'1 - trace t^2, -t <= (Y a)'u_k <= t, 0 <= a <= C, a'y = 0. Its value / 2."""
    import cvxpy

    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel())
    U = X @ sp.diags(1 / norms)
    a, t = cvxpy.Variable(len(y)), cvxpy.Variable()
    scores = (sp.diags(y) @ U).T @ a
    program = cvxpy.Problem(
        cvxpy.Maximize(2 * cvxpy.sum(a) - trace * cvxpy.square(t)),
        [scores <= t, scores >= -t, a >= 0, a <= C, y @ a == 0],
    )
    return float(program.solve(solver=cvxpy.CLARABEL)) / 2


def speed(page: Page, repeats: int) -> None:
    texts, topics = reuters("train")
    rows = []
    for topic in ("acq", sized("grain", "earn")):
        drawn = np.random.default_rng(0).permutation(len(texts))[:TRAINING]
        own = [texts[i] for i in drawn]
        features, kept = most_frequent(own, 1000)
        X, y = sp.csr_matrix(features.transform(own)[:, kept]), np.array([topic in topics[i] for i in drawn])
        problem = Problem(Hinge(), y.astype(int), np.ones(len(y)), "free", np.array([1]))
        ours = partial(learn_weights, problem, Features(Linear()).fit_rows(X), trace=float(len(y)), tol=1e-6)
        theirs = partial(clarabel_optimum, X, np.where(y, 1.0, -1.0), 1.0, float(len(y)))
        seconds = interleaved({"ours": ours, "clarabel": theirs}, repeats)
        report = ours()[0].report
        rows.append(
            [topic, f"{report.primal:.6f}", f"{theirs():.6f}", f"{report.relative_gap:.1e}", shown(seconds["ours"]),
             shown(seconds["clarabel"]), ratio(seconds["clarabel"], seconds["ours"])]
        )  # fmt: skip
    header = ["class", "optimum, ours", "clarabel", "our gap", "seconds, ours", "clarabel", "times faster"]
    page.table("The paper's quadratic program: 1,000 stories, 1,000 bigrams, C = 1", header, rows)


def growth(page: Page) -> None:
    texts, topics = reuters("train")
    y = np.array(["acq" in each for each in topics]).astype(int)
    kernels = {
        "words": NGram(1, unit="word+lower+alnum"), "word bigrams": BIGRAMS,
        "words 1-3": NGram(3, min_n=1, unit="word+lower+alnum"), "words 1-4": NGram(4, min_n=1, unit="word+lower+alnum"),
    }  # fmt: skip
    rows, points = [], []
    for name, kernel in kernels.items():
        fitted = Features(kernel).fit_rows(texts)
        for C in (0.1, 1.0):
            problem = Problem(Hinge(), y, np.full(len(y), C), True, np.array([1]))
            begun = time.perf_counter()
            learned = learn_weights(problem, fitted, trace=float(len(y)), n_jobs=2)[0]
            seconds = time.perf_counter() - begun
            used = np.count_nonzero(learned.u)
            rows.append(
                [name, C, f"{fitted.n_features:,}", f"{fitted.n_entries:,}", f"{seconds:.2f}", f"{used:,}",
                 f"{learned.report.relative_gap:.1e}"]
            )  # fmt: skip
            points.append((C, fitted.n_features, seconds))
            print(*rows[-1], flush=True)
    header = ["features of", "C", "features", "entries", "seconds", "with weight", "gap"]
    page.table("9,603 stories, acq against the rest", header, rows)
    for C in (0.1, 1.0):
        sizes, times = np.log([(n, s) for c, n, s in points if c == C]).T
        page.say(
            f"\nC = {C}: seconds grow with the number of features to the power {np.polyfit(sizes, times, 1)[0]:.2f}."
        )


def readable(page: Page, folder: str | None) -> None:
    texts, topics = reuters("train")
    model: Any = LearnedSVC(BIGRAMS, C=0.3, n_jobs=2).fit(
        texts, ["acq" if "acq" in each else "other" for each in topics]
    )
    rows = [[w.name, f"{w.weight:.3g}", f"{w.share:.2%}", f"{w.effect:+.3f}"] for w in model.learned_weights_[:20]]
    header = ["bigram", "weight", "share of the trace", "effect"]
    page.table("Weights learned for acq (a positive effect speaks for other)", header, rows)
    reviews, ratings = amazon_reviews("books")
    fitted: Any = LearnedRidge(BIGRAMS, alpha=100.0, tol=1e-4).fit(reviews, np.asarray(ratings, float))
    rows = [[w.name, f"{w.weight:.3g}", f"{w.share:.2%}", f"{w.effect:+.3f}"] for w in fitted.learned_weights_[:30]]
    page.table("Weights learned for the ratings of books", header, rows)
    if folder:
        import matplotlib

        matplotlib.use("svg")
        path = LearnedRidge(BIGRAMS, tol=1e-4).path(reviews, ratings, 2.0 ** np.arange(4, 12))
        ax = path.plot()
        ax.figure.savefig(Path(folder, "path.svg"))


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--trials", type=int, default=sized(10, 1))
    parser.add_argument("--parts", default="a,all,b,speed,growth,readable")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    parts: dict[str, Callable[[Page], None]] = {
        "a": lambda page: figure_3a(page, options.trials, everything=False),
        "all": lambda page: figure_3a(page, options.trials, everything=True),
        "b": lambda page: figure_3b(page, options.trials),
        "speed": lambda page: speed(page, options.repeats),
        "growth": growth,
        "readable": lambda page: readable(page, options.write),
    }
    for name in options.parts.split(","):
        if name == "speed" and not installed("clarabel"):
            continue
        page = Page("Learning kernels", ["scikit-learn", "clarabel"])
        parts[name](page)
        page.write(options.write, name)


if __name__ == "__main__":
    main()
