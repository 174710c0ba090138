"""Rows in parts on disk against the same rows in memory."""

from itertools import pairwise

import numpy as np
import pytest
from small_parts import some_texts

from treille import InputError
from treille.features import (
    ConcatenatedRows,
    MatrixRows,
    PartedRows,
    PerProblemRows,
    Rows,
    StoredRows,
    concatenate_rows,
)
from treille.features.abilities import having
from treille.kernels import NGram
from treille.scale.disk_rows import FileRows, SettledRows, rows_of_leaf, settled, write_rows
from treille.scale.folder import read_arrays, write_arrays

X, labels = some_texts(30, 3)
CUTS = [0, 4, 5, 19, 30]


def in_parts(rows, folder, name="rows"):
    """The rows in files, one for each part."""
    files = []
    for part, (a, b) in enumerate(pairwise(CUTS)):
        files.append(folder / f"{name}-{part}.bin")
        write_rows(files[-1], rows.taken(np.arange(a, b)))
    return PartedRows(FileRows(files, np.diff(CUTS), rows.n_features), rows.n_features)


def fitted(n):
    return NGram(n).fit_features(NGram(n).batch(X))[1]


WEIGHTS = np.random.default_rng(0).uniform(0, 2, (3, fitted(2).n_features))
CHANGES = {
    "as they are": lambda one, two: two,
    "scaled": lambda one, two: two.scaled(0.3),
    "normalized": lambda one, two: two.normalized(),
    "weighted": lambda one, two: two.weighted(WEIGHTS[0], 0.5),
    "weighted, normalized": lambda one, two: two.weighted(WEIGHTS[0]).normalized().scaled(2.0),
    "sum": lambda one, two: concatenate_rows([one, two.normalized()]).normalized(),
    "sum of weighted": lambda one, two: concatenate_rows([one.scaled(0.5), two.weighted(WEIGHTS[1])]).normalized(),
}


@pytest.mark.parametrize("settle", [False, True], ids=["computed", "settled"])
@pytest.mark.parametrize("name", CHANGES)
def test_rows_in_parts_are_the_rows_in_memory(name, settle, tmp_path):
    one, two = fitted(1), fitted(2)
    expected = CHANGES[name](one, two)
    found = CHANGES[name](in_parts(one, tmp_path, "one"), in_parts(two, tmp_path, "two"))
    if settle:
        found = PartedRows(settled(found.store, tmp_path), found.n_features)
        assert isinstance(found.store, FileRows if name == "as they are" else SettledRows)
    random = np.random.default_rng(1)
    weights, coefficients = random.normal(size=(expected.n_features, 2)), random.normal(size=(len(X), 2))
    assert len(found) == len(X)
    assert (found.n_features, found.n_entries) == (expected.n_features, expected.n_entries)
    assert np.allclose(found.matvec(weights), expected.matvec(weights))
    assert np.allclose(found.rmatvec(coefficients), expected.rmatvec(coefficients))
    out = np.empty((expected.n_features, 2))
    assert found.rmatvec(coefficients, out=out) is out
    assert np.allclose(out, expected.rmatvec(coefficients))
    groups = (labels[:, None] == np.arange(3)).astype(float)
    assert (found.frequencies(groups) == expected.frequencies(groups)).all()
    for part, (a, b) in enumerate(pairwise(CUTS)):
        own = found.store.load(part)
        assert isinstance(own, ConcatenatedRows if "sum" in name else Rows)
        assert np.allclose(own.to_csr().toarray(), expected.to_csr()[a:b].toarray())
    assert np.allclose(found.diag(), expected.diag())


def test_rows_that_differ_between_problems_are_settled_for_each(tmp_path):
    one, two = fitted(1), fitted(2)

    def change(first, second):
        each = [second.weighted(weights).normalized() for weights in WEIGHTS]
        return concatenate_rows([first, PerProblemRows(each)])

    expected = change(one, two)
    parted = in_parts(two, tmp_path, "two").changed(lambda rows: PerProblemRows([rows.weighted(w) for w in WEIGHTS]), 3)
    found = concatenate_rows([in_parts(one, tmp_path, "one"), parted.normalized()])
    found = PartedRows(settled(found.store, tmp_path), found.n_features, found.n_problems)
    assert found.n_problems == 3
    weights, coefficients = np.random.default_rng(1).normal(size=(expected.n_features, 3)), np.ones((len(X), 3))
    assert np.allclose(found.matvec(weights), expected.matvec(weights))
    assert np.allclose(found.rmatvec(coefficients), expected.rmatvec(coefficients))
    for k in range(3):
        assert np.allclose(
            found.store.load(1).problems[k].to_csr().toarray(), expected.problems[k].to_csr()[4:5].toarray()
        )


def test_rows_in_parts_are_renumbered_and_columns_left_out(tmp_path):
    rows = fitted(2)
    ids = np.random.default_rng(2).permutation(rows.n_features + 5)[: rows.n_features]
    ids[::4] = -1
    found = in_parts(rows, tmp_path).renumbered(ids, rows.n_features + 5)
    expected = np.zeros((len(X), rows.n_features + 5))
    expected[:, ids[ids >= 0]] = rows.to_csr().toarray()[:, ids >= 0]
    matrices = [found.store.load(part).to_csr().toarray() for part in range(4)]
    assert np.allclose(np.vstack(matrices), expected)
    assert np.allclose(found.diag(), rows.diag())


@pytest.mark.parametrize(
    "use",
    [
        lambda rows: having(rows, StoredRows).to_csr(),
        lambda rows: having(rows, MatrixRows).gram(None, 1),
    ],
)
def test_methods_that_need_all_rows_at_once_are_refused(use, tmp_path):
    with pytest.raises(InputError, match="in parts that are not in memory together"):
        use(in_parts(fitted(1), tmp_path))


def test_rows_of_other_layouts_are_refused_by_files(tmp_path):
    rows = fitted(1)
    for other in (ConcatenatedRows([rows, rows]), rows.weighted(np.ones(rows.n_features))):
        with pytest.raises(InputError, match="cannot be kept on disk"):
            write_rows(tmp_path / "rows.bin", rows_of_leaf(other))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"a": np.arange(3, dtype=np.uint32)},
        {"a": np.empty(0), "b": np.arange(12.0).reshape(3, 4), "c": np.array(2.5), "d": np.asfortranarray(np.eye(3))},
        {"flags": np.array([True, False]), "names": np.array(["a", "longer"])},
    ],
)
def test_arrays_are_read_as_they_were_written(arrays, tmp_path):
    write_arrays(tmp_path / "arrays", arrays, {"é": [1, None]})
    spec, found = read_arrays(tmp_path / "arrays")
    assert spec == {"é": [1, None]}
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert (found[name] == array).all()
        assert not found[name].flags.writeable
        assert array.nbytes == 0 or found[name].ctypes.data % 64 == 0


@pytest.mark.parametrize("damage", [b"", b"\0" * 100, b"{}\n", b'{"format": "treille arrays 2"}\n', b"[1]\n"])
def test_damaged_files_are_refused_by_name(damage, tmp_path):
    (tmp_path / "rows.bin").write_bytes(damage)
    with pytest.raises(InputError, match=r"rows\.bin: was not written by treille, or is damaged"):
        read_arrays(tmp_path / "rows.bin")


def test_a_file_that_was_cut_short_is_refused(tmp_path):
    write_arrays(tmp_path / "rows.bin", {"a": np.arange(1000)})
    data = (tmp_path / "rows.bin").read_bytes()
    (tmp_path / "rows.bin").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is damaged: remove the folder and start again"):
        read_arrays(tmp_path / "rows.bin")
    with pytest.raises(InputError, match="is gone, while it was in use"):
        read_arrays(tmp_path / "none.bin")
