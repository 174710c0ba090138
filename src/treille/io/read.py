"""Read examples, with or without labels, from a file of any known format."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from . import columnar, lattice_files, lattices, trees, tu
from .archive import Member, archive_members, is_many
from .errors import InputError
from .examples import Examples, Request
from .guess import FAMILIES, guess
from .label_files import Labels, with_labels
from .open import COMPRESSED, STANDARD_INPUT, Text, open_text, source_name, text_of
from .several import joined, read_documents
from .symbols import read_symbols
from .text_files import split_head
from .tree_parts import TreeParts
from .weights import check_kind

TITLES = {format: title for family in (*FAMILIES[::-1], columnar, lattices) for format, title in family.TITLES.items()}
FORMATS = tuple(TITLES)
Path = str | os.PathLike[str]


def read(
    path: Path | Sequence[Path],
    *,
    format: str | None = None,
    text: str | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    labelled: bool | None = None,
    weights: str | None = None,
    symbols: Path | Sequence[str] | None = None,
    labels: Path | Labels | None = None,
    columns: Sequence[str] = (),
    root_label: bool = False,
    brackets: bool | None = None,
    skip_unlabelled: bool = False,
    like: Any = None,
) -> Examples:
    """Read the examples and the labels of a file; `-` is standard input, gzip is recognised.

    Examples may be in several files: a list of paths, a folder, a glob or an archive. Labels are then those that the files hold
    in a field for them, otherwise the names of the folders that the files are in, otherwise the names of the files, one per class.
    In a folder or an archive, a file whose suffix names no format is one text.

    Parameters
    ----------
    format : str or None
        For texts jsonl, csv, tsv, parquet, arrow, lines, fasta or fastq; for numbers svmlight or crfsuite; for trees trees,
        conllu, newick or xml; for graphs graphs, tu, gml, graphml or smiles; for lattices plf, openfst, openfst-text, kaldi, slf,
        mesh, confusion or arcs. None: recognised by the name, otherwise by the content.
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
    labels : path, dict, list or None
        Labels from another source: by id, or in order. A file holds an id and a label on each line (utt2label, TSV, CSV), or one
        label per line. Ids are first words of FASTA headers, fields called id, key or name, utterances, or names of files.
    columns : list of str
        Read these fields as columns, for `treille.kernels.Columns`.
    root_label : bool
        The label of a tree is that of its root, which becomes ROOT.
    brackets : bool or None
        None: a field that holds a tree in brackets in every example is read as trees. False: as text.
    skip_unlabelled : bool
        Leave out examples without a label; the note says how many.
    like : a trained model, or None
        Read as the examples of this model were read: `text`, `weights` and `root_label` where they are not given here.

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
    known = getattr(like, "reading_", {})
    text, weights = text or known.get("text"), weights or known.get("weights")
    root_label = root_label or bool(known.get("root_label"))
    request = request_of(
        format=format,
        text=text,
        label=label,
        labelled=False if labels is not None or root_label else labelled,
        weights=weights,
        symbols=symbols,
        encoding=encoding,
        columns=columns,
        brackets=brackets,
        skip_unlabelled=skip_unlabelled,
    )
    examples = _read(path, request) if isinstance(path, (str, os.PathLike)) else _read_several(path, request)
    if root_label:
        examples = _with_root_labels(examples, labelled is not False and labels is None)
    if labels is not None and labelled is not False:
        examples = with_labels(examples, labels, encoding, skip_unlabelled)
    return without_unlabelled(examples) if skip_unlabelled else examples


def request_of(
    *,
    format: str | None = None,
    weights: str | None = None,
    symbols: Any = None,
    columns: Sequence[str] = (),
    **options: Any,
) -> Request:
    """The arguments of `read` that say how a file is read, checked."""
    if format is not None and format not in FORMATS:
        raise InputError(f"unknown format {format!r}, expected one of {', '.join(FORMATS)}")
    check_kind(weights)
    table = read_symbols(symbols)
    return Request("", format or "", weights=weights, symbols=table, columns=tuple(columns), **options)


def _read(path: Path, request: Request) -> Examples:
    """The examples of a path, with the labels that are there."""
    request = replace(request, source=source_name(path))
    if is_many(path):
        return _read_members(path, request)
    with open_text(path, request.encoding) as stream:
        return _read_stream(stream, request)


def _read_stream(stream: Text, request: Request) -> Examples:
    return read_recognised(stream, *recognised(stream, request))


def recognised(stream: Text, request: Request) -> tuple[Request, Iterator[str]]:
    """The request with the format of a file, and the lines of the file; none for formats that are read as bytes."""
    source, text, format = request.source, request.text, request.format
    head = stream.buffer.peek()
    guessed = (
        (format, "") if format else columnar.guess_bytes(source, head) or lattices.guess_lattices(source, head, text)
    )
    if guessed is not None and guessed[0] in (*columnar.TITLES, *lattices.TITLES):
        return replace(request, format=guessed[0], guessed_from=guessed[1]), iter(())
    first, lines = split_head(stream)
    if not first or not first[-1].strip():
        raise InputError(f"{source}: the file is empty, expected at least one example")
    found, guessed_from = guessed or guess(source, first[-1], text)
    return replace(request, format=found, guessed_from=guessed_from), lines


def read_recognised(stream: Text, request: Request, lines: Iterator[str]) -> Examples:
    """The examples of a file whose format is known."""
    if request.format in columnar.TITLES:
        return columnar.read(stream.buffer.read(), request)
    if request.format in lattices.TITLES:
        return lattice_files.read([Member(request.source, "", stream.buffer.read)], request)
    family = next(family for family in FAMILIES if request.format in family.TITLES)
    return family.read(lines, request)


def _read_members(path: Path, request: Request) -> Examples:
    """The examples of a folder, a glob or an archive."""
    members, format = archive_members(path), request.format
    if not format or format in lattices.TITLES:
        found, guessed_from, files = lattices.chosen(members, format or None, request.text)
        if files:
            return lattice_files.read(files, replace(request, format=found, guessed_from=guessed_from))
    if format in ("", "xml") and os.path.isdir(path) and trees.documents(path):
        return trees.read_documents(path, replace(request, format="xml", guessed_from="content"))
    if format == "tu" or (not format and tu.prefixes(members)):
        return tu.read(members, replace(request, format="tu", guessed_from="" if format else "content"))
    named = [bool(format) or is_named(member.name) for member in members]
    if not any(named):
        return read_documents(members, replace(request, format="lines"))
    if not all(named):
        other = members[named.index(False)].name
        raise InputError(
            f"{other}: its name tells no format, those of other files do: take it out, or name the format with --format"
        )
    read, labelled = [], _of_each(request)
    for member in members:
        with text_of(member.data, member.name, request.encoding) as stream:
            read.append(_read_stream(stream, replace(request, source=member.name, labelled=labelled)))
    folders = [member.label for member in members]
    return joined(read, request, folders if all(folders) else None)


def is_named(name: str) -> bool:
    """Whether the suffix of a name tells the format of a file."""
    known = (*(suffix for family in (*FAMILIES, columnar) for own in family.SUFFIXES.values() for suffix in own),)
    return COMPRESSED.sub("", name.lower()).endswith(known)


def _read_several(paths: Sequence[Path], request: Request) -> Examples:
    if not paths:
        raise InputError("found no file, expected at least one")
    if len(paths) == 1:
        return _read(paths[0], request)
    if sum(os.fspath(path) == STANDARD_INPUT for path in paths):
        raise InputError("found several files and standard input, expected either")
    return joined([_read(path, replace(request, labelled=_of_each(request))) for path in paths], request)


def _of_each(request: Request) -> bool | None:
    """Whether each of several files must hold labels: only if the user named their field."""
    return request.labelled if request.label is not None else False if request.labelled is False else None


def _with_root_labels(examples: Examples, labelled: bool) -> Examples:
    if not isinstance(examples.X, TreeParts):
        raise InputError(
            f"{examples.source}: holds no trees, expected trees: --root-label takes labels from their roots"
        )
    labels, without = trees.without_root(examples.X)
    if not labelled:
        return replace(examples, X=without)
    note = f"{examples.note.removesuffix('no labels').rstrip(', ')}, label = that of the root"
    return replace(examples, X=without, labels=labels, note=note)


def without_unlabelled(examples: Examples) -> Examples:
    """The examples that have a label."""
    labels = examples.labels or []
    rows = [i for i, label in enumerate(labels) if label]
    if len(rows) == len(labels):
        return examples
    if not rows:
        raise InputError(f"{examples.source}: no example has a label, expected some: name the field with --label")
    note = f"{examples.note}; {len(labels) - len(rows):,} without a label left out"
    return replace(examples.take(rows), note=note)
