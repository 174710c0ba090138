"""Refusals of machines, and their messages."""

from dataclasses import replace

import numpy as np
import pytest

from treille import Fst, InputError
from treille.automata import Builder, library
from treille.io.machine import MachineParts

GOOD = (0, "a", "b", 1.0, 1)
PARTS = MachineParts.of([(0, 1, 1, 0.5, 1), (1, 2, 2, 1.0, 2)], {2: 1.0}, symbols=["<eps>", "a", "b"])


@pytest.mark.parametrize(
    ("arc", "message"),
    [
        (
            (-1, "a", "b", 1.0, 1),
            r"arc 1, \(-1, 'a', 'b', 1.0, 1\): its source is -1, expected a state, a whole number from 0",
        ),
        ((0, "a", "b", 1.0, -1), "its target is -1"),
        ((0, "a", "b", 1.0, 1.0), r"its target is 1\.0"),
        ((0, "a", "b", 1.0, True), "its target is True"),
        ((0, "a", "b", 1.0, 2**31), "its target is 2147483648"),
        ((0, "a", "b", 1.0, 10**9), r"state 1000000000 is named, but there are 2 arcs: number the states from 0"),
        ((0, "a", "b", float("nan"), 1), "arc 1, .*: its weight is nan, expected a finite number"),
        ((0, "a", "b", float("inf"), 1), "its weight is inf"),
        ((0, "a", "b", "1", 1), "its weight is '1'"),
        ((0, "a", "b", None, 1), "its weight is None"),
        ((0, "a", "b", True, 1), "its weight is True"),
        ((0, -3, -3, 1.0, 1), "its input is -3, expected a str, or a label, a whole number from 0"),
        ((0, "a", 2**31, 1.0, 1), "its output is 2147483648"),
        ((0, 1.5, "b", 1.0, 1), r"its input is 1\.5"),
        ((0, None, "b", 1.0, 1), "its input is None"),
        (
            (0, 3, "b", 1.0, 1),
            "its input is 3, but arc 0 has a label that is a str: labels are all names or all numbers",
        ),
        ((0, "a", "b", 1.0), r"arc 1 is \(0, 'a', 'b', 1\.0\), expected \(source, input, output, weight, target\)"),
        (None, "arc 1 is None"),
    ],
)
def test_arcs_are_checked_one_by_one(arc, message):
    with pytest.raises(InputError, match=message):
        Fst.from_arcs([GOOD, arc], {1: 1.0})


def test_names_after_numbers_are_refused():
    with pytest.raises(InputError, match="its output is 'b', but arc 0 has a label that is a number"):
        Fst.from_arcs([(0, 1, 1, 1.0, 1), (0, 0, "b", 1.0, 1)], {1: 1.0})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"finals": [1]}, r"finals is \[1\], expected a dict of states with their weights"),
        ({"finals": {-1: 1.0}}, "a final state is -1"),
        ({"finals": {1: float("nan")}}, "the final weight of state 1 is nan"),
        ({"finals": {1: "x"}}, "the final weight of state 1 is 'x'"),
        ({"start": 5}, "there is no start: it is 5, but arcs and finals name no state beyond 1"),
        ({"start": -1}, "start is -1"),
        ({"start": None}, "start is None"),
        ({"semiring": "boolean"}, "semiring is 'boolean', expected one of 'real', 'log', 'tropical'"),
        ({"input_symbols": ["a", "a"]}, "input_symbols: 'a' occurs twice, for the labels 1 and 2"),
        ({"input_symbols": ["a", 7]}, "input_symbols: the symbol of label 2 is 7, expected a str"),
        (
            {"output_symbols": ["a", ""]},
            "output_symbols: the symbol of label 2 is '', which stands for the empty string",
        ),
        ({"input_symbols": "a"}, "its output is 'b', which the symbol table does not have"),
    ],
)
def test_finals_start_semiring_and_symbols_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        Fst.from_arcs([GOOD], **{"finals": {1: 1.0}, **options})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": np.array([1, 9])}, r"arc 1, \(1, 2, 2, 1\.0, 9\): it leads to state 9, but there are 3 states"),
        ({"sources": np.array([-1, 1])}, "arc 0, .*: it leaves state -1, but there are 3 states"),
        ({"weights": np.array([0.5, np.inf])}, "arc 1, .*: its weight is inf, expected a finite number"),
        ({"weights": np.array([np.nan, 0.5])}, "arc 0, .*: its weight is nan"),
        ({"weights": np.array(["a", "b"])}, "weights: expected an array of numbers"),
        ({"inputs": np.array([1, -2])}, "arc 1, .*: its input label is -2, expected 0 or more"),
        ({"outputs": np.array([3, 1])}, "arc 0, .*: its output label is 3, but the last one that has a symbol is 2"),
        ({"inputs": np.array([1, 2**40]), "input_symbols": None}, "arc 1, .*: its input label is 1099511627776"),
        ({"inputs": np.array([1.0, 2.0])}, "inputs: expected an array of whole numbers"),
        ({"inputs": np.array([1])}, "have different lengths"),
        ({"final_states": np.array([3])}, "state 3 is final, but there are 3 states"),
        (
            {"final_states": np.array([1, 1]), "final_weights": np.ones(2)},
            "state 1 is named twice among the final states",
        ),
        ({"final_states": np.array([1, 2])}, "there are 2 final states, but 1 weights"),
        ({"final_weights": np.array([np.nan])}, "the final weight of state 2 is nan"),
        ({"final_weights": np.array([np.inf])}, "the final weight of state 2 is inf"),
        ({"start": -1}, "there is no start: it is -1, but there are 3 states"),
        ({"start": 3}, "there is no start: it is 3"),
        ({"semiring": "max"}, "semiring is 'max'"),
        ({"input_symbols": ["-", "a", "a"]}, "input_symbols: 'a' occurs twice"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(changes, message):
    assert Fst.from_parts(PARTS).n_arcs == 2
    with pytest.raises(InputError, match=message):
        Fst.from_parts(replace(PARTS, **changes))


def test_a_state_with_an_infinite_cost_is_not_final():
    assert Fst.from_parts(replace(PARTS, semiring="log", final_weights=np.array([np.inf]))).finals == {}


def test_strings_are_checked():
    for string, options, message in [
        ("abc", {"symbols": "ab"}, "string: symbol 2 is 'c', which the symbol table does not have"),
        (["a", 3], {}, "string: symbol 1 is 3, expected a str"),
        ([1, "a"], {}, "string: symbol 0 is 1, expected a str"),
        ([1, 0], {}, "string: symbol 1 is 0, the empty string, which is no symbol"),
        (["a", "<eps>"], {}, "string: symbol 1 is '<eps>', the empty string"),
        ([-1], {}, "string: symbol 0 is -1, expected a label"),
        (None, {}, "string: symbol 0 is None, expected a label"),
        ("a", {"weight": float("nan")}, "weight is nan, expected a finite number"),
    ]:
        with pytest.raises(InputError, match=message):
            Fst.from_string(string, **options)


def test_errors_of_a_builder_name_the_mistake():
    builder = Builder()
    with pytest.raises(InputError, match="no start, as it has no states"):
        builder.build()
    builder.add_state()
    builder.add_arc(0, "a", "a", 1.0, 4)
    with pytest.raises(InputError, match=r"arc 0, .*: it leads to state 4, but there is 1 state"):
        builder.build()
    with pytest.raises(InputError, match=r"arc 1, .*: its weight is nan"):
        builder.add_arc(0, "a", "a", float("nan"), 0)
    with pytest.raises(InputError, match="the final weight of state 1 is 'x'"):
        builder.add_state(final="x")
    with pytest.raises(InputError, match="semiring is 'max'"):
        Builder(semiring="max")


def test_machines_with_different_semirings_or_tables_are_refused():
    A = Fst.from_string("ab")
    with pytest.raises(InputError, match="one machine has a symbol table and the other has none"):
        A + Fst.from_string([1])
    with pytest.raises(
        InputError, match=r"one machine is over 'real' and the other over 'log': convert one, say \.astype\('real'\)"
    ):
        A * A.astype("log")
    for wrong in (lambda: A + 1, lambda: A * "a", lambda: "a" * A):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(InputError, match="the factor is nan"):
        float("nan") * A


def test_weights_without_a_cost_are_refused():
    with pytest.raises(
        InputError, match="a weight is negative, which has no logarithm: 'log' cannot hold this machine"
    ):
        Fst.from_arcs([(0, 1, 1, -1.0, 1)], {1: 1.0}).astype("log")
    with pytest.raises(InputError, match="a weight is negative"):
        (-1 * Fst.from_string("a")).astype("tropical")
    with pytest.raises(InputError, match="a cost is below -709"):
        Fst.from_arcs([(0, 1, 1, -800.0, 1)], {1: 0.0}, semiring="log").astype("real")
    with pytest.raises(InputError, match="semiring is 'max'"):
        Fst.from_string("a").astype("max")


def test_questions_that_a_machine_cannot_answer_are_refused():
    T = Fst.from_arcs([(0, "a", "b", 1.0, 1), (1, "b", "", 1.0, 0)], {1: 1.0})
    with pytest.raises(InputError, match="this machine is a transducer: give two strings"):
        T("a")
    with pytest.raises(InputError, match="x: symbol 0 is 3, expected a str"):
        T([3], "b")
    with pytest.raises(InputError, match="y: symbol 1 is '<eps>', the empty string"):
        T("a", ["b", "<eps>"])
    with pytest.raises(InputError, match="x: symbol 0 is 'a', but the machine has no symbols"):
        Fst.from_string([1])("a")
    with pytest.raises(
        InputError, match=r"the machine has a cycle, 0 -a:b-> 1 -b:<eps>-> 0, so that its states have no order"
    ):
        T.topological_sort()
    with pytest.raises(InputError, match="has a cycle"):
        _ = T.n_paths
    with pytest.raises(InputError, match="side is 'left', expected 'input' or 'output'"):
        T.project("left")
    with pytest.raises(InputError, match="max is -1"):
        T.paths(max=-1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: library.ngram(0, "ab"), "n is 0"),
        (lambda: library.ngram(2, ""), "alphabet is empty"),
        (lambda: library.ngram(2, ["a", "a"]), "alphabet: 'a' occurs twice"),
        (lambda: library.ngram(2, "ab", min_n=3), "min_n is 3, expected at most n, which is 2"),
        (lambda: library.gappy(2, "ab", decay=1.5), r"decay is 1\.5, expected a number in \(0, 1\]"),
        (lambda: library.gappy(2, "ab", decay="x"), "decay is 'x'"),
        (lambda: library.gappy(2, "ab", max_gap=-1), "max_gap is -1"),
        (lambda: library.mismatch(3, 3, "ab"), "m is 3, expected less than k, which is 3"),
        (lambda: library.wildcard(3, 1, "a*"), r"sign is '\*', expected a str that is no symbol"),
        (lambda: library.counting("ab"), "acceptor is 'ab', expected an acceptor"),
        (lambda: library.counting(library.ngram(2, "ab")), "expected an acceptor, whose arcs write what they read"),
        (lambda: library.counting(Fst.from_string([1])), "acceptor has no symbols"),
        (lambda: library.counting(Fst.from_string("ab").closure()), "has a cycle, 0 -<eps>:<eps>-> 1 -a:a-> 2"),
        (lambda: library.edit_neighbourhood(-1, "ab"), "max_edits is -1"),
        (lambda: library.edit_neighbourhood(1, "ab", semiring="x"), "semiring is 'x'"),
    ],
)
def test_the_library_checks_its_parameters(make, message):
    with pytest.raises(InputError, match=message):
        make()
