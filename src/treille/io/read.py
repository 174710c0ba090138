"""Read examples, with or without labels, from a file of any known format."""

import os
from collections.abc import Sequence
from dataclasses import replace

from . import lattice_files, lattices, trees
from .archive import Member, archive_members, is_many
from .errors import InputError
from .examples import Examples, Request
from .guess import FAMILIES, guess
from .open import open_text, source_name
from .symbols import read_symbols
from .text_files import split_head
from .weights import check_kind

TITLES = {format: title for family in (*FAMILIES[::-1], lattices) for format, title in family.TITLES.items()}
FORMATS = tuple(TITLES)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    text: str | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    labelled: bool | None = None,
    weights: str | None = None,
    symbols: str | os.PathLike[str] | Sequence[str] | None = None,
) -> Examples:
    """Read the examples and the labels of a file; `-` is standard input, gzip is recognised.

    Lattices may be in several files: a folder, a glob or an archive. If these are in several folders, the names of the folders
    are the labels. The same holds for XML documents in a folder.

    Parameters
    ----------
    format : str or None
        For texts jsonl, csv, tsv, lines, fasta or fastq; for numbers svmlight; for trees trees, conllu, newick or xml; for lattices
        plf, openfst, openfst-text, kaldi, slf, mesh, confusion or arcs. None: recognised by the name, otherwise by the content.
    text : str or None
        The field of the text, or several joined with one blank: `title+body`. The columns of a table without a header are called
        1, 2, 3 and so on.
    label : str or None
        The field of the label. `topics=acq` makes the labels `acq` and `not acq`, depending on whether the field equals the value,
        or is a list that contains it; `en~REGEX` depending on whether the regular expression is found in the field.
    labelled : bool or None
        True: labels are required. False: they are not read. None: they are read if there are some; lines without a tab have none.
    weights : {"cost", "logprob", "prob"} or None
        What the numbers of lattices are. None: as the format defines, otherwise recognised by their values; the note says which.
    symbols : path, list of str or None
        The symbol table of lattices whose labels are numbers: a file in OpenFst's format, or a list.

    Raises
    ------
    InputError : names the file, the line, what was found, what was expected and what to do.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vines.csv"
    >>> _ = path.write_text("text,label\\nred and sweet,grape\\nround and red,apple\\n")
    >>> examples = read(path)
    >>> examples.X, examples.labels
    (['red and sweet', 'round and red'], ['grape', 'apple'])
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"unknown format {format!r}, expected one of {', '.join(FORMATS)}")
    check_kind(weights)
    table, source = read_symbols(symbols), source_name(path)
    request = Request(source, format or "", "", text, label, labelled, weights, table, encoding)
    if is_many(path) and (format is None or format in lattices.TITLES):
        found, guessed_from, files = lattices.chosen(archive_members(path), format, text)
        if files or not os.path.isdir(path):
            return lattice_files.read(files, replace(request, format=found, guessed_from=guessed_from))
    if format in (None, "xml") and os.path.isdir(path):
        return trees.read_documents(path, replace(request, format="xml", guessed_from="content"))
    with open_text(path, encoding) as stream:
        guessed = (format, "") if format else lattices.guess_lattices(source, stream.buffer.peek(), text)
        if guessed is not None and guessed[0] in lattices.TITLES:
            file = Member(source, "", stream.buffer.read)
            return lattice_files.read([file], replace(request, format=guessed[0], guessed_from=guessed[1]))
        head, lines = split_head(stream)
        if not head or not head[-1].strip():
            raise InputError(f"{source}: the file is empty, expected at least one example")
        found, guessed_from = guessed or guess(source, head[-1], text)
        family = next(family for family in FAMILIES if found in family.TITLES)
        return family.read(lines, replace(request, format=found, guessed_from=guessed_from))
