"""Numbers of equal records, by which maps of features merge, compared with dictionaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treille import _core
from treille.features.merging import ALL, merged_ids, number_records, number_rows


def slow_numbers(records, own):
    """Numbers of records in the order of first occurrence; records are equal if the records that they name are, too."""
    known, numbers = {}, []
    for record in records:
        key = (*record[:own], "and", *(cell if cell < 0 else numbers[cell] for cell in record[own:]))
        numbers.append(known.setdefault(key, len(known)))
    return numbers


def packed(records):
    cells = np.array([cell for record in records for cell in record], np.int32)
    return cells, np.cumsum([0, *map(len, records)])


@st.composite
def record_lists(draw, own):
    records = []
    for r in range(draw(st.integers(0, 12))):
        cells = draw(st.lists(st.integers(-2, 2), min_size=own, max_size=own))
        records.append([*cells, *draw(st.lists(st.integers(-1, r - 1), max_size=3))])
    return records


@given(st.integers(0, 2).flatmap(lambda own: st.tuples(record_lists(own), st.just(own))))
def test_equal_records_have_equal_numbers(case):
    records, own = case
    assert _core.number_records(*packed(records), own).tolist() == slow_numbers(records, own)


@given(record_lists(1), record_lists(1))
def test_records_of_a_second_set_have_the_numbers_of_the_first(mine, theirs):
    twice = [r for r, number in enumerate(slow_numbers(mine, 1)) if number != r]
    mine = mine[: twice[0]] if twice else mine
    shifted = [[record[0], *(cell if cell < 0 else cell + len(mine) for cell in record[1:])] for record in theirs]
    expected = slow_numbers([*mine, *shifted], 1)[len(mine) :]
    assert number_records(packed(mine), packed(theirs), own=1).tolist() == expected


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=2), max_size=9), st.data())
def test_rows_are_numbered_alike(theirs, data):
    mine = data.draw(st.lists(st.sampled_from(theirs), unique_by=tuple)) if theirs else []
    known = {tuple(row): r for r, row in enumerate(mine)}
    expected = [known.setdefault(tuple(row), len(known)) for row in theirs]
    tables = (np.array(rows, np.int64).reshape(-1, 2) for rows in (mine, theirs))
    assert number_rows(*tables).tolist() == expected


@given(st.lists(st.integers(0, 9), unique=True), st.lists(st.integers(0, 9), unique=True))
def test_new_features_follow_in_their_order(mine, theirs):
    ids, new = merged_ids(np.array(mine, np.int64), np.array(theirs, np.int64))
    union = list(dict.fromkeys([*mine, *theirs]))
    assert [union[id] for id in ids] == theirs
    assert new.tolist() == [number not in mine for number in theirs]


def test_records_that_name_later_ones_are_refused():
    with pytest.raises(IndexError, match="one that is not before it"):
        _core.number_records(np.array([0, 1], np.int32), np.array([0, 2]), 1)
    with pytest.raises(ValueError, match="expected starts of all cells"):
        _core.number_records(np.array([0, 1], np.int32), np.array([0, 1]), ALL)
