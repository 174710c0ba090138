"""The XBW index of trees: searched and navigated in little more space than structure and labels need."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from treille import _core
from treille.data.base import Batch, as_index, codes_of
from treille.data.format import count
from treille.data.tree import Tree
from treille.data.trees import Trees
from treille.io import stored
from treille.io.errors import InputError
from treille.io.model import read_model, write_model
from treille.io.packed import Deriving
from treille.io.packed_trees import PackedTrees
from treille.io.parameters import effective_n_jobs


class XBW(Deriving, Batch):
    """Trees as one index that finds paths and navigates between nodes without decoding; it stores no pointers.

    Nodes are numbers below `n_nodes`: siblings have consecutive ones, and the root of tree i is node i. A path is read downwards,
    ``"S/NP/NN"``, or a list of labels, where these hold a slash; it may begin anywhere.

    Space is one bit per node for the structure, and a Huffman code of (label, leaf or not) per node: little more than 2N + N H0
    bits for N nodes whose labels have entropy H0, and less if labels determine leaves. The time of `count` depends only on the
    lengths of the path and of the codes. The index is made on first use.

    Parameters
    ----------
    trees : Trees, or what makes one
    n_jobs : int or None
        Threads, to read trees from texts; None is 1, -1 is all.

    References
    ----------
    Ferragina, Luccio, Manzini, Muthukrishnan: Compressing and indexing labeled trees, with applications. J. ACM 2009.

    Examples
    --------
    >>> from treille.trees import XBW
    >>> index = XBW(["(S (NP (NN vine)) (VP (V grows)))", "(NP (DT the) (NN vine))"])
    >>> index.count("NP/NN"), index.count("S/NP/NN"), index.count("NN/NP")
    (2, 1, 0)
    >>> node = int(index.find("S/NP")[0])
    >>> index.label(index.parent(node)), [index.label(child) for child in index.children(node)], str(index.subtree(node))
    ('S', ['NN'], '(NP (NN vine))')
    """

    title = "indexed trees"
    alphabet: list[str]

    def __init__(self, trees: Any, n_jobs: int | None = None):
        trees = trees if isinstance(trees, Trees) else Trees(trees, n_jobs)
        self._source: Trees | None = trees
        self._encoded: _core.Xbw | None = None
        self.alphabet = trees.alphabet

    @property
    def _index(self) -> _core.Xbw:
        """The index, made on first use, which then replaces the trees: new trees to predict for are never encoded."""
        if self._encoded is None:
            assert self._source is not None
            self._encoded, self._source = _core.Xbw.of(self._source.arrays), None
        return self._encoded

    def encode(self) -> "XBW":
        """Makes the index now, if it is not there yet, and releases the trees. Returns the batch."""
        assert self._index is not None
        return self

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        return (("subpath(0.5, index=xbw).normalized()", "paths are found in the index, without decoding the trees"),)

    def __len__(self) -> int:
        return len(self._index if self._source is None else self._source)

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees."""
        return self._index.n_nodes if self._source is None else len(self._source.labels)

    @property
    def nbytes(self) -> int:
        """Bytes that the index takes in memory, without the names of labels."""
        return self._index.nbytes

    def count(self, path: str | Sequence[str]) -> int:
        """The number of nodes at which the path ends."""
        codes = self._codes(path)
        return 0 if codes is None else self._index.count(codes)

    def find(self, path: str | Sequence[str]) -> np.ndarray:
        """The nodes at which the path ends, in increasing order."""
        codes = self._codes(path)
        return np.empty(0, np.int64) if codes is None else self._index.find(codes)

    def label(self, node: int) -> str:
        """The label of a node."""
        return self.alphabet[self._index.label(self._node(node))]

    def is_leaf(self, node: int) -> bool:
        """Returns whether a node has no children."""
        return self._index.is_leaf(self._node(node))

    def children(self, node: int) -> range:
        """The children of a node, in their order."""
        return range(*self._index.children(self._node(node)))

    def parent(self, node: int) -> int | None:
        """The parent of a node; None for a root."""
        return self._index.parent(self._node(node))

    def tree(self, node: int) -> int:
        """The number of the tree that holds a node; takes one step per ancestor."""
        return self._index.root(self._node(node))

    def subtree(self, node: int) -> Tree:
        """The subtree of a node."""
        return self._forest([self._node(node)], 1)[0]

    def trees(self, n_jobs: int | None = None) -> Trees:
        """The trees themselves, decoded if the index was made.

        >>> from treille.trees import XBW
        >>> XBW(["(S (NP he) (VP))"]).trees().to_brackets()
        ['(S (NP he) (VP))']
        """
        if self._source is not None:
            return self._source
        found = self._forest(np.arange(len(self)), effective_n_jobs(n_jobs))
        if found.offsets[-1] != self.n_nodes:
            held = f"its trees hold {found.offsets[-1]:,} of its {self.n_nodes:,} nodes"
            raise InputError(f"the index is damaged ({held}): make it again from the trees")
        return found

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if self._source is not None:
            return self._source[key] if isinstance(key, int) else XBW(self._source[key])
        return self.subtree(key) if isinstance(key, int) else XBW(self._forest(np.arange(len(self))[key], 1)).encode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a file (safetensors) that `XBW.load` reads.

        >>> import tempfile, pathlib
        >>> from treille.trees import XBW
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "trees.xbw"
        >>> XBW(["(S (NP he) (VP))"]).save(path)
        >>> XBW.load(path).count("S/NP")
        1
        """
        write_model(path, *self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "XBW":
        """The index that a file holds."""
        spec, arrays = read_model(path)
        if spec.get("batch") != "XBW":
            raise InputError(f"{os.fspath(path)}: no index of trees, expected a file that XBW.save wrote")
        try:
            return cls._read_state(spec, arrays)
        except InputError as error:
            raise InputError(f"{os.fspath(path)}: {error}") from None

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        last, n_nodes, symbols, lengths, words, sizes = self._index.parts()
        spec = {"alphabet": self.alphabet, "n_nodes": n_nodes}
        return spec, {"last": last, "symbols": symbols, "lengths": lengths, "words": words, "sizes": sizes}

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> "XBW":
        alphabet, n_nodes = stored.names(spec), stored.whole(spec, "n_nodes")
        last, words = (stored.array(arrays, name, np.uint64) for name in ("last", "words"))
        sizes = stored.indices(arrays, "sizes", n_nodes + 1, kind=np.int64)
        symbols = stored.indices(arrays, "symbols", 2 * len(alphabet))
        lengths = stored.array(arrays, "lengths", np.uint8)
        if len(last) != _words(n_nodes) or len(sizes) > 64 or len(words) != _words(sizes).sum():
            raise InputError("the index in the file does not fit together: make it again from its trees")
        batch = cls.__new__(cls)
        batch.alphabet, batch._source = alphabet, None
        try:
            batch._encoded = _core.Xbw.from_parts(last, n_nodes, symbols, lengths, words, sizes)
        except ValueError as error:
            raise InputError(f"the index in the file is damaged ({error}): make it again from its trees") from None
        return batch

    def __reduce__(self) -> tuple[Any, ...]:
        return XBW._read_state, self._state()

    def __repr__(self) -> str:
        return f"XBW({count(len(self), 'tree')}, {count(self.n_nodes, 'node')}, {count(len(self.alphabet), 'label')})"

    def _node(self, node: int) -> int:
        if not 0 <= node < self.n_nodes:
            raise IndexError(f"node {node} does not exist: there are {self.n_nodes:,}")
        return int(node)

    def _codes(self, path: str | Sequence[str]) -> np.ndarray | None:
        """The codes of a path; None if a label is unknown."""
        labels = path.split("/") if isinstance(path, str) else list(path)
        if not labels:
            raise InputError("the path is empty: it needs one label at least")
        known = self.derived("codes", lambda: codes_of(self.alphabet))
        return np.array([known[x] for x in labels], np.int32) if all(x in known for x in labels) else None

    def _forest(self, nodes: Any, threads: int) -> Trees:
        labels, parents, offsets = self._index.subtrees(np.asarray(nodes, np.int64), threads)
        return Trees(PackedTrees(labels, parents, offsets, self.alphabet))


def _words(n_bits: Any) -> Any:
    return (n_bits + 63) // 64
