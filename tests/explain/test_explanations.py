"""Contributions of parts sum to the score, for every kind of data, kernel and estimator that explains."""

import numpy as np
import pandas as pd
import pytest

import treille
from treille import SVC, SVR, InputError, LogisticRegression, Ridge
from treille.kernels import Columns, Linear, NGram

RANDOM = np.random.default_rng(0)
CODES = np.array([0, 1, 2] * 10)
TEXTS = [" ".join("".join(RANDOM.choice(list("abcd"[k:] + "d"), 3)) for _ in range(4)) for k in CODES]
LABELS = np.array(["x", "y", "z"])[CODES]
NEW = [*TEXTS[:4], "", "unseen words 123", "a"]
KERNELS = [
    NGram(2),
    NGram(3, min_n=1, order_weights=[1.0, 0.5, 2.0]).normalized(),
    NGram(2, counts="log").weighted("idf").normalized(),
    NGram(2, min_n=1).weighted("idf").balanced(),
    NGram(1, unit="word").weighted("nb").normalized(),
    2.5 * NGram(2) + NGram(1, unit="word").normalized(),
    (1 + NGram(2)).centered(),
    (NGram(2) + NGram(1, unit="word")).normalized(),
    NGram(1) * NGram(1, unit="word"),
    ((1 + NGram(1)) ** 2).normalized(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("labels", [LABELS, LABELS == "x"], ids=["three classes", "two classes"])
def test_contributions_sum_to_the_decision(kernel, labels):
    model = SVC(kernel).fit(TEXTS, labels)
    scores = model.decision_function(NEW).reshape(len(NEW), -1)
    for found, expected, label in zip(model.explain_all(NEW), scores, model.predict(NEW).tolist(), strict=True):
        np.testing.assert_allclose(found.scores, expected, rtol=0, atol=1e-9)
        assert found.predicted == label
        total = found.contributions().sum()
        k = model.classes_.tolist().index(label)
        sign, function = (1 if k else -1, 0) if len(model.classes_) == 2 else (1, k)
        assert total + sign * (found.base + found.intercept)[function] == pytest.approx(sign * found.scores[function])


@pytest.mark.parametrize("estimator", [SVR(NGram(2)), Ridge(NGram(2)), LogisticRegression(NGram(2))], ids=repr)
def test_every_estimator_explains(estimator):
    model = estimator.fit(TEXTS, CODES > 0 if hasattr(estimator, "class_weight") else CODES.astype(float))
    found = model.explain(TEXTS[0])
    output = model.decision_function if hasattr(model, "decision_function") else model.predict
    assert found.scores[0] == pytest.approx(output(TEXTS[:1])[0], abs=1e-9)
    assert found.names == list(TEXTS[0])


def test_an_n_gram_shares_its_weight_among_its_symbols():
    model = SVC(NGram(2)).fit(["ab", "cd"], [0, 1])
    weights = dict(zip([model.features_.name(i) for i in range(2)], model.coef_[0], strict=True))
    found = model.explain("xcdab").contributions(1)
    np.testing.assert_allclose(found, [0, *[weights["cd"] / 2] * 2, *[weights["ab"] / 2] * 2])


def test_an_empty_example_has_no_contributions():
    found = SVC(NGram(2)).fit(TEXTS, LABELS).explain("")
    assert found.names == []
    assert found.values.shape == (0, 3)
    np.testing.assert_array_equal(found.scores, found.intercept)


def test_each_column_has_its_parts():
    X = {"title": TEXTS, "size": np.arange(len(TEXTS)) / 30}
    model = SVC(Columns({"title": NGram(2).normalized(), "size": Linear()})).fit(X, LABELS)
    found = model.explain_all({"title": ["ab", "d"], "size": [3.0, 0.0]})
    assert found[0].columns == (("title", 2), ("size", 1))
    assert found[1].columns == (("title", 1), ("size", 0))
    scores = model.decision_function({"title": ["ab", "d"], "size": [3.0, 0.0]})
    np.testing.assert_allclose([one.scores for one in found], scores, atol=1e-9)


@pytest.mark.parametrize("kernel", [NGram(2, min_n=1).weighted("idf").normalized(), NGram(1) * NGram(2)], ids=repr)
def test_arcs_of_lattices_contribute(kernel):
    arcs = [(0, "a", "a", 0.6, 1), (0, "b", "b", 0.4, 1), (1, "c", "c", 1.0, 2), (1, "", "", 0.5, 2)]
    lattices = treille.Lattices([treille.Fst.from_arcs(arcs, {2: 1.0}), ["a", "c"], ["b"], ["b", "c", "a"]])
    model = SVC(kernel).fit(lattices, [0, 1, 0, 1])
    for i, found in enumerate(model.explain_all(lattices)):
        assert found.scores[0] == pytest.approx(model.decision_function(lattices)[i], abs=1e-9)
    found = model.explain(lattices[:1])
    assert sorted(found.names) == ["0→1 a", "0→1 b", "1→2 <eps>", "1→2 c"]
    assert found.contributions(1)[found.names.index("1→2 <eps>")] == 0


def test_numbers_contribute_by_column():
    model = Ridge(Linear()).fit(np.eye(3), [1.0, 2.0, 4.0])
    found = model.explain([0.0, 2.0, 1.0])
    assert found.names == ["x1", "x2"]
    np.testing.assert_allclose(found.contributions(), model.coef_[1:] * [2.0, 1.0])


def test_unknown_classes_and_targets_are_refused():
    model = SVC(NGram(2)).fit(TEXTS, LABELS)
    with pytest.raises(InputError, match="there is no class 'w': the classes are 'x', 'y', 'z'"):
        model.explain("ab").parts("w")
    with pytest.raises(InputError, match="there is no target 3: there are 1, counted from 0"):
        Ridge(NGram(1)).fit(["a", "b"], [0.0, 1.0]).explain("ab").contributions(3)


def test_the_largest_parts_are_in_order_of_size():
    parts = SVC(NGram(2)).fit(TEXTS, LABELS).explain(" ".join(TEXTS[:2])).parts(count=5)
    sizes = [abs(part.contribution) for part in parts]
    assert len(parts) == 5
    assert sizes == sorted(sizes, reverse=True)


def test_a_loaded_model_explains_alike(tmp_path):
    model = SVC(NGram(2).weighted("idf").normalized()).fit(TEXTS, LABELS)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    np.testing.assert_array_equal(again.explain(TEXTS[0]).values, model.explain(TEXTS[0]).values)


def test_parts_of_texts_are_words_whatever_units_the_kernel_reads():
    texts = ["the worst film", "a great movie"] * 5
    found = SVC().fit(texts, ["bad", "good"] * 5).explain("The worst rows")
    assert len(found.columns) == 2  # words and characters
    parts = found.parts("bad")
    assert [part.name for part in parts] == ["The", "worst", "rows"]
    assert sum(part.contribution for part in parts) == pytest.approx(found.contributions("bad").sum())
    assert found.parts("bad", 1)[0].name == "worst"
    assert str(found).startswith("for 'bad': 'worst'")


@pytest.mark.parametrize("container", [list, pd.DataFrame])
def test_parts_of_columns_of_texts_are_words_too(container):
    both = NGram(1, unit="word") + NGram(3)
    rows = [{"title": "the worst", "year": i + 1, "text": "of films"} for i in range(4)]
    rows += [{"title": "a great", "year": i + 1, "text": "one, this"} for i in range(4)]
    model = SVC(Columns({"title": both, "year": Linear(), "text": NGram(2)})).fit(rows, [0] * 4 + [1] * 4)
    found = model.explain_all(container(rows[:1]))[0]
    parts = found.parts(0)
    assert [part.name for part in parts] == ["the", "worst", "x0", "of", "films"]
    assert sum(part.contribution for part in parts) == pytest.approx(found.contributions(0).sum())
