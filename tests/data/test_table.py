"""Tables: batches of one length under names."""

import json

import numpy as np
import pytest

from treille import Batch, InputError, Strings, Vectors
from treille.data import Table


@pytest.fixture
def table():
    texts = Strings(["abba", "", "cab", "ba", "aaaaaaaaaa"])
    return Table({"title": texts, "numbers": Vectors(np.arange(10.0).reshape(5, 2))})


def assert_same(found, expected):
    assert list(found.columns) == list(expected.columns)
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine["title"] == theirs["title"]
        assert np.array_equal(mine["numbers"], theirs["numbers"])


def test_one_example_is_a_dict_and_several_are_a_table(table):
    assert len(table) == 5
    assert table.shape == (5,)
    assert table[2]["title"] == "cab"
    assert table[-1]["numbers"].tolist() == [8, 9]
    for key in (slice(1, 4), [3, 0], np.array([True, False, True, False, False])):
        some = table[key]
        rows = np.arange(5)[key]
        assert [x["title"] for x in some] == [table[int(i)]["title"] for i in rows]
    assert table.nbytes == sum(batch.nbytes for batch in table.columns.values())
    assert repr(table).startswith("Table(5 examples, {'title': Strings(")


def test_state_is_read_back(table):
    spec, arrays = table.state()
    assert_same(Batch.from_state(json.loads(json.dumps(spec)), arrays), table)


@pytest.mark.parametrize("n_symbols", [1, 7, 20, 10_000])
def test_chunks_are_the_whole(table, n_symbols):
    chunks = list(table.chunks(n_symbols))
    assert sum(map(len, chunks)) == 5
    assert [x["title"] for chunk in chunks for x in chunk] == [x["title"] for x in table]
    assert (len(chunks) == 1) == (n_symbols == 10_000)
    assert len(list(table[:0].chunks(n_symbols))) == 1


def test_invalid_tables_are_refused():
    with pytest.raises(InputError, match="a table needs at least one column"):
        Table({})
    with pytest.raises(InputError, match="column 'b' is a list, expected a batch"):
        Table({"a": Strings(["x"]), "b": ["x"]})
    with pytest.raises(InputError, match="column 'b' has 2 examples, column 'a' has 1: all must have the same number"):
        Table({"a": Strings(["x"]), "b": Strings(["x", "y"])})
