"""A data set in parts that are read one after another, so that it need not fit in memory, and the labels collected from them."""

import glob
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from treille.io.chunks import read_chunks
from treille.io.errors import InputError
from treille.io.examples import Examples
from treille.io.label_files import label_paths
from treille.io.parameters import check_whole, parse_size
from treille.io.paths import file_names
from treille.io.read import read

PathLike = str | os.PathLike[str]
PER_CHARACTER = 50  # bytes of memory for a character; `counting` divides parts whose features take more
LEAST_MEMORY = 500_000_000  # bytes: Python, numpy, scipy and scikit-learn take half of that


@dataclass(frozen=True)
class Part:
    """Some examples of a data set, with their labels, if any, and where they come from.

    >>> Part(["abab"], [0], place="part 0").n_characters
    4
    """

    X: Any
    y: Any = None
    sample_weight: Any = None
    place: str = ""

    def __sizeof__(self) -> int:  # Dask asks, and leaves a task where its data are if these are large
        return object.__sizeof__(self) + (self.n_characters or sys.getsizeof(self.X))

    @contextmanager
    def named(self) -> Iterator[None]:
        """Messages of errors inside begin with the place of the part."""
        try:
            yield
        except InputError as error:
            raise error if str(error).startswith(self.place) else InputError(f"{self.place}: {error}") from None

    @property
    def is_empty(self) -> bool:
        """Whether there is no example."""
        X = next(iter(self.X.values()), ()) if isinstance(self.X, Mapping) else self.X  # columns
        return hasattr(X, "__len__") and len(X) == 0

    @property
    def n_characters(self) -> int:
        """The length of all texts; 0 if these are no texts."""
        return sum(len(text) for text in self.X if isinstance(text, str)) if isinstance(self.X, list) else 0


class Parts:
    """A data set in parts. Estimators read one part at a time, and keep its rows in files.

    >>> import treille
    >>> from treille.kernels import NGram
    >>> from treille.scale import Parts
    >>> parts = Parts.of([(["abab", "cdcd"], [0, 1]), (["baba", "dcdc"], [0, 1])])
    >>> model = treille.SVC(NGram(2)).fit(parts)
    >>> model.predict(["ab", "dc"]).tolist(), model.plan_.space.name
    ([0, 1], 'parts')

    Build it with `read` or `of`. `SVC`, `LogisticRegression`, `SVR`, `Ridge` and `Features` are fitted on parts; predictions take
    them, too.
    """

    def __init__(
        self,
        open_parts: Callable[[], Iterator[Part]],
        *,
        memory: int | str = "2GB",
        scratch: PathLike | None = None,
        checkpoint: PathLike | None = None,
        min_count: int = 1,
        sources: Sequence[PathLike] = (),
        options: dict[str, Any] | None = None,
    ):
        self._open = open_parts
        self.memory = parse_size("memory", memory)
        if self.memory < LEAST_MEMORY:
            raise InputError(
                f"memory is {memory!r}, expected at least 500MB, half of which Python and its libraries take"
            )
        self.scratch = None if scratch is None else Path(scratch)
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.min_count = check_whole("min_count", min_count)
        self.sources = tuple(os.fspath(source) for source in sources)
        self.options = options or {}
        if self.checkpoint is not None and "-" in self.sources:
            raise InputError(
                f"{self.checkpoint}: standard input cannot be read again, so a checkpoint of it is of no use: name a file"
            )

    def open(self) -> Iterator[Part]:
        """The parts, from the first on, without empty ones."""
        for part in self._open():
            read = replace(part, X=list(part.X)) if isinstance(part.X, Iterator) else part
            if not read.is_empty:
                yield read

    @classmethod
    def read(
        cls,
        path: PathLike | Sequence[PathLike],
        *,
        memory: int | str = "2GB",
        scratch: PathLike | None = None,
        checkpoint: PathLike | None = None,
        min_count: int = 1,
        **options: Any,
    ) -> "Parts":
        """The examples of files, a few at a time.

        Parameters
        ----------
        path : path or list of paths
            One or several files, a folder, or a glob, as for `treille.io.read`.
        memory : int or str
            The memory that training may use, such as "2GB", including Python. If the data need more, an error says so.
        scratch : path or None
            A folder for rows, which take about three times the size of the texts; None: the system's folder for temporary files.
            What is written there is removed when training ends.
        checkpoint : path or None
            A folder in which training keeps its state. If it ends early, the same call continues where it was; it may be
            removed afterwards. The rows are kept there, too.
        min_count : int
            Keep only features that occur in at least so many examples. More than 1 changes the kernel.
        **options
            How files are read, as for `treille.io.read`: format, text, label, encoding, ...
        """
        paths = file_names(path)
        characters = part_characters(memory)

        def open_parts() -> Iterator[Part]:
            for chunk in read_chunks(paths, examples=characters // 8, characters=characters, ids=False, **options):
                yield Part(chunk.X, chunk.labels, None, place_of(chunk))

        return cls(
            open_parts,
            memory=memory,
            scratch=scratch,
            checkpoint=checkpoint,
            min_count=min_count,
            sources=[*paths, *label_paths(options.get("labels")), *label_paths(options.get("symbols"))],
            options=options,
        )

    @classmethod
    def on(
        cls,
        client: Any,
        path: PathLike | Sequence[PathLike],
        *,
        checkpoint: PathLike | None = None,
        min_count: int = 1,
        **options: Any,
    ) -> "Parts":
        """Declares files as parts: the workers of a Dask cluster read them, each file as one part.

        Parameters
        ----------
        client : distributed.Client or None
            None: the current client when `fit` is called, or else a local cluster, which is closed when `fit` ends.
        path : path or list of paths
            Files, folders and globs, on a disk that all workers see.
        checkpoint, min_count, **options
            As in `read`. The checkpoint is a folder of this machine.
        """
        paths = file_names(path)
        files = [file for each in paths for file in files_of(each)]

        def open_parts() -> Iterator[Part]:  # for predictions, on this machine
            return (read_part(file, options) for file in files)

        return ClusterFiles(
            open_parts, client=client, checkpoint=checkpoint, min_count=min_count, sources=files, options=options
        )

    @classmethod
    def of(
        cls,
        iterable: Iterable[Any],
        *,
        memory: int | str = "2GB",
        scratch: PathLike | None = None,
        checkpoint: PathLike | None = None,
        min_count: int = 1,
    ) -> "Parts":
        """Parts that an iterable yields: pairs (X, y), triples (X, y, sample_weight), or X alone; other options as in `read`.

        The examples of a part must fit in memory a few times over; its features need not, they are counted in smaller parts. With a
        checkpoint, the iterable must yield the same parts again.
        """
        if not isinstance(iterable, Iterable) or isinstance(iterable, (str, bytes)):
            raise InputError(
                f"Parts.of takes an iterable of parts, found {type(iterable).__name__}: pass a list of pairs (X, y)"
            )
        read = False

        def open_parts() -> Iterator[Part]:
            nonlocal read
            if read and isinstance(iterable, Iterator):
                raise InputError(
                    "the parts were read before, and an iterator cannot be read again: pass a list, or an object whose "
                    "__iter__ begins anew"
                )
            read = True
            for number, item in enumerate(iterable):
                fields = item if isinstance(item, tuple) and len(item) in (2, 3) else (item,)
                yield Part(*fields, **({"place": f"part {number}"}))

        return cls(open_parts, memory=memory, scratch=scratch, checkpoint=checkpoint, min_count=min_count)


class ClusterFiles(Parts):
    """Files that the workers of a cluster read, each of them one part. Made by `Parts.on`."""

    def __init__(self, *arguments: Any, client: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.client = client  # None: the current one, when it is needed


def part_characters(memory: int | str) -> int:
    """The number of characters of a part that is read at once: its texts, symbols and labels take a quarter of the memory at most.

    >>> part_characters("2GB")
    8750000
    """
    return max(100_000, (parse_size("memory", memory) - LEAST_MEMORY // 2) // 4 // PER_CHARACTER)


def place_of(chunk: Examples) -> str:
    """The place of the examples of a chunk of a file, for messages."""
    return f"{chunk.source}, lines {chunk.lines[0]:,} to {chunk.lines[-1]:,}" if chunk.lines else chunk.source


def files_of(path: PathLike) -> list[str]:
    """The files of a path: of a folder, of a glob, or itself."""
    name = os.fspath(path)
    if os.path.isdir(name):
        return sorted(os.path.join(name, own) for own in os.listdir(name) if not own.startswith("."))
    found = sorted(glob.glob(name))
    if not found:
        raise InputError(f"{name}: no such file")
    return found


def read_part(path: str, options: dict[str, Any]) -> Part:
    """The examples of a file, as one part."""
    examples = read(path, **options)
    return Part(examples.X, examples.labels, None, path)


@dataclass(frozen=True)
class CodedLabels:
    """Labels as estimators take them, without a copy of each: the sorted classes, and the class of every example."""

    classes: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)


class Collected:
    """The labels and weights of the parts so far. `of_classes` is False for numbers, None where labels are not needed."""

    def __init__(self, of_classes: bool | None):
        self.of_classes = of_classes
        self.codes: dict[Any, int] = {}
        self.labels: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []
        self.n = 0

    def add(self, part: Part, n: int, found: Any) -> None:
        """Adds n examples; ``found(y, n)`` validates their labels, and returns classes and codes, or numbers."""
        if self.of_classes is not None:
            if part.y is None:
                raise InputError(f"has no labels, {'as parts before it have' if self.n else 'which training needs'}")
            values = found(part.y, n)
            self.labels.append(self._coded(*values) if self.of_classes else self._like_before(values))
        if bool(self.weights) != (part.sample_weight is not None) and self.n:
            has = "sample weights" if part.sample_weight is not None else "no sample weights"
            raise InputError(f"has {has}, unlike parts before it")
        if part.sample_weight is not None:
            self.weights.append(checked_weights(part.sample_weight, n))
        self.n += n

    def _coded(self, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
        own = classes.tolist()
        known = next(iter(self.codes), None)
        if own and known is not None and type(own[0]) is not type(known):
            raise InputError(
                f"has labels such as {own[0]!r}, parts before it such as {known!r}: use labels of one type"
            )
        for label in own:
            self.codes.setdefault(label, len(self.codes))
        return np.array([self.codes[label] for label in own], np.int32)[codes]

    def _like_before(self, numbers: np.ndarray) -> np.ndarray:
        if self.labels and numbers.shape[1:] != self.labels[0].shape[1:]:
            before = self.labels[0].shape[1:] or "one number per example"
            raise InputError(
                f"has targets of the shape {numbers.shape}, parts before it {before}: use the same number of targets in all parts"
            )
        return numbers

    @property
    def n_functions(self) -> int:
        """The number of functions to learn, as far as is known."""
        if not self.of_classes:
            return 1 if not self.labels or self.labels[0].ndim == 1 else self.labels[0].shape[1]
        return len(self.codes) if len(self.codes) > 2 else 1

    def y(self) -> CodedLabels | np.ndarray | None:
        """All labels, or numbers."""
        if not self.labels:
            return None
        joined = np.concatenate(self.labels)
        if not self.of_classes:
            return joined
        classes, places = np.unique(np.array(list(self.codes)), return_inverse=True)
        return CodedLabels(classes, places.astype(np.int32)[joined])

    def class_counts(self) -> dict[Any, int]:
        """The number of examples of each class, most frequent classes first."""
        if not self.of_classes:
            return {}
        counts = np.bincount(np.concatenate([np.zeros(0, np.int32), *self.labels]), minlength=len(self.codes)).tolist()
        return dict(sorted(zip(self.codes, counts, strict=True), key=lambda pair: -pair[1]))

    def sample_weight(self) -> np.ndarray:
        """All weights; 1 for each example where none are given."""
        return np.concatenate(self.weights) if self.weights else np.ones(self.n)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The state for a checkpoint: JSON values, and arrays."""
        arrays = {"labels": np.concatenate(self.labels)} if self.labels else {}
        arrays |= {"weights": np.concatenate(self.weights)} if self.weights else {}
        return {"classes": list(self.codes), "n": self.n}, arrays

    def restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `state`."""
        self.codes, self.n = {label: code for code, label in enumerate(spec["classes"])}, spec["n"]
        self.labels = [arrays["labels"]] if "labels" in arrays else []
        self.weights = [arrays["weights"]] if "weights" in arrays else []


def checked_weights(sample_weight: Any, n: int) -> np.ndarray:
    """One non-negative number per example."""
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight holds something that is not a number") from None
    if weights.shape != (n,):
        raise InputError(f"sample_weight has the shape {weights.shape}, expected ({n},)")
    for i in np.flatnonzero(~(weights >= 0) | np.isinf(weights)):
        raise InputError(f"sample_weight[{i}] is {weights[i]}, expected a number of at least 0")
    return weights
