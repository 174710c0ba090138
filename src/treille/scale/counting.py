"""The features of parts: each part counts its own, maps are merged, and rows are written with the merged ids.

Ids rarely change while maps are merged, so the rows of a part are final when its features have been merged: one pass over the data.
What the kernel makes of all examples together, such as inverse document frequencies, comes afterwards, see `Kernel.compose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from treille.data import Batch
from treille.data.base import first_item, kind_of, readable_size, resident_bytes
from treille.features import FeatureMap, PartedRows
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels import Kernel
from treille.scale.disk_rows import FileRows, settled, write_rows
from treille.scale.flat_files import free_bytes, read_arrays, write_arrays
from treille.scale.folder import Folder, file_facts, opened_folder
from treille.scale.labels import Collected
from treille.scale.parts import Part, Parts

COMPRESSED = 4  # times that texts are longer than compressed files, about


@dataclass
class Counted:
    """The features of the leaves of a kernel in all parts, and their rows in files. To estimators it is a batch without examples."""

    parts: Parts
    folder: Folder
    kernel: Kernel
    first: Batch  # the first part, of one example, for what depends on the kind of data
    leaves: list[FeatureMap]
    lengths: list[int]
    labels: Collected

    def __len__(self) -> int:
        return int(sum(self.lengths))

    @property
    def residues(self) -> Any:
        """The alphabet of biological sequences, if they are such."""
        return getattr(self.first, "residues", None)

    def fitted(self, kernel: Kernel, n_jobs: int | None) -> tuple[FeatureMap, PartedRows]:
        """The features and rows of the kernel, or of one that differs only in what it makes of its leaves."""
        lengths = np.array(self.lengths, np.int64)
        stores = [
            FileRows([_file(self.folder, part, place) for part in range(len(lengths))], lengths, leaf.n_features)
            for place, leaf in enumerate(self.leaves)
        ]
        each = [(leaf, PartedRows(store, leaf.n_features)) for leaf, store in zip(self.leaves, stores, strict=True)]
        if self.parts.min_count > 1:
            each = [
                _restricted(self.folder, place, *own, self.parts.min_count, n_jobs) for place, own in enumerate(each)
            ]
        features, rows = kernel.compose(iter(each), n_jobs)
        assert isinstance(rows, PartedRows)
        return features, PartedRows(settled(rows.store, self.folder.path), rows.n_features, rows.n_problems)


def _file(folder: Folder, part: int, place: int) -> Any:
    return folder.path / f"rows-{part:06}-{place}.bin"


def _restricted(
    folder: Folder, place: int, features: FeatureMap, rows: PartedRows, least: int, n_jobs: int | None
) -> tuple[FeatureMap, PartedRows]:
    """The features that occur in at least `least` examples. The files are written anew: they are read many times."""
    threads, store, found = effective_n_jobs(n_jobs), rows.store, folder.load(f"kept-{place}")
    assert isinstance(store, FileRows)
    if found is None:
        kept = np.flatnonzero(rows.frequencies(np.ones((len(rows), 1)), threads)[:, 0] >= least)
        folder.save(f"kept-{place}", {}, {"kept": kept})
    else:
        kept = found[1]["kept"]
    ids = np.full(features.n_features, -1, np.int64)
    ids[kept] = np.arange(len(kept))
    files = [path.with_suffix(".kept") for path in store.files]
    for part, (path, new) in enumerate(zip(store.files, files, strict=True)):
        if not new.exists():  # otherwise by an earlier run
            write_rows(new, store.load(part).renumbered(ids, len(kept), threads))
        path.unlink(missing_ok=True)
    return features.restrict(kept), PartedRows(FileRows(files, store.lengths, len(kept)), len(kept))


def count_parts(
    parts: Parts,
    folder: Folder,
    choose: Callable[[Any], tuple[Kernel, str]],
    labels: Collected,
    found: Callable[[Any, int], Any],
    show: Callable[[str], None],
    n_jobs: int | None,
) -> tuple[Counted, str]:
    """Reads every part once. ``choose(X)`` returns the kernel for the examples of the first part, and the reason for it.

    ``found(y, n)`` validates labels. With a checkpoint, parts that were counted before are skipped.
    """
    facts, counted, why, kind, characters = file_facts(parts.sources), None, "", None, 0
    for number, part in enumerate(parts.open()):
        if counted is None:
            kernel, why = choose(part.X)
            kind = kind_of(part.X)
            _refuse_others(kernel)
            counted = Counted(parts, folder, kernel, kernel.batch(part.X, n_jobs)[:1], [], [], labels)
            _identify(folder, parts, kernel, facts)
            if _resume(counted):
                return counted, why
        if number < len(counted.lengths):
            continue
        if kind_of(part.X) is not kind:
            raise InputError(
                f"{part.place}: holds {kind_of(part.X).title}, parts before it {kind.title}: its first item is "
                f"{str(first_item(part.X))[:60]!r}"
            )
        try:
            _count(counted, part, found, n_jobs)
        except InputError as error:
            raise error if str(error).startswith(part.place) else InputError(f"{part.place}: {error}") from None
        characters += sum(map(len, part.X)) if isinstance(part.X, list) and isinstance(part.X[0], str) else 0
        _check_memory(counted, part)
        if number == 0 and characters:
            _check_disk(counted, facts, characters)
        n_features = sum(leaf.n_features for leaf in counted.leaves)
        show(f"counting features: {len(counted):,} examples, {n_features:,} features")
        if folder.due():
            _save(counted, done=False)
    if counted is None or len(counted) == 0:
        raise InputError("there are no examples: fit needs at least one")
    if file_facts(parts.sources) != facts:
        changed = next(new for old, new in zip(facts, file_facts(parts.sources), strict=False) if old != new)
        raise InputError(f"{changed[0]}: changed while it was read: train again when it is complete")
    _renumber_moved(counted, effective_n_jobs(n_jobs))
    _save(counted, done=True)
    return counted, why


def _renumber_moved(counted: Counted, threads: int) -> None:
    """Renumbers the rows of parts whose features were moved by later merges, which those of some kernels are."""
    for place, leaf in enumerate(counted.leaves):
        later: np.ndarray | None = None  # from the ids after a part was merged to the last ones
        for part in reversed(range(len(counted.lengths))):
            path = _file(counted.folder, part, place)
            if later is not None:
                spec, _ = read_arrays(path)
                if not spec.get("moved"):
                    rows = FileRows([path], np.array(counted.lengths[part : part + 1]), len(later)).load(0)
                    write_rows(path, rows.renumbered(later, leaf.n_features, threads), moved=True)
            moved = path.with_suffix(".moved")
            if moved.exists():
                own = read_arrays(moved)[1]["ids"]
                later = own if later is None else later[own]


def _refuse_others(kernel: Kernel) -> None:
    if not kernel.has_features:
        raise InputError(
            f"{kernel!r} has no explicit features, so it cannot be trained on data in parts: use NGram, for example"
        )


def _count(counted: Counted, part: Part, found: Any, n_jobs: int | None) -> None:
    """Adds the features of a part, and writes its rows."""
    batch = counted.kernel.batch(part.X, n_jobs)
    counted.labels.add(part, len(batch), found)
    number = len(counted.lengths)
    for place, (leaf, own) in enumerate(counted.kernel.leaves(batch)):
        if leaf.needs_features:
            raise InputError(f"{leaf!r} depends on all examples at once: leave it out for data in parts")
        features, rows = leaf.fit_features(own, n_jobs)
        if place == len(counted.leaves):
            counted.leaves.append(features)
        else:
            merged, moved, ids = counted.leaves[place].absorb(features)
            if not np.array_equal(moved, np.arange(len(moved))):
                write_arrays(_file(counted.folder, number, place).with_suffix(".moved"), {"ids": moved})
            rows = rows.renumbered(ids, merged.n_features, effective_n_jobs(n_jobs))
            counted.leaves[place] = merged
        write_rows(_file(counted.folder, number, place), rows)
    counted.lengths.append(len(batch))


def _check_memory(counted: Counted, part: Part) -> None:
    """Refuses to go on where the weights of the features so far would not fit, beside the features themselves."""
    n_features, limit = sum(leaf.n_features for leaf in counted.leaves), counted.parts.memory
    weights = 2 * 8 * n_features * counted.labels.n_functions
    needed = resident_bytes() + weights
    if needed > limit:
        raise InputError(
            f"{part.place}: the {n_features:,} features of {len(counted):,} examples take {readable_size(needed)} with their "
            f"weights for {counted.labels.n_functions} functions, more than memory={readable_size(limit)}: allow more memory, use a "
            "kernel with fewer features, or keep features that occur in several examples only, min_count=5"
        )


def _check_disk(counted: Counted, facts: list[list[Any]], characters: int) -> None:
    """Refuses to begin where the rows of all parts will not fit, as far as the first part tells."""
    total = sum(size * (COMPRESSED if name.endswith((".gz", ".bz2", ".xz")) else 1) for name, size, _ in facts)
    own = sum(_file(counted.folder, 0, place).stat().st_size for place in range(len(counted.leaves)))
    needed, free = own * total // characters, free_bytes(counted.folder.path)
    if needed > free + own:
        raise InputError(
            f"{counted.folder.path}: the rows will take about {readable_size(needed)}, but {readable_size(free)} are free: name a "
            "folder on a larger disk (scratch, or checkpoint)"
        )


def _identify(folder: Folder, parts: Parts, kernel: Kernel, facts: list[list[Any]]) -> None:
    folder.run = {
        "treille": version("treille"),
        "kernel": repr(kernel),
        "files": facts,
        "options": {name: str(value) for name, value in parts.options.items()},
        "memory": parts.memory,
        "min_count": parts.min_count,
    }


@contextmanager
def checkpointed(parts: Parts | None, kernel: Kernel) -> Iterator[Folder | None]:
    """The folder of a checkpoint, identified by data and kernel; None without one."""
    if parts is None or parts.checkpoint is None:
        yield None
        return
    with opened_folder(None, parts.checkpoint) as folder:
        _identify(folder, parts, kernel, file_facts(parts.sources))
        yield folder


def _save(counted: Counted, done: bool) -> None:
    states, (spec, arrays) = [leaf.state() for leaf in counted.leaves], counted.labels.state()
    arrays = {f"labels.{name}": array for name, array in arrays.items()}
    for place, (_, own) in enumerate(states):
        arrays |= {f"{place}.{name}": array for name, array in own.items()}
    each = [state for state, _ in states]
    counted.folder.save("counting", {"leaves": each, "lengths": counted.lengths, "labels": spec, "done": done}, arrays)


def _resume(counted: Counted) -> bool:
    """Continues from a checkpoint, if there is one; returns whether nothing is left to count."""
    found = counted.folder.load("counting")
    if found is None:
        return False
    spec, arrays = found
    counted.lengths = stored.value(spec, "lengths", list)
    counted.labels.restore(
        spec["labels"], {k.removeprefix("labels."): a for k, a in arrays.items() if k.startswith("labels.")}
    )
    leaves = counted.kernel.leaves(counted.first)
    for place, ((leaf, _), own) in enumerate(zip(leaves, spec["leaves"], strict=True)):
        named = {key.partition(".")[2]: array for key, array in arrays.items() if key.startswith(f"{place}.")}
        counted.leaves.append(leaf.load_features(own, named))
    return stored.value(spec, "done", bool)
