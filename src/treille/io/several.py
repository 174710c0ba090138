"""Examples of several files: one file per class, one folder per class, or parts of one set."""

import os
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from .archive import Member
from .errors import InputError
from .examples import Examples, Request, unique
from .open import COMPRESSED, text_of
from .parts import concatenated

FIRST_WORDS = ("lines", "fasta", "fastq")  # their labels are first words, not a field that is named


def joined(parts: Sequence[Examples], request: Request, folders: Sequence[str] | None = None) -> Examples:
    """The examples of several files. Labels are those in a field of each file; if there is none, names of folders or files."""
    sources = [part.source for part in parts]
    own = [part.labels is not None and (part.format not in FIRST_WORDS or request.label is not None) for part in parts]
    if any(own) and not all(own):
        has, lacks = sources[own.index(True)], sources[own.index(False)]
        raise InputError(f"{has} has a field for the label, and {lacks} has none: label all files, or none")
    labels, how = None, "no labels"
    if request.labelled is not False and all(own):
        labels, how = (
            [label for part in parts for label in part.labels or ()],
            "label = " + parts[0].note.rpartition("label = ")[2],
        )
        how = how if "label = " in parts[0].note else "labels as in the files"
    elif request.labelled is not False:
        names = folders
        if names is None and all(len(part) == 1 for part in parts) and len({os.path.dirname(s) for s in sources}) > 1:
            names = [PurePosixPath(source).parent.name for source in sources]
        how = f"label = name of the {'file' if names is None else 'folder'}"
        names = class_names(sources) if names is None else names
        labels = [name for name, part in zip(names, parts, strict=True) for _ in range(len(part))]
    X = concatenated([part.X for part in parts], sources)
    title = f"{len(X):,} examples in {len(parts):,} files"
    source = sources[0] if len(parts) == 1 else f"{sources[0]} and {len(parts) - 1:,} more"
    note = f"{source}: {title}, each as: {_without_label(parts[0])}, {how}"
    formats = {part.format for part in parts}
    fields, lines = parts[0].fields, parts[0].lines if len(parts) == 1 else ()
    return Examples(X, labels, "/".join(sorted(formats)), source, note, lines, fields, _ids(parts))


def _without_label(part: Examples) -> str:
    """What the note of a file says of its format."""
    return ", ".join(said for said in part.note.removeprefix(f"{part.source}: ").split(", ")[1:] if "label" not in said)


def _ids(parts: Sequence[Examples]) -> list[str] | None:
    """The ids of all, with the name of the file where two files have the same."""
    if not all(part.ids for part in parts):
        return None
    ids = unique(id for part in parts for id in part.ids or ())
    return ids or unique(f"{part.source}:{id}" for part in parts for id in part.ids or ())


def class_names(paths: Sequence[str]) -> list[str]:
    """What distinguishes the names of files: neither suffixes nor words that all of them begin or end with.

    >>> class_names(["data/pos.train.fa.gz", "data/neg.train.fa.gz"]), class_names(["a/pos/x.csv", "a/neg/x.csv"])
    (['pos', 'neg'], ['pos', 'neg'])
    >>> class_names(["vine.txt", "vine-red.txt"])
    ['vine', 'vine-red']
    """
    stems = [COMPRESSED.sub("", os.path.basename(path)) for path in paths]
    stems = [os.path.splitext(stem)[0] for stem in stems]
    if len(set(stems)) < len(stems):
        stems = ["/".join(folders) for folders in _distinct([PurePosixPath(path).parts for path in paths])]
        if len(set(stems)) < len(stems):
            raise InputError(f"{paths[0]}: is given twice, expected one file per class")
        return stems
    return ["".join(words) for words in _distinct([re.split(r"(?<=[._-])|(?=[._-])", stem) for stem in stems])]


def _distinct(names: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Names without the words that all begin with, and that all end with; as they are if nothing would be left of one."""
    first, last, shortest = 0, 0, min(map(len, names))
    while first < shortest and len({name[first] for name in names}) == 1:
        first += 1
    while last < shortest - first and len({name[-1 - last] for name in names}) == 1:
        last += 1
    rest = [name[first : len(name) - last] for name in names]
    return rest if all(rest) else list(names)


def read_documents(members: Sequence[Member], request: Request) -> Examples:
    """Files that are one text each; the folders that they are in are the labels."""
    texts = []
    for member in members:
        with text_of(member.data, member.name, request.encoding) as stream:
            texts.append(stream.read())
    folders = [member.label for member in members]
    if any(folders) and not all(folders):
        first = members[folders.index("")].name
        raise InputError(f"{first}: is next to folders, expected every file in a folder with its label as name")
    labelled = all(folders) and request.labelled is not False
    if request.labelled and not labelled:
        raise InputError(
            f"{request.source}: its files are one text each and have no labels: put them into folders named by their classes,"
            " or give --labels FILE with the name of a file and its label on each line"
        )
    shared = os.path.commonpath([os.path.dirname(member.name) for member in members])
    ids = unique(os.path.relpath(member.name, shared or ".") for member in members)
    how = "label = name of the folder" if labelled else "no labels"
    note = f"{request.source}: {len(texts):,} examples, one text per file, {how}"
    return Examples(texts, folders if labelled else None, "documents", request.source, note, ids=ids)
