"""Machines: construction, properties, and worked examples of papers."""

import copy
import pickle
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from treille import Fst, InputError
from treille.automata import Builder
from treille.io.machine import MachineParts


@pytest.fixture
def binary():
    """The transducer of the lecture: the value of a string of a = 0 and b = 1 as a binary number."""
    loops = [(0, c, c, 1.0, 0) for c in "ab"] + [(1, c, c, 2.0, 1) for c in "ab"]
    return Fst.from_arcs([*loops, (0, "b", "b", 1.0, 1)], {1: 1.0})


def test_the_transducer_of_the_lecture_has_the_weights_of_binary_numbers(binary):
    assert binary("bab", "bab") == binary("bab") == 5
    for number in range(64):
        assert binary(f"{number:b}".replace("0", "a").replace("1", "b")) == number


def test_the_binary_number_is_the_sum_of_two_paths(binary):
    weights = [weight for x, _, weight in binary.paths(40) if x == ("b", "a", "b")]
    assert sorted(weights) == [1, 4]


def test_the_example_of_allauzen_et_al_has_its_weights():
    """The text has the weights without the drawing: two paths from aab to baa, 3 x 1 x 4 x 2 and 3 x 2 x 3 x 2."""
    U = Fst.from_arcs(
        [
            (0, "a", "b", 3.0, 1),
            (1, "a", "a", 1.0, 2),
            (2, "b", "a", 4.0, 3),
            (1, "a", "a", 2.0, 4),
            (4, "b", "a", 3.0, 3),
        ],
        {3: 2.0},
    )
    assert U("aab", "baa") == 3 * 1 * 4 * 2 + 3 * 2 * 3 * 2
    assert U.project("output")("baa") == U("aab", "baa")
    assert (~U)("baa", "aab") == U.total()


def test_strings_get_one_table_for_both_sides_in_order_of_first_use():
    T = Fst.from_arcs([(0, "b", "a", 1.0, 1), (1, "<eps>", "c", 1.0, 1), (1, "a", 0, 1.0, 0)], {1: 1.0})
    assert T.symbols == T.input_symbols == T.output_symbols == ["<eps>", "b", "a", "c"]
    assert list(T.arcs()) == [(0, 1, 2, 1.0, 1), (1, 0, 3, 1.0, 1), (1, 2, 0, 1.0, 0)]


def test_given_symbol_tables_are_kept():
    T = Fst.from_arcs([(0, "b", "x", 1.0, 1)], {1: 1.0}, input_symbols="ab", output_symbols=["<eps>", "x"])
    assert (T.input_symbols, T.output_symbols) == (["<eps>", "a", "b"], ["<eps>", "x"])
    assert T("b", "x") == 1
    with pytest.raises(InputError, match="different symbols"):
        _ = T.symbols
    assert (~T).input_symbols == ["<eps>", "x"]
    assert T.project("output").symbols == ["<eps>", "x"]
    one = Fst.from_arcs([(0, "a", "b", 1.0, 1)], {1: 1.0}, output_symbols="ab")
    assert one.input_symbols == one.output_symbols == ["<eps>", "a", "b"]


def test_labels_may_be_numbers_with_names_given_for_them():
    T = Fst.from_arcs([(0, 2, 1, 1.0, 1)], {1: 1.0}, input_symbols=["to", "be"])
    assert T(["be"], ["to"]) == 1


def test_labels_may_be_plain_numbers():
    T = Fst.from_arcs([(0, 7, 0, 0.5, 1)], {1: 1.0})
    assert T.symbols is None
    assert T([7], []) == T(np.array([7]), ()) == 0.5
    assert list(T.paths()) == [((7,), (), 0.5)]
    assert Fst.from_string([3, 1, 3])([3, 1, 3]) == 1


def test_strings_become_machines():
    assert Fst.from_string("abba").symbols == ["<eps>", "a", "b"]
    assert Fst.from_string(["to", "be", "to"]).n_arcs == 3
    assert Fst.from_string("ba", symbols="ab")("ba") == 1
    empty = Fst.from_string("", weight=3)
    assert (empty(""), empty("a"), empty.n_states) == (3, 0, 1)
    assert Fst.from_string([])([]) == 1


def test_a_builder_makes_the_same_machine_as_a_list_of_arcs():
    arcs = [(0, "a", "b", 0.5, 1), (1, "", "c", 2.0, 0)]
    builder = Builder(semiring="log")
    for arc in arcs:
        builder.add_arc(*arc)
    assert (builder.add_state(), builder.add_state(final=0.5), builder.add_state(final=True)) == (0, 1, 2)
    assert builder.build() == Fst.from_arcs(arcs, {1: 0.5, 2: 0.0}, semiring="log")
    assert builder.build(start=2).start == 2


def test_parts_of_a_machine_are_listed():
    T = Fst.from_arcs([(0, "b", "a", 0.5, 1), (0, "a", "a", 2.0, 0)], {1: 2.0, 0: 0.0})
    assert T.finals == {1: 2.0}  # a final weight of zero is none
    assert (T.n_states, T.n_arcs, T.start) == (2, 2, 0)
    assert repr(T) == "<Fst: 2 states, 2 arcs, 1 final, 2 symbols, real>"
    assert repr(Fst.from_string([1])) == "<Fst: 2 states, 1 arcs, 1 final, no symbols, real>"
    two = Fst.from_arcs([(0, "a", "x", 1.0, 0)], {}, input_symbols="ab", output_symbols="x")
    assert "2 and 1 symbols" in repr(two)


def test_properties_describe_cycles_epsilons_and_determinism():
    chain, loop = Fst.from_string("ab"), Fst.from_string("ab").closure()
    assert (chain.is_acyclic, loop.is_acyclic) == (True, False)
    assert (chain.has_epsilons, loop.has_epsilons) == (False, True)
    assert (chain.is_deterministic, (chain + chain).is_deterministic) == (True, False)
    assert not Fst.from_arcs([(0, "a", "b", 1.0, 1), (0, "a", "c", 1.0, 1)], {}).is_deterministic
    assert (chain.is_acceptor, Fst.from_arcs([(0, "a", "b", 1.0, 1)], {}).is_acceptor) == (True, False)
    assert not Fst.from_arcs([(0, "a", "", 1.0, 1)], {}).has_epsilons


def test_an_acceptor_is_recognised_by_names_where_tables_differ():
    def arcs(read, written):
        return Fst.from_arcs([(0, read, written, 1.0, 1)], {1: 1.0}, input_symbols="ab", output_symbols="ba")

    assert arcs("a", "a").is_acceptor
    assert arcs("a", "a")("a") == 1
    assert not arcs("a", "b").is_acceptor  # though both have the number 1


def test_symbols_are_matched_by_name():
    A, B = Fst.from_string("ab"), Fst.from_string("bc", weight=2)
    assert (A + B).symbols == ["<eps>", "a", "b", "c"]
    assert ((A + B)("ab"), (A + B)("bc"), (A * B)("abbc")) == (1, 2, 2)
    plain = Fst.from_string([1]) + Fst.from_string([2])
    assert plain([2]) == 1


def test_tables_of_one_side_may_differ():
    left = Fst.from_arcs([(0, "a", "x", 1.0, 1)], {1: 1.0}, input_symbols="ab", output_symbols="x")
    right = Fst.from_arcs([(0, "b", "y", 2.0, 1)], {1: 1.0}, input_symbols="ab", output_symbols="yx")
    both = left * right
    assert both("ab", "xy") == 2
    assert (both.input_symbols, both.output_symbols) == (["<eps>", "a", "b"], ["<eps>", "x", "y"])


def test_machines_share_a_valid_table():
    table = ["<eps>", "a", "b"]
    parts = MachineParts.of([(0, 1, 2, 0.5, 1)], {1: 1.0}, symbols=table)
    T = Fst.from_parts(parts)
    assert T.input_symbols is T.output_symbols is (T + T).input_symbols is table
    other = Fst.from_parts(replace(parts, input_symbols=("-", "a", "b")))  # another spelling of the empty string
    assert other.input_symbols == table
    given = ["a", "b"]
    own = Fst.from_arcs([(0, "a", "a", 1.0, 1)], {1: 1.0}, input_symbols=given)
    given.append("c")
    assert own.input_symbols == table


def test_machines_are_equal_if_all_numbers_and_symbols_are():
    A = Fst.from_string("ab")
    assert A == Fst.from_string("ab") == copy.deepcopy(A) == pickle.loads(pickle.dumps(A))
    assert len({A, Fst.from_string("ab")}) == 1
    for other in (2.0 * A, Fst.from_string("ac"), A.astype("log"), Fst.from_string([1, 2]), A.reverse(), 3):
        assert other != A


def test_weights_become_costs_and_back():
    T = Fst.from_arcs([(0, "a", "b", 0.25, 1), (0, "a", "a", 0.0, 1)], {1: 0.5})
    log = T.astype("log")
    assert log.semiring == "log"
    assert log.n_arcs == 1  # the other weighs nothing
    assert log("a", "b") == pytest.approx(np.log(8))
    assert log("a", "a") == np.inf
    assert log.astype("tropical").astype("real")("a", "b") == pytest.approx(0.125)
    assert T.astype("real") == T


def test_every_operation_accepts_an_empty_machine():
    nothing = Fst.from_arcs([], {}).connect()
    assert (nothing.n_states, nothing.start, nothing.total(), list(nothing.paths()), nothing.n_paths) == (
        0,
        -1,
        0,
        [],
        0,
    )
    assert nothing([]) == 0
    a = Fst.from_string([1])
    assert (nothing + a)([1]) == (a + nothing)([1]) == 1
    assert (nothing * a).total() == (a * nothing).total() == 0
    assert nothing.closure().total() == 1
    for same in (
        ~nothing,
        nothing.reverse().connect(),
        nothing.topological_sort(),
        2 * nothing,
        nothing.project("input"),
    ):
        assert same == nothing
    assert pickle.loads(pickle.dumps(nothing)) == nothing
    assert nothing.astype("log").total() == np.inf


def test_long_machines_do_not_overflow_the_stack():
    n = 200_000
    chain = Fst.from_string([1] * n)
    assert chain.total() == 1
    assert chain.n_paths == 1
    assert len(next(chain.paths())[0]) == n
    ring = Fst.from_arcs([(i, 1, 1, 1.0, (i + 1) % 1000) for i in range(1000)], {0: 0.5})
    with pytest.raises(InputError, match=r"-1:1-> 8 \.\.\. \(and 992 more\)"):
        ring.total()
    assert chain.reverse().connect().topological_sort().n_states == n + 2


def test_paths_are_counted_exactly_beyond_what_floats_hold():
    two = Fst.from_string("a") + Fst.from_string("b")
    many = two
    for _ in range(6):
        many = many * many
    assert many.n_paths == 2**64
    assert len(list(many.paths(max=3))) == 3


def test_totals_are_summed_by_components():
    A = Fst.from_arcs([(0, 1, 1, 0.5, 1), (1, 1, 1, 0.5, 0), (1, 1, 1, 0.25, 2), (2, 1, 1, -0.5, 2)], {2: 3.0})
    assert A.total() == pytest.approx(0.5 * 0.25 / 0.75 / 1.5 * 3)
    assert A.reverse().total() == pytest.approx(A.total())


def test_cycles_on_no_path_may_diverge():
    arcs = [(0, 1, 1, 1.0, 1), (0, 2, 2, 1.0, 2), (2, 1, 1, 5.0, 2), (3, 1, 1, 5.0, 3), (3, 1, 1, 1.0, 1)]
    A = Fst.from_arcs(arcs, {1: 1.0})
    assert A.total() == A.n_paths == 1
    assert len(list(A.paths())) == 1


def test_a_pair_that_never_meets_a_diverging_cycle_has_a_weight():
    T = Fst.from_arcs(
        [(0, "a", "a", 1.0, 1), (0, "b", "b", 1.0, 2), (2, "", "", 1.0, 2), (2, "c", "c", 1.0, 1)], {1: 1.0}
    )
    assert (T("a", "a"), T("b", "b")) == (1, 0)  # the cycle leads nowhere without a c
    with pytest.raises(InputError, match="reads nothing"):
        T("bc", "bc")


@pytest.mark.parametrize("weight", [1.0, -1.0, 2.0, 0.1 + 0.2 + 0.7, 1 - 1e-16])
def test_a_loop_that_does_not_shrink_diverges(weight):
    with pytest.raises(InputError, match=r"diverges: the weights on cycles such as 0 -a:b-> 0 are too large"):
        Fst.from_arcs([(0, "a", "b", weight, 0)], {0: 1.0}).total()


def test_signs_may_cancel_in_cycles():
    """|M| has radius 1.2, M has 0.85: the sum over paths by length converges."""
    M = np.array([[0.6, 0.6], [-0.6, 0.6]])
    A = Fst.from_arcs([(i, 1, 1, M[i, j], j) for i in range(2) for j in range(2)], {1: 1.0})
    assert A.total() == pytest.approx(np.linalg.solve(np.eye(2) - M, [0, 1])[0])


def test_costs_in_cycles_are_summed_or_diverge():
    loop = Fst.from_arcs([(0, 1, 1, np.log(2), 0)], {0: 800.0}, semiring="log")
    assert loop.total() == pytest.approx(800 - np.log(2))  # exp(-800) is no float
    with pytest.raises(InputError, match="diverges"):
        Fst.from_arcs([(0, 1, 1, 0.0, 0)], {0: 0.0}, semiring="log").total()
    arcs = [(0, 1, 1, 3.0, 1), (1, 1, 1, -2.0, 0), (1, 1, 1, 1.0, 2)]
    assert Fst.from_arcs(arcs, {2: 0.0}, semiring="tropical").total() == 4
    with pytest.raises(InputError, match="diverges"):
        Fst.from_arcs([(0, 1, 1, 1.0, 1), (1, 1, 1, -2.0, 0)], {0: 0.0}, semiring="tropical").total()


def test_the_text_for_graphviz_escapes_labels():
    T = Fst.from_arcs([(0, 'q"', "b\\", 0.5, 1), (1, "", "a", 1.0, 1), (1, "a", "a", 1.0, 0)], {1: 2.0})
    assert T.to_dot().splitlines() == [
        "digraph {",
        "  rankdir=LR",
        "  node [shape=circle]",
        '  0 [label="0", style=bold]',
        '  1 [label="1/2", shape=doublecircle]',
        '  0 -> 1 [label="q\\":b\\\\/0.5"]',
        '  1 -> 1 [label="ε:a"]',
        '  1 -> 0 [label="a"]',
        "}",
    ]
    assert '[label="1:2"]' in Fst.from_arcs([(0, 1, 2, 1.0, 0)], {}).to_dot()


def test_a_picture_is_drawn_without_other_programs(monkeypatch):
    monkeypatch.setenv("PATH", "")
    T = Fst.from_arcs([(0, 'q"', "b<", 0.5, 1), (1, "", "a", 1.0, 1), (1, "a", "a", 1.0, 0)], {1: 2.0})
    drawn = ElementTree.fromstring(T._repr_svg_())
    texts = {"".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert texts == {"0", "1", 'q":b</0.5', "ε:a", "a", "2"}
    assert "of 2,000 arcs" in Fst.from_string("ab" * 1000)._repr_svg_()  # of a large one, a part
