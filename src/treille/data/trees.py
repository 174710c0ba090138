"""Trees: labelled, rooted and ordered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from treille import _core
from treille.data.base import Batch, PackedBatch, Summary, align, first_item, from_arrow, read_each, running_sum
from treille.data.format import count, listed, short_json, span, visible
from treille.data.tree import Tree, is_nltk, nested_tree
from treille.drawing.svg import Shares
from treille.drawing.tidy_tree import draw_tree
from treille.io import brackets, stored, svmlight_tk
from treille.io.conllu import sentences
from treille.io.documents import ast_tree, html_tree, json_tree, xml_tree
from treille.io.errors import InputError
from treille.io.newick import newick_trees
from treille.io.packed import are_offsets
from treille.io.packed_trees import PackedTrees, pack
from treille.io.parameters import effective_n_jobs
from treille.io.trees import without_root


class Trees(PackedBatch):
    """Many trees in flat arrays: nodes of tree i, in preorder, are those from ``offsets[i]`` to ``offsets[i + 1]``.

    ``batch[i]`` is a `Tree`, the labels and parents of one tree, and ``str(batch[i])`` is that tree in brackets. Words of a
    sentence are leaves like others.

    Parameters
    ----------
    data : list of str, `Tree`, ``nltk.Tree``, or nested tuples or lists
        A str holds a tree in brackets, ``(S (NP he) (VP))``; a tuple its label, then its children, where a str is a leaf:
        ``("S", ("NP", "he"), ("VP",))``.
    n_jobs : int or None
        Threads; None is 1, -1 is all. The result does not depend on it.

    Attributes
    ----------
    labels : int32 array
        Indices into `alphabet`.
    parents : int32 array
        The parent of every node, counted from the root of its tree, which is 0; -1 for a root.
    offsets : int64 array
        Where each tree begins, and one more for the end of the last.
    alphabet : list of str
        The distinct labels, sorted.

    Examples
    --------
    >>> from treille import Trees
    >>> batch = Trees(["(S (NP he) (VP))", "(S)"])
    >>> len(batch), batch.alphabet, batch.labels.tolist(), batch.parents.tolist()
    (2, ['NP', 'S', 'VP', 'he'], [1, 0, 3, 2, 1], [-1, 0, 1, 0, -1])
    >>> str(batch[0]), str(Trees([("S", ("NP", "he"), ("VP",))])[0])
    ('(S (NP he) (VP))', '(S (NP he) (VP))')
    >>> Trees.from_parents([(["S", "NP", "VP"], [-1, 0, 0])])
    Trees(1 tree, 3 nodes, 3 labels)
    """

    title = "trees"
    packed = PackedTrees
    stored = ("labels", "parents", "offsets")
    labels: np.ndarray
    parents: np.ndarray
    alphabet: list[str]

    def __init__(self, data: Any, n_jobs: int | None = None):
        self._hold(**vars(data if isinstance(data, PackedTrees) else _read(data, effective_n_jobs(n_jobs))))

    @classmethod
    def recognises(cls, data: Any) -> bool:
        """Returns whether data are trees, and nothing else: a text in brackets may be a text.

        >>> Trees.recognises([Tree(["S"], [-1])]), Trees.recognises([("S", ("NP",))]), Trees.recognises(["(S (NP))"])
        (True, True, False)
        """
        if isinstance(data, (Trees, PackedTrees)):
            return True
        first = first_item(data)
        if isinstance(first, Tree) or is_nltk(first):
            return True
        if not isinstance(first, (tuple, list)) or len(first) < 2 or not isinstance(first[0], str):
            return False
        return any(isinstance(child, (tuple, list)) for child in first[1:])

    @classmethod
    def of(cls, data: Any, n_jobs: int | None = None) -> Trees:
        return data if isinstance(data, cls) else cls(data, n_jobs)

    @classmethod
    def json_schema(cls, units: Sequence[Any] = ()) -> dict[str, Any]:
        example = "(S (NP he) (VP (V sat)))"
        words = {"title": "trees", "description": f"a tree in brackets, such as {example!r}", "$comment": example}
        return words | {"type": "string"}

    @classmethod
    def read_json(cls, values: list[Any], reading: Mapping[str, Any]) -> Any:
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise InputError(f"item {i} is {short_json(value)}, expected {cls.json_schema()['description']}")
        return cls(without_root(brackets.parse(values))[1]) if reading.get("root_label") else values

    @classmethod
    def write_json(cls, example: Any) -> str:
        return str(example)

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        paths = "paths of trees, weighted by idf, have explicit features"
        fragments = "fragments of trees, with sizes normalised, suit most trees"
        return (
            ("3*subsettree(0.2, leaves=True).normalized()", fragments),
            ("subpath(0.5, counts=log).weighted(idf).normalized()", paths),
        )

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        batch = data if isinstance(data, Trees) else cls(data, n_jobs=-1)
        sizes, leaves = np.diff(batch.offsets), int(batch.is_leaf.sum())
        labels = f"{len(batch.alphabet):,}, {listed(batch.alphabet, 10)}"
        fields = {"nodes": f"{span(sizes)}, {leaves:,} leaves", "labels": labels}
        values = {"nodes": int(sizes.sum()), "leaves": leaves, "labels": len(batch.alphabet)}
        return Summary(fields, values, [visible(str(tree)[:width], blanks=False) for tree in batch[:n_samples]])

    @classmethod
    def from_brackets(cls, lines: str | Iterable[str], n_jobs: int | None = None) -> Trees:
        """Reads a text, or its lines: a tree may span several lines, and the next begins on a new line. Blank lines are skipped.

        Lines may be those of SVM-light-TK or KeLP, ``label |BT| (tree) |ET|``, with one tree each: the label is left out.

        >>> len(Trees.from_brackets("( (S\\n    (NP he) (VP)))\\n(S)")), str(Trees.from_brackets(["1 |BT| (S (NP)) |ET|"])[0])
        (2, '(S NP)')
        """
        text = lines if isinstance(lines, str) else "\n".join(line.rstrip("\r\n") for line in lines)
        if "|BT" in text:
            rows = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
            found = [(i, tree) for i, line in rows for tree in svmlight_tk.trees(line, f"line {i}").values()]
        else:
            found = list(brackets.split_lines([text]))
        texts = [tree for _, tree in found]
        return cls(brackets.parse(texts, effective_n_jobs(n_jobs), lambda i: f"line {found[i][0]}"))

    @classmethod
    def from_parents(cls, trees: Iterable[tuple[Sequence[str], Sequence[int]]]) -> Trees:
        """Builds trees from the labels of each tree's nodes and their parents, -1 for the root, nodes in any order.

        Children keep the order in which they are given.

        >>> str(Trees.from_parents([(["NP", "S", "VP"], [1, -1, 1])])[0])
        '(S (NP) (VP))'
        """
        return cls(pack(trees))

    @classmethod
    def from_arrays(cls, labels: Any, parents: Any, offsets: Any, alphabet: Sequence[str]) -> Trees:
        """A batch from its parts, checked.

        >>> str(Trees.from_arrays([1, 0], [-1, 0], [0, 2], ["NP", "S"])[0])
        '(S NP)'
        """
        nodes, ends = (np.array(labels, np.int32), np.array(parents, np.int32)), np.array(offsets, np.int64)
        parts = PackedTrees(*nodes, ends, list(alphabet))
        if not all(are_offsets(ends, len(array)) for array in nodes):
            raise InputError("labels, parents and offsets do not fit together")
        if len(parts.labels) and not 0 <= parts.labels.min() <= parts.labels.max() < len(parts.alphabet):
            raise InputError(f"labels must lie in 0..{len(parts.alphabet) - 1}, the indices of the alphabet")
        order, _, fault = _core.to_preorder(parts.parents, ends)
        if fault is not None:
            raise InputError(f"tree {fault[0]}, node {fault[1]}: {fault[2]}")
        if len(order):
            raise InputError("the nodes of a tree are not in preorder: use Trees.from_parents, which sorts them")
        return cls(parts)

    @classmethod
    def from_xml(cls, documents: Iterable[Any], *, attributes: bool = False, text: bool = False) -> Trees:
        """Reads XML documents as str or bytes, or files as `pathlib.Path`, also `.gz`: the elements of each are a tree.

        With `attributes`, each is a child ``@name`` with its value below it; with `text`, each word is a leaf.

        >>> str(Trees.from_xml(["<vine><leaf/><leaf>green</leaf></vine>"], text=True)[0])
        '(vine (leaf) (leaf green))'
        """
        return cls(pack(read_each(documents, lambda document, place: xml_tree(document, attributes, text, place))))

    @classmethod
    def from_html(cls, documents: Iterable[Any], *, attributes: bool = False, text: bool = False) -> Trees:
        """Reads HTML like `from_xml`; lxml, which must be installed, repairs it if necessary, up to a depth of about 250."""
        return cls(pack(read_each(documents, lambda document, place: html_tree(document, attributes, text, place))))

    @classmethod
    def from_json(cls, documents: Iterable[Any], *, values: bool = True) -> Trees:
        """Reads JSON documents, parsed or as text: labels are keys, ``[]`` for the items of an array, and ``$`` for the root.

        Strings and numbers are leaves, as themselves or, without `values`, as their kind.

        >>> str(Trees.from_json([{"vine": {"age": 3, "red": True}}], values=False)[0])
        '($ (vine (age number) (red true)))'
        """
        return cls(pack(read_each(documents, lambda document, place: json_tree(document, values, place))))

    @classmethod
    def from_ast(cls, sources: Iterable[str], *, names: bool = False) -> Trees:
        """Reads Python source: the syntax tree of each by Python's own parser.

        With `names`, identifiers and constants are leaves.

        >>> str(Trees.from_ast(["x = 1"], names=True)[0])
        '(Module (Assign (Name x) (Constant 1)))'
        """
        return cls(pack(read_each(sources, lambda source, place: ast_tree(source, names, place))))

    @classmethod
    def from_conllu(cls, lines: str | Iterable[str], *, label: str = "deprel") -> Trees:
        """Reads CoNLL-U, a text or its lines: one dependency tree per sentence, labelled with form, lemma, upos, xpos or deprel.

        >>> rows = ["1\\the\\the\\tPRON\\t_\\t_\\t2\\tnsubj\\t_\\t_", "2\\tsat\\tsit\\tVERB\\t_\\t_\\t0\\troot\\t_\\t_"]
        >>> str(Trees.from_conllu(rows, label="form")[0])
        '(sat he)'
        """
        rows = lines.split("\n") if isinstance(lines, str) else lines
        return cls(pack(tree for _, _, tree in sentences(rows, "CoNLL-U", label)))

    @classmethod
    def from_newick(cls, lines: str | Iterable[str]) -> Trees:
        """Reads Newick, a text or its lines. Branch lengths are dropped; a node without a name is called ``*``.

        >>> str(Trees.from_newick("((A:0.1,B:0.2)C,D);")[0])
        '(* (C (A) (B)) (D))'
        """
        text = lines if isinstance(lines, str) else "\n".join(lines)
        return cls(pack(tree for _, tree in newick_trees(text, "Newick")))

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Labels, parents and offsets: a forest, as the core takes it."""
        return self.labels, self.parents, self.offsets

    def arrays_over(self, alphabet: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays with labels as indices into another alphabet; a label that is not in it gets a new code."""
        if alphabet is self.alphabet or alphabet == self.alphabet:
            return self.arrays
        return align(self.alphabet, alphabet)[self.labels], self.parents, self.offsets

    def _item(self, i: int) -> Tree:
        nodes = slice(self.offsets[i], self.offsets[i + 1])
        return Tree([self.alphabet[label] for label in self.labels[nodes]], self.parents[nodes].tolist())

    def part_names(self, i: int) -> list[str]:
        """The labels of the nodes of tree i."""
        return list(self[i].labels)

    def svg(self, i: int, shares: Any = None, hints: Sequence[str] | None = None) -> str:
        """A drawing of tree i, with shares of its nodes.

        >>> Trees(["(S (NP he))"]).svg(0).count("<rect")
        3
        """
        tree = self[i]
        return draw_tree(tree.labels, tree.parents, Shares(shares, hints))

    def to_brackets(self) -> list[str]:
        """Every tree in brackets, as `Trees` and `from_brackets` read them. An only child that is a leaf is written as a word.

        >>> Trees([("S", ("NP", "he"), "sat")]).to_brackets()
        ['(S (NP he) (sat))']
        """
        used = np.bincount(self.labels, minlength=len(self.alphabet)) > 0
        for label, is_used in zip(self.alphabet, used, strict=True):
            if is_used and (not label or any(c in "()" or c in " \t\n\r\v\f" for c in label)):
                raise InputError(
                    f"the label {label[:40]!r} cannot be written in brackets: it is empty, or holds a bracket or a blank"
                )
        return [str(tree) for tree in self]

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node is a leaf.

        >>> Trees(["(S (NP he) (VP))"]).is_leaf.tolist()
        [False, False, True, True]
        """
        leaf = np.ones(len(self.labels), bool)
        leaf[:-1] = self.parents[1:] != self.positions[:-1]  # in preorder, a first child directly follows its parent
        return leaf

    @property
    def subtree_sizes(self) -> np.ndarray:
        """The number of nodes of the complete subtree at each node.

        >>> Trees(["(S (NP he) (VP))"]).subtree_sizes.tolist()
        [4, 2, 1, 1]
        """
        sizes, depths = np.ones(len(self.labels), np.int64), self.depths
        above = self.parents + np.repeat(self.offsets[:-1], np.diff(self.offsets))
        order = np.argsort(depths, kind="stable")
        for level in np.split(order, np.cumsum(np.bincount(depths, minlength=1)[:-1]))[:0:-1]:
            np.add.at(sizes, above[level], sizes[level])
        return sizes

    @property
    def depths(self) -> np.ndarray:
        """The number of nodes above each node.

        >>> Trees(["(S (NP he) (VP))"]).depths.tolist()
        [0, 1, 2, 1]
        """
        path, _, _, length = _core.root_paths(self.arrays)
        return length[path] - 1

    def strip_words(self) -> Trees:
        """The trees without their leaves, which are the words of a parse tree. The root always stays.

        >>> str(Trees(["(S (NP (PRP he)) (VP (V sat)))"]).strip_words()[0])
        '(S (NP PRP) (VP V))'
        """
        kept = ~self.is_leaf | (self.parents < 0)
        before = running_sum(kept)  # how many are kept before each node
        roots = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        above = np.where(self.parents < 0, 0, self.parents) + roots
        parents = np.where(self.parents < 0, -1, before[above] - before[roots]).astype(np.int32)
        return Trees(PackedTrees(self.labels[kept], parents[kept], before[self.offsets], self.alphabet))

    def strip_function_tags(self) -> Trees:
        """The trees with only the categories: ``NP-SBJ-1`` and ``NP=2`` become ``NP``. Leaves, and ``-NONE-`` or ``-LRB-``, stay.

        >>> str(Trees(["(S (NP-SBJ=2 (PRP twenty-one)))"]).strip_function_tags()[0])
        '(S (NP (PRP twenty-one)))'
        """
        return self._renamed(lambda label: label[:1] + re.split("[-=]", label[1:], maxsplit=1)[0], ~self.is_leaf, "-")

    def lowercase(self) -> Trees:
        """The trees with their leaves, the words of a parse tree, in lower case.

        >>> str(Trees(["(NP (DT The) (NN Vine))"]).lowercase()[0])
        '(NP (DT the) (NN vine))'
        """
        return self._renamed(str.lower, self.is_leaf)

    def _renamed(self, rename: Callable[[str], str], which: np.ndarray, untouched: str = "") -> Trees:
        """New labels for the nodes `which`; those that begin with `untouched` stay."""
        new = [label if untouched and label.startswith(untouched) else rename(label) for label in self.alphabet]
        codes = np.where(which, self.labels + len(new), self.labels)
        return Trees(self.as_packed().renamed(codes, [*self.alphabet, *new]))

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"alphabet": self.alphabet}, self._stored_arrays()

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Trees:
        alphabet, parents = stored.names(spec), stored.array(arrays, "parents", np.int32)
        labels, ends = stored.indices(arrays, "labels", len(alphabet)), stored.offsets(arrays, "offsets", len(parents))
        return cls.from_arrays(labels, parents, ends, alphabet)

    def __repr__(self) -> str:
        return f"Trees({count(len(self), 'tree')}, {count(len(self.labels), 'node')}, {count(len(self.alphabet), 'label')})"


def _read(data: Any, threads: int) -> PackedTrees:
    if isinstance(data, (str, bytes)):
        raise InputError(f"one {type(data).__name__} was given, expected a list of trees: write [tree]")
    if isinstance(data, Batch):
        raise InputError(f"found {data!r}, expected trees: treille.Trees, or what makes one")
    if not isinstance(data, Iterable) or isinstance(data, dict) or is_nltk(data):
        raise InputError(f"found {type(data).__name__}, expected a list of trees: brackets, nested tuples, nltk.Tree")
    data = from_arrow(data)
    items = data.tolist() if isinstance(data, np.ndarray) and data.dtype.kind == "U" else list(data)
    if not items:
        return PackedTrees(np.empty(0, np.int32), np.empty(0, np.int32), running_sum([]), [])
    if isinstance(items[0], str):
        for i, item in enumerate(items):
            if not isinstance(item, str):
                raise InputError(f"item {i} is {type(item).__name__}, expected str like the items before it")
        return brackets.parse(items, threads)
    return pack(nested_tree(item, i) for i, item in enumerate(items))
