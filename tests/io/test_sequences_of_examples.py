"""What files are read as is a sequence, of every format: examples are indexed, selected and split as scikit-learn does."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from test_chunks import CORPUS, SAMPLES, fake_molecules  # noqa: F401 (a fixture of every test)

import treille
from treille.data.base import Batch, kind_of
from treille.io import read
from treille.io.packed import PackedColumns, PackedExamples
from treille.kernels import Columns, Linear, NGram, SubsetTree, VertexHistogram

FILES = {"tu": "tu.tar", "graphml": "a.graphml", "openfst": "written.fst"}


@pytest.fixture(params=[*SAMPLES, *FILES])
def X(request, tmp_path):
    if request.param in FILES:
        return read(CORPUS / FILES[request.param]).X
    file, text = SAMPLES[request.param]
    (tmp_path / file).write_text(text)
    return read(tmp_path / file).X


def state(X):
    """Examples as values that can be compared: those of their batch, each by itself."""
    if isinstance(X, list):
        return X
    if isinstance(X, PackedColumns):
        return [state(column) for column in X.columns.values()]
    batch = X if isinstance(X, Batch) else kind_of(X)(X)
    return [repr(shown(batch[i])) for i in range(len(batch))]


def shown(example):
    if isinstance(example, treille.Fst):
        return example.parts()
    return sorted(example.items()) if isinstance(example, dict) else example


def test_examples_are_selected_by_slices_lists_arrays_and_masks(X):
    n, mask = len(X), np.arange(len(X)) % 2 == 1
    if not isinstance(X, PackedExamples):
        pytest.skip("a list of texts")
    assert X.shape == (n,)
    for key in (slice(None), slice(1, None), slice(None, None, -1), slice(0, 0), [], [n - 1, 0], mask, mask.tolist()):
        rows = np.arange(n)[key].tolist()
        assert type(X[key]) is type(X)
        assert len(X[key]) == len(rows)
        if rows:
            assert state(X[key]) == state(X.take(rows))
    for rows in (np.arange(n)[::-1], np.array([0, 0], np.int32), np.array([-1])):
        assert state(X[rows]) == state(X.take(np.arange(n)[rows].tolist()))
        assert state(X[rows, ...]) == state(X[rows])  # as scikit-learn writes it


def test_an_integer_selects_one_example(X):
    if not isinstance(X, PackedExamples) or isinstance(X, PackedColumns):
        pytest.skip("a list of texts, or columns")
    batch = kind_of(X)(X)
    for i in (0, len(X) - 1, np.int64(0), -1):
        assert type(X[i]) is type(batch[i])
        assert state(kind_of(X)([X[i]])) == state(batch[[i]])
    for i in (len(X), -len(X) - 1):
        with pytest.raises(IndexError):
            X[i]
    assert len(list(X)) == len(X)


def test_a_column_is_selected_by_its_name_and_a_row_by_its_number():
    columns = PackedColumns({"title": ["abba", "cab"], "year": [1987, 1991]})
    assert columns["title"] == ["abba", "cab"]
    assert columns[-1] == {"title": "cab", "year": 1991}
    assert list(columns) == [columns[0], columns[1]]
    assert columns[np.array([False, True])].columns == {"title": ["cab"], "year": [1991]}


def test_scikit_learn_splits_every_format(X):
    if len(X) < 2:
        pytest.skip("one example")
    rest, part, rest_rows, rows = train_test_split(X, np.arange(len(X)), test_size=0.4, random_state=0)
    assert (len(rest), len(part)) == (len(rest_rows), len(rows))
    if not isinstance(X, list):
        assert state(part) == state(X[rows])


TREES = [f"(S (NP {'he' if i % 2 else 'who'}) (VP sat{i % 3}))" for i in range(24)]
TRAINED = {
    "trees": (SubsetTree(0.4), "a.trees", "\n".join(f"{'ab'[i % 2]}\t{tree}" for i, tree in enumerate(TREES))),
    "graphs": (
        VertexHistogram(),
        "a.jsonl",
        "\n".join(
            f'{{"nodes": ["{"CN"[i % 2]}", "O"], "edges": [[0, 1]], "label": "{"ab"[i % 2]}"}}' for i in range(24)
        ),
    ),
    "numbers": (Linear(), "a.svm", "\n".join(f"{1 + i % 2} {1 + i % 2}:1 3:0.5" for i in range(24))),
    "lattices": (
        NGram(1),
        "a.jsonl",
        "\n".join(
            f'{{"arcs": [[0, "{"xy"[i % 2]}", 1.0, 1]], "finals": {{"1": 1.0}}, "label": "{"ab"[i % 2]}"}}'
            for i in range(24)
        ),
    ),
    "columns": (
        Columns({"text": NGram(1), "tree": SubsetTree(0.4)}),
        "a.jsonl",
        "\n".join(
            f'{{"text": "{"xy"[i % 2]}z", "tree": "{tree}", "label": "{"ab"[i % 2]}"}}' for i, tree in enumerate(TREES)
        ),
    ),
}


@pytest.mark.parametrize("name", TRAINED)
def test_scikit_learn_searches_and_validates_on_what_was_read(name, tmp_path):
    kernel, file, text = TRAINED[name]
    (tmp_path / file).write_text(text + "\n")
    columns = {"columns": ("text", "tree")} if name == "columns" else {}
    examples = read(tmp_path / file, **columns)
    y, model = np.array(examples.labels), treille.SVC(kernel)
    folds = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(model, examples.X, y, cv=folds, error_score="raise").tolist() == [1.0] * 3
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=folds, error_score="raise").fit(examples.X, y)
    assert search.score(examples.X[::2], y[::2]) == 1.0
