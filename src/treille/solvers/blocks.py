"""Blocks: runs of parts that fit in memory together, read from disk while the block before is in use."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from treille.features import DivisibleRows, FeatureRows, MatrixRows
from treille.features.abilities import having
from treille.spaces.parts import PartsSpace

PAGE = 4096
AT_ONCE = 1 << 24  # bytes read before the reader may be told to stop, so that Ctrl-C need not wait for a whole block


class Blocks:
    """Runs of parts of at most `most` bytes together. Inside ``with``, a thread reads ahead."""

    def __init__(self, space: PartsSpace, most: float):
        self.space, self.most = space, most
        self.parts: list[list[int]] = []
        sizes: list[int] = []
        for part in range(len(space.rows.offsets) - 1):
            size = space.bytes_of(part)
            if not self.parts or sizes[-1] + size > most:
                self.parts.append([])
                sizes.append(0)
            self.parts[-1].append(part)
            sizes[-1] += size
        self.bytes = np.array(sizes, np.float64)
        self._reader, self._stopped = ThreadPoolExecutor(1), threading.Event()

    def __enter__(self) -> Blocks:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stopped.set()
        self._reader.shutdown()

    def __len__(self) -> int:
        return len(self.parts)

    def examples(self, block: int) -> np.ndarray:
        """The numbers of the examples of a block, among all."""
        first, last = self.parts[block][0], self.parts[block][-1] + 1
        return np.arange(self.space.rows.offsets[first], self.space.rows.offsets[last])

    def read(self, order: list[int]) -> Iterator[tuple[int, list[FeatureRows]]]:
        """The rows of each of these blocks in turn, part by part; the next ones are read meanwhile. Delete them after use."""
        ahead = [self._reader.submit(self.load, block) for block in order[:1]]
        for place, block in enumerate(order):
            held = [ahead.pop().result()]  # not by this function while they are in use: only two blocks are in memory
            if place + 1 < len(order):
                ahead.append(self._reader.submit(self.load, order[place + 1]))
            yield block, held.pop()

    def load(self, block: int) -> list[FeatureRows]:
        """The rows of a block, read from disk in their order, which is faster than as they are used."""
        each = [self.space.load(part) for part in self.parts[block]]
        for entries in (term.entries for rows in each for term in having(rows, MatrixRows).parts):
            mapped = entries.reshape(-1).view(np.uint8)
            for start in range(0, len(mapped), AT_ONCE):
                if self._stopped.is_set():
                    return each
                mapped[start : start + AT_ONCE : PAGE].sum()
        return each

    def taken(self, block: int, rows: list[FeatureRows], examples: np.ndarray) -> list[FeatureRows]:
        """Copies of the rows of some examples of a block, given by their numbers among all."""
        copies = []
        for part, each in zip(self.parts[block], rows, strict=True):
            first, last = self.space.rows.offsets[part : part + 2]
            inside = examples[(first <= examples) & (examples < last)] - first
            if len(inside):
                copies.append(having(each, DivisibleRows).taken(inside))
        return copies
