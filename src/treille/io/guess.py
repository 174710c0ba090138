"""Tell the format of a file from its name, else from its first line that is not blank."""

from __future__ import annotations

import os

from . import trees
from .fields import TEXTS
from .svmlight import looks_like_svmlight

SUFFIXES = {
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "fasta": (".fasta", ".fa", ".fas", ".fna", ".ffn", ".faa"),
    "fastq": (".fastq", ".fq"),
    "svmlight": (".svmlight", ".libsvm", ".svm"),
    **trees.SUFFIXES,
}


def guess(name: str, line: str, text: str | None = None) -> tuple[str, str]:
    """The format of a file, and what told it: its `name` or its `content`.

    A first line is a header of a table only if it names the text: any sentence may hold a comma. A table of two columns
    with no header, a label and a tree in brackets, is a file of trees.

    >>> guess("mail.csv.gz", "text,label"), guess("-", "text\\tlabel"), guess("mail.txt", "Well, then")
    (('csv', 'name'), ('tsv', 'content'), ('lines', 'content'))
    """
    stem = os.path.basename(name).lower().removesuffix(".gz")
    for kind, suffixes in SUFFIXES.items():
        if stem.endswith(suffixes):
            is_forest = kind == "tsv" and text is None and trees.looks_like_trees(line)
            return ("trees", "content") if is_forest else (kind, "name")
    if text is None and trees.looks_like_trees(line):
        return "trees", "content"
    if line.startswith(">"):
        return "fasta", "content"
    if line.lstrip().startswith("{"):
        return "jsonl", "content"
    if looks_like_svmlight(line):
        return "svmlight", "content"
    wanted = {text, *text.split("+")} if text else set(TEXTS)
    for kind, delimiter in (("tsv", "\t"), ("csv", ",")):
        names = {cell.strip().strip('"') for cell in line.split(delimiter)}
        if len(names) > 1 and names & wanted:
            return kind, "content"
    return "lines", "content"
