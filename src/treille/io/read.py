"""Read examples, with or without labels, from files of any known format."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from . import columnar, graphs, lattices, trees
from .archive import Member, archive_members, is_many
from .blocks import Limits, split_head
from .errors import InputError
from .examples import Examples, Request
from .guess import BUILT_IN, families, guess, is_of_users
from .label_files import Labels, LabelsElsewhere
from .multi_file import InputFile, document_blocks, joined_blocks, name_of
from .open import COMPRESSED, STANDARD_INPUT, Text, open_text, source_name
from .other_programs import refuse_other_programs
from .packed_trees import PackedTrees
from .paths import file_names
from .symbols import read_symbols
from .weights import check_kind, parse_scale

FORMATS = tuple(format for family in (*BUILT_IN[::-1], columnar, lattices) for format in family.TITLES)
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
    scale: float | Mapping[str, float] | str | None = None,
    symbols: Path | Sequence[str] | None = None,
    labels: Path | Sequence[Path] | Labels | None = None,
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
        The meaning of the numbers of lattices. None: as the format defines, otherwise recognised by their values; the note says
        which.
    scale : float, dict of str to float, or None
        The factor of all costs of lattices; or, for formats with several scores (kaldi, slf), a factor for each, 1 where none is
        given, such as ``{"acoustic": 0.1}``: costs are then sums of scores, and scales and penalties of the file are not used.
    symbols : path, list of str or None
        The symbol table of lattices whose labels are numbers: a file in OpenFst's format, or a list.
    labels : path, list of paths, dict, list or None
        Labels from another source: by id, or in order. A file holds an id and a label on each line (utt2label, TSV, CSV), or one
        label per line; several files are a list of `pathlib.Path`. Ids are first words of FASTA headers, fields called id, key or
        name, utterances, or names of files.
    columns : list of str
        Read these fields as columns, for `treille.kernels.Columns`.
    root_label : bool
        The label of the root is the label of a tree, and becomes ROOT in it.
    brackets : bool or None
        None: a field that holds a tree in brackets in every example is read as trees. False: as text.
    skip_unlabelled : bool
        Leave out examples without a label; the note says how many.
    like : a trained model, or None
        Read as the examples of this model were read: `text`, `weights`, `scale` and `root_label` where they are not given here, and
        `label` if no labels are given and the file has its field.

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
    options = {name: value for name, value in locals().items() if name != "path"}
    plan = ReadingPlan.of(None, **options)
    (examples,) = plan.finished(plan.input_file(path).blocks(None))
    return examples


@dataclass(frozen=True)
class ReadingPlan:
    """The plan for reading files, and for processing their examples afterwards."""

    request: Request
    limits: Limits | None  # of blocks; None: all at once
    labelled: bool | None
    labels: Path | Sequence[Path] | Labels | None
    root_label: bool
    of_lattices: tuple[str, ...]  # options that were given, and are for lattices

    @classmethod
    def of(
        cls,
        limits: Limits | None,
        *,
        format: str | None = None,
        label: str | None = None,
        labelled: bool | None = None,
        labels: Path | Sequence[Path] | Labels | None = None,
        root_label: bool = False,
        like: Any = None,
        text: str | None = None,
        weights: str | None = None,
        scale: float | Mapping[str, float] | str | None = None,
        symbols: Path | Sequence[str] | None = None,
        columns: Sequence[str] = (),
        **options: Any,
    ) -> "ReadingPlan":
        """Checks the arguments of `read`, and makes a plan of them."""
        formats = dict.fromkeys((*FORMATS, *(name for family in families() for name in family.TITLES)))
        if format is not None and format not in formats:
            raise InputError(f"unknown format {format!r}, expected one of {', '.join(formats)}")
        check_kind(weights)
        known = {} if like is None else like.reading_
        root_label = root_label or bool(known.get("root_label"))
        if label is not None and (labels is not None or root_label):
            other = "--root-label" if labels is None else "--labels"
            raise InputError(f"labels are given twice, by --label {label} and by {other}: give either")
        request = Request(
            "",
            format or "",
            text=text or known.get("text"),
            label=label,
            trained_label=None if root_label else known.get("label"),
            weights=weights or known.get("weights"),
            scale=parse_scale(known.get("scale") if scale is None else scale),
            labelled=False if labels is not None or root_label else labelled,
            symbols=read_symbols(symbols),
            columns=tuple(columns),
            **options,
        )
        given = {"weights": weights, "scale": scale, "symbols": symbols}
        own = tuple(name for name, value in given.items() if value is not None)
        return cls(request, limits, labelled, labels, root_label, own)

    def input_file(self, path: Path | Sequence[Path]) -> InputFile:
        """The files of a path, or of several paths."""
        paths, request = file_names(path), self.request
        if not paths:
            raise InputError("found no file, expected at least one")
        if len(paths) == 1:
            return _input_file(paths[0], request)
        if any(os.fspath(each) == STANDARD_INPUT for each in paths):
            raise InputError("found several files and standard input, expected either")
        each = replace(request, labelled=_of_each(request))
        return _joined([_input_file(path, each) for path in paths], request)

    def finished(self, blocks: Iterator[Examples]) -> Iterator[Examples]:
        """The examples with labels of roots or from elsewhere, without those that have none and are to be left out."""
        skip, elsewhere, source, kept = self.request.skip_unlabelled, None, "", False
        if self.labels is not None and self.labelled is not False:
            elsewhere = LabelsElsewhere(self.labels, self.request.encoding, skip, self.limits is None)
        for block in blocks:
            source = block.input or block.source
            if self.of_lattices and lattices.TITLES.keys().isdisjoint(block.format.split("/")):
                raise InputError(f"{source}: holds no lattices, for which --{self.of_lattices[0]} is: leave it out")
            if self.root_label:
                block = _with_root_labels(block, self.labelled is not False and self.labels is None)
            block = elsewhere.of(block) if elsewhere else block
            if skip and not all(block.labels or ()):
                n, block = len(block), block.take([i for i, label in enumerate(block.labels or ()) if label])
                block = replace(block, note=f"{block.note}; {n - len(block):,} without a label left out")
            if len(block) or not skip:
                kept = True
                yield block
        if elsewhere:
            elsewhere.end()
        if not kept:
            raise InputError(f"{source}: no example has a label, expected some: name the field with --label")


def _with_root_labels(examples: Examples, labelled: bool) -> Examples:
    if not isinstance(examples.X, PackedTrees):
        raise InputError(f"{examples.source}: holds no trees, expected trees: --root-label takes their roots' labels")
    labels, without = trees.without_root(examples.X)
    if not labelled:
        return replace(examples, X=without)
    note = f"{examples.note.removesuffix('no labels').rstrip(', ')}, label = the label of the root"
    return replace(examples, X=without, labels=labels, note=note)


def _input_file(path: Path, request: Request) -> InputFile:
    """The examples of a path, with the labels that are there."""
    request = replace(request, source=source_name(path))
    if is_many(path):
        return _members(path, request)
    again = os.fspath(path) != STANDARD_INPUT and os.path.isfile(path)
    return InputFile(request.source, partial(_file_blocks, path, request), again)


def _file_blocks(path: Path, request: Request, limits: Limits | None) -> Iterator[Examples]:
    with open_text(path, request.encoding, lazily=limits is not None) as stream:
        yield from _stream_blocks(stream, request, limits)


def _stream_blocks(stream: Text, request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The examples of a file, in its own format."""
    request, lines = _recognised(stream, request)
    if request.format in columnar.TITLES:
        return columnar.blocks(stream.buffer, request, limits)
    if request.format in lattices.TITLES:
        return lattices.blocks([Member(request.source, "", lambda: stream.buffer)], request, limits)
    family = next(family for family in families() if request.format in family.TITLES)
    return family.blocks(lines, request, limits)


def _recognised(stream: Text, request: Request) -> tuple[Request, Iterator[str]]:
    """The request with the format of a file, and the lines of the file; none for formats that are read as bytes."""
    source, text, format = request.source, request.text, request.format
    head = stream.buffer.peek()
    if not format:
        refuse_other_programs(source, head)
    by_bytes = columnar.guess_bytes(source, head) or lattices.guess_lattices(source, head, text)
    guessed = (format, "") if format else None if is_of_users(source) else by_bytes
    if guessed is not None and guessed[0] in (*columnar.TITLES, *lattices.TITLES):
        return replace(request, format=guessed[0], guessed_from=guessed[1]), iter(())
    first, lines = split_head(stream)
    if not first or not first[-1].strip():
        raise InputError(f"{source}: the file is empty, expected at least one example")
    found, guessed_from = guessed or guess(source, first[-1], text)
    return replace(request, format=found, guessed_from=guessed_from), lines


def _members(path: Path, request: Request) -> InputFile:
    """The examples of a folder, a glob or an archive."""
    members, format, source = archive_members(path), request.format, request.source
    if not format or format in lattices.TITLES:
        found, guessed_from, files = lattices.chosen(members, format or None, request.text)
        if files:
            request = replace(request, format=found, guessed_from=guessed_from)
            return InputFile(source, lambda limits: lattices.blocks(files, request, limits))
    if format in ("", "xml") and os.path.isdir(path) and trees.documents(path):
        request = replace(request, format="xml", guessed_from="content")
        return InputFile(source, lambda limits: trees.document_blocks(path, request, limits), distinct=True)
    if format == "tu" or (not format and graphs.set_names(members)):
        request = replace(request, format="tu", guessed_from="" if format else "content")
        return InputFile(source, lambda limits: iter([graphs.read_set(members, request)]))
    known = tuple(end for family in (*families(), columnar) for ends in family.SUFFIXES.values() for end in ends)
    named = [bool(format) or COMPRESSED.sub("", member.name.lower()).endswith(known) for member in members]
    if not any(named):
        request = replace(request, format="lines")
        return InputFile(source, lambda limits: document_blocks(members, request, limits), distinct=True)
    if not all(named):
        other = members[named.index(False)].name
        raise InputError(
            f"{other}: its name does not show the format, unlike other files: remove it, or name the format with --format"
        )
    each, folders = replace(request, labelled=_of_each(request)), [member.label for member in members]
    inputs = [InputFile(member.name, partial(_member_blocks, member, each)) for member in members]
    return _joined(inputs, request, folders if all(folders) else None)


def _member_blocks(member: Member, request: Request, limits: Limits | None) -> Iterator[Examples]:
    with member.text(request.encoding) as stream:
        yield from _stream_blocks(stream, replace(request, source=member.name), limits)


def _joined(files: Sequence[InputFile], request: Request, folders: Sequence[str] | None = None) -> InputFile:
    source, again = name_of([file.source for file in files]), all(file.again for file in files)
    return InputFile(source, lambda limits: joined_blocks(files, request, limits, folders), again, distinct=True)


def _of_each(request: Request) -> bool | None:
    """Returns whether each of several files must hold labels: only if the user named their field."""
    return request.labelled if request.label is not None else False if request.labelled is False else None
