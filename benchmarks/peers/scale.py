"""Data larger than memory: training from disk and on a Dask cluster, and prediction of streams.

Texts are generated from Reuters stories: sentences are drawn at random, most of them from stories of one topic. The other programs
are scikit-learn's SGDClassifier with HashingVectorizer, which learns from chunks by partial_fit, and LIBLINEAR if the data fit.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import treille
from harness import SMOKE, Page, arguments, installed, interleaved, peak_memory, ratio, shown, sized
from public_sets import data_file
from treille import solvers
from treille.io import read_chunks
from treille.io.parameters import parse_size
from treille.kernels import NGram
from treille.scale import Parts

KERNEL = NGram(5).normalized()
TOPICS = ("earn", "acq")


def stories() -> list[dict[str, Any]]:
    with gzip.open(data_file("reuters21578", "train.jsonl.gz"), "rt") as lines:
        return [json.loads(line) for line in lines]


def generate(path: Path, size: int, seed: int = 0) -> int:
    """Writes this many bytes of JSON lines; returns the number of texts."""
    pools: dict[str, list[str]] = {}
    for story in stories():
        topic = next((t for t in TOPICS if t in story["topics"]), "other")
        for sentence in re.split(r"(?<=[.;])\s+", f"{story['title']}. {story['body']}"):
            if 20 <= len(sentence) <= 400:
                pools.setdefault(topic, []).append(json.dumps(sentence.strip())[1:-1])
    every, names, draw = [s for own in pools.values() for s in own], [*TOPICS, "other"], random.Random(seed).random
    written = n = 0
    with open(path, "w", buffering=1 << 22) as file:
        while written < size:
            label = names[int(draw() * len(names))]
            own, count = pools[label], 3 + int(draw() * 10)
            body = " ".join(p[int(draw() * len(p))] for p in (own if draw() < 0.3 else every for _ in range(count)))
            written += file.write(f'{{"text": "{body}", "label": "{label}"}}\n')
            n += 1
    return n


def train_parts(mark: Any, path: str, memory: str, result: str) -> None:
    mark()
    begun = time.perf_counter()
    model = treille.SVC(KERNEL, n_jobs=1).fit(Parts.read(path, memory=memory, label="label=earn"))
    facts = {"seconds": time.perf_counter() - begun, "passes": model.n_iter_, "gap": model.report_.relative_gap}
    facts |= {"primal": model.report_.primal, "dual": model.report_.dual, "sizes": model.plan_.sizes}
    Path(result).write_text(json.dumps(facts))


def train_in_memory(mark: Any, path: str, memory: str, result: str) -> None:
    mark()
    begun = time.perf_counter()
    examples = treille.io.read(path, label="label=earn")
    model = treille.SVC(KERNEL, n_jobs=1).fit(examples.X, examples.labels)
    facts = {"seconds": time.perf_counter() - begun, "passes": model.n_iter_, "gap": model.report_.relative_gap}
    Path(result).write_text(json.dumps(facts | {"primal": model.report_.primal, "dual": model.report_.dual}))


def train_sgd(mark: Any, path: str, memory: str, result: str) -> None:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    mark()
    begun = time.perf_counter()
    vectorizer = HashingVectorizer(analyzer="char", ngram_range=(5, 5), n_features=2**20, lowercase=False)
    model = SGDClassifier(loss="hinge", random_state=0)
    for chunk in read_chunks(path, label="label=earn"):
        model.partial_fit(vectorizer.transform(chunk.X), chunk.labels, classes=["earn", "not earn"])
    Path(result).write_text(json.dumps({"seconds": time.perf_counter() - begun, "passes": 1, "gap": "none"}))


def train_liblinear(mark: Any, path: str, memory: str, result: str) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize
    from sklearn.svm import LinearSVC

    mark()
    begun = time.perf_counter()
    examples = treille.io.read(path, label="label=earn")
    X = normalize(CountVectorizer(analyzer="char", ngram_range=(5, 5), lowercase=False).fit_transform(examples.X))
    model = LinearSVC(loss="hinge", dual=True).fit(X, examples.labels)
    passes = int(np.max(model.n_iter_))
    Path(result).write_text(json.dumps({"seconds": time.perf_counter() - begun, "passes": passes, "gap": "not known"}))


def disk(page: Page, options: Any) -> None:
    """Training within a limit of memory, compared with training in memory if the data fit."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        small, result = Path(folder, "small.jsonl"), Path(folder, "result.json")
        n = generate(small, parse_size("fits", options.fits))
        rows, seconds = [], {}
        ways: dict[str, Callable[..., None]] = {
            "parts, memory=700MB": train_parts, "in memory": train_in_memory,
            "SGDClassifier, hashed, one pass": train_sgd, "LIBLINEAR (LinearSVC)": train_liblinear,
        }  # fmt: skip
        for name, job in ways.items():
            whole, _ = peak_memory(job, str(small), "700MB", str(result))
            facts = json.loads(result.read_text())
            seconds[name] = facts["seconds"]
            gap = facts["gap"] if isinstance(facts["gap"], str) else f"{facts['gap']:.1e}"
            rows.append([name, f"{facts['seconds']:.1f}", facts["passes"], gap, f"{whole:,.0f}"])
        title = f"{n:,} texts, {options.fits}, one thread: from the file to a model, seconds and peak megabytes of the process"
        page.table(title, ("way", "seconds", "passes or epochs", "gap", "peak MB"), rows)
        page.say(
            f"\nParts take {seconds['parts, memory=700MB'] / seconds['in memory']:.2f} times as long as training in memory."
        )
        large = Path(folder, "large.jsonl")
        n = generate(large, parse_size("size", options.size), seed=1)
        whole, _ = peak_memory(train_parts, str(large), "2GB", str(result))
        facts = json.loads(result.read_text())
        row = [
            f"{n:,}",
            options.size,
            f"{facts['seconds']:,.0f}",
            facts["passes"],
            f"{facts['gap']:.1e}",
            f"{whole:,.0f}",
        ]
        page.table("Training with memory=2GB", ("texts", "size", "seconds", "passes", "gap", "peak MB"), [row])
        page.say(f"\n{facts['sizes']}.")


def rounds(page: Page, options: Any) -> None:
    """Rounds on parts in this process; communication is not timed here."""
    from dask import delayed
    from distributed import Client, LocalCluster

    articles, header = stories(), ("problem", "rows", "parts", "solver", "rounds", "gap", "megabytes sent")
    texts, rows = [f"{s['title']} {s['body']}" for s in articles], []
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as local,
        Client(local),
    ):
        for topic in TOPICS[: sized(None, 1)][::-1]:
            y = [topic in s["topics"] for s in articles]
            for kernel, name in ((KERNEL, "normalised"), (NGram(5), "counts")):
                best = treille.SVC(kernel, tol=1e-5, n_jobs=2).fit(texts, y).report_
                chosen = (solvers.GatheredDualCD(), solvers.BundleMethod())
                for parts, solver in product(sized((2, 8, 32), (2,)), chosen):
                    cuts = np.linspace(0, len(texts), parts + 1).astype(int)
                    each = [(delayed(texts[a:b]), delayed(y[a:b])) for a, b in pairwise(cuts)]
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        model = treille.SVC(kernel, solver=solver).fit([x for x, _ in each], [own for _, own in each])
                    report = model.report_
                    assert report.dual <= best.primal * (1 + 1e-9), "the dual value is above the optimum"
                    assert best.dual <= report.primal * (1 + 1e-9), "the primal value is below the optimum"
                    gap, sent = f"{report.relative_gap:.1e}", f"{report.bytes_sent / 1e6:,.0f}"
                    rows.append([topic, name, parts, repr(solver), report.rounds, gap, sent])
    page.table("Rounds to a gap of 1e-3, Reuters, 5-grams", header, rows)


TIMES = ("one process, one thread", "Dask", "times faster", "rounds", "MB sent", "features, s", "rounds, s")


def times(alone: Any, together: Any, report: Any) -> list[Any]:
    """The cells of the columns `TIMES`."""
    stages = dict(report.stages)
    each = (f"{stages[stage]:.2f}" for stage in ("counting features", "rounds"))
    return [
        shown(alone),
        shown(together),
        ratio(alone, together),
        report.rounds,
        f"{report.bytes_sent / 1e6:,.0f}",
        *each,
    ]


def dask(page: Page, options: Any) -> None:
    """Two worker processes compared with one process with one thread, from files to a model."""
    from distributed import Client, LocalCluster

    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        lines = [
            json.dumps({"text": f"{s['title']} {s['body']}", "label": str("acq" in s["topics"])}) for s in stories()
        ]
        for copy in range(4):
            Path(folder, f"reuters{copy}.jsonl").write_text("\n".join(lines) + "\n")
        files = sorted(map(str, Path(folder).glob("*.jsonl")))

        def alone() -> None:
            examples = treille.io.read(files)
            treille.SVC(KERNEL, n_jobs=1).fit(examples.X, examples.labels)

        rows, measured = [], {}
        for workers in (1, 2, 4):
            with (
                LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=not SMOKE, dashboard_address=None
                ) as local,
                Client(local) as client,
            ):
                found: dict[str, Any] = {}

                def together(solver: Any, client: Any = client, found: dict[str, Any] = found) -> None:
                    found[repr(solver)] = treille.SVC(KERNEL, solver=solver).fit(Parts.on(client, files)).report_

                jobs = {repr(own): partial(together, own) for own in (solvers.GatheredDualCD(), solvers.BundleMethod())}
                for job in jobs.values():
                    job()  # workers import treille once
                seconds = interleaved({"alone": alone} | jobs, options.repeats)
            for name, report in found.items():
                stages = dict(report.stages)
                rows.append([workers, name, *times(seconds["alone"], seconds[name], report)])
                measured[name, workers] = Measured(
                    stages["counting features"], stages["rounds"], report.rounds, report.bytes_sent
                )
    page.table("4 times Reuters, from files to a model, seconds", ("workers", "solver", *TIMES), rows)
    dask_on_generated_texts(page, options)
    model(page, measured, 4 * len(lines))


def dask_on_generated_texts(page: Page, options: Any) -> None:
    """The same for more texts, whose labels are noisy: most examples are support vectors."""
    from distributed import Client, LocalCluster

    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        size, files = parse_size("fits", options.fits), [Path(folder, f"texts{part}.jsonl") for part in range(8)]
        n, found, names = (
            sum(generate(path, size // 8, seed) for seed, path in enumerate(files)),
            {},
            list(map(str, files)),
        )

        def alone() -> None:
            examples = treille.io.read(names, label="label=earn")
            treille.SVC(KERNEL, n_jobs=1).fit(examples.X, examples.labels)

        with (
            LocalCluster(n_workers=2, threads_per_worker=1, processes=not SMOKE, dashboard_address=None) as local,
            Client(local) as client,
        ):

            def together() -> None:
                found["report"] = treille.SVC(KERNEL).fit(Parts.on(client, names, label="label=earn")).report_

            seconds = interleaved({"alone": alone, "together": together}, min(3, options.repeats))
        row = [f"{n:,}", *times(seconds["alone"], seconds["together"], found["report"])]
    page.table(
        f"{options.fits} of texts in 8 files, 2 workers, from files to a model, seconds", ("texts", *TIMES), [row]
    )


@dataclass(frozen=True)
class Measured:
    counting: float  # seconds
    solving: float
    rounds: int
    bytes: int


N_FEATURES = 465_052  # of the 5-grams of Reuters
NETWORK = 1.25e9  # bytes per second that a worker sends or receives: 10 Gbit
DRIVER = 1e9  # bytes of rows that GatheredDualCD takes


def shared_cost(one: float, two: float) -> tuple[float, float]:
    """The seconds that W workers divide, and the rest: seconds = shared / W + alone, from the times with 1 and 2 workers."""
    shared = min(max(2 * (one - two), 0.0), one)
    return shared, one - shared


def model(page: Page, measured: dict[tuple[str, int], Measured], n: int) -> None:
    """Costs fitted to the times with 1 and 2 workers, checked with 4, and the costs that follow for other sizes."""
    gathered, bundle = ([measured[name, W] for W in (1, 2, 4)] for name in ("GatheredDualCD()", "BundleMethod()"))
    counting = shared_cost(gathered[0].counting, gathered[1].counting)
    at_once = shared_cost(gathered[0].solving, gathered[1].solving)
    per_round = shared_cost(*(own.solving / own.rounds for own in bundle[:2]))
    cores = min(4, os.cpu_count() or 1)
    checks = [
        ("counting", counting[0] / cores + counting[1], gathered[2].counting),
        ("solving with all rows", at_once[0] / cores + at_once[1], gathered[2].solving),
        ("a round of BundleMethod", per_round[0] / cores + per_round[1], bundle[2].solving / bundle[2].rounds),
    ]
    said = "; ".join(f"{name} {predicted:.2f} s, measured {found:.2f} s" for name, predicted, found in checks)
    page.say(
        "\nThe model: seconds = shared / W + alone for W workers with a core each, from 1 and 2 workers. "
        f"Counting: {counting[0]:.2f} / W + {counting[1]:.2f}. "
        f"Solving with all rows at the driver: {at_once[0]:.2f} / W + {at_once[1]:.2f}, {gathered[0].bytes / 1e6:.0f} MB of rows. "
        f"A round of BundleMethod: {per_round[0]:.2f} / W + {per_round[1]:.2f}. "
        f"For 4 workers on {cores} cores it predicts: {said}. "
        "What is shared grows with the examples; of what is not, counting and BundleMethod grow with the features, gathering "
        "with the rows. On a network of 10 Gbit, BundleMethod sends 12 bytes per feature, round and level of a tree. Modelled:"
    )
    rows = []
    for examples, features, workers in (
        (10**5, 10**6, 2), (10**6, 10**6, 8), (10**7, 3 * 10**6, 32), (10**8, 10**7, 100), (10**9, 3 * 10**7, 1000),
    ):  # fmt: skip
        size, wide = examples / n, features / N_FEATURES
        count = counting[0] * size / workers + counting[1] * wide
        levels = max(1, int(np.ceil(np.log(workers) / np.log(8))))
        if gathered[0].bytes * size <= DRIVER:
            solver, n_rounds, sent = "GatheredDualCD", 1, gathered[0].bytes * size
            seconds = at_once[0] * size / workers + at_once[1] * size + sent / NETWORK
        else:
            solver, n_rounds, sent = "BundleMethod", bundle[0].rounds, 12.0 * features * bundle[0].rounds
            seconds = n_rounds * (per_round[0] * size / workers + per_round[1] * wide) + sent * levels / NETWORK
        rows.append([f"{examples:,}", f"{features:,}", f"{workers:,}", f"{count:,.0f}", solver, n_rounds, f"{sent / 1e6:,.0f}",
                     f"{seconds:,.0f}", f"{gathered[0].bytes / n * examples / workers / 1e9:.1f} GB"])  # fmt: skip
    header = (
        "examples",
        "features",
        "workers",
        "counting, s",
        "solver",
        "rounds",
        "MB sent per worker",
        "solving, s",
        "rows per worker",
    )
    page.table("Modelled cost, for rows and rounds like those of Reuters", header, rows)


def bundle(page: Page, options: Any) -> None:
    """Seconds per round of BundleMethod, on noisy copies of Reuters in files for the workers: most features occur in few files."""
    from distributed import Client, LocalCluster

    random, letters, articles = np.random.default_rng(0), list("abcdefghijklmnopqrstuvwxyz "), stories()
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        files = [str(Path(folder, f"texts{part}.jsonl")) for part in range(4 * options.copies)]
        for file in files:
            with open(file, "w") as lines:
                for i in random.integers(0, len(articles), len(articles) // 4):
                    text = np.array(list(f"{articles[i]['title']} {articles[i]['body']}"))
                    at = random.integers(0, len(text), max(1, len(text) // 100))
                    text[at] = random.choice(letters, len(at))
                    label = "acq" if "acq" in articles[i]["topics"] else "other"
                    lines.write(json.dumps({"text": "".join(text), "label": label}) + "\n")
        rows = []
        for workers in options.workers:
            with (
                LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=not SMOKE, dashboard_address=None
                ) as local,
                Client(local) as client,
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")
                method = treille.SVC(KERNEL, solver=solvers.BundleMethod(), max_epochs=options.rounds)
                reports = [method.fit(Parts.on(client, files)).report_ for _ in range(1 + min(2, options.repeats))][1:]
            each = [dict(report.stages)["rounds"] / report.rounds for report in reports]
            found = f"{reports[0].relative_gap:.1e}", f"{reports[0].bytes_sent / 1e6:,.0f}"
            rows.append([workers, reports[0].rounds, *found, f"{min(each):.3f}"])
    title = f"BundleMethod on {options.copies} noisy copies of Reuters in {len(files)} files, {options.rounds} rounds at most"
    page.table(title, ("workers", "rounds", "gap", "MB sent", "seconds per round"), rows)


def predict(page: Page, options: Any) -> None:
    """Prediction in chunks, compared with prediction of all texts at once."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        path = Path(folder, "texts.jsonl")
        n = generate(path, sized(50_000_000, 200_000))
        examples = treille.io.read(path, label="label=earn")
        model = treille.SVC(KERNEL, n_jobs=1).fit(examples.X[:20_000], (examples.labels or [])[:20_000])

        def streamed() -> Iterator[np.ndarray]:
            return (model.predict(chunk.X) for chunk in read_chunks(path, ids=False))

        jobs = {
            "stream": lambda: [len(own) for own in streamed()],
            "at once": lambda: model.predict(treille.io.read(path).X),
        }
        seconds = interleaved(jobs, options.repeats)
    row = [f"{n:,}", shown(seconds["at once"]), shown(seconds["stream"]), ratio(seconds["at once"], seconds["stream"])]
    page.table("Prediction, reading included, seconds", ("texts", "at once", "in chunks", "speed of chunks"), [row])


PARTS = {"disk": disk, "rounds": rounds, "dask": dask, "bundle": bundle, "predict": predict}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+")
    parser.add_argument(
        "--size",
        default=sized("10GB", "400kB"),
        help="of the texts that are trained with memory=2GB; rows take 3.5 times as much",
    )
    parser.add_argument("--fits", default=sized("200MB", "200kB"), help="of the texts that are trained in both ways")
    parser.add_argument("--scratch", help="a folder for the texts, and for temporary files")
    parser.add_argument("--workers", type=int, nargs="+", default=sized([1, 2, 4], [2]), help="for the part bundle")
    parser.add_argument("--copies", type=int, default=sized(8, 1), help="of Reuters, for the part bundle")
    parser.add_argument("--rounds", type=int, default=sized(40, 3), help="at most, for the part bundle")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        if part in ("rounds", "dask", "bundle") and not all(map(installed, ("dask", "distributed"))):
            continue
        page = Page(f"Data in parts: {part}", ("scikit-learn", "dask", "distributed"))
        PARTS[part](page, options)
        page.write(options.write, part)


if __name__ == "__main__":
    main()
