"""Lattices: machines in flat arrays, normalised, pruned, read back."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from lattice_twins import machines
from machine_twins import slow_paths
from treille import Batch, Fst, InputError, Lattices, Strings
from treille.estimators.plan import choose_kernel
from treille.io import read
from treille.io.machine import MachineParts
from treille.kernels import NGram

TWO = Fst.from_arcs([(0, "a", "a", 0.5, 1), (0, "b", "b", 1.5, 1), (1, "c", "c", 1.0, 2)], {2: 2.0})
NOTHING = Fst.from_arcs([], {})


def language(machine):
    """The weight of every string, zeros left out."""
    sums = {}
    for symbols, _, weight in slow_paths(machine):
        sums[symbols] = sums.get(symbols, 0.0) + weight
    return {symbols: weight for symbols, weight in sums.items() if weight != 0}


def same(one, other):
    return all(
        one.get(z, 0.0) == pytest.approx(other.get(z, 0.0), rel=1e-9, abs=1e-12) for z in one.keys() | other.keys()
    )


@settings(max_examples=100)
@given(st.lists(machines(signed=True), min_size=1, max_size=4))
def test_strings_keep_their_weights_without_normalisation(items):
    for machine, again in zip(items, Lattices(items, normalize=False), strict=True):
        assert same(language(again), language(machine))


@settings(max_examples=100)
@given(st.lists(machines(), min_size=1, max_size=4))
def test_normalised_every_string_has_its_share(items):
    batch = Lattices(items)
    for machine, again, log_total in zip(items, batch, batch.log_totals, strict=True):
        weights = language(machine)
        total = sum(weights.values())
        assert same(language(again), {z: w / total for z, w in weights.items()})
        assert np.exp(log_total) == pytest.approx(total)
    for i in range(len(batch)):
        leaving = batch.finals[batch.states[i] : batch.states[i + 1]].copy()
        arcs = slice(batch.offsets[i], batch.offsets[i + 1])
        np.add.at(leaving, batch.sources[arcs], batch.weights[arcs])
        np.testing.assert_allclose(leaving, 1.0)


@given(st.lists(machines(cost=True), min_size=1, max_size=3), st.booleans())
def test_costs_become_probabilities(items, normalize):
    for machine, again in zip(items, Lattices(items, normalize), strict=True):
        weights = language(machine.astype("real"))
        total = sum(weights.values()) if normalize else 1.0
        assert same(language(again), {z: w / total for z, w in weights.items()})


@given(st.lists(machines(), min_size=1, max_size=5))
def test_states_are_sorted_and_useless_ones_are_removed(items):
    batch = Lattices(items)
    assert (batch.sources < batch.targets).all()
    for i in range(len(batch)):
        n = int(batch.states[i + 1] - batch.states[i])
        arcs = slice(batch.offsets[i], batch.offsets[i + 1])
        assert set(batch.targets[arcs]) == set(range(1, n))
        ends = set(np.flatnonzero(batch.finals[batch.states[i] : batch.states[i + 1]]))
        assert set(batch.sources[arcs]) | ends == set(range(n))


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_nothing(threads):
    rng = np.random.default_rng(0)
    items = []
    for _ in range(300):
        arcs = [
            (s, w, w, rng.random(), s + 1 + int(rng.integers(3)))
            for s in range(60)
            for w in rng.choice(list("abcd"), 2)
        ]
        items.append(Fst.from_arcs(arcs, {60: 1.0, 61: 0.5, 62: 1.0}))
    one, many = Lattices(items), Lattices(items, n_jobs=threads)
    for name, array in one.state()[1].items():
        np.testing.assert_array_equal(many.state()[1][name], array)
    for found, expected in (
        (one.prune(0.1, threads), one.prune(0.1)),
        (one.best(threads), one.best()),
    ):
        for name, array in expected.state()[1].items():
            np.testing.assert_array_equal(found.state()[1][name], array)


def test_probabilities_too_small_for_a_double_are_normalised():
    arcs = [(k, w, w, 5000.0 + d, k + 1) for k in range(50) for w, d in (("a", 0.0), ("b", np.log(3)))]
    batch = Lattices([Fst.from_arcs(arcs, {50: 100.0}, semiring="log")])
    np.testing.assert_allclose(batch.weights, np.tile([0.75, 0.25], 50))
    assert batch.log_totals[0] == pytest.approx(-(5000 * 50 + 100) + 50 * np.log(4 / 3))
    real = Fst.from_arcs([(k, "a", "a", 1e-300, k + 1) for k in range(10)], {10: 1e-300})
    assert Lattices([real]).weights.tolist() == [1.0] * 10


def test_the_report_counts_empty_and_normalised_lattices():
    batch = Lattices([TWO, ["a", "c"], NOTHING, Fst.from_arcs([(0, "a", "a", 1.0, 1)], {1: 0.0})])
    report = batch.report
    assert (report.lattices, report.empty, report.normalised) == (4, 2, 1)
    assert str(report) == "4 lattices, 2 empty, 1 with a total other than 1, normalised"
    assert "2 empty" in repr(batch)
    assert Lattices([TWO], normalize=False).report.normalised == 0
    assert batch[1:2].report.normalised == 0
    assert NGram(1).fit_features(batch)[1].diag().tolist()[2] == 0.0


def test_the_empty_string_is_not_the_empty_lattice():
    batch = Lattices([Fst.from_arcs([], {0: 3.0}), NOTHING])
    assert np.diff(batch.states).tolist() == [1, 0]
    assert [language(machine) for machine in batch] == [{(): 1.0}, {}]
    assert len(Lattices([])) == 0


def test_a_batch_without_lattices_suits_every_kernel_and_fit_complains_of_its_emptiness():
    assert NGram(2, unit="word")(Lattices([])).shape == NGram(2)(Lattices([], scale={"acoustic": 0.1})).shape == (0, 0)
    with pytest.raises(InputError, match="there are no examples"):
        treille.SVC().fit(Lattices([]), [])


def test_strings_become_lattices_of_one_path():
    batch = Lattices(["abba", "", "c"])
    assert batch.unit == "char"
    assert [language(m) for m in batch] == [{tuple("abba"): 1.0}, {(): 1.0}, {("c",): 1.0}]
    assert Lattices([["to", "be"]]).unit == "token"
    numbers = Lattices([[3, 5], [5]])
    assert numbers.unit == "integer"
    assert language(numbers[0]) == {(3, 5): 1.0}
    mixed = Lattices([TWO, ["c", "d"]])
    assert mixed.alphabet == ["a", "b", "c", "d"]
    assert language(mixed[1]) == {("c", "d"): 1.0}


def test_symbols_of_several_machines_are_matched_by_name():
    one = Fst.from_arcs([(0, "x", "x", 1.0, 1), (1, "y", "y", 1.0, 2)], {2: 1.0})
    other = Fst.from_arcs([(0, "y", "y", 1.0, 1), (1, "x", "x", 1.0, 2)], {2: 1.0})
    batch = Lattices([one, other])
    assert batch.alphabet == ["x", "y"]
    assert batch.symbols.tolist() == [0, 1, 1, 0]


def test_parts_with_one_table_and_labels_alone_are_read():
    table = ["<eps>", "b", "a", "unused"]
    parts = [MachineParts.of([(0, k, k, 0.5, 1)], {1: 1.0}, symbols=table) for k in (1, 2, 0)]
    batch = Lattices(parts)
    assert batch.alphabet == ["a", "b"]
    assert batch.symbols.tolist() == [1, 0, -1]
    assert Lattices([MachineParts.of([(0, 7, 7, 0.5, 1)], {1: 1.0})]).alphabet == [7]


def test_slices_lists_and_masks_select():
    batch = Lattices([TWO, ["a"], NOTHING, ["b", "c"]])
    for key in (slice(1, 3), [3, 0, 0], np.array([True, False, True, True]), slice(None, None, -1), []):
        chosen = [batch[int(i)] for i in np.arange(4)[key]]
        assert [language(m) for m in batch[key]] == [language(m) for m in chosen]
    assert language(batch[-1]) == language(batch[3])
    assert [len(run) for run in batch.chunks(3)] == [1, 3]
    with pytest.raises(IndexError):
        batch[4]


def test_pickles_and_model_files_keep_it():
    batch = Lattices([TWO, NOTHING, ["a"]]).prune(0.3)
    for again in (pickle.loads(pickle.dumps(batch)), Batch.from_state(*batch.state())):
        assert repr(again) == repr(batch)
        for name, array in batch.state()[1].items():
            np.testing.assert_array_equal(again.state()[1][name], array)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("targets", lambda a: a + 5),
        ("targets", lambda a: a * 0),
        ("sources", lambda a: a - 1),
        ("sources", lambda a: a[::-1].copy()),
        ("symbols", lambda a: a + 9),
        ("weights", lambda a: a[:-1]),
        ("states", lambda a: a + 1),
        ("offsets", lambda a: a[:-1]),
        ("lost", lambda a: a[:-1]),
    ],
)
def test_damaged_arrays_are_refused(name, change):
    spec, arrays = Lattices([TWO, ["a"]]).state()
    with pytest.raises(InputError, match="do not fit together"):
        Batch.from_state(spec, arrays | {name: change(arrays[name])})


@settings(max_examples=60)
@given(st.lists(machines(), min_size=1, max_size=3), st.floats(0.01, 0.9))
def test_pruning_keeps_the_best_path_and_reports_the_lost_mass(items, least):
    batch = Lattices(items)
    pruned = batch.prune(least)
    assert list(pruned.best()) == list(batch.best())
    for before, after, lost in zip(batch, pruned, pruned.lost, strict=True):
        whole, kept = language(before), language(after)
        assert sum(kept.values()) == pytest.approx(1.0 if whole else 0.0)
        for z, weight in kept.items():
            assert weight * (1 - lost) <= whole[z] * (1 + 1e-9)
    through = Lattices(items).prune(1e-12)
    np.testing.assert_allclose(through.lost, 0.0, atol=1e-9)


def test_pruning_leaves_the_arcs_and_masses_computed_by_hand():
    arcs = [(0, "a", "a", 0.7, 1), (0, "b", "b", 0.25, 1), (0, "c", "c", 0.05, 1)]
    batch = Lattices([Fst.from_arcs(arcs, {1: 1.0})])
    once = batch.prune(0.1)
    assert language(once[0]) == pytest.approx({("a",): 0.7 / 0.95, ("b",): 0.25 / 0.95})
    assert once.lost[0] == pytest.approx(0.05)
    assert once.prune(0.5).lost[0] == pytest.approx(0.3)
    assert "pruned" in str(once.report)
    as_given = Lattices([Fst.from_arcs(arcs, {1: 2.0})], normalize=False).prune(0.1)
    assert language(as_given[0]) == pytest.approx({("a",): 1.4, ("b",): 0.5})
    assert as_given.lost[0] == pytest.approx(0.05)


@settings(max_examples=80)
@given(st.lists(machines(), min_size=1, max_size=3), st.integers(1, 6))
def test_the_best_paths_are_the_heaviest(items, n):
    batch = Lattices(items)
    for machine, best, listed in zip(batch, batch.best(), batch.n_best(n), strict=True):
        every = sorted((weight for _, _, weight in slow_paths(machine)), reverse=True)
        np.testing.assert_allclose([weight for _, weight in listed], every[:n])
        possible = {symbols for symbols, _, _ in slow_paths(machine)} or {()}
        assert all(tuple(symbols) in possible for symbols, _ in listed)
        if listed:
            assert list(best) == list(listed[0][0]) or listed[0][1] == pytest.approx(listed[1][1])


def test_a_long_lattice_has_best_paths():
    arcs = [(k, w, w, p, k + 1) for k in range(3000) for w, p in (("a", 0.6), ("b", 0.4))]
    batch = Lattices([Fst.from_arcs(arcs, {3000: 1.0})])
    assert batch.best()[0] == ["a"] * 3000
    assert [symbols.count("b") for symbols, _ in batch.n_best(3)[0]] == [0, 1, 1]


def test_scores_are_scaled():
    base = MachineParts.of(
        [(0, 1, 1, 9.0, 1), (0, 2, 2, 9.0, 1)], {1: 0.0}, semiring="log", symbols=["<eps>", "a", "b"]
    )
    scores = {"acoustic": np.array([10.0, 20.0]), "language": np.array([1.0, 0.5])}
    parts = MachineParts(**{**vars(base), "scores": scores})
    batch = Lattices([parts], scale={"acoustic": 0.1})
    np.testing.assert_allclose(np.diff(np.log(batch.weights)), -0.5)
    assert batch.log_totals[0] == pytest.approx(np.logaddexp(-2.0, -2.5))
    for scale, message in (
        ({"lm": 1.0}, "item 0 has no such scores: it has 'acoustic', 'language'"),
        ({"acoustic": "much"}, "scale of 'acoustic' is 'much', expected a number"),
        ("much", "scale is 'much', expected a number"),
        (-1, "scale is -1, expected a positive number"),
    ):
        with pytest.raises(InputError, match=message):
            Lattices([parts], scale=scale)
    with pytest.raises(InputError, match="it has none"):
        Lattices([TWO], scale={"acoustic": 1.0})
    with pytest.raises(InputError, match="sequences have none"):
        Lattices(["abc"], scale={"acoustic": 1.0})


def test_a_number_scales_all_costs():
    costs = MachineParts.of([(0, 1, 1, 20.0, 1), (0, 2, 2, 30.0, 1)], {1: 5.0}, semiring="log")
    batch = Lattices([costs], scale=0.1)
    assert batch.log_totals[0] == pytest.approx(np.logaddexp(-2.5, -3.5))
    np.testing.assert_allclose(np.diff(np.log(batch.weights)), -1.0)
    with pytest.raises(InputError, match="item 0: scale is for costs"):
        Lattices([TWO], scale=0.1)
    endless = MachineParts.of([(0, 1, 1, 1e308, 1), (0, 2, 2, np.inf, 1)], {1: 0.0}, semiring="log")
    with pytest.raises(InputError, match="arc 0 has the weight nan"):
        Lattices([endless], scale=10)


def test_lattices_that_are_nearly_one_path_are_reported_with_what_to_do():
    def slots(*costs):
        arcs = [(k, w + 1, w + 1, cost * w, k + 1) for k, cost in enumerate(costs) for w in (0, 1)]
        return MachineParts.of(arcs, {len(costs): 0.5}, semiring="log")

    peaked, flat, line = (
        slots(50.0, 60.0),
        slots(0.1, 0.2),
        MachineParts.of([(0, 1, 1, 3.0, 1)], {1: 0.0}, semiring="log"),
    )
    batch = Lattices([peaked, line, MachineParts.nothing(semiring="log"), flat, peaked])
    best = [x[0][1] if x else np.nan for x in batch.n_best(1)]
    np.testing.assert_allclose(batch._best_shares()[[0, 3, 4]], np.array(best)[[0, 3, 4]])
    assert np.isnan(batch._best_shares()[[1, 2]]).all()
    assert (batch.report.several_paths, batch.report.on_one_path) == (3, 2)
    assert "2 of 3 with several paths have 99% of the mass on one: if costs are acoustic, scale them down" in batch.note
    assert "of the mass on one" not in Lattices([peaked, line, flat], scale=0.01).note
    ends = Lattices(
        [MachineParts.of([(0, 1, 1, 9.0, 1)], {0: 0.0, 1: 0.0}, semiring="log")]
    )  # the empty path is the best
    assert ends._best_shares()[0] == pytest.approx(1 / (1 + np.exp(-9)))


def parts(**changes):
    base = MachineParts.of([(0, 1, 1, 0.5, 1), (1, 2, 2, 0.5, 2)], {2: 1.0}, symbols=["<eps>", "a", "b"])
    return MachineParts(**{**vars(base), **changes})


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (parts(targets=np.array([1, 9], np.int32)), r"item 1: arc 1 leads to state 9, but there are 3 states"),
        (parts(sources=np.array([-1, 1], np.int32)), r"item 1: arc 0 comes from state -1, but there are 3 states"),
        (parts(final_states=np.array([5], np.int32)), r"item 1: state 5 is final, but there are 3 states"),
        (parts(start=-1), r"item 1 has no start, but 3 states"),
        (parts(start=7), r"item 1 has the start 7, but 3 states"),
        (parts(semiring="boolean"), r"item 1: the semiring is 'boolean', expected one of real, log, tropical"),
        (parts(weights=np.array([0.5, np.nan])), r"item 1: arc 1 has the weight nan, expected a number"),
        (parts(weights=np.array([0.5, np.inf])), r"item 1: arc 1 has the weight inf"),
        (parts(weights=np.array([0.5, -np.inf]), semiring="log"), r"item 1: arc 1 has the weight -inf"),
        (parts(weights=np.array([0.5, -1.0])), r"item 1: arc 1 has the weight -1.0, expected 0 or more in a distribution"),
        (parts(final_weights=np.array([-1.0])), r"item 1: the final state 2 has the weight -1.0"),
        (parts(inputs=np.array([1, 7], np.int32)), r"item 1: arc 1 has the label 7, which has no symbol"),
        (parts(inputs=np.array([1, -2], np.int32)), r"item 1: arc 1 has the label -2, expected 0"),
        (parts(outputs=np.array([1, 1], np.int32)), r"item 1: arc 1 reads 'b' and writes 'a', expected the same"),
        (parts(outputs=np.array([0, 2], np.int32)), r"item 1: arc 0 reads 'a' and writes nothing"),
        (parts(input_symbols=None, output_symbols=None), r"item 0 has symbols, item 1 has labels alone"),
        (parts(name="u7", targets=np.array([1, 0], np.int32), final_states=np.array([1], np.int32)),
         r"item 1 \(u7\) has a cycle: 0 -a-> 1 -b-> 0; expected none"),
        (parts(targets=np.array([1, 1], np.int32), final_states=np.array([1], np.int32), name="x"), r"has a cycle: 1 -b-> 1"),
    ],
)  # fmt: skip
def test_bad_machines_are_refused(machine, message):
    with pytest.raises(InputError, match=message):
        Lattices([TWO, machine])


def test_a_cycle_on_no_accepting_path_is_allowed():
    arcs = [(0, "a", "a", 1.0, 1), (0, "b", "b", 1.0, 2), (2, "b", "b", 1.0, 2)]
    assert language(Lattices([Fst.from_arcs(arcs, {1: 1.0})])[0]) == {("a",): 1.0}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TWO, "found one Fst, expected a list of machines"),
        ("abc", "found one str, expected a list"),
        (7, "found one int"),
        ([TWO, 7], r"item 1 is int \(7\), expected a machine or a sequence"),
        ([b"ab"], "the sequences are bytes"),
        ([[0, 1]], "a sequence holds the integer 0, expected labels from 1"),
        ([TWO, b"ab"], "a sequence is bytes"),
    ],
)
def test_data_that_is_not_a_list_of_machines_is_refused(data, message):
    with pytest.raises(InputError, match=message):
        Lattices(data)


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="normalize is 'yes'"):
        Lattices([TWO], normalize="yes")
    with pytest.raises(InputError, match="posterior is 2"):
        Lattices([TWO]).prune(2)
    with pytest.raises(InputError, match="n is 0"):
        Lattices([TWO]).n_best(0)
    signed = Lattices([Fst.from_arcs([(0, "a", "a", -1.0, 1)], {1: 1.0})], normalize=False)
    for call in (signed.best, lambda: signed.prune(0.1), lambda: signed.n_best(1)):
        with pytest.raises(InputError, match=r"item 0 has the weight -1.0"):
            call()
    far = Fst.from_arcs([(0, "a", "a", 900.0, 1)], {1: 0.0}, semiring="log")
    with pytest.raises(InputError, match=r"the weight 900.0, expected a cost from -709 to 708"):
        Lattices([far], normalize=False)


def test_the_default_kernel_of_lattices_counts_words_and_pairs():
    for X in (Lattices([TWO, ["a"]]), [TWO, TWO]):
        chosen, why = choose_kernel(None, X)
        assert repr(chosen) == "NGram(n=2, min_n=1, unit='word').weighted('idf').normalized()"
        assert "lattices" in why


def test_pynini_machines_are_read():
    pynini = pytest.importorskip("pynini")
    machine = pynini.accep("ab", token_type="byte")
    assert language(Lattices([machine])[0]) == {(97, 98): 1.0}


def test_strings_batches_are_accepted():
    batch = Lattices(Strings(["to be", "or"], unit="word"))
    assert batch.unit == "word"
    assert list(batch.best()) == [["to", "be"], ["or"]]


def test_lattices_come_from_files_too(tmp_path):
    (tmp_path / "a.plf").write_text("((('a', 0.5, 1), ('b', 0.5, 1)),)\n((('c', 1.0, 1),),)\n")
    batch = Lattices.from_file(tmp_path / "a.plf", weights="prob")
    assert len(batch) == 2
    assert list(batch.n_best(2)[0]) == list(Lattices(read(tmp_path / "a.plf", weights="prob").X).n_best(2)[0])
    (tmp_path / "a.csv").write_text("text,label\na,b\n")
    with pytest.raises(InputError, match="was read as csv, expected lattices: name their format"):
        Lattices.from_file(tmp_path / "a.csv")


def test_a_single_thing_is_counted_in_the_singular():
    one = Lattices([MachineParts.of([(0, 1, 1, 1.0, 1)], {1: 1.0})])
    assert repr(one).startswith("Lattices(1 lattice, ")
    assert "1 lattices" not in str(Lattices.summarise(one, 0, 80).fields)
