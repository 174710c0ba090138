"""The estimator Perceptron: batches, streams, late classes and features, the memory of a stream, and refusals."""

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import Fst, InputError, Perceptron
from treille.data import Graph
from treille.estimators.streams import as_streamed
from treille.kernels import (
    Conjunctions,
    EdgeHistogram,
    GappedKmer,
    Gappy,
    Graphlets,
    Linear,
    Mismatch,
    NGram,
    Polynomial,
    Rational,
    RootPaths,
    Subpath,
    Subsequence,
    SubsetTree,
    SubTree,
    Walks,
    WeightedDegree,
    WeisfeilerLehman,
    Wildcard,
)
from treille.testing import check_estimator
from twins import ngram_counts

RANDOM = np.random.default_rng(4)
TEXTS = ["".join(RANDOM.choice(list("abcd"), RANDOM.integers(1, 9))) for _ in range(60)]
LABELS = np.array(["cold", "fair", "warm"])[[(text.count("a") > text.count("b")) + (text[0] == "c") for text in TEXTS]]
DNA = ["".join(RANDOM.choice(list("ACGT"), 8)) for _ in range(60)]
TREES = [f"(S (A {x}) (B (C {y}) (D {x})))" for x, y in RANDOM.choice(list("pqrs"), (60, 2))]
LATE = [text + chr(ord("e") + i // 4) for i, text in enumerate(TEXTS)]  # every term of a sum gets new features
GRAPHS = [Graph(list("CNO")[: 2 + i % 2], [(0, 1)], None) for i in range(60)]
ENDS = Fst.from_arcs(
    [(0, a, "", 1.0, 0) for a in "abcd"] + [(0, a, a, 1.0, 1) for a in "abcd"], {1: 1.0}
)  # the last symbol
MERGING = [
    (NGram(2, min_n=1), TEXTS),
    (NGram(2).normalized(), TEXTS),
    (NGram(1, unit="byte", counts="log"), TEXTS),
    (NGram(2, min_n=1).balanced(), TEXTS),
    (NGram(1) + 0.5 * Gappy(2, max_gap=2).normalized(), TEXTS),
    (Wildcard(3, 1), TEXTS),
    (GappedKmer(4, 2), TEXTS),
    (GappedKmer(4, 2, reverse_complement=True).normalized(), DNA),
    (Mismatch(3, 1, alphabet="ACGT"), DNA),
    (WeightedDegree(3), DNA),
    (WeisfeilerLehman(2), GRAPHS),
    (1 + Linear(), RANDOM.normal(size=(60, 3)).tolist()),
    (Linear(), [{"a": 1.0 * i, "bcd"[i % 3]: 2.0} for i in range(60)]),
    (NGram(1) + NGram(2), LATE),
    (Rational(ENDS), TEXTS),
    (SubTree(), TREES),
    (SubTree(leaves=True).normalized() + 0.5 * RootPaths(), TREES),
    (Walks(1), GRAPHS),
    (Graphlets(3), GRAPHS),
    (WeisfeilerLehman(1, base=EdgeHistogram(ends=True)), GRAPHS),
]
OTHERS = [
    (Subsequence(2), TEXTS),
    (Subsequence(2, unit="word"), [" ".join(text) for text in TEXTS]),
    (NGram(1) ** 2, TEXTS),
    (NGram(1) * NGram(2), TEXTS),
    (SubsetTree(0.4), TREES),
    (Subpath(), TREES),
    (Polynomial(2), [[1.0, i % 2, i // 30] for i in range(60)]),  # first of zeros and ones, then of other numbers
    (Conjunctions(2), [dict.fromkeys(text, 1) for text in TEXTS]),
]


pytestmark = pytest.mark.filterwarnings("ignore::treille.ConvergenceWarning")


def chunks(X, y, sizes):
    cuts = np.cumsum([0, *sizes])
    return [(X[a:b], y[a:b]) for a, b in pairwise(cuts)]


def streamed(model, X, y, sizes, **options):
    for texts, labels in chunks(X, y, sizes):
        assert model.partial_fit(texts, labels, **options) is model
    return model


def named_weights(model):
    return {
        (model.features_.name(i), label): value
        for label, row in zip(model.classes_.tolist(), model.coef_, strict=True)
        for i, value in enumerate(row.tolist())
        if abs(value) > 1e-12
    }


@pytest.mark.parametrize(("kernel", "X"), [*MERGING, *OTHERS], ids=lambda v: repr(v) if hasattr(v, "check") else "")
@pytest.mark.parametrize("averaged", [False, True])
def test_a_stream_in_chunks_is_one_pass_over_all(kernel, X, averaged):
    whole = Perceptron(kernel, averaged=averaged).partial_fit(X, LABELS)
    parts = streamed(Perceptron(kernel, averaged=averaged), X, LABELS, [7, 1, 30, 2, 20])
    assert parts.classes_.tolist() == whole.classes_.tolist()
    assert parts.decision_function(X) == pytest.approx(whole.decision_function(X))
    assert parts.intercept_ == pytest.approx(whole.intercept_)
    assert parts.running_accuracy_ == whole.running_accuracy_
    assert parts.report_.mistakes == whole.report_.mistakes
    assert parts.report_.dual == pytest.approx(whole.report_.dual)
    if hasattr(whole, "features_"):
        assert named_weights(parts) == pytest.approx(named_weights(whole))


@pytest.mark.parametrize(("kernel", "X"), MERGING, ids=lambda v: repr(v) if hasattr(v, "check") else "")
def test_kernels_whose_features_can_be_added_to_keep_weights_only(kernel, X):
    model = streamed(Perceptron(kernel), X, LABELS, [30, 30])
    assert model.plan_.space.name == "rows"
    assert model.coef_.shape == (3, model.features_.n_features)


@pytest.mark.parametrize(("kernel", "X"), OTHERS, ids=lambda v: repr(v) if hasattr(v, "check") else "")
def test_other_kernels_keep_the_examples_with_mistakes(kernel, X):
    model = streamed(Perceptron(kernel), X, LABELS, [30, 30])
    assert model.plan_.space.name == "gram"
    assert len(model.functions_.support) <= sum(model.report_.mistakes)


def slow_stream(texts, labels):
    """One pass of one perceptron per class against the rest on counts of n-grams: weights, means, and right predictions."""
    classes = sorted(set(labels))
    w, b = {c: Counter() for c in classes}, dict.fromkeys(classes, 0)
    total, total_b, right, seen = {c: Counter() for c in classes}, dict.fromkeys(classes, 0), 0, []
    for text, label in zip(texts, labels, strict=True):
        x = {"".join(z): v for z, v in ngram_counts(text, 2, 1).items()}
        g = {c: b[c] + sum(w[c][z] * v for z, v in x.items()) for c in classes}
        right += bool(seen) and max(sorted(seen), key=lambda c: g[c]) == label
        for c in classes:
            y = 1 if c == label else -1
            if (1 if g[c] > 0 else -1) != y:
                for z, v in x.items():
                    w[c][z] += y * v
                b[c] += y
            for z, v in w[c].items():
                total[c][z] += v
            total_b[c] += b[c]
        seen = sorted({*seen, label})
    n = len(texts)
    return (
        w,
        b,
        {c: {z: v / n for z, v in total[c].items()} for c in classes},
        {c: total_b[c] / n for c in classes},
        right / n,
    )


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.text("abc", max_size=5), st.sampled_from(["x", "y", "z"])), min_size=1, max_size=25),
    st.data(),
)
def test_streams_equal_the_twin_whatever_comes_late(examples, data):
    texts, labels = zip(*examples, strict=True)
    labels = ("v", "w", *labels)  # three classes or more
    texts = ("a", "b", *texts)
    sizes, left = [], len(texts)
    while left:
        sizes.append(data.draw(st.integers(1, left)))
        left -= sizes[-1]
    w, b, mean, mean_b, accuracy = slow_stream(texts, labels)
    for averaged, weights, intercepts in ((False, w, b), (True, mean, mean_b)):
        model = streamed(Perceptron(NGram(2, min_n=1), averaged=averaged), texts, labels, sizes)
        expected = {(z, c): v for c in weights for z, v in weights[c].items() if v}
        assert model.running_accuracy_ == pytest.approx(accuracy)
        if len(model.classes_) > 2:
            assert named_weights(model) == pytest.approx(expected)
            assert model.intercept_ == pytest.approx([intercepts[c] for c in model.classes_])
        else:
            difference = {z: expected.get((z, "w"), 0) - expected.get((z, "v"), 0) for z, _ in expected}
            found = {model.features_.name(i): v for i, v in enumerate(model.coef_[0].tolist())}
            assert all(found[z] == pytest.approx(v) for z, v in difference.items())


def test_classes_known_from_the_start_change_nothing():
    late = streamed(Perceptron(NGram(1)), TEXTS, LABELS, [3, 57])
    early = streamed(Perceptron(NGram(1)), TEXTS, LABELS, [3, 57], classes=["cold", "fair", "warm"])
    assert np.array_equal(late.coef_, early.coef_)
    assert late.running_accuracy_ == early.running_accuracy_


def test_the_report_of_a_stream_claims_no_margin():
    report = Perceptron(NGram(1)).partial_fit(TEXTS, LABELS).report_
    assert report.status == "stream"
    assert np.isnan(report.margin)
    assert report.mistake_bound == np.inf
    assert 0 < -report.dual <= 3 * report.radius
    assert "margin=nan" in repr(report)


def test_a_stream_may_begin_with_one_class_and_predicts_it():
    model = Perceptron(NGram(1)).partial_fit(["a", "b"], [7, 7])
    assert model.predict(["a", "z"]).tolist() == [7, 7]
    assert model.partial_fit(["c"], [3]).predict(["c", "a"]).tolist() == [3, 7]
    assert model.decision_function(["c", "a"]).shape == (2,)
    with pytest.raises(InputError, match="the label 5 is not among the classes"):
        model.partial_fit(["c"], [5], classes=[3, 7])


def test_labels_outside_the_classes_given_are_refused_in_later_calls():
    model = Perceptron(NGram(1)).partial_fit(["a"], ["x"], classes=["x", "y"])
    assert model.classes_.tolist() == ["x", "y"]
    with pytest.raises(
        InputError, match=r"the label 'z' is not among the classes \['x', 'y'\]: name all classes in the first"
    ):
        model.partial_fit(["a"], ["z"])
    with pytest.raises(InputError, match="earlier calls had"):
        model.partial_fit(["a"], ["x"], classes=["x", "y", "z"])
    with pytest.raises(InputError, match="expected labels of one type in all calls"):
        model.partial_fit(["a"], [1])


@pytest.mark.parametrize(
    "kernel",
    [
        NGram(2).weighted("idf"),
        NGram(2).weighted("nb").normalized(),
        NGram(1).centered(),
        NGram(1) + NGram(2).weighted(),
    ],
)
def test_kernels_that_depend_on_all_examples_are_refused_for_streams(kernel):
    with pytest.raises(
        InputError, match=r"depends on all training examples.*leave out .weighted\(\) and .centered\(\), as in NGram"
    ):
        Perceptron(kernel).partial_fit(TEXTS, LABELS)
    assert not as_streamed(kernel).needs_features


def test_an_approximation_and_no_examples_are_refused_for_streams():
    with pytest.raises(InputError, match="space is 'nystrom', which compares with landmarks among all examples"):
        Perceptron(NGram(2), space="nystrom").partial_fit(TEXTS, LABELS)
    for model in (Perceptron(NGram(1)), Perceptron(NGram(1)).partial_fit(TEXTS, LABELS)):
        with pytest.raises(InputError, match="there are no examples"):
            model.partial_fit([], [])


def test_kernel_values_given_or_computed_by_a_function_learn_the_same():
    K = NGram(2)(TEXTS)
    expected = Perceptron(NGram(2)).fit(TEXTS, LABELS).decision_function(TEXTS)
    assert Perceptron("precomputed").fit(K, LABELS).decision_function(K) == pytest.approx(expected)
    function = Perceptron(lambda X, Y: NGram(2)(X, Y))
    assert function.fit(TEXTS, LABELS).decision_function(TEXTS) == pytest.approx(expected)


def test_weights_by_class_are_learned_with_rows_for_each_class():
    model = Perceptron(NGram(2).weighted("nb").normalized()).fit(TEXTS, LABELS)
    assert len(model.report_.per_class) == 3
    assert model.score(TEXTS, LABELS) > 0.8


def test_a_precomputed_kernel_is_refused_for_streams():
    with pytest.raises(InputError, match="precomputed"):
        Perceptron("precomputed").partial_fit(np.eye(2), [0, 1])


@pytest.mark.parametrize("X", [TEXTS, [text.split("a") for text in TEXTS], treille.dna(DNA), TREES, GRAPHS])
def test_the_default_kernel_of_a_stream_depends_on_no_other_examples(X):
    X = treille.Trees(X) if X is TREES else X
    model = streamed(Perceptron(), X, LABELS, [30, 30])
    assert not model.plan_.kernel.needs_features
    assert model.plan_.kernel_why.startswith("chosen: ")
    assert model.predict(X).shape == (60,)


def test_a_refused_or_interrupted_call_leaves_the_stream_as_it_was(monkeypatch):
    for kernel in (NGram(2), Subsequence(2)):
        model = Perceptron(kernel).partial_fit(TEXTS[:40], LABELS[:40])
        before = model.decision_function(TEXTS)
        with pytest.raises(InputError, match="labels"):
            model.partial_fit(TEXTS[40:], LABELS[40:-1])
        with pytest.raises(InputError, match="item 1 is"):
            model.partial_fit(["a", None], ["new", "cold"])
        with monkeypatch.context() as patched:
            patched.setattr(type(model._stream), "functions", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            for label in ("new", "cold"):  # the weights of a stream with the same classes are changed in place
                with pytest.raises(KeyboardInterrupt):
                    model.partial_fit(["abc", "xyz"], [label, label])
        assert np.array_equal(model.decision_function(TEXTS), before)
        assert "new" not in model.classes_.tolist()
        again = Perceptron(kernel).partial_fit(TEXTS, LABELS)
        assert model.partial_fit(TEXTS[40:], LABELS[40:]).decision_function(TEXTS) == pytest.approx(
            again.decision_function(TEXTS)
        )


@pytest.mark.parametrize("kernel", [NGram(2), Subsequence(2)], ids=repr)
def test_an_interrupt_before_anything_is_learned_is_raised(kernel, monkeypatch):
    for model in (Perceptron(kernel), Perceptron(kernel).partial_fit(["abc"], ["new"])):
        with monkeypatch.context() as patched:
            patched.setattr(
                "treille.estimators.streams.Stream.learn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
            )
            with pytest.raises(KeyboardInterrupt):
                model.partial_fit(TEXTS, LABELS)
        assert set(model.partial_fit(TEXTS, LABELS).classes_) >= set(LABELS)


@pytest.mark.parametrize("kernel", [NGram(2), Subsequence(2)], ids=repr)
@pytest.mark.parametrize("labels", [LABELS, LABELS == "cold"], ids=["three", "two"])
def test_a_stream_continues_from_a_fitted_or_loaded_model(kernel, labels, tmp_path):
    model = Perceptron(kernel, averaged=False).partial_fit(TEXTS[:40], labels[:40])
    model.save(tmp_path / "m.treille")
    loaded = treille.load(tmp_path / "m.treille").partial_fit(TEXTS[40:], labels[40:])
    if len(set(labels)) > 2:  # two classes are saved as one function
        assert loaded.decision_function(TEXTS) == pytest.approx(
            model.partial_fit(TEXTS[40:], labels[40:]).decision_function(TEXTS)
        )
    fitted = Perceptron(kernel).fit(TEXTS[:40], labels[:40])
    scores = fitted.decision_function(TEXTS)
    fitted.partial_fit(TEXTS[40:41], fitted.predict(TEXTS[40:41]))
    if fitted.report_.mistakes == (0,):
        assert fitted.decision_function(TEXTS) == pytest.approx(scores)
    assert hasattr(fitted, "running_accuracy_")
    assert not hasattr(fitted.fit(TEXTS, labels), "running_accuracy_")


def test_a_model_with_weights_that_cannot_grow_says_so():
    with pytest.raises(
        InputError, match=r"features of Subpath\(.*\), which cannot be added to, .*depend on all examples"
    ):
        Perceptron(Subpath()).fit(treille.Trees(TREES), LABELS).partial_fit(treille.Trees(TREES), LABELS)


def test_training_continues_with_the_weights_of_products():
    fitted = Perceptron(NGram(1) ** 2).fit(TEXTS[:40], LABELS[:40])
    assert fitted.plan_.space.name == "rows"
    n_features = fitted.features_.n_features
    fitted.partial_fit(LATE, LABELS)
    assert fitted.plan_.space.name == "rows"
    assert fitted.features_.n_features > n_features


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("kernel", [NGram(2), Subsequence(2), NGram(2).weighted("idf").normalized()], ids=repr)
def test_it_obeys_the_laws_of_estimators(kernel, averaged):
    check_estimator(Perceptron(kernel, averaged=averaged, max_epochs=1000), TEXTS[:30], LABELS[:30] == "cold")


def test_rows_and_kernel_values_learn_the_same():
    class Values(treille.kernels.Kernel):
        """NGram without features."""

        reads = NGram(2).reads

        def gram(self, left, right=None, n_jobs=None):
            return NGram(2).gram(left, right, n_jobs)

        def diagonal(self, batch, n_jobs=None):
            return NGram(2).diagonal(batch, n_jobs)

    rows, gram = (Perceptron(kernel, max_epochs=7).fit(TEXTS, LABELS == "cold") for kernel in (NGram(2), Values()))
    assert (rows.plan_.space.name, gram.plan_.space.name) == ("rows", "gram")
    assert rows.report_.mistakes == gram.report_.mistakes
    assert rows.decision_function(TEXTS) == pytest.approx(gram.decision_function(TEXTS))


def test_files_and_pickles_keep_the_state_of_a_stream(tmp_path):
    for model in (Perceptron(NGram(2)).fit(TEXTS, LABELS == "cold"), Perceptron(NGram(2)).partial_fit(TEXTS, LABELS)):
        model.save(tmp_path / "m.treille")
        again = treille.load(tmp_path / "m.treille")
        assert np.array_equal(again.decision_function(TEXTS), model.decision_function(TEXTS))
        assert again.report_ == model.report_.timeless()
        assert again.averaged is True
        twin = pickle.loads(pickle.dumps(model)).partial_fit(["abc"], model.classes_[:1])
        expected = model.partial_fit(["abc"], model.classes_[:1])
        assert np.array_equal(twin.decision_function(TEXTS), expected.decision_function(TEXTS))


def test_explanations_sum_to_the_scores():
    model = Perceptron(NGram(2, min_n=1)).partial_fit(TEXTS, LABELS)
    scores = model.decision_function(TEXTS)
    for i, found in enumerate(model.explain_all(TEXTS)):
        assert found.values.sum(axis=0) + found.base + model.intercept_ == pytest.approx(scores[i])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"averaged": "yes"}, "averaged is 'yes', expected True or False"),
        ({"fit_intercept": "free"}, "fit_intercept is 'free', expected True or False"),
        ({"max_epochs": 0}, "max_epochs is 0"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        Perceptron(**parameters).fit(TEXTS, LABELS)


def test_weights_of_classes_work_in_streams_unless_they_depend_on_all_labels():
    heavy = Perceptron(NGram(1), class_weight={"warm": 3.0, "cold": 1.0}).partial_fit(TEXTS, LABELS)
    weights = np.where(LABELS == "warm", 3.0, 1.0)
    assert np.array_equal(heavy.coef_, Perceptron(NGram(1)).partial_fit(TEXTS, LABELS, sample_weight=weights).coef_)
    with pytest.raises(InputError, match="'balanced', which depends on all labels"):
        Perceptron(NGram(1), class_weight="balanced").partial_fit(TEXTS, LABELS)


def test_examples_of_weight_zero_are_left_out_of_a_stream():
    weights = np.arange(60) % 2
    some = Perceptron(NGram(1)).partial_fit(TEXTS[1::2], LABELS[1::2])
    zeros = Perceptron(NGram(1)).partial_fit(TEXTS, LABELS, sample_weight=weights)
    assert named_weights(some) == pytest.approx(named_weights(zeros))


def test_series_arrays_and_iterators_are_read():
    expected = Perceptron(NGram(1)).partial_fit(TEXTS, LABELS).coef_
    for X in (pd.Series(TEXTS, index=range(60, 120)), np.array(TEXTS), iter(TEXTS), treille.Strings(TEXTS)):
        assert np.array_equal(Perceptron(NGram(1)).partial_fit(X, LABELS).coef_, expected)
