"""Files in chunks: together, the chunks equal the result of `read`, in every format, and one is in memory at a time."""

import bz2
import gzip
import io
import json
import lzma
import sys
import tarfile
import tracemalloc
import zipfile
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from treille.io import InputError, blocks, read, read_chunks
from treille.io.blocks import Limits
from treille.io.lattices import write_lattices
from treille.io.machine import MachineList, MachineParts
from treille.io.packed import NumberRows, PackedColumns, joined
from treille.io.packed_graphs import PackedGraphs
from treille.io.packed_trees import PackedTrees
from treille.io.read import FORMATS

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
SIZES = [{"examples": 1}, {"examples": 2}, {"examples": 7}, {"characters": 50}]

N = 23
WORDS = ["red", "white", "vine", "wine", "oak", "it's"]


def some(template, n=N):
    """Lines of a template, with a number, a word and a label in each."""
    return "".join(template.format(i=i, w=WORDS[i % 6], v=WORDS[i % 5], y="xyz"[i % 3]) for i in range(n))


def conllu(i, comment):
    return f"{comment}1\t{WORDS[i % 5]}\t_\tN\t_\t_\t2\tnsubj\t_\t_\n2\tsat\t_\tV\t_\t_\t0\troot\t_\t_\n\n"


SAMPLES = {  # the name of a file, its content, and options beside none
    "jsonl": ("a.jsonl", some('{{"text": "{w} {v} {i}", "label": "{y}", "id": {i}}}\n')),
    "array": ("a.json", "[" + some('{{"text": "{w} {i}", "label": "{y}"}},\n').rstrip(",\n") + "]"),
    "csv": ("a.csv", "id,text,label\n" + some('{i},"{w}, {v}\n{i}",{y}\n')),
    "same ids": ("a.csv", "id,text,label\n" + some("{v},{w} {i},{y}\n")),
    "tsv": ("a.tsv", "text\tlabel\n" + some("{w} {i}\t{y}\n")),
    "no header": ("a.tsv", some("{w} {v}\t0.{i}\n")),
    "lines": ("a.txt", some("{y}\t{w} {i}\n\n")),
    "no labels": ("a.txt", some("{w} {i}\n\n")),
    "fasta": ("a.fa", some(">{y} kind={v}\nACGT\nTT{i}\n")),
    "fasta ids": ("a.fa", some(">s{i} kind={v}\nACGT\nTT{i}\n")),
    "fastq": ("a.fq", some("@s{i}\nACGT\n+\nIIII\n")),
    "tree fields": ("a.csv", "text,label\n" + some("(S ({w} {v})),{y}\n")),
    "not all trees": ("a.csv", "text,label\n" + some("(S ({w} {v})),{y}\n") + "a vine,x\n"),
    "svmlight": ("a.svm", "# numbers\n" + some("{i} {i}:1 9{i}:0.5\n\n")),
    "crfsuite": ("a.crfsuite", some("{y}\tw={w}\tn={i}:2\n\n")),
    "trees": ("a.tsv", some("{y}\t(S (NP {w}) (VP {v}))\n\n")),
    "penn": ("a.mrg", some("\n( (S\n  (NP {w}) (VP {v})) )\n")),
    "marked": ("a.dat", some("{y} |BT| (S (NP {w})) |BT| (T {v}) |ET| {i}:1 |BV| 3:{i} |EV|\n")),
    "one tree each": ("a.dat", some("{y} |BT| (S (NP {w})) |ET|\n")),
    "kelp": (
        "a.klp",
        some("{y} |BS:title| a {w} |ES| |BDV:w2v| 0.5,{i} |EDV| |BT:a| (S (X)) |ET| |BV:bow| {w}:2 |EV|\n"),
    ),
    "conllu": ("a.conllu", "".join(conllu(i, f"# label = {'xy'[i % 2]}\n# n = {i}\n") for i in range(N))),
    "newick": ("a.nwk", some("(({w}:1,'{i}\n''B'),C[a\nb]);(A,\n{v});\n").replace("it's", "its")),
    "newick labels": ("a.nwk", some("{y}\t(({w},B),C);\n").replace("it's", "its")),
    "graphs": ("a.graphs", some('{{"y": {i}, "id": "g{i}", "nodes": ["{w}", "C"], "edges": [[0, 1]]}}\n')),
    "edge_index": ("a.jsonl", some('{{"edge_index": [[0, 1], [1, 0]], "x": [[1, 0], [0, 1]], "y": [{i}]}}\n')),
    "some directed": (
        "a.graphs",
        some(
            '{{"nodes": ["{w}", "C"], "edges": [[0, 1]]}}\n{{"nodes": ["O", "C"], "edges": [[0, 1]], "directed": true}}\n'
        ),
    ),
    "plf": ("a.plf", some('((("{w}", -0.{i}, 1), ("{v}", -1, 1),),)\n\n')),
    "plf in json": ("a.jsonl", some('{{"plf": "(((\'{v}\', 0.5, 1),),)", "id": "u{i}", "label": "{y}"}}\n')),
    "arcs": (
        "b.jsonl",
        some('{{"arcs": [[0, "{w}", 0.5, 1]], "finals": {{"1": 1.0}}, "name": "u{i}", "label": "{y}"}}\n'),
    ),
    "kaldi": ("a.ark", some("utt-{i}\n0 1 {w} 1.5,2.0,7_8\n1 0.5,0,\n\n")),
    "kaldi numbers": ("a.ark", some("utt-{i}\n0 1 {i} 1{i} 1.5,2.0\n1 0.5,0\n\n")),
    "mesh": ("a.mesh", some("name u{i}\nnumaligns 1\nposterior 1\nalign 0 {w} 0.75 *DELETE* 0.25\n")),
    "confusion": ("a.cn", some("{w} 0.5 {v} 0.5\nvine 1\n\n")),
    "slf": ("a.slf", "VERSION=1.0\nN=2 L=1\nI=0\nI=1 W=vine\nJ=0 S=0 E=1 a=-1\n"),
    "openfst-text": ("a.fst.txt", "0 1 vine vine 0.5\n1\n"),
    "xml": ("a.xml", "<a><b/></a>"),
    "gml": ("a.gml", 'graph [ node [ id 0 label "C" ] node [ id 1 label "O" ] edge [ source 0 target 1 ] ]'),
}


@pytest.fixture(autouse=True)
def fake_molecules(monkeypatch):
    """SMILES of single bonds, where rdkit is missing."""
    from treille.data import Graph
    from treille.io import graphs

    if "rdkit" not in sys.modules:
        chain = lambda text, place, **_: Graph(list(text), [(i, i + 1) for i in range(len(text) - 1)])  # noqa: E731
        monkeypatch.setattr(graphs, "smiles_graph", chain)


SAMPLES["smiles"] = ("a.smi", some("CCO {y}\nCN {v}\n"))
SAMPLES["smiles ids"] = ("a.smi", some("CCO m{i}\n"))


def content(X):
    """The content of examples, for comparison: rows by the names of their columns, machines by their words."""
    if isinstance(X, PackedColumns):
        return {name: content(column) for name, column in X.columns.items()}
    if isinstance(X, NumberRows):
        return [{X.names[j]: v for j, v in zip(row.indices, row.data, strict=True)} for row in X.matrix]
    if isinstance(X, MachineList):
        return [
            (m.name, m.words("inputs"), m.words("outputs"), *(a.tolist() for a in (m.sources, m.weights, m.targets)))
            for m in X.machines
        ]
    if isinstance(X, (PackedTrees, PackedGraphs)):
        values = [getattr(X, field.name) for field in fields(X)]
        return [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
    return list(X)


def assert_same(chunks, whole):
    assert content(joined([chunk.X for chunk in chunks])) == content(whole.X)
    for name in ("labels", "ids"):
        values = [getattr(chunk, name) for chunk in chunks]
        expected = getattr(whole, name)
        assert ([v for some in values for v in some] if values[0] is not None else None) == expected, name
    assert [line for chunk in chunks for line in chunk.lines] == list(whole.lines)
    assert [s for chunk in chunks for s in chunk.sources or [chunk.source] * len(chunk)] == (
        list(whole.sources) or [whole.source] * len(whole)
    )
    assert {chunk.input or chunk.source for chunk in chunks} == {whole.source}


@pytest.mark.parametrize("limits", SIZES, ids=str)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_chunks_of_a_file_are_the_file(tmp_path, name, limits):
    file, text = SAMPLES[name]
    (tmp_path / file).write_text(text)
    for options in ({}, {"labelled": False}):
        chunks, whole = list(read_chunks(tmp_path / file, **limits, **options)), read(tmp_path / file, **options)
        assert max(map(len, chunks)) <= limits.get("examples", N * 2)
        assert len(chunks) > 1 or len(whole) == 1 or limits.get("examples", 0) > len(whole)
        assert_same(chunks, whole)


LATER = {  # the note names what the first block cannot show
    "fasta": {"labelled": True},
    "fasta ids": {"labelled": False},
    "fastq": {"labelled": False},
    "not all trees": {"brackets": False},
    "some directed": {},
    "same ids": {"ids": False},
    "smiles": {"labelled": True},
    "smiles ids": {"labelled": False},
}


@pytest.mark.parametrize("first", [Limits(1, 1), Limits(3, 100)], ids=str)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_chunks_of_a_file_larger_than_the_first_block_are_the_file(tmp_path, monkeypatch, name, first):
    file, text = SAMPLES[name]
    (tmp_path / f"{file}.gz").write_bytes(gzip.compress(text.encode()))
    options = LATER.get(name, {})
    chunks = read_chunks(tmp_path / f"{file}.gz", examples=2, characters=10**9, **options)
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "FIRST", first)
        chunks = list(chunks)
    assert_same(chunks, read(tmp_path / f"{file}.gz", **{k: v for k, v in options.items() if k != "ids"}))


def test_every_format_has_a_sample():
    kinds = {"tu": "tu.tar", "graphml": "a.graphml", "openfst": "written.fst"}
    assert all((CORPUS / name).exists() for name in kinds.values())
    columnar = {"parquet", "arrow"}
    assert {*SAMPLES, *kinds, *columnar} >= set(FORMATS)


@pytest.mark.parametrize("limits", SIZES, ids=str)
@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_chunks_treat_files_of_the_corpus_as_read_does(path, limits):
    try:
        whole, error = read(path), ""
    except InputError as raised:
        whole, error = None, str(raised)
    if whole is None:
        with pytest.raises(InputError) as caught:
            list(read_chunks(path, **limits))
        assert str(caught.value) == error
    else:
        assert_same(list(read_chunks(path, **limits)), whole)


FOLDERS = {
    "files of classes": {"pos.fa": some(">s{i}\nACGT{i}\n"), "neg.fa": some(">t{i}\nAC{i}\n"), "other.fa": ">u\nA\n"},
    "ids in both": {"pos.fa": some(">s{i}\nACGT{i}\n"), "neg.fa": some(">s{i}\nAC{i}\n")},
    "ids twice": {"a.csv": "id,text,label\n" + some("{v},{w},{y}\n"), "b.csv": "id,text,label\n1,vine,x\n"},
    "parts of one set": {f"{n}.csv": "id,text,label\n" + some(f"{n}{{i}},{{w}} {{i}},{{y}}\n") for n in range(3)},
    "folders": {"x/a.csv": "text\n" + some("{w} {i}\n"), "y/b.csv": "text\n" + some("{v}\n"), "y/c.csv": "text\na\n"},
    "one each": {f"{'xyz'[i % 3]}/{i}.jsonl": f'{{"text": "{i} {WORDS[i % 5]}"}}\n' for i in range(N)},
    "documents": {f"{'xyz'[i % 3]}/{i}.txt": f"{WORDS[i % 5]}\n{i}" for i in range(N)},
    "documents without labels": {f"{i}.txt": f"{WORDS[i % 5]}\n{i}" for i in range(N)},
    "xml": {f"{'xyz'[i % 3]}/{i}.xml": f"<a><b{i}/></a>" for i in range(N)},
    "slf": {f"{'xy'[i % 2]}/{i}.slf": SAMPLES["slf"][1].replace("vine", WORDS[i % 5]) for i in range(N)},
    "plf": {"x/a.plf": some("((('{v}', 0, 1),),)\n"), "y/b.plf": some("((('{v}', 0.{i}, 1),),)\n")},
    "kaldi": {"x/a.ark": SAMPLES["kaldi"][1], "y/b.ark": SAMPLES["kaldi numbers"][1], "z/c.ark": "u\n0 1 a 1,2,\n1\n"},
    "gml": {f"{'xy'[i % 2]}/{i}.gml": SAMPLES["gml"][1].replace("O", WORDS[i % 5]) for i in range(N)},
    "graphs": {f"{n}.graphs": SAMPLES["graphs"][1] for n in "ab"},
    "svmlight": {f"{n}.svm": SAMPLES["svmlight"][1] for n in "ab"},
    "trees": {"x/a.mrg": SAMPLES["penn"][1], "y/b.mrg": SAMPLES["penn"][1].replace("NP", "XP")},
}


def write_files(folder, files):
    for i, (name, text) in enumerate(files.items()):
        path = folder / (f"{name}.gz" if i % 3 == 2 else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if i % 3 == 2 else text.encode())


def packed(folder, how):
    """The path of a folder, of all its files by a glob, or of an archive of them."""
    if how == "glob":
        return folder / "**" / "*.*"
    path = folder.with_name(f"packed.{how}")
    if how == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in folder.rglob("*.*"):
                archive.write(file, file.relative_to(folder.parent))
    elif how.startswith("tar"):
        with tarfile.open(path, f"w:{how[4:]}") as archive:
            archive.add(folder, "data")
    return folder if how == "folder" else path


@pytest.mark.parametrize("how", ["folder", "glob", "zip", "tar", "tar.gz", "list"])
@pytest.mark.parametrize("name", FOLDERS)
def test_the_chunks_of_several_files_are_the_files(tmp_path, monkeypatch, name, how):
    write_files(tmp_path / "data", FOLDERS[name])
    path = sorted((tmp_path / "data").rglob("*.*")) if how == "list" else packed(tmp_path / "data", how)
    for options in ({}, {"labelled": False}):
        if how == "list" and name == "documents" and not options:
            continue  # a list of texts is one of files of lines
        whole = read(path, **options)
        for limits in SIZES:
            assert_same(list(read_chunks(path, **limits, **options)), whole)
        if name == "plf":  # whose weights are understood together: 0 in the first file may mean anything
            options = options | {"weights": "prob"}
            whole = read(path, **options)
        with monkeypatch.context() as patch:
            patch.setattr(blocks, "FIRST", Limits(3, 100))
            assert_same(list(read_chunks(path, examples=2, characters=10**9, **options)), whole)


def test_folders_in_a_list_are_read_one_after_the_other(tmp_path, monkeypatch):
    for n in "ab":
        write_files(tmp_path / n, FOLDERS["documents without labels"])
    paths = [tmp_path / "a", tmp_path / "b"]
    whole = read(paths, labelled=True)
    assert whole.labels == ["a"] * N + ["b"] * N
    for first in (blocks.FIRST, Limits(3, 100)):
        monkeypatch.setattr(blocks, "FIRST", first)
        chunks = list(read_chunks(paths, labelled=True, examples=2))
        assert [label for chunk in chunks for label in chunk.labels] == whole.labels
        assert [x for chunk in chunks for x in chunk.X] == whole.X


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow"])
@pytest.mark.parametrize("first", [blocks.FIRST, Limits(3, 100)], ids=str)
def test_parquet_and_arrow_are_read_in_batches(tmp_path, monkeypatch, name, first):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = pa.table({"id": [f"u{i}" for i in range(N)], "text": WORDS * 3 + WORDS[:5], "label": list("xy" * 11 + "x")})
    if name == "a.parquet":
        parquet.write_table(table, tmp_path / name, row_group_size=5)
    elif name == "a.feather":
        feather.write_feather(table, tmp_path / name, chunksize=5)
    else:
        with pa.ipc.new_stream(tmp_path / name, table.schema) as stream:
            stream.write_table(table, max_chunksize=5)
    whole = read(tmp_path / name)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    monkeypatch.setattr(blocks, "FIRST", first)
    for limits in SIZES:
        assert_same(list(read_chunks(tmp_path / name, **limits)), whole)
        assert_same(list(read_chunks(tmp_path / f"{name}.gz", **limits)), read(tmp_path / f"{name}.gz"))


def test_binary_archives_of_kaldi_are_read_lattice_by_lattice(tmp_path, monkeypatch):
    from test_kaldi_binary import ARCHIVE

    from treille.io import openfst

    (tmp_path / "a.ark").write_bytes(ARCHIVE * 10)
    whole = read(tmp_path / "a.ark", labelled=False)
    monkeypatch.setattr(openfst, "CHUNK", 7)
    monkeypatch.setattr(blocks, "FIRST", Limits(3, 100))
    assert_same(list(read_chunks(tmp_path / "a.ark", examples=2, labelled=False)), whole)
    (tmp_path / "b.ark").write_bytes((ARCHIVE * 10)[:-3])
    with pytest.raises(InputError) as expected:
        read(tmp_path / "b.ark")
    with pytest.raises(InputError) as found:
        list(read_chunks(tmp_path / "b.ark", examples=2))
    assert str(found.value) == str(expected.value)


@pytest.fixture
def small_first(monkeypatch):
    """First blocks of three examples."""
    monkeypatch.setattr(blocks, "FIRST", Limits(3, 100))


BAD = {
    "a.jsonl": (SAMPLES["jsonl"][1], "{oops\n", N + 1),
    "a.csv": (SAMPLES["csv"][1], "1,2\n", 2 * N + 2),
    "a.svm": (SAMPLES["svmlight"][1], "1 x:2\n", 2 * N + 2),
    "a.crfsuite": (SAMPLES["crfsuite"][1], "x\ta:b\n", 2 * N + 1),
    "a.tsv": (SAMPLES["trees"][1], "x\t(S (NP)\n", 2 * N + 1),
    "a.mrg": (SAMPLES["penn"][1], "X\n", 3 * N + 1),
    "a.dat": (SAMPLES["marked"][1], "no\n", N + 1),
    "a.conllu": (SAMPLES["conllu"][1], "1\t2\n", 5 * N + 1),
    "a.nwk": (SAMPLES["newick"][1], "A)\n", 4 * N + 1),
    "b.nwk": (SAMPLES["newick labels"][1], "x\tA)\n", N + 1),
    "a.graphs": (SAMPLES["graphs"][1], '{"y": 1, "id": "x", "nodes": ["A"], "edges": [[0, 7]]}\n', N + 1),
    "a.plf": (SAMPLES["plf"][1], "(((\n", 2 * N + 1),
    "b.jsonl": (SAMPLES["arcs"][1], '{"arcs": 3, "finals": {}, "label": "x"}\n', N + 1),
    "a.ark": (SAMPLES["kaldi"][1], "utt\n0 1\n", 4 * N + 2),
    "a.cn": (SAMPLES["confusion"][1], "a 0.5 b\n", 3 * N + 1),
    "a.fq": (SAMPLES["fastq"][1], "no\n", 4 * N + 1),
}


@pytest.mark.parametrize("name", BAD)
def test_an_error_names_the_line_and_comes_after_the_examples_before_it(tmp_path, small_first, name):
    text, bad, line = BAD[name]
    (tmp_path / name).write_text(text + bad)
    with pytest.raises(InputError) as expected:
        read(tmp_path / name)
    found = []
    with pytest.raises(InputError) as caught:
        found.extend(len(chunk) for chunk in read_chunks(tmp_path / name, examples=1))
    assert f"{name}, " in str(caught.value)
    assert f"line {line}" in str(caught.value)
    assert str(caught.value) == str(expected.value)
    assert sum(found) == (2 * N if name in ("a.nwk", "a.plf") else N)


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        list(read_chunks(path, **options))
    return str(caught.value)


def test_files_with_and_without_labels_are_refused_where_they_meet(tmp_path, small_first):
    write_files(
        tmp_path, {f"{n}.csv": f"text,label\n{some('{w},{y}' + chr(10))}" for n in "ab"} | {"c.csv": "text\na\n"}
    )
    (tmp_path / "d.csv").write_text("text,label\nbroken,x,y\n")  # which is not reached
    paths = sorted(tmp_path.glob("*.csv*"))
    message = refusal(paths)
    assert message == f"{paths[0]} has a field for the label, and {paths[2]} has none: label all or none"


def test_files_of_different_kinds_are_refused_where_they_meet(tmp_path, small_first):
    write_files(tmp_path, {"a.txt": some("{w}\n"), "b.mrg": SAMPLES["penn"][1]})
    assert "give files of one kind" in refusal([tmp_path / "a.txt", tmp_path / "b.mrg"])


@pytest.mark.parametrize(
    ("name", "later", "said"),
    [
        ("a.plf", "((('a', 3, 1),),)\n", "weights go from -1 to 3: costs or log-probabilities"),
        ("b.plf", "((('a', 3, 1),),)\n", "the first lattices were taken for probabilities. Say what they are"),
        ("a.ark", "u\n0 1 vine 1,2\n1\n", "found the word 'vine', but numbers on the lines before"),
        ("a.csv", "a vine,x\n", "the tree on line 25, column 1: found 'a', expected '('"),
        ("a.dat", "x |BT| (S) |BT| (T) |ET| 1:1 |BV| 3:2 |BV| 4:1 |EV|\n", "line 24: there is 'vector3', and no such"),
        ("b.dat", "x |BT| (S) |BT| (T) |ET|\n", "line 24: there is 'tree2', and no such column on the first lines"),
        ("a.graphs", '{"y": 1, "id": 7, "nodes": 2, "edges": [[0, 1]]}\n', "has labels of nodes, but"),
        ("a.jsonl", '{"edge_index": [[0], [1]], "x": [[1, 1], [0, 1]], "y": 1}\n', "line 24: x is not one-hot"),
    ],
)
def test_examples_that_contradict_the_first_ones_are_refused(tmp_path, small_first, name, later, said):
    samples = {"a.plf": "plf", "a.ark": "kaldi numbers", "a.csv": "tree fields", "a.dat": "marked"}
    samples |= {"b.dat": "one tree each", "a.graphs": "graphs", "a.jsonl": "edge_index"}
    text = some("((('{v}', 0.5, 1),),)\n") if name == "b.plf" else SAMPLES[samples[name]][1]
    (tmp_path / name).write_text(text + later)
    assert said in refusal(tmp_path / name, examples=1)


def test_chunks_of_a_later_part_keep_what_the_first_decided(tmp_path, small_first):
    words = some("utt-{i}\n0 1 {w} 1,2,\n1\n\n", 5) + some("utt-9{i}\n0 1 {i} 1,2,\n1\n\n")
    (tmp_path / "a.ark").write_text(words)  # words that are numbers
    assert_same(list(read_chunks(tmp_path / "a.ark", examples=2)), read(tmp_path / "a.ark"))
    (tmp_path / "a.dat").write_text(SAMPLES["marked"][1] + "x |BT| (S) |BT| (T) |ET|\n" * 9)  # vectors are zero
    assert_same(list(read_chunks(tmp_path / "a.dat", examples=2)), read(tmp_path / "a.dat"))


@pytest.mark.parametrize("labels", ["s{i} {y}\n", "{y}\n"])
def test_labels_of_another_file_come_in_chunks(tmp_path, small_first, labels):
    (tmp_path / "a.fa").write_text(SAMPLES["fasta ids"][1])
    (tmp_path / "labels").write_text(some(labels))
    chunks = list(read_chunks(tmp_path / "a.fa", labels=tmp_path / "labels", labelled=True, examples=2))
    assert_same(chunks, read(tmp_path / "a.fa", labels=tmp_path / "labels", labelled=True))
    no_ids = list(read_chunks(tmp_path / "a.fa", labels=tmp_path / "labels", labelled=True, examples=2, ids=False))
    assert [chunk.labels for chunk in no_ids] == [chunk.labels for chunk in chunks]
    assert {chunk.ids for chunk in no_ids} == {None}


def test_labels_of_another_file_that_do_not_fit_are_refused(tmp_path, small_first):
    (tmp_path / "a.fa").write_text(SAMPLES["fasta ids"][1])
    (tmp_path / "b.csv").write_text(SAMPLES["same ids"][1])
    assert f"holds 5 labels, and {tmp_path / 'a.fa'} more examples" in refusal(tmp_path / "a.fa", labels=list("xyxyx"))
    assert f"holds 40 labels, and {tmp_path / 'a.fa'} 23 examples" in refusal(tmp_path / "a.fa", labels=["x"] * 40)
    labels = {f"s{i}": "x" for i in range(10)}
    assert "no label for 1 of 2 examples" in refusal(tmp_path / "a.fa", labels=labels, examples=2)
    chunks = list(read_chunks(tmp_path / "a.fa", labels=labels, examples=2, skip_unlabelled=True))
    assert sum(map(len, chunks)) == 10
    assert "its examples have no ids, or not all different" in refusal(tmp_path / "b.csv", labels=labels)
    assert "no example has a label" in refusal(tmp_path / "a.fa", labels={"t": "x"}, skip_unlabelled=True)


def test_roots_are_labels_in_chunks(tmp_path, small_first):
    (tmp_path / "a.mrg").write_text(some("({i} (2 {w}))\n"))
    chunks = list(read_chunks(tmp_path / "a.mrg", root_label=True, labelled=True, examples=2))
    assert_same(chunks, read(tmp_path / "a.mrg", root_label=True, labelled=True))
    (tmp_path / "a.txt").write_text(some("{w}\n"))
    assert "holds no trees" in refusal(tmp_path / "a.txt", root_label=True)


def test_examples_are_read_as_those_of_a_model(tmp_path):
    class Model:
        reading_ = {"text": "title"}  # noqa: RUF012

    (tmp_path / "a.csv").write_text("text,title\n" + some("{w},{i}\n"))
    assert next(read_chunks(tmp_path / "a.csv", like=Model(), examples=2)).X == ["0", "1"]


def test_the_first_label_may_come_late(tmp_path, small_first):
    rows = [{"text": f"{i}", "label": "x"} if i > 11 else {"text": f"{i}"} for i in range(N)]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    options = {"labelled": True, "skip_unlabelled": True}
    chunks = list(read_chunks(tmp_path / "a.jsonl", examples=2, **options))
    assert_same(chunks, read(tmp_path / "a.jsonl", **options))
    (tmp_path / "b.jsonl").write_text('{"text": "a"}\n' * 9)
    with pytest.raises(InputError) as expected:
        read(tmp_path / "b.jsonl", **options)
    assert refusal(tmp_path / "b.jsonl", examples=2, **options) == str(expected.value)


def test_a_place_names_file_and_line_also_where_small_files_share_a_chunk(tmp_path, small_first):
    write_files(tmp_path, {f"{n}.csv": "text,label\n" + some("{w},{y}\n", 2) for n in "abcdef"})
    chunks = list(read_chunks(sorted(tmp_path.glob("*")), examples=4))
    assert [len(chunk) for chunk in chunks] == [4, 4, 4]
    assert chunks[1].place(3) == f"{tmp_path / 'd.csv'}, the example on line 3"
    assert chunks[1].source.endswith(" and 1 more")
    (tmp_path / "g.csv").write_text("text,label\n" + some("{w},{y}\n", 9))
    chunks = list(read_chunks(sorted(tmp_path.glob("*")), examples=4))
    assert chunks[-1].place(0) == f"{tmp_path / 'g.csv'}, the example on line 10"
    assert {chunk.source for chunk in chunks[-3:]} == {f"{tmp_path / 'g.csv'}"}


def test_notes_say_what_is_in_chunks_and_what_was_read_at_once(tmp_path, small_first):
    (tmp_path / "a.csv").write_text(SAMPLES["csv"][1])
    first, second, *_ = read_chunks(tmp_path / "a.csv", examples=2)
    assert first.note.endswith("label = label; the first chunk of several")
    assert "several" not in second.note.rpartition(";")[2] or first.note == second.note
    assert next(read_chunks(CORPUS / "tu.tar", examples=1)).note.endswith(
        "read at once: such files cannot be read in parts"
    )
    (tmp_path / "b.csv").write_text("text,label\na,x\n")
    assert next(read_chunks(tmp_path / "b.csv")).note == read(tmp_path / "b.csv").note


def test_standard_input_is_read_as_it_comes(monkeypatch, small_first):
    def lines():
        for i in range(N):
            taken.append(i)
            yield f'{{"text": "{i}", "id": {i // 20}}}\n'.encode() + b" " * 70_000 + b"\n"

    class Pipe(io.RawIOBase):
        left, rest = lines(), b""

        def readable(self):
            return True

        def readinto(self, buffer):
            self.rest = self.rest or next(self.left, b"")
            n = min(len(buffer), len(self.rest))
            buffer[:n], self.rest = self.rest[:n], self.rest[n:]
            return n

    taken = []
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe(), 100)))
    chunks = read_chunks("-", format="jsonl", examples=3)
    assert next(chunks).X == ["0", "1", "2"]
    assert len(taken) < 10
    assert sum(map(len, chunks)) == N - 3


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_pipe_is_read_as_it_comes_and_may_not_fill_the_memory(monkeypatch, small_first, compress):
    def piped(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return read_chunks("-", examples=2, characters=10**9)

    assert [x for chunk in piped(compress(SAMPLES["no labels"][1].encode())) for x in chunk.X][2] == "white 1"
    with pytest.raises(InputError, match="standard input: expands to more than 200 times"):
        list(piped(compress(bytes(120_000_000))))


@pytest.mark.parametrize(("examples", "characters"), [(0, 1), (1, 0), (-1, 9)])
def test_a_chunk_has_one_example_at_least(tmp_path, examples, characters):
    assert "expected at least 1 of each" in refusal(tmp_path / "a.csv", examples=examples, characters=characters)


@pytest.mark.parametrize("name", ["a.jsonl", "b.jsonl", "a.svm", "a.ark", "a.mrg", "a.zip", "a.tar.gz"])
def test_memory_does_not_grow_with_the_file(tmp_path, small_first, name):
    samples = {"a.jsonl": "jsonl", "b.jsonl": "arcs", "a.svm": "svmlight", "a.ark": "kaldi", "a.mrg": "penn"}
    text = SAMPLES[samples.get(name, "jsonl")][1]

    def peak(times):
        path = tmp_path / name
        if name in samples:
            path.write_text(text * times)
        elif name == "a.zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("data.jsonl", text * times)
        else:
            with tarfile.open(path, "w:gz") as archive:
                info = tarfile.TarInfo("data.jsonl")
                info.size = len(text) * times
                archive.addfile(info, io.BytesIO((text * times).encode()))
        tracemalloc.start()
        try:
            n = sum(len(chunk) for chunk in read_chunks(path, examples=100, ids=False))
            assert n == N * times
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    from treille.io import archive as archives

    archives.IN_MEMORY, before = 1 << 16, archives.IN_MEMORY
    try:
        small, large = (peak(n) for n in ((50, 200) if name in ("a.ark", "b.jsonl") else (500, 2000)))
    finally:
        archives.IN_MEMORY = before
    assert large < 1.2 * small


def test_a_compressed_archive_that_does_not_fit_on_disk_says_so(tmp_path, monkeypatch):
    import tempfile

    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

    write_files(tmp_path / "data", FOLDERS["documents"])
    path = packed(tmp_path / "data", "tar.gz")
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda size: Full())
    assert "cannot be unpacked in" in refusal(path)


def test_lattices_that_were_written_are_read_in_chunks(tmp_path, small_first):
    machines = [MachineParts.of([(0, 1, 1, 0.5, 1)], {1: 1.0}, symbols=["<eps>", w]) for w in WORDS]
    for name in ("a.plf", "a.ark", "a.mesh", "a.cn.gz", "a.jsonl"):
        write_lattices(tmp_path / name, machines)
        assert_same(list(read_chunks(tmp_path / name, examples=2)), read(tmp_path / name))
