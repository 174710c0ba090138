"""W' as a minimal automaton: it is minimal, it gives every string its weight, and models saved that way decide the same."""

import json
import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import SVC, InputError, _core
from treille.io.model import read_model, write_model
from treille.kernels import Gappy, NGram, Subsequence, WeightedDegree, Wildcard
from treille.spaces.weight_automaton import weight_fst

TEXTS = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog", "quick brown foxes", "lazy dogs sleep"]
TEXTS += ["the the the", "colourless green ideas", "sleep furiously now", "", "aaaaaaaa"]
NEW = ["the cat and the log", "colour of green dogs", "unheard-of ω", "", "aaaa", *TEXTS]
KERNELS = [NGram(3), NGram(4, 1), NGram(2, unit="word").normalized(), Gappy(3, 0.5, max_gap=2), Wildcard(3, 1, 0.5)]


def minimal(weights, classes=None):
    """The core's automaton of a dict string -> weight."""
    strings = list(weights)
    offsets = np.cumsum([0, *map(len, strings)])
    symbols = np.array([ord(c) - ord("a") for c in "".join(strings)], np.int32)
    classes = np.zeros(len(strings)) if classes is None else np.array([classes[s] for s in strings])
    return _core.WeightAutomaton.minimal(
        symbols, offsets, classes.astype(np.int32), np.array(list(weights.values()), float)
    )


def residuals(weights, classes):
    """From the definition: the futures of all prefixes up to a factor, and up to the class if a future has only one."""
    states = {}
    for prefix in {s[:k] for s in weights for k in range(len(s) + 1)}:
        future = sorted((s[len(prefix) :], classes[s], w) for s, w in weights.items() if s.startswith(prefix))
        one = len({c for _, c, _ in future}) == 1
        states[prefix] = tuple((rest, -1 if one else c, round(w / future[0][2], 9)) for rest, c, w in future)
    arcs = {(states[p], q[-1]) for q in states for p in [q[:-1]] if q}
    return set(states.values()), arcs


strings = st.text("abc", max_size=5)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(strings, st.tuples(st.sampled_from([-3.0, -1.0, 0.5, 1.0, 2.0]), st.integers(0, 1)), min_size=1))
def test_the_automaton_is_minimal(drawn):
    weights, classes = {s: w for s, (w, _) in drawn.items()}, {s: c for s, (_, c) in drawn.items()}
    machine = minimal(weights, classes)
    states, arcs = residuals(weights, classes)
    assert (machine.n_states, machine.n_arcs) == (len(states), len(arcs))


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(strings, st.tuples(st.floats(0.01, 100), st.booleans(), st.integers(0, 2))))
def test_packed_strings_are_read_back(drawn):
    weights = {s: w if sign else -w for s, (w, sign, _) in drawn.items()}
    classes = {s: c for s, (_, _, c) in drawn.items()}
    packed = minimal(weights, classes).pack()
    symbols, offsets, found, values = _core.unpack_weights(*packed, 3, 3, len(weights))
    unpacked = ["".join(chr(ord("a") + c) for c in symbols[a:b]) for a, b in pairwise(offsets)]
    assert unpacked == sorted(weights)
    assert [classes[s] for s in unpacked] == found.tolist()
    assert values == pytest.approx([weights[s] for s in unpacked], rel=1e-12)


def accepted(machine):
    """Every string with its weight, path by path."""
    arcs = {}
    for source, label, _, weight, target in machine.arcs():
        arcs.setdefault(source, []).append((label, weight, target))
    parts = machine.parts()
    finals = dict(zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True))
    found, paths = {}, [(machine.start, (), 1.0)]
    while paths:
        state, string, weight = paths.pop()
        if state in finals:
            found[string] = weight * finals[state]
        paths += [(t, (*string, machine.input_symbols[label]), weight * w) for label, w, t in arcs.get(state, [])]
    return found


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_acceptor_gives_each_feature_its_weight(kernel, n_classes):
    model = SVC(kernel).fit(TEXTS, np.arange(len(TEXTS)) % n_classes)
    machines = model.weight_automaton()
    assert n_classes == 2 or list(machines) == [0, 1, 2]
    names = model.features_.strings()
    for k, machine in enumerate([machines] if n_classes == 2 else machines.values()):
        expected = {}
        for z, weight in enumerate(model.coef_[k]):
            string = names.symbols[names.offsets[z] : names.offsets[z + 1]]
            if weight != 0:
                expected[tuple(names.names[s] for s in string)] = weight
        found = accepted(machine)
        assert found.keys() == expected.keys()
        assert [found[s] for s in expected] == pytest.approx(list(expected.values()), rel=1e-12)
        assert isinstance(machine, treille.Fst)
        assert machine.semiring == "real"


def test_weights_that_are_all_zero_make_a_machine_that_accepts_nothing():
    features, _ = NGram(2).fit_features(NGram(2).batch(["abc"]))
    assert weight_fst(features, np.zeros(2)).n_arcs == 0


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weights", ["automaton", "auto"])
def test_a_model_saved_as_an_automaton_decides_the_same(kernel, n_classes, weights, tmp_path):
    model = SVC(kernel, C=3.0).fit(TEXTS, np.arange(len(TEXTS)) % n_classes)
    model.save(tmp_path / "m.treille", representation=weights)
    again = treille.load(tmp_path / "m.treille")
    assert again.decision_function(NEW) == pytest.approx(model.decision_function(NEW), rel=1e-11, abs=1e-12)
    assert again.predict(NEW).tolist() == model.predict(NEW).tolist()
    assert again.features_.n_features == np.count_nonzero(model.coef_.any(axis=0))
    assert {again.features_.name(i) for i in range(again.features_.n_features)} <= {
        model.features_.name(i) for i in range(model.features_.n_features)
    }
    again.save(tmp_path / "twice.treille", representation="automaton")
    twice = treille.load(tmp_path / "twice.treille")
    assert twice.decision_function(NEW) == pytest.approx(again.decision_function(NEW), rel=1e-11, abs=1e-12)


def test_auto_is_the_smaller_file(tmp_path):
    rng = np.random.default_rng(0)
    many = ["".join(rng.choice(list("abcd"), 200)) for _ in range(40)]
    for X in (["ab", "cd"], many):
        model, sizes = SVC(NGram(7)).fit(X, np.arange(len(X)) % 2), {}
        for weights in ("flat", "automaton", "auto"):
            model.save(tmp_path / weights, representation=weights)
            sizes[weights] = (tmp_path / weights).stat().st_size
        assert sizes["auto"] == min(sizes.values())
    assert sizes["automaton"] < sizes["flat"] / 2


def test_the_default_is_read_back_bit_for_bit(tmp_path):
    model = SVC(NGram(3).normalized()).fit(TEXTS, np.arange(len(TEXTS)) % 2)
    model.save(tmp_path / "m.treille")
    assert np.array_equal(treille.load(tmp_path / "m.treille").decision_function(NEW), model.decision_function(NEW))


def test_models_that_cannot_be_automata_are_refused(tmp_path):
    path, codes = tmp_path / "m.treille", np.arange(len(TEXTS)) % 2
    with pytest.raises(InputError, match="expected 'auto', 'flat' or 'automaton'"):
        SVC(NGram(2)).fit(TEXTS, codes).save(path, representation="zip")
    placed = SVC(WeightedDegree(2)).fit(TEXTS, codes)
    with pytest.raises(InputError, match="not strings of symbols"):
        placed.save(path, representation="automaton")
    with pytest.raises(InputError, match="not strings of symbols"):
        _ = placed.weight_automaton()
    placed.save(path, representation="auto")
    by_values = SVC(Subsequence(2, 0.5)).fit(TEXTS, codes)
    with pytest.raises(InputError, match="keeps examples"):
        by_values.save(path, representation="automaton")
    by_values.save(path, representation="auto")
    assert not path.with_suffix(".tmp").exists()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.treille"
    SVC(NGram(3)).fit(TEXTS, np.arange(len(TEXTS)) % 2).save(path, representation="automaton")
    return path


def assert_damage_is_refused(path, change):
    spec, arrays = read_model(path)
    spec, arrays = json.loads(json.dumps(spec)), {name: array.copy() for name, array in arrays.items()}
    change(spec, arrays)
    write_model(path, spec, arrays)
    with pytest.raises(InputError, match=r"m\.treille"):
        treille.load(path)


def swap(name, make):
    """Replaces one packed array by what `make` makes of it."""

    def change(spec, arrays):
        _, kind = spec["automaton"]["arrays"][name]
        planes = np.frombuffer(zlib.decompress(arrays[f"automaton.{name}"].tobytes()), np.uint8)
        values = np.ascontiguousarray(planes.reshape(np.dtype(kind).itemsize, -1).T).view(kind).ravel()
        values = make(values.copy())
        spec["automaton"]["arrays"][name][0] = len(values)
        planes = np.ascontiguousarray(values.view(np.uint8).reshape(len(values), -1).T)
        arrays[f"automaton.{name}"] = np.frombuffer(zlib.compress(planes.tobytes()), np.uint8)

    return change


def put(at, value):
    def make(values):
        values[at] = value
        return values

    return make


DAMAGES = {
    "fewer strings": lambda spec, arrays: spec["automaton"].update(strings=3),
    "too many strings": lambda spec, arrays: spec["automaton"].update(strings=10**15),
    "a small alphabet": lambda spec, arrays: spec["automaton"].update(symbols=2),
    "an array is missing": lambda spec, arrays: arrays.pop("automaton.labels"),
    "an array that is not squeezed": lambda spec, arrays: arrays.update({"automaton.labels": np.zeros(9, np.uint8)}),
    "an array of another size": lambda spec, arrays: spec["automaton"]["arrays"]["labels"].__setitem__(0, 7),
    "an array of objects": lambda spec, arrays: spec["automaton"]["arrays"]["labels"].__setitem__(1, "|O"),
    "states cut short": swap("states", lambda values: values[:-1]),
    "states too many": swap("states", lambda values: np.append(values, values[:1])),
    "targets cut short": swap("targets", lambda values: values[:-1]),
    "a target that is none": swap("targets", put(0, 127)),
    "a cycle": swap("targets", lambda values: np.where(values > 0, 1, values).astype(values.dtype)),
    "a label outside": swap("labels", put(0, 10**6)),
    "labels that fall": swap("labels", lambda values: values[::-1].copy()),
    "a code outside": swap("codes", put(0, 10**6)),
    "codes cut short": swap("codes", lambda values: values[:-1]),
    "a class outside": swap("classes", put(0, 9)),
    "no class": swap("classes", put(slice(None), 0)),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_automata_are_refused(name, saved):
    assert_damage_is_refused(saved, DAMAGES[name])


def test_strings_of_another_length_are_refused(saved):
    assert_damage_is_refused(saved, lambda spec, arrays: spec["kernel"]["params"].update(n=4))
