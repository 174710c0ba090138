"""The files that a path names, or several paths, as parts whose examples are read in blocks."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from . import columnar, lattice_files, lattices, trees, tu
from .archive import Member, archive_members, is_many
from .blocks import Limits, split_head
from .errors import InputError
from .examples import Examples, Request
from .guess import families, guess
from .multi_file import Part, document_blocks, joined_blocks, name_of
from .open import COMPRESSED, STANDARD_INPUT, Text, open_text, source_name

Path = str | os.PathLike[str]


def part_of(paths: Sequence[Path], request: Request) -> Part:
    """All files of these paths."""
    if not paths:
        raise InputError("found no file, expected at least one")
    if len(paths) == 1:
        return _part(paths[0], request)
    if sum(os.fspath(path) == STANDARD_INPUT for path in paths):
        raise InputError("found several files and standard input, expected either")
    each = replace(request, labelled=_of_each(request))
    return _joined([_part(path, each) for path in paths], request)


def _part(path: Path, request: Request) -> Part:
    """The examples of a path, with the labels that are there."""
    request = replace(request, source=source_name(path))
    if is_many(path):
        return _members(path, request)
    again = os.fspath(path) != STANDARD_INPUT and os.path.isfile(path)
    return Part(request.source, partial(_file_blocks, path, request), again)


def _file_blocks(path: Path, request: Request, limits: Limits | None) -> Iterator[Examples]:
    with open_text(path, request.encoding, lazily=limits is not None) as stream:
        yield from _stream_blocks(stream, request, limits)


def _stream_blocks(stream: Text, request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The examples of a file, in its own format."""
    request, lines = recognised(stream, request)
    if request.format in columnar.TITLES:
        return columnar.blocks(stream.buffer, request, limits)
    if request.format in lattices.TITLES:
        return lattice_files.blocks([Member(request.source, "", lambda: stream.buffer)], request, limits)
    family = next(family for family in families() if request.format in family.TITLES)
    return family.blocks(lines, request, limits)


def recognised(stream: Text, request: Request) -> tuple[Request, Iterator[str]]:
    """The request with the format of a file, and the lines of the file; none for formats that are read as bytes."""
    source, text, format = request.source, request.text, request.format
    head = stream.buffer.peek()
    by_bytes = columnar.guess_bytes(source, head) or lattices.guess_lattices(source, head, text)
    guessed = (format, "") if format else by_bytes
    if guessed is not None and guessed[0] in (*columnar.TITLES, *lattices.TITLES):
        return replace(request, format=guessed[0], guessed_from=guessed[1]), iter(())
    first, lines = split_head(stream)
    if not first or not first[-1].strip():
        raise InputError(f"{source}: the file is empty, expected at least one example")
    found, guessed_from = guessed or guess(source, first[-1], text)
    return replace(request, format=found, guessed_from=guessed_from), lines


def _members(path: Path, request: Request) -> Part:
    """The examples of a folder, a glob or an archive."""
    members, format, source = archive_members(path), request.format, request.source
    if not format or format in lattices.TITLES:
        found, guessed_from, files = lattices.chosen(members, format or None, request.text)
        if files:
            request = replace(request, format=found, guessed_from=guessed_from)
            return Part(source, lambda limits: lattice_files.blocks(files, request, limits))
    if format in ("", "xml") and os.path.isdir(path) and trees.documents(path):
        request = replace(request, format="xml", guessed_from="content")
        return Part(source, lambda limits: trees.document_blocks(path, request, limits), distinct=True)
    if format == "tu" or (not format and tu.prefixes(members)):
        request = replace(request, format="tu", guessed_from="" if format else "content")
        return Part(source, lambda limits: iter([tu.read(members, request)]))
    named = [bool(format) or is_named(member.name) for member in members]
    if not any(named):
        request = replace(request, format="lines")
        return Part(source, lambda limits: document_blocks(members, request, limits), distinct=True)
    if not all(named):
        other = members[named.index(False)].name
        raise InputError(
            f"{other}: its name tells no format, those of other files do: take it out, or name the format with --format"
        )
    each, folders = replace(request, labelled=_of_each(request)), [member.label for member in members]
    parts = [Part(member.name, partial(_member_blocks, member, each)) for member in members]
    return _joined(parts, request, folders if all(folders) else None)


def _member_blocks(member: Member, request: Request, limits: Limits | None) -> Iterator[Examples]:
    with member.text(request.encoding) as stream:
        yield from _stream_blocks(stream, replace(request, source=member.name), limits)


def _joined(parts: Sequence[Part], request: Request, folders: Sequence[str] | None = None) -> Part:
    source, again = name_of([part.source for part in parts]), all(part.again for part in parts)
    return Part(source, lambda limits: joined_blocks(parts, request, limits, folders), again, distinct=True)


def is_named(name: str) -> bool:
    """Whether the suffix of a name tells the format of a file."""
    known = (*(suffix for family in (*families(), columnar) for own in family.SUFFIXES.values() for suffix in own),)
    return COMPRESSED.sub("", name.lower()).endswith(known)


def _of_each(request: Request) -> bool | None:
    """Whether each of several files must hold labels: only if the user named their field."""
    return request.labelled if request.label is not None else False if request.labelled is False else None
