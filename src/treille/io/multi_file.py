"""Examples of several files: one file per class, one folder per class, or files of one set."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from pathlib import PurePosixPath
from typing import TypeVar

import numpy as np

from .archive import Member
from .blocks import Limits, runs
from .errors import InputError
from .examples import Examples, Request, unique
from .open import COMPRESSED
from .packed import Same, joined, volume

T = TypeVar("T")
DIGEST = 16  # bytes: two names of 10^12 have the same digest with a probability of 10^-15
FIRST_WORDS = ("lines", "fasta", "fastq")  # their labels are first words, not a field that is named


@dataclass(frozen=True)
class InputFile:
    """One of several files, or a folder of them: its name and its examples in blocks."""

    source: str
    blocks: Callable[[Limits | None], Iterator[Examples]]
    again: bool = True  # whether it can be read again
    distinct: bool = False  # whether ids, if there are some, are known to differ


def name_of(sources: Sequence[str]) -> str:
    """The name of several files in messages."""
    return sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1:,} more"


def joined_blocks(
    files: Sequence[InputFile], request: Request, limits: Limits | None, folders: Sequence[str] | None = None
) -> Iterator[Examples]:
    """The examples of several files. Labels are those in a field of each file; if there is none, names of folders or files.

    Small files share a block. If all files together are as small as a first block, they form one block. Otherwise the files up to
    there decide whether each holds a single example, and a pass over all files whether ids are unique.
    """
    joining = _Joining(files, request, folders)
    stream = ((i, n, block) for i, file in enumerate(files) for n, block in enumerate(file.blocks(limits)))
    head, size, error, ended = list[tuple[int, int, Examples]](), Size(), None, False
    try:
        for i, n, block in stream:
            joining.see(i, block)
            head.append((i, n, block))
            size.add(block)
            if limits and size.is_full(limits.of_first()):
                break
        else:
            ended = True
    except InputError as raised:
        if limits is None or not head:
            raise
        error = raised  # after the examples before it
    blocks = [(i, block) for i, _, block in head]
    if limits is None or ended:
        yield joining.whole(blocks)
        return
    if all(file.again for file in files) and all(block.ids for _, block in blocks):
        joining.decide_ids((i, block) for i, file in enumerate(files) for block in file.blocks(limits))
    else:
        joining.decide_ids(blocks)
    del blocks
    yield from _merged(chain(emptied(head), () if error else stream), joining, limits)
    if error is not None:
        raise error


def emptied(items: list[T]) -> Iterator[T]:
    """Yields the items of a list and removes them from it, to free their memory.

    >>> items = ["a", "b"]
    >>> list(emptied(items)), items
    (['a', 'b'], [])
    """
    items.reverse()
    while items:
        yield items.pop()


class Size:
    """The size of blocks together."""

    def __init__(self, *blocks: Examples) -> None:
        self.examples = self.characters = 0
        for block in blocks:
            self.add(block)

    def add(self, block: Examples) -> None:
        """Adds the size of a block."""
        self.examples += len(block)
        self.characters += volume(block.X)

    def is_full(self, limits: Limits) -> bool:
        """Returns whether the size reaches the limits."""
        return limits.reached(self.examples, self.characters)


class Distinct:
    """Names, of which only digests are kept, 16 bytes for each. True if all differ and none is empty.

    >>> names = Distinct()
    >>> names.add(["a", "b"])
    >>> bool(names)
    True
    >>> names.add(["a"])
    >>> bool(names)
    False
    """

    def __init__(self) -> None:
        self._digests, self._empty = bytearray(), False

    def add(self, names: Iterable[str]) -> None:
        """Adds some names."""
        for name in names:
            self._empty |= not name
            self._digests += blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()

    def __bool__(self) -> bool:
        return self.differ(False)

    def differ(self, repeated: bool) -> bool:
        """Whether none is empty and all differ, or, if some may be `repeated`, more than half."""
        digests = np.frombuffer(self._digests, f"V{DIGEST}")
        n, different = len(digests), len(np.unique(digests))
        return not self._empty and (different == n or (repeated and 2 * different > n))


def _merged(stream: Iterable[tuple[int, int, Examples]], joining: "_Joining", limits: Limits) -> Iterator[Examples]:
    """Joins the blocks of small files: a file is small if its first block is its only one and not full."""
    small, size = list[tuple[int, Examples]](), Size()
    for i, n, block in stream:
        joining.see(i, block)
        is_small = n == 0 and not Size(block).is_full(limits)
        if is_small:
            small.append((i, block))
            size.add(block)
        if small and (not is_small or size.is_full(limits)):
            yield joining.join(small)
            small, size = [], Size()
        if not is_small:
            yield joining.join([(i, block)])
    if small:
        yield joining.join(small)


class _Joining:
    """Labels and names the examples of several files."""

    def __init__(self, files: Sequence[InputFile], request: Request, folders: Sequence[str] | None):
        self.request, self.sources, self.folders = request, [file.source for file in files], folders
        self.source = name_of(self.sources)
        self.has, self.lacks = "", ""  # the first file with a field for the label, and the first without
        self.same, self.single = Same(), True  # all files seen so far hold one example
        self.names: Sequence[str] | None = None  # of the classes, one for each file
        self.how, self.by_parent = "", False
        self.prefixed: bool | None = None  # whether ids begin with the name of the file; None: there are none

    def see(self, i: int, block: Examples) -> None:
        """Registers a block of file i; refuses it if it does not fit the others."""
        own = block.labels is not None and (block.format not in FIRST_WORDS or self.request.label is not None)
        source = self.sources[i]
        self.has, self.lacks = self.has or source * own, self.lacks or source * (not own)
        if self.has and self.lacks:
            raise InputError(f"{self.has} has a field for the label, and {self.lacks} has none: label all or none")
        self.same.check(block.X, source)
        self.single &= len(block) == 1

    def decide_ids(self, blocks: Iterable[tuple[int, Examples]]) -> None:
        """Decides by these blocks how examples are named."""
        if not self.request.ids:
            return
        plain, prefixed = Distinct(), Distinct()
        with suppress(InputError):  # which is raised again where the examples are used
            for i, block in blocks:
                if not block.ids:
                    return
                plain.add(block.ids)
                prefixed.add(f"{self.sources[i]}:{id}" for id in block.ids)
        repeated = self.request.repeated_ids and plain.differ(True)
        self.prefixed = False if plain else True if prefixed else False if repeated else None

    def whole(self, blocks: Sequence[tuple[int, Examples]]) -> Examples:
        """The examples of all files."""
        ids = None
        if all(block.ids for _, block in blocks):
            ids = unique(id for _, block in blocks for id in block.ids or ())
            ids = ids or unique(f"{self.sources[i]}:{id}" for i, block in blocks for id in block.ids or ())
        return replace(self.join(blocks), ids=ids, source=self.source)

    def join(self, blocks: Sequence[tuple[int, Examples]]) -> Examples:
        """The examples of some blocks."""
        parts = [block for _, block in blocks]
        labels, how = self._labels(blocks)
        ids = None
        if self.prefixed is not None:
            ids = [f"{self.sources[i]}:{id}" if self.prefixed else id for i, part in blocks for id in part.ids or ()]
        X = joined([part.X for part in parts])
        source, first = name_of([part.source for part in parts]), parts[0]
        title = f"{len(X):,} examples in {len(parts):,} file{'s' * (len(parts) > 1)}"
        said = first.note.removeprefix(f"{first.source}: ").split(", ")[1:]
        kept = ", ".join(words for words in said if "label" not in words)
        note = ", ".join([f"{source}: {title}", *([f"each as: {kept}"] if kept else []), how])
        lines = [line for part in parts for line in part.lines] if all(part.lines for part in parts) else ()
        sources = [part.source for part in parts for _ in range(len(part))] if len(parts) > 1 else first.sources
        format = "/".join(sorted({part.format for part in parts}))
        return Examples(X, labels, format, source, note, lines, first.fields, ids, sources, self.source)

    def _labels(self, blocks: Sequence[tuple[int, Examples]]) -> tuple[list[str] | None, str]:
        """The labels of the examples of some blocks, and where they come from."""
        if self.request.labelled is False:
            return None, "no labels"
        if self.has:
            note = blocks[0][1].note
            how = f"label = {note.rpartition('label = ')[2]}" if "label = " in note else "labels as in the files"
            return [label for _, part in blocks for label in part.labels or ()], how
        if self.names is None:
            self.names = self.folders
            folders = {os.path.dirname(source) for source in self.sources}
            if self.names is None and self.single and len(folders) > 1:
                self.names = [PurePosixPath(source).parent.name for source in self.sources]
                self.by_parent = True
            self.how = f"label = name of the {'file' if self.names is None else 'folder'}"
            self.names = class_names(self.sources) if self.names is None else self.names
        elif self.by_parent and not self.single:
            i = blocks[-1][0]
            raise InputError(
                f"{self.sources[i]}: holds several examples, the files before it one each, so that the names of their folders "
                "were taken for labels: give files of one example each, or put labels into a field of each file"
            )
        return [self.names[i] for i, part in blocks for _ in range(len(part))], self.how


def class_names(paths: Sequence[str]) -> list[str]:
    """The part of each file name that distinguishes it: without suffixes, and words that all names begin or end with.

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
    """Removes words with which all names begin or end; names are unchanged if nothing would be left of one."""
    first, last, shortest = 0, 0, min(map(len, names))
    while first < shortest and len({name[first] for name in names}) == 1:
        first += 1
    while last < shortest - first and len({name[-1 - last] for name in names}) == 1:
        last += 1
    rest = [name[first : len(name) - last] for name in names]
    return rest if all(rest) else list(names)


def document_blocks(members: Sequence[Member], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """Files that are one text each; the folders that they are in are the labels."""
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
    has_ids = unique(os.path.relpath(member.name, shared or ".") for member in members) is not None
    how = "label = name of the folder" if labelled else "no labels"
    texts = ((member, _text(member, request.encoding)) for member in members)
    for run in runs(texts, limits, lambda pair: len(pair[1])):
        own, X = map(list, zip(*run, strict=True))
        ids = [os.path.relpath(member.name, shared or ".") for member in own] if has_ids else None
        note = f"{request.source}: {len(X):,} examples, one text per file, {how}"
        labels = [member.label for member in own] if labelled else None
        yield Examples(X, labels, "documents", request.source, note, ids=ids)


def _text(member: Member, encoding: str) -> str:
    with member.text(encoding) as stream:
        return stream.read()
