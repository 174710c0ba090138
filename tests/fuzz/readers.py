"""Readers as targets: each file of the corpus is changed and read, both with its format named and guessed."""

import contextlib
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import treille
from treille import Graphs, Lattices, Strings, Trees, Vectors
from treille.io.packed import PackedColumns
from treille.io.symbols import read_symbols
from treille.kernels.parse import default_kernel, parse_kernel
from treille.tagging import read_features, read_sentences, read_templates, stream_sentences, write_sentences

from . import mutations

CORPUS = Path(__file__).parent / "corpus"


def whole(path: Path) -> None:
    """A file of any format, and the batch that is made of it."""
    options = (
        {},
        {"labelled": True},
        {"labelled": False},
        {"text": "text", "label": "label=x"},
        {"label": "label~(a+)+$"},
    )
    chosen = options[path.read_bytes()[-1] % 5 if path.stat().st_size else 0]
    examples = treille.io.read(path, **chosen)
    assert sum(len(chunk) for chunk in treille.io.read_chunks(path, examples=2, **chosen)) == len(examples)
    repr(examples)
    if isinstance(examples.X, PackedColumns):
        default_kernel(examples.X)[0].batch(examples.X)
        return
    kinds: dict[str, Any] = {"NumberRows": Vectors, "PackedTrees": Trees, "LatticeParts": Lattices}
    kinds["PackedGraphs"] = Graphs
    kinds.get(type(examples.X).__name__, Strings if isinstance(examples.X, list) else Lattices)(examples.X)


def text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def json_lines(path: Path) -> list[str]:
    """The lines of a file that are JSON."""
    lines = []
    for line in text(path).split("\n"):
        with contextlib.suppress(ValueError, RecursionError):
            json.loads(line)
            lines.append(line)
    return lines


DOCUMENTS: dict[str, Callable[[Path], Any]] = {
    "a.xml": lambda path: Trees.from_xml([path.read_bytes()], attributes=True, text=True),
    "a.html": lambda path: Trees.from_html([path.read_bytes(), text(path)], attributes=True, text=True),
    "a.json": lambda path: (Trees.from_json([path.read_bytes()]), Trees.from_json([text(path)], values=False)),
    "a.py": lambda path: Trees.from_ast([text(path)], names=True),
    "a.mrg": lambda path: Trees.from_brackets(text(path)),
    "tk.trees": lambda path: Trees.from_brackets(text(path)),
    "lines.trees": lambda path: Trees(text(path).split("\n")),
    "a.nwk": lambda path: Trees.from_newick(text(path)),
    "a.conllu": lambda path: Trees.from_conllu(text(path), label="form"),
    "a.graphs.jsonl": lambda path: Graphs([json.loads(line) for line in json_lines(path)]),
    "a.symbols": read_symbols,
    "a.conll": lambda path: (read_sentences(path), [b.with_tags(b.sentences) for b in stream_sentences(path, block=7)]),
    "tabs.conll": lambda path: write_sentences(path.with_suffix(".out"), read_sentences(path), separator="\t"),
    "a.crfsuite": read_features,
    "a.template": read_templates,
    "a.kernel": lambda path: parse_kernel(text(path)),
}


class ReaderTarget:
    """Reads changed files that begin as one file of the corpus."""

    def __init__(self, seed: str, read: Callable[[Path], Any], folder: Path):
        self.read, self.path = read, folder / seed
        self.seeds = [(CORPUS / seed).read_bytes()]
        self.others = [path.read_bytes() for path in sorted(CORPUS.iterdir())]

    def case(self, rng: random.Random) -> bytes:
        return mutations.of_bytes(rng.choice(self.seeds), self.others, rng)

    def run(self, data: bytes) -> None:
        self.path.write_bytes(data)
        self.read(self.path)


TARGETS_BY_NAME = {
    **{
        f"read-{p.name}": partial(ReaderTarget, p.name, whole)
        for p in sorted(CORPUS.iterdir())
        if p.suffix != ".kernel"
    },
    **{f"document-{name}": partial(ReaderTarget, name, read) for name, read in DOCUMENTS.items()},
}
