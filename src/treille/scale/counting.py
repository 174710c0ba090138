"""The features of parts: each part counts its own, maps are merged, and rows are written with the merged ids.

Ids rarely change while maps are merged, so the rows of a part are final when its features have been merged: one pass over the data.
Values that depend on all examples, such as inverse document frequencies, are computed afterwards, by `compose`.
"""

import contextlib
import glob
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from treille.data import Batch
from treille.data.base import first_item, kind_of, readable_size, resident_bytes
from treille.features import FeatureMap, MergingMap, PartedRows
from treille.features.abilities import having
from treille.features.parted_rows import DiskRows
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext, compose, leaf_kernels
from treille.scale.disk_rows import FileRows, rows_of_leaf, settled, write_rows
from treille.scale.folder import Folder, opened_folder, read_arrays, write_arrays
from treille.scale.parts import Collected, Part, Parts, checked_weights
from treille.spaces.footprint import PER_FEATURE, measured
from treille.spaces.parts import PROCESS, SHARES, PartsSpace, memory_needed
from treille.spaces.source import Source
from treille.spaces.space import no_features

Found = Callable[[Any, int], Any]  # validates the labels of a number of examples
Facts = dict[str, list[int]]  # size and time of each file
COMPRESSED = 4  # times that texts are longer than compressed files, about


@dataclass
class CountedParts(Source):
    """Examples in parts on disk with counted features: the features of the leaf kernels in all parts, and their rows in files."""

    parts: Parts
    folder: Folder
    kernel: Kernel
    kernel_why: str
    first: Batch  # the first example
    labels: Collected
    leaves: list[FeatureMap] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return int(sum(self.lengths))

    @property
    def n_features(self) -> int:
        """The number of features of all leaves together."""
        return sum(leaf.n_features for leaf in self.leaves)

    def spaces(self, wanted: Sequence[Any] | None, context: FitContext, n_jobs: int | None) -> Sequence[Any]:
        return (PartsSpace,)

    def build_space(self, space: Any, context: FitContext, n_jobs: int | None) -> PartsSpace:
        features, rows = self.fit_features(context, n_jobs)
        least = self.parts.min_count
        if rows.n_features == 0:
            raise no_features(self.kernel, 0, least)
        return PartsSpace(features, rows, self.parts.memory, self.folder, n_jobs, least)

    def progress(self, n_problems: int, space: Any) -> tuple[int, str]:
        return max(1, space.rows.n_problems), "pass"  # all problems at once, unless the rows differ

    def file(self, part: int, place: int) -> Path:
        """The file with the rows of a part for a leaf."""
        return self.folder.path / f"rows-{part:06}-{place}.bin"

    def fit_features(self, context: FitContext, n_jobs: int | None) -> tuple[FeatureMap, PartedRows[DiskRows]]:
        """The features and rows of the kernel, composed from its leaves."""
        lengths = np.array(self.lengths, np.int64)
        each = []
        for place, leaf in enumerate(self.leaves):
            files = [self.file(part, place) for part in range(len(lengths))]
            store = FileRows(files, lengths, leaf.n_features)
            if self.parts.min_count > 1:
                leaf, store = self._frequent(place, leaf, store, effective_n_jobs(n_jobs))
            each.append((leaf, PartedRows(store, leaf.n_features)))
        features, composed = compose(self.kernel, iter(each), context, n_jobs)
        rows = having(composed, PartedRows)
        return features, PartedRows(settled(rows.store, self.folder.path), rows.n_features, rows.n_problems)

    def _frequent(self, place: int, features: FeatureMap, store: FileRows, threads: int) -> tuple[FeatureMap, FileRows]:
        """The features that occur in at least `min_count` examples. The files are written anew: they are read many times."""
        rows, found = PartedRows(store, features.n_features), self.folder.load(f"kept-{place}")
        if found is None:
            often = rows.frequencies(np.ones((len(rows), 1)), threads)[:, 0] >= self.parts.min_count
            kept = features.ids_for_norms(np.flatnonzero(often))
            self.folder.save(f"kept-{place}", {}, {"kept": kept})
        else:
            kept = found[1]["kept"]
        ids = np.full(features.n_features, -1, np.int64)
        ids[kept] = np.arange(len(kept))
        files = [path.with_suffix(".kept") for path in store.files]
        for part, (path, new) in enumerate(zip(store.files, files, strict=True)):
            if not new.exists():  # otherwise by an earlier run
                write_rows(new, store.load(part).renumbered(ids, len(kept), threads))
            path.unlink(missing_ok=True)
        return features.restrict(kept), FileRows(files, store.lengths, len(kept))


def count_parts(
    parts: Parts,
    folder: Folder,
    choose: Callable[[Any], tuple[Kernel, str]],
    labels: Collected,
    found: Found | None,
    show: Callable[[str], None],
    n_jobs: int | None,
) -> CountedParts:
    """Reads every part once. ``choose(X)`` returns the kernel for the examples of the first part, and the reason for it.

    ``found(y, n)`` validates labels. With a checkpoint, parts that were counted before are skipped.
    """
    if resident_bytes() > parts.memory:
        held, limit = readable_size(resident_bytes()), readable_size(parts.memory)
        raise InputError(
            f"this process holds {held} already, more than memory={limit}: allow more memory (--memory on the command line)"
        )
    facts, counted, seen = file_facts(parts.sources), None, 0
    show("counting features: the first part")
    for part in parts.open():
        if counted is None:
            kernel, why = choose(part.X)
            kernel.check_parts()
            kind = kind_of(part.X)
        elif kind_of(part.X) is not kind:
            raise _different(part, f"holds {kind_of(part.X).title}, parts before it {kind.title}")
        with part.named():
            batch = kernel.batch(part.X, n_jobs)
        if counted is None:
            if parts.min_count > 1:
                why += f", with only the features that occur in at least {parts.min_count:,} examples"
            counted = CountedParts(parts, folder, kernel, why, batch[[0]], labels)  # a copy
            if folder.kept:
                folder.run = identity(parts, kernel, facts, labels, batch)
                if _resume(counted):
                    return counted
            units, division = batch.units, Division(counted, part, batch, n_jobs)
        if batch.units != units:
            own, before = (" and ".join(map(repr, each)) for each in (batch.units, units))
            raise _different(part, f"has the unit {own}, parts before it {before}")
        start, seen = seen, seen + len(batch)
        if seen <= len(counted):
            show(f"reading on after {len(counted):,} examples that were counted before")
        first = max(0, len(counted) - start)
        while first < len(batch):
            end = first + division.size(part, batch, first)
            with part.named():
                piece, own = (
                    (part, batch)
                    if end - first == len(batch)
                    else (some(part, first, end, len(batch), found), batch[first:end])
                )
                division.counted(own, _count(counted, piece, own, found, n_jobs))
            _check_memory(counted, part)
            if len(counted.lengths) == 1:
                _check_disk(counted, facts, part.n_characters * len(own) // len(batch))
            show(f"counting features: {len(counted):,} examples, {counted.n_features:,} features")
            if folder.due():
                show(f"saving the state of {len(counted):,} examples")
                _save(counted, done=False)
            first = end
        del batch
    if counted is None:
        raise InputError("there are no examples: fit needs at least one")
    now = file_facts(parts.sources)
    changed = [file for file in sorted(facts.keys() | now.keys()) if facts.get(file) != now.get(file)]
    if changed:
        folder.clear()  # the counts belong to a file that has changed
        raise InputError(f"{changed[0]}: changed while it was read: train again when it is complete")
    _renumber_moved(counted, effective_n_jobs(n_jobs))
    show(f"saving the features of {len(counted):,} examples")
    _save(counted, done=True)
    return counted


def _different(part: Part, found: str) -> InputError:
    first = str(first_item(part.X))[:60]
    return InputError(f"{part.place}: {found}: its first item is {first!r}. Pass all parts as the same kind of data")


def _renumber_moved(counted: CountedParts, threads: int) -> None:
    """Renumbers the rows of parts whose features were renumbered by later merges, as for some kernels."""
    for place, leaf in enumerate(counted.leaves):
        later: np.ndarray | None = None  # from the ids after a part was merged to the last ones
        for part in reversed(range(len(counted.lengths))):
            path = counted.file(part, place)
            if later is not None:
                spec, _ = read_arrays(path)
                if not spec.get("moved"):  # otherwise by an earlier run
                    rows = FileRows([path], np.array(counted.lengths[part : part + 1]), len(later)).load(0)
                    write_rows(path, rows.renumbered(later, leaf.n_features, threads), moved=True)
            moved = path.with_suffix(".moved")
            if moved.exists():
                own = read_arrays(moved)[1]["ids"]
                later = own if later is None else later[own]


class Division:
    """Divides parts so that counting the features of one, its rows and copies of both take no more memory than is allowed.

    A sample of the first part is measured; afterwards, the features that were counted tell how much the next ones take.
    """

    def __init__(self, counted: CountedParts, part: Part, batch: Batch, n_jobs: int | None):
        self.memory = counted.parts.memory
        self.allowed = max(0, self.memory - max(PROCESS, resident_bytes())) // SHARES
        self.largest = 0  # batch whose features were counted, in bytes
        with part.named():
            self.rate = measured(counted.kernel, batch, self.allowed, n_jobs).rate

    def size(self, part: Part, batch: Batch, first: int) -> int:
        """The number of examples from `first` on to count at once."""
        n = len(batch) - first
        while n > 1 and self.needed(batch, first, n) > self.allowed:
            n = (n + 1) // 2
        if n == 1 and (needed := int(self.needed(batch, first, 1))) > SHARES * self.allowed:
            raise InputError(
                f"{part.place}: the features of one example take about {readable_size(needed)} to count, more than "
                f"memory={readable_size(self.memory)}: allow more (--memory on the command line), divide the example, or use a "
                "kernel with fewer features"
            )
        return n

    def needed(self, batch: Batch, first: int, n: int) -> float:
        """About how many bytes the features of n examples take."""
        return self.rate * batch[first : first + n].nbytes

    def counted(self, batch: Batch, n_bytes: int) -> None:
        """Notes how many bytes the features of examples took; a small batch has more features per example."""
        if batch.nbytes >= self.largest or n_bytes > self.allowed:
            self.rate, self.largest = n_bytes / max(1, batch.nbytes), batch.nbytes


def some(part: Part, first: int, end: int, n: int, found: Found | None) -> Part:
    """Labels and weights of some of the n examples of a part, which were all valid."""
    y, weights = part.y, part.sample_weight
    if y is not None and found is not None:
        found(y, n)
        y = (y if isinstance(y, (list, tuple)) else np.asarray(y))[first:end]
    if weights is not None:
        weights = checked_weights(weights, n)[first:end]
    return replace(part, X=(), y=y, sample_weight=weights)


def _count(counted: CountedParts, part: Part, batch: Batch, found: Found | None, n_jobs: int | None) -> int:
    """Adds the features of a part, and writes its rows. Returns the bytes of both."""
    counted.labels.add(part, len(batch), found)
    number, n_bytes = len(counted.lengths), 0
    for place, (leaf, own) in enumerate(leaf_kernels(counted.kernel, batch)):
        features, found_rows = leaf.fit_features(own, n_jobs)
        rows = rows_of_leaf(found_rows)
        n_bytes += rows.nbytes + PER_FEATURE * features.n_features
        if place == len(counted.leaves):
            counted.leaves.append(features)
        else:
            merged, moved, ids = having(counted.leaves[place], MergingMap).absorb(features)
            if not np.array_equal(moved, np.arange(len(moved))):
                write_arrays(counted.file(number, place).with_suffix(".moved"), {"ids": moved})
            rows = rows.renumbered(ids, merged.n_features, effective_n_jobs(n_jobs))
            counted.leaves[place] = merged
        write_rows(counted.file(number, place), rows)
    counted.lengths.append(len(batch))
    return n_bytes


def _check_memory(counted: CountedParts, part: Part) -> None:
    """Raises an `InputError` if the features so far, their weights, and a few parts of rows do not fit in memory."""
    n_functions, limit = counted.labels.n_functions, counted.parts.memory
    rows = sum(counted.file(len(counted.lengths) - 1, place).stat().st_size for place in range(len(counted.leaves)))
    trained = 0 if counted.parts.min_count > 1 else counted.n_features  # with min_count, their number is not known yet
    needed = memory_needed(len(counted), counted.n_features, trained, n_functions, resident_bytes()) + SHARES * rows
    if needed > limit:
        fewer = "" if counted.parts.min_count > 1 else ", or keep frequent features only, min_count=5"
        raise InputError(
            f"{part.place}: the {counted.n_features:,} features of {len(counted):,} examples so far need {readable_size(needed)} "
            f"of memory with their weights for {n_functions} {'functions' if n_functions > 1 else 'function'}, more than "
            f"memory={readable_size(limit)}: allow more memory (--memory on the command line), or use a kernel with fewer "
            f"features{fewer}"
        )


def _check_disk(counted: CountedParts, facts: Facts, characters: int) -> None:
    """Refuses to begin if the rows of all parts, estimated from the first, would not fit on the disk."""
    if characters == 0:
        return
    own = sum(counted.file(0, place).stat().st_size for place in range(len(counted.leaves)))
    needed, free = own * text_bytes(facts) // characters, counted.folder.free_bytes()
    if needed > free + own:
        raise InputError(
            f"{counted.folder.path}: the rows will take about {readable_size(needed)}, but {readable_size(free)} are free: name a "
            "folder on a larger disk (scratch, or checkpoint)"
        )


@contextmanager
def checkpointed(parts: Parts | None, kernel: Kernel) -> Iterator[Folder | None]:
    """The folder of a checkpoint, identified by data and kernel; None without one."""
    if parts is None or parts.checkpoint is None:
        yield None
        return
    with opened_folder(None, parts.checkpoint) as folder:
        folder.run = identity(parts, kernel, file_facts(parts.sources))
        yield folder


def _save(counted: CountedParts, done: bool) -> None:
    leaves, arrays = stored.joined("leaves", [leaf.state() for leaf in counted.leaves])
    spec, labels = counted.labels.state()
    spec = leaves | {"lengths": counted.lengths, "labels": spec, "done": done}
    counted.folder.save("counting", spec, arrays | stored.under("labels", labels))


def _resume(counted: CountedParts) -> bool:
    """Continues from a checkpoint, if there is one, else begins one; returns whether nothing is left to count."""
    found = counted.folder.load("counting")
    if found is None:
        counted.folder.clear()
        _save(counted, done=False)  # from now on, the folder says what it belongs to
        return False
    spec, arrays = found
    counted.lengths = stored.value(spec, "lengths", list)
    counted.labels.restore(spec["labels"], stored.part(arrays, "labels"))
    leaves = leaf_kernels(counted.kernel, counted.first)
    for place, ((leaf, _), own) in enumerate(zip(leaves, spec["leaves"], strict=False)):  # none before the first part
        counted.leaves.append(leaf.load_features(own, stored.part(arrays, str(place))))
    return stored.value(spec, "done", bool)


def file_facts(sources: tuple[str, ...]) -> Facts:
    """Size and time of each file, to notice that one changes; folders and globs name several."""
    facts = {}
    for source in sources:
        if os.path.isdir(source):
            files = sorted(map(os.fspath, filter(Path.is_file, Path(source).rglob("*"))))
        else:
            files = [source] if os.path.exists(source) else sorted(glob.glob(source, recursive=True))
        for file in files:
            with contextlib.suppress(OSError):
                status = os.stat(file)
                facts[file] = [status.st_size, status.st_mtime_ns]
    return facts


def text_bytes(facts: Facts) -> int:
    """About how many characters files have."""
    return sum(size * (COMPRESSED if file.endswith((".gz", ".bz2", ".xz")) else 1) for file, (size, _) in facts.items())


def identity(
    parts: Parts, kernel: Kernel, facts: Facts, labels: Collected | None = None, first: Batch | None = None
) -> dict[str, Any]:
    """The identity of the run that a checkpoint belongs to, as JSON values; with labels and first part if they are known."""
    found = {
        "treille": version("treille"),
        "kernel": repr(kernel),
        "kernel's parameters digest": _kernel_digest(kernel),
        "memory": parts.memory,
        "min_count": parts.min_count,
        "reading": {name: str(value) for name, value in parts.options.items() if value is not None},
        "files": facts,
    }
    if labels is not None:
        found["labels"] = {None: "not used", True: "classes", False: "numbers"}[labels.of_classes]
    if first is not None:
        found["first part digest"] = _batch_digest(first)
    return found


def _kernel_digest(kernel: Kernel) -> str:
    """A digest of all parameters, also of long ones, which the repr cuts short."""
    try:
        return hashlib.sha256(json.dumps(kernel.spec(), sort_keys=True).encode()).hexdigest()
    except InputError:  # a function among the parameters
        return ""


def _batch_digest(batch: Batch) -> str:
    digest, (spec, arrays) = hashlib.sha256(), batch.state()
    digest.update(json.dumps(spec, sort_keys=True, default=str).encode())
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
