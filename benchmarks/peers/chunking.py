"""Chunking of CoNLL-2000 compared with CRFsuite, and the polynomial kernel compared with LIBSVM.

Tagger and CRFsuite have the same features, from the paper of papers/polynomial.py, and CRFsuite has all pairs of tags as
transitions. The penalties of CRFsuite are the best of PENALTIES on the last fifth of the training sentences, after training on the
first two fifths; its times do not include this choice. CRFsuite gets the features of tokens as lists of str; its times include
making them only where the table says so. The sentences are read from the folder that TREILLE_DATA names; install the other programs
with ``pip install python-crfsuite libsvm-official``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np

from harness import Page, arguments, installed, interleaved, ratio, shown, sized
from public_sets import conll2000
from treille import SVC, Tagger
from treille.kernels import Conjunctions, Kernel, Linear, Polynomial
from treille.tagging import (
    TokenFeatures,
    chunk_scores,
    default_templates,
    stream_sentences,
    write_sentences,
)

PARTS = ("crfsuite", "libsvm")
PAPER = [t for t in default_templates(2) if ("|" not in t and "lower" not in t) or t.startswith("tag")]
TOKENS = sized(10_000, 200)
PENALTIES = ((0.0, 1.0), (0.3, 0.03))  # c1 and c2; smaller values of c2 with c1 = 0, 0.3 and 0.1, were worse


def feature_lists(features: TokenFeatures, X: Any) -> list[list[list[str]]]:
    """The names of the static features of the tokens."""
    rows, names = features.transform(X), [features.name(i) for i in range(features.n_features)]
    tokens = [[names[i] for i in rows.ids[a:b]] for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]
    return [tokens[a:b] for a, b in zip(X.offsets[:-1], X.offsets[1:], strict=True)]


def crf_trained(sentences: list[list[list[str]]], tags: list[Any], path: str, c1: float, c2: float) -> Any:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for tokens, own in zip(sentences, tags, strict=True):
        trainer.append(tokens, own)
    trainer.set_params({"c1": c1, "c2": c2, "feature.minfreq": 0, "feature.possible_transitions": True})
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return tagger


def chosen_penalties(sentences: list[list[list[str]]], tags: list[Any], path: str) -> tuple[float, float]:
    n, scores = len(sentences), {}
    known, held_out = slice(n * 2 // 5), slice(n * 4 // 5, n)
    for c1, c2 in PENALTIES:
        tagger = crf_trained(sentences[known], tags[known], path, c1, c2)
        found = [tagger.tag(tokens) for tokens in sentences[held_out]]
        scores[c1, c2] = chunk_scores(tags[held_out], found).f1
        print(f"c1 = {c1:g}, c2 = {c2:g}: {100 * scores[c1, c2]:.2f}", file=sys.stderr, flush=True)
    return max(scores, key=lambda penalties: scores[penalties])


def crfsuite(page: Page, repeats: int, kernels: dict[str, tuple[Kernel | None, list[str] | None, float]]) -> None:
    X, y = conll2000("train")
    X_test, y_test = conll2000("test")
    static = [t for t in PAPER if "tag[" not in t]
    features, _ = TokenFeatures.fit(static, X, y, min_count=2)
    train, test, tags = feature_lists(features, X), feature_lists(features, X_test), list(y)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "crf"))
        c1, c2 = chosen_penalties(train, tags, path)
        begun = time.perf_counter()
        tagger = crf_trained(train, tags, path, c1, c2)
        crf_seconds = time.perf_counter() - begun
        tagging = interleaved({"crf": lambda: [tagger.tag(tokens) for tokens in test]}, repeats)["crf"]
        f1 = chunk_scores(y_test, [tagger.tag(tokens) for tokens in test]).f1
        n_bytes = Path(path).stat().st_size
        words = Path(folder, "words.txt")
        write_sentences(words, X_test)
        n = X_test.n_tokens
        rows = [
            [
                f"CRFsuite, L-BFGS, c1 = {c1:g}, c2 = {c2:g}",
                "",
                f"{100 * f1:.2f}",
                f"{crf_seconds:.1f}",
                "",
                f"{n / np.median(tagging):,.0f}",
                "",
                f"{n_bytes / 1e6:.0f}",
            ]
        ]
        for name, (kernel, templates, C) in kernels.items():
            model = Tagger(kernel, templates, C=C, n_jobs=-1)
            begun = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - begun
            model.save(Path(folder, "m.treille"))
            model.n_jobs = 1
            tagging = interleaved(
                {"tag": lambda m=model: m.tagged(X_test), "file": lambda m=model: tag_file(m, words)}, repeats
            )
            rows.append(
                [
                    f"Tagger, {name}",
                    f"{C:g}",
                    f"{100 * model.score(X_test, y_test):.2f}",
                    f"{seconds:.1f}",
                    f"{crf_seconds / seconds:.1f}",
                    f"{n / np.median(tagging['tag']):,.0f}",
                    f"{n / np.median(tagging['file']):,.0f}",
                    f"{Path(folder, 'm.treille').stat().st_size / 1e6:.0f}",
                ]
            )
    header = ("", "C", "F1", "training, s", "times faster", "words/s", "words/s, file to file", "model, MB")
    page.table("Chunking of CoNLL-2000, training with all cores, tagging with one, medians", header, rows)


def tag_file(model: Tagger, path: Path) -> None:
    """Tags the words of a file, and writes the tags to another file."""
    with open(path.with_suffix(".tagged"), "wb") as out:
        for block in stream_sentences(path):
            out.write(block.with_tags(model.tagged(block.sentences)))


def libsvm(page: Page, repeats: int) -> None:
    """B-NP against the rest on the first tokens, with (1 + s)^2, and LIBSVM with its default eps, which reaches a gap of about
    3e-4."""
    from libsvm.svmutil import svm_parameter, svm_predict, svm_problem, svm_train
    from scipy.sparse import csr_matrix

    X, y = conll2000("train")
    _, rows = TokenFeatures.fit(PAPER, X, y, min_count=2)
    matrix: csr_matrix = rows.to_csr()
    tags = np.concatenate([np.array(own) for own in y])
    train, test = matrix[:TOKENS], matrix[TOKENS : 2 * TOKENS]
    target = np.where(tags[:TOKENS] == "B-NP", 1.0, -1.0)
    C = 1 / 2000
    kept: dict[str, Any] = {}

    def theirs() -> None:
        kept["theirs"] = svm_train(svm_problem(target, train), svm_parameter(f"-t 1 -d 2 -g 1 -r 1 -c {C} -m 2000 -q"))

    def ours() -> None:
        kept["ours"] = SVC(Polynomial(2), C=C, tol=3e-4, n_jobs=2).fit(train, target)

    def predict_theirs() -> None:
        kept["their outputs"] = np.array(svm_predict([], test[:1000], kept["theirs"], "-q")[2])[:, 0]

    def predict_ours() -> None:
        kept["our outputs"] = kept["ours"].decision_function(test[:1000])

    training = interleaved({"ours": ours, "theirs": theirs}, repeats)
    kept["ours"].decision_function(test)  # makes the tables, which takes about 0.1 s
    predicting = interleaved({"ours": predict_ours, "theirs": predict_theirs}, repeats)
    agree = np.mean((kept["our outputs"] > 0) == (kept["their outputs"] * kept["theirs"].get_labels()[0] > 0))
    page.table(
        f"(1 + s)^2 on {TOKENS:,} tokens, one class against the rest: seconds, median (minimum)",
        ("", "treille", "LIBSVM", "times faster"),
        [
            [
                "training",
                shown(training["ours"]),
                shown(training["theirs"]),
                ratio(training["theirs"], training["ours"]),
            ],
            [
                "predicting 1,000",
                shown(predicting["ours"]),
                shown(predicting["theirs"]),
                ratio(predicting["theirs"], predicting["ours"]),
            ],
        ],
    )
    page.say(
        f"\nThe relative duality gap of treille's solution is {kept['ours'].report_.relative_gap:.1e}, that of LIBSVM's "
        f"{libsvm_gap(kept['theirs'], train, target, C):.1e}; {agree:.2%} of the predictions agree."
    )


def libsvm_gap(model: Any, train: Any, target: np.ndarray, C: float) -> float:
    """(primal - dual) / primal at the solution of LIBSVM."""
    support = np.array(model.get_sv_indices()) - 1
    first = model.get_labels()[0]  # the class that LIBSVM uses as the positive class
    coefficients = first * np.array([own[0] for own in model.get_sv_coef()])
    products = np.concatenate(
        [Polynomial(2)(train[a : a + 1000], train[support]) @ coefficients for a in range(0, train.shape[0], 1000)]
    )
    square = float(coefficients @ products[support])
    outputs = products - first * model.rho[0]
    primal = square / 2 + C * np.maximum(0, 1 - target * outputs).sum()
    return float((primal - (np.abs(coefficients).sum() - square / 2)) / primal)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=PARTS)
    options = parser.parse_args()
    page = Page("Tagging and polynomial kernels compared with other programs", ("python-crfsuite", "libsvm-official"))
    if "crfsuite" in options.parts and installed("python-crfsuite"):
        kernels = {
            "linear": (Linear(), PAPER, 1.0),
            "mined, 0.01 %": (Conjunctions(2, min_support=sized(0.0001, 0.02)), PAPER, 3.0),
            "polynomial, degree 2": (Polynomial(2), PAPER, 3.0),
            "default": (None, None, 3.0),
        }
        crfsuite(page, options.repeats, kernels)
    if "libsvm" in options.parts and installed("libsvm-official"):
        libsvm(page, options.repeats)
    page.write(options.write, "chunking")


if __name__ == "__main__":
    main()
