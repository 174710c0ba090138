"""Strings refuses bad input with a message that names the place, what was found, and what was expected."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from treille import InputError, Strings


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("abba", r"one str was given, expected a list of them: write \[text\]"),
        (b"abba", "one bytes was given, expected a list"),
        (np.str_("abba"), "one str_ was given"),
        (None, "found NoneType, expected a list of strings"),
        (3, "found int, expected a list"),
        (["a", None], "item 1 is None, expected str like the items before it"),
        ([None, "a"], "item 0 is None, expected a string, a list of tokens or an array of integers"),
        (["a", 3], r"item 1 is int \(3\), expected str"),
        ([3, "a"], r"item 0 is int \(3\), expected a string"),
        ([1.5], r"item 0 is float \(1.5\)"),
        (["a", float("nan")], r"item 1 is float \(nan\), expected str"),
        (["a", b"a"], r"item 1 is bytes \(b'a'\), expected str"),
        ([b"a", "a"], r"item 1 is str \('a'\), expected bytes"),
        (["a", ["b"]], r"item 1 is list \(\['b'\]\), expected str"),
        ([["b"], "a"], r"item 1 is str \('a'\), expected a list of tokens or integers like the items before it"),
        (["a", "b" * 100, {"c": "d" * 100}], r"item 2 is dict \(\{'c': 'd+\.\.\.\), expected str"),
        ([["a", None]], "item 0: token 1 is None, expected str"),
        ([["a", 1]], r"item 0: token 1 is int \(1\), expected str"),
        ([[True, False]], r"item 0: token 0 is bool \(True\), expected str"),
        ([[0.5]], r"item 0: token 0 is float \(0.5\), expected str"),
        ([np.array([0.5])], r"item 0: token 0 is float64 .*0.5.*, expected str"),
        ([["a"], [1]], "item 1 holds integers, those before it do not: a batch has one kind"),
        ([[1], [], ["a"]], "item 2 holds tokens, those before it do not: a batch has one kind"),
        (np.array([["a", "b"]]), r"an array of shape \(1, 2\), expected one dimension"),
        (np.array("a"), r"an array of shape \(\), expected one dimension"),
        (np.zeros((2, 2)), r"an array of shape \(2, 2\)"),
        (sp.csr_matrix(np.eye(2)), r"an array of shape \(2, 2\)"),
        (
            pd.DataFrame({"text": ["a", "b"]}),
            r"a DataFrame, .* give each column a kernel, treille.kernels.Columns\(\{'text': ",
        ),
        (pd.Series(["a", None], dtype="string"), "item 1 is NAType"),
    ],
    ids=repr,
)
def test_data_that_is_not_a_list_of_sequences_is_refused(data, message):
    with pytest.raises(InputError, match=message):
        Strings(data)


@pytest.mark.parametrize("unit", ["chars", "", 3, ["word"]], ids=repr)
def test_an_unknown_unit_is_refused(unit):
    with pytest.raises(
        InputError, match=r"unit is .*, expected one of 'char', 'char_wb', 'word', 'byte'.*, a callable, or None"
    ):
        Strings(["a"], unit=unit)


@pytest.mark.parametrize("unit", ["char", "word", str.split])
def test_bytes_with_a_unit_of_texts_are_refused(unit):
    with pytest.raises(
        InputError, match=r"the strings are bytes, but unit is .*: decode them first, or use unit='byte'"
    ):
        Strings([b"a"], unit=unit)


def test_a_callable_must_return_strings():
    with pytest.raises(InputError, match=r"item 1: token 0 is int \(2\), expected str"):
        Strings(["", "ab"], unit=lambda text: [len(text)] if text else [])


@pytest.mark.parametrize("offsets", [[], [0], [1, 3], [0, 2], [0, 2, 1, 3], [[0, 3]]], ids=str)
def test_from_arrays_refuses_offsets_that_do_not_fit(offsets):
    with pytest.raises(InputError, match="offsets must rise from 0 to the number of symbols, 3"):
        Strings.from_arrays([0, 1, 0], offsets, ["a", "b"])


@pytest.mark.parametrize("symbols", [[0, 2], [-1, 0]], ids=str)
def test_from_arrays_refuses_symbols_outside_the_alphabet(symbols):
    with pytest.raises(InputError, match=r"symbols must lie in 0\.\.1, the indices of the alphabet"):
        Strings.from_arrays(symbols, [0, 2], ["a", "b"])


def test_an_input_error_is_a_value_error():
    with pytest.raises(ValueError, match="one str"):
        Strings("abba")
