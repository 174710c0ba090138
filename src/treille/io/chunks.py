"""Read the examples of files a few at a time, so that files of any size take little memory."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from .blocks import FIRST, Limits
from .errors import InputError
from .examples import Examples
from .multi_file import Distinct, InputFile, Size, emptied
from .packed import volume
from .read import Path, ReadingPlan

AT_ONCE = ("tu", "xml", "gml", "graphml")  # formats whose files, or sets of files, are one object


def read_chunks(
    path: Path | Sequence[Path],
    *,
    examples: int = FIRST.examples,
    characters: int = FIRST.characters,
    ids: bool = True,
    **options: Any,
) -> Iterator[Examples]:
    """The examples of files in chunks, with the options of `read`; one or two chunks are in memory at a time.

    Together, the chunks are what `read` returns. Several files, and the files of folders and archives, come one after the
    other; small ones share a chunk. `source` is the file of a chunk, `place(i)` where example i is, `input` the name of all files.

    What depends on a whole file is decided on its first 10,000 examples, or 4 million characters, before any chunk is given:
    fields and, where you do not name them, the meaning of weights, whether FASTA headers are ids or labels, and whether texts are
    trees. An example that does not fit is refused. Ids are as in `read`; to know whether all differ, a file that has ids and
    does not fit into one chunk is read twice. What comes from a pipe is not: there the first examples decide.

    Files that are one object are read at once: GML, GraphML, XML, OpenFst, SLF, and the files of a TU set, whose note says so. So
    are arrays in JSON, and Parquet and Arrow that are compressed, in an archive or from a pipe. Labels from another file are kept
    in memory.

    Parameters
    ----------
    examples : int
        How many examples a chunk has at most.
    characters : int
        About how many characters a chunk has at most. A single example may have more.
    ids : bool
        False: chunks have no ids, and no file is read twice.
    repeated_ids : bool
        True: ids may repeat if more than half of them differ, for those who only print them.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vines.csv"
    >>> _ = path.write_text("text,label\\nred and sweet,grape\\nround and red,apple\\nlong and red,grape\\n")
    >>> [chunk.labels for chunk in read_chunks(path, examples=2)]
    [['grape', 'apple'], ['grape']]
    """
    if examples < 1 or characters < 1:
        raise InputError(f"examples is {examples} and characters {characters}, expected at least 1 of each in a chunk")
    limits = Limits(examples, characters)
    plan = ReadingPlan.of(limits, ids=ids or options.get("labels") is not None, **options)
    file = plan.input_file(path)
    for block in plan.finished(_noted(file, plan, limits)):
        yield from _divided(block if ids else replace(block, ids=None), limits)


def _noted(file: InputFile, plan: ReadingPlan, limits: Limits) -> Iterator[Examples]:
    """The blocks of files, with unique ids or none, and with notes that say whether there is more than one."""
    blocks, error = file.blocks(limits), None
    ahead = [next(blocks)]
    more = not file.again and Size(ahead[0]).is_full(limits)
    if file.again:
        try:
            ahead += [block for block in [next(blocks, None)] if block is not None]
        except InputError as raised:  # after the examples before it
            error = raised
        more = error is not None or len(ahead) > 1
    to_check = more and file.again and plan.request.ids and not file.distinct and ahead[0].ids is not None
    without = to_check and not _distinct(file, limits, plan.request.repeated_ids)
    for n, block in enumerate(chain(emptied(ahead), blocks)):
        note = f"{block.note}; the first chunk of several" if more and n == 0 else block.note
        yield replace(block, note=note, ids=None if without else block.ids)
    if error is not None:
        raise error


def _distinct(file: InputFile, limits: Limits, repeated: bool) -> bool:
    """Returns whether all examples have an id, and no two the same; most of them different, if some may be `repeated`."""
    names = Distinct()
    try:
        for block in file.blocks(limits):
            names.add(block.ids or [""])
    except InputError:  # which is raised again where the examples are used
        pass
    return names.differ(repeated)


def _divided(block: Examples, limits: Limits) -> Iterator[Examples]:
    """The examples of a block in chunks. A first block is larger than these, and so may be what is read at once."""
    n = len(block)
    size = min(limits.examples, max(1, limits.characters * n // max(1, volume(block.X))))
    if n <= size:
        yield block
        return
    if block.format in AT_ONCE:
        block = replace(block, note=f"{block.note}; read at once: such files cannot be read in parts")
    for start in range(0, n, size):
        yield block.take(range(start, min(start + size, n)))
