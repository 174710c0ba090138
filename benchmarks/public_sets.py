"""Public datasets for benchmarks and tests. Nothing is downloaded: they are read from the folder that `TREILLE_DATA` names.

In a smoke run of a benchmark (see harness.py), each file is replaced by a sample of its records.
"""

import gzip
import os
import re
import tempfile
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness import SMOKE
from treille.data import Graph, Graphs, Trees
from treille.io import InputError, open_text, plf, read
from treille.io.jsonl import records
from treille.io.machine import MachineParts
from treille.tagging import Sentences, read_sentences

VARIABLE = "TREILLE_DATA"
SAMPLE = 100  # records of a file in a smoke run
WHOLE = 4000  # bytes; smaller files are not sampled
SPLITS = {"train": ("train",), "test": ("test",), "all": ("train", "test")}

CONVERSATIONS = ("fisher_dev", "fisher_dev2", "fisher_test", "callhome_devtest", "callhome_evltest")

LABEL_NAMES = {  # of atoms and bonds, from the descriptions of the sets
    "MUTAG": ("C N O F I Cl Br", "aromatic single double triple"),
    "PTC_MR": ("In P O N Na C Cl S Br F K Cu Zn I Ba Sn Pb Ca", "triple double single aromatic"),
}

Split = Literal["train", "test", "all"]
Conversations = Literal["fisher_dev", "fisher_dev2", "fisher_test", "callhome_devtest", "callhome_evltest", "all"]


def data_folder() -> Path | None:
    """The folder of public sets, from the environment variable `TREILLE_DATA`; None if it is not set."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def reuters(split: Split = "train") -> tuple[list[str], list[list[str]]]:
    """Reuters-21578, ModApte split: 9,603 stories to train and 3,299 to test, each with its topics, often none.

    A text is title and body; each run of white space is replaced by one blank. Read from
    `reuters21578/{train,test}.jsonl.gz`, one object per line with the fields `title`, `body` and `topics`.
    """
    texts, topics = list[str](), list[list[str]]()
    for part in _parts(split):
        file = data_file("reuters21578", f"{part}.jsonl.gz")
        with open_text(file) as lines:
            for _, story in records(lines, str(file)):
                texts.append(" ".join(f"{story['title']} {story['body']}".split()))
                topics.append(list(story["topics"]))  # type: ignore[call-overload]
    return texts, topics


def amazon_reviews(domain: Literal["books", "dvd", "electronics", "kitchen"] = "books") -> tuple[list[str], list[int]]:
    """2,000 reviews of one domain of Amazon's products, half of them positive, and their ratings: 1, 2, 4 or 5 stars.

    Read from `amazon_mds/DOMAIN.jsonl.gz`.
    """
    examples = read(data_file("amazon_mds", f"{domain}.jsonl.gz"), text="text", label="rating")
    return list(examples.X), [int(rating) for rating in examples.targets()]


def conll2000(split: Split = "train") -> tuple[Sentences, Sentences]:
    """CoNLL-2000 chunking: 8,936 sentences to train and 2,012 to test, words with their parts of speech, and chunk tags (IOB2).

    Read from `conll2000/{train,test}.txt.gz`, CoNLL columns.
    """
    parts = [read_sentences(data_file("conll2000", f"{part}.txt.gz")) for part in _parts(split)]
    sentences = parts[0] if len(parts) == 1 else Sentences([s for part in parts for s in part])
    return sentences.separate()


def fastsk(name: str, kind: Literal["dna", "protein"] = "dna", split: Split = "train") -> tuple[list[str], list[str]]:
    """A FastSK set: DNA that binds a transcription factor (`CTCF`), or proteins of a SCOP superfamily (`1.1`).

    Labels are `1` and `0`. Sequences are in capitals: lower case only marks repeats in some of the files. Read from
    `fastsk/{dna,protein}/NAME.{train,test}.fasta.gz`.
    """
    sequences, labels = list[str](), list[str]()
    for part in _parts(split):
        examples = read(data_file("fastsk", kind, f"{name}.{part}.fasta.gz"), format="fasta", labelled=True)
        sequences += (text.upper() for text in examples.X)
        labels += examples.labels or ()
    return sequences, labels


def trec_qc(
    split: Split = "train", trees: Literal["parse", "grct", "lct", "loct"] = "parse", fine: bool = False
) -> tuple[Trees, list[str]]:
    """Questions with the type of their answers, in 6 classes, or 50 `fine` ones: 5,452 to train and 500 to test.

    Trees are parses, or trees made of dependencies: grct, lct or loct. Read from `trec_qc/{train,test}.jsonl.gz`.
    """
    if trees not in ("parse", "grct", "lct", "loct"):
        raise InputError(f"trees is {trees!r}, expected parse, grct, lct or loct")
    found, labels = list[str](), list[str]()
    for part in _parts(split):
        examples = read(
            data_file("trec_qc", f"{part}.jsonl.gz"), text=trees, label="fine" if fine else "coarse", brackets=False
        )
        found += examples.X
        labels += examples.labels or ()
    return Trees(found), labels


def cslog(name: Literal["cslog1", "cslog2", "cslog12"] = "cslog1") -> tuple[Trees, list[str]]:
    """Visits to a web site as trees of pages, `0` or `1` for where visitors came from. Read from `cslog/NAME.tsv.gz`."""
    return _labelled_trees("cslog", f"{name}.tsv.gz")


def inex(split: Split = "train") -> tuple[Trees, list[str]]:
    """INEX 2005, the structure of XML documents of 11 journals: 4,820 to train and 4,811 to test.

    Read from `inex/inex2005.{train,test}.tsv.gz`.
    """
    parts = [_labelled_trees("inex", f"inex2005.{part}.tsv.gz") for part in _parts(split)]
    trees = parts[0][0] if len(parts) == 1 else Trees([tree for batch, _ in parts for tree in batch])
    return trees, [label for _, labels in parts for label in labels]


def kegg_glycan(name: Literal["leukemia", "cystic"] = "leukemia") -> tuple[Trees, list[str], np.ndarray]:
    """Glycans that occur in a disease, `1`, or not, `-1`, and the fold, 0 to 9, in which each is tested.

    Read from `kegg_glycan/NAME.tsv.gz` and `kegg_glycan/NAME.test_folds.txt.gz`.
    """
    trees, labels = _labelled_trees("kegg_glycan", f"{name}.tsv.gz")
    folds = np.full(len(trees), -1)
    with open_text(data_file("kegg_glycan", f"{name}.test_folds.txt.gz")) as lines:
        for line in lines:
            fold, _, members = line.partition(":")
            folds[np.array(members.split(), dtype=int) - 1] = int(fold)
    return trees, labels, folds


def treebank_sample() -> Trees:
    """The part of the Penn Treebank that NLTK has: 3,914 parse trees. Read from `treebank_sample/trees.tsv.gz`."""
    return _labelled_trees("treebank_sample", "trees.tsv.gz")[0]


def _labelled_trees(*parts: str) -> tuple[Trees, list[str]]:
    examples = read(data_file(*parts), format="trees", labelled=True)
    return Trees(examples.X), examples.labels or []


def graphs(name: str = "MUTAG") -> tuple[Graphs, list[int]]:
    """A set of the TU collection of graphs, such as `MUTAG`, `PTC_MR`, `NCI1` (molecules), `ENZYMES` or `PROTEINS`, and classes.

    Labels of atoms and bonds of `MUTAG` and `PTC_MR` have their names, other labels are numbers. Read from `graphs/NAME.jsonl.gz`,
    one object per line with the fields `y`, `nodes`, `edges`, and, where there are any, `edge_labels` and `node_attr`.
    """
    found, classes, file = list[Graph](), list[int](), data_file("graphs", f"{name}.jsonl.gz")
    atoms, bonds = (dict(enumerate(names.split())) for names in LABEL_NAMES.get(name, ("", "")))
    with open_text(file) as lines:
        for _, record in records(lines, str(file)):
            row: dict[str, Any] = dict(record)
            nodes, edge_labels = row["nodes"], row.get("edge_labels")
            nodes = [atoms.get(label, label) for label in nodes] if isinstance(nodes, list) else nodes
            edge_labels = None if edge_labels is None else [bonds.get(label, label) for label in edge_labels]
            found.append(Graph(nodes, row["edges"], edge_labels, None, row.get("node_attr")))
            classes.append(int(row["y"]))
    return Graphs(found), classes


def fisher_callhome(part: Conversations = "all") -> tuple[list[MachineParts], list[str], list[str]]:
    """Spanish telephone speech as recognised: lattices of words, its best guess, and an English translation of each.

    17,376 lattices in all, 78 of them empty; weights are costs, -log p. Read from `fisher_callhome_lattices/PART.jsonl.gz`, one
    object per line with the fields `id`, `plf`, `asr` and `en`.
    """
    if part != "all" and part not in CONVERSATIONS:
        raise InputError(f"part is {part!r}, expected 'all' or one of {', '.join(CONVERSATIONS)}")
    names, texts, places, guesses, english = (list[str]() for _ in range(5))
    for name in CONVERSATIONS if part == "all" else (part,):
        file = data_file("fisher_callhome_lattices", f"{name}.jsonl.gz")
        with open_text(file) as lines:
            for line, record in records(lines, str(file)):
                places.append(f"{file}, line {line}")
                for field, values in (("id", names), ("plf", texts), ("asr", guesses), ("en", english)):
                    values.append(str(record[field]))
    return plf.parse(texts, places, "fisher_callhome_lattices", "logprob", names)[0], guesses, english


def _parts(split: str) -> tuple[str, ...]:
    if split not in SPLITS:
        raise InputError(f"split is {split!r}, expected one of {', '.join(SPLITS)}")
    return SPLITS[split]


def data_file(*parts: str) -> Path:
    """A file in the folder of public sets; in a smoke run, a sample of it."""
    folder = data_folder()
    if folder is None:
        raise InputError(
            f"set the environment variable {VARIABLE} to the folder that holds {Path(*parts)}: public sets are read from there"
        )
    file = folder.joinpath(*parts)
    if not file.is_file():
        near = sorted(path.name for path in file.parent.glob("*.gz"))
        there = f"there are {', '.join(near)}" if near else f"{file.parent} holds no such set"
        raise InputError(f"{file}: no such file in the folder {VARIABLE} names; {there}")
    return _sample(file) if SMOKE and file.stat().st_size > WHOLE else file


@cache
def _sample(file: Path) -> Path:
    """A copy with at most `SAMPLE` records, spread evenly over the file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        text = lines.read()
    begin = {".fasta": r"^>", ".txt": r"(?<=\n\n)"}.get(Path(file.stem).suffix, "^")
    starts = [found.start() for found in re.finditer(begin, text, re.MULTILINE)]
    records = [text[a:b] for a, b in pairwise([*starts, len(text)])]
    copy = Path(_scratch().name, *file.parts[-2:])
    copy.parent.mkdir(exist_ok=True)
    with gzip.open(copy, "wt", encoding="utf-8") as out:
        count = min(SAMPLE, len(records))
        out.writelines(records[len(records) * k // count] for k in range(count))
    return copy


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()
