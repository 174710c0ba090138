"""Serve a model: a page to try it in a browser, and predictions as JSON.

\b
Examples:
  treille serve reviews.treille --open
  treille serve reviews.treille --examples new.csv --port 0
  treille serve sites.treille --host 0.0.0.0 --port 8080 --log
  treille serve chunks.treille --max-body 1 --time-limit 2 --queue 16

\b
  curl -H 'Content-Type: application/json' \\
    -d '{"example": "a fine wine"}' http://127.0.0.1:8000/predict

POST /predict and /explain take {"example": ...} or {"examples": [...]}; GET / is the page, /model describes the model,
/openapi.json the interface. Only programs on this machine can connect, unless --host says otherwise: there are no
passwords. Ctrl-C stops the server once running requests have ended. Needs the packages of treille[serve].
"""

import gc
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from typing import Annotated, Any

from treille import InputError
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import load_model
from treille.cli.options import Reading, flag, option
from treille.cli.tag.sentences import first_sentences
from treille.data.base import kind_of
from treille.data.format import clipped, visible
from treille.kernels.parse import format_kernel

LOG = "Print method, path, status and time of every request on standard error."
SAMPLES = 50
EVERYWHERE = ("0.0.0.0", "::", "")


@options.with_options("label", "labels", "root_label", "skip_unlabelled", "alphabet")
def run(
    model: options.ModelFile,
    reading: options.ReadingOptions,
    host: Annotated[str, option("ADDRESS", "Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, option("N", "Port to listen at; 0 picks a free one.", min=0, max=65535)] = 8000,
    examples: Annotated[str | None, option("FILE", "Examples to offer on the page, the first of them.")] = None,
    browser: Annotated[bool, flag("--open", "Open the page in a browser.")] = False,
    log: Annotated[bool, flag("--log", LOG)] = False,
    max_body: Annotated[float, option("MB", "Megabytes of a request, at most.", min=0.001)] = 4.0,
    time_limit: Annotated[float, option("SECONDS", "For a request, at most.", min=0.01)] = 10.0,
    queue: Annotated[int, option("N", "Requests that may wait for a thread, at most.", min=0)] = 128,
    allow_host: Annotated[
        list[str] | None, option("NAME", "A name of this machine that browsers use; repeatable.")
    ] = None,
    jobs: Annotated[int | None, option("N", "Threads.", default="cores, at most 4", min=1)] = None,
    *,
    printer: options.ResultOutput,
) -> None:
    """Loads a model and serves it until the program is interrupted."""
    try:
        from treille.serve.app import make_app
        from treille.serve.limits import Limits
        from treille.serve.run import Server, listening, url_of
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise InputError(f"a server needs {error.name}, which is not installed: pip install 'treille[serve]'") from None
    estimator = load_model(model)
    estimator.n_jobs = 1  # requests run in their own threads
    samples = _samples(printer, estimator, reading, examples) if examples is not None else []
    limits = Limits(int(max_body * 1_000_000), time_limit, queue, jobs or min(os.cpu_count() or 1, 4))
    names = [*(allow_host or []), host, *([socket.gethostname()] if host in EVERYWHERE else [])]
    logged = _logged if log else None
    app = make_app(estimator, name=model.stem, samples=samples, limits=limits, hosts=names, log=logged)
    gc.collect()
    gc.freeze()  # the garbage collector need not visit objects that live as long as the program
    with listening(host, port) as found:
        url = url_of(found)
        address, number = found.getsockname()[:2]
        if not address.startswith("127.") and address != "::1":
            open_to_all = "every machine that reaches this one can use the model, without a password"
            printer.warn(f"listening at {host}: {open_to_all}")

        def started() -> None:
            kernel = format_kernel(estimator.plan_.kernel)
            printer.print(f"{model.name} ({type(estimator).__name__}, {kernel}) at {url}", wrap=False)
            printer.note("Ctrl-C stops it")
            printer.result({"url": url, "host": host, "port": number, "model": str(model), "pid": os.getpid()})
            sys.stdout.flush()
            if browser:
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

        Server(app, time_limit, started).run_on(found)
    printer.note("stopped")
    if app.state.workers.jobs:  # a request beyond its time limit is still in the core: the program does not wait for it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _logged(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stderr.flush()


def _samples(printer: Printer, estimator: Any, reading: Reading, path: str) -> list[Any]:
    """The first examples of a file, for the page, named by their number, id, label and beginning."""
    from treille.serve.kinds import reader_of
    from treille.serve.playground import Sample

    if estimator.task().per_token:
        items = first_sentences(estimator, [path], reading.encoding_of_sentences(), SAMPLES)
        titles = [""] * len(items)
    else:
        kernel = estimator.plan_.kernel
        found = reading.like(estimator).read(printer, [path], None, kernel)
        found = found.take(range(min(SAMPLES, len(found))))
        ids, labels = found.ids or [""] * len(found), found.labels or [""] * len(found)
        titles = [f"{id} {label}".strip() for id, label in zip(ids, labels, strict=True)]
        X, names = reading.data(printer, found, kernel), list(kernel.reads.columns)
        each = zip(*(_listed(X[name]) for name in names), strict=True)
        items = [dict(zip(names, row, strict=True)) for row in each] if names else _listed(found.X)
    write = reader_of(estimator).write
    return [Sample(_name(i, *each), write(each[1])) for i, each in enumerate(zip(titles, items, strict=True), 1)]


def _listed(X: Any) -> list[Any]:
    """The examples, each as a value that its kind writes in JSON."""
    return list(X if isinstance(X, Sequence) else kind_of(X).of(X))


def _name(i: int, title: str, example: Any) -> str:
    first = next(iter(example.values()), "") if isinstance(example, dict) else example
    words = first if isinstance(first, str) else " ".join(map(str, first)) if isinstance(first, list) else ""
    shown = visible(" ".join(words[:200].split()), blanks=False)
    return clipped(" · ".join(filter(None, [str(i), title, shown])), 60)
