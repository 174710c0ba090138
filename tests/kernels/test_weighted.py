"""Weights of features: idf, the log ratio of classes, and weights given by name."""

import pickle
import re
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import treille
from treille import SVC, SVR, Features, InputError
from treille.kernels import Columns, GappedKmer, Linear, NGram, RootPaths, Subpath, SubsetTree, Weighted
from treille.kernels.parse import format_kernel, parse_kernel
from treille.solvers import SMO, DualCD
from treille.testing import check_kernel

TEXTS = [
    "the vine and the wine", "a wine of the house", "vine after vine after vine", "bad bad wine", "good wine good",
    "the good house", "a bad house of a bad vine", "good good good", "and the bad wine", "of wine of vine",
]  # fmt: skip
CLASSES = np.array([0, 1, 0, 2, 1, 1, 2, 1, 2, 0])
NEW = ["the bad vine", "an unknown house", "good zzz", ""]


def words(kernel=None, **params):
    return NGram(2, min_n=1, unit="word", **params)


@pytest.mark.parametrize("orders", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("unit", ["word", "char"])
def test_idf_equals_tfidf_vectorizer(orders, unit):
    options = {"analyzer": unit, "token_pattern": r"\w+", "lowercase": False, "ngram_range": orders}
    theirs = TfidfVectorizer(**options)
    kernel = NGram(orders[1], min_n=orders[0], unit=unit).weighted("idf").normalized()
    ours = Features(kernel).fit(TEXTS)
    expected = theirs.fit_transform(TEXTS)
    names = ours.get_feature_names_out().tolist()
    assert sorted(names) == sorted(theirs.vocabulary_)
    columns = [theirs.vocabulary_[name] for name in names]
    assert abs(ours.transform(TEXTS) - expected[:, columns]).max() < 1e-12
    assert abs(ours.transform(NEW) - theirs.transform(NEW)[:, columns]).max() < 1e-12


@pytest.mark.parametrize("sublinear", [False, True])
def test_idf_of_log_counts_in_lower_case_equals_tfidf_vectorizer(sublinear):
    texts = [*(text.title() for text in TEXTS), "Wine, WINE and wine: Été!"]
    theirs = TfidfVectorizer(token_pattern=r"\w+", ngram_range=(1, 2), sublinear_tf=sublinear)
    counts = "log" if sublinear else "raw"
    kernel = NGram(2, min_n=1, unit="word+lower+alnum", counts=counts).weighted("idf").normalized()
    ours, expected = Features(kernel).fit(texts), theirs.fit_transform(texts)
    columns = [theirs.vocabulary_[name] for name in ours.get_feature_names_out()]
    assert expected.shape[1] == len(columns)
    assert abs(ours.transform(texts) - expected[:, columns]).max() < 1e-12
    assert abs(ours.transform(NEW) - theirs.transform(NEW)[:, columns]).max() < 1e-12


def log_ratio(counts, positive):
    """By the definition of Wang and Manning."""
    present = (counts > 0).toarray()
    p, q = 1 + present[positive].sum(axis=0), 1 + present[~positive].sum(axis=0)
    return np.abs(np.log((p / p.sum()) / (q / q.sum())))


def test_log_ratio_equals_its_definition_for_two_classes():
    y = CLASSES == 1
    features = Features(words().weighted("nb")).fit(TEXTS, y)
    plain = Features(words()).fit(TEXTS)
    counts = plain.transform(TEXTS)
    expected = counts @ sp.diags(log_ratio(counts, y))
    assert abs(features.transform(TEXTS) - expected).max() < 1e-14
    unknown = features.feature_map_.transform(features.kernel.batch(["zzz good yyy"]))
    assert unknown.diag()[0] == pytest.approx(
        unknown.to_csr().power(2).sum(), rel=1e-14
    )  # unseen features count nothing


@pytest.mark.parametrize("balanced", [False, True])
def test_with_several_classes_each_has_its_weights(balanced):
    kernel = words().weighted("nb").balanced() if balanced else words().weighted("nb").normalized()
    model = SVC(kernel, tol=1e-8).fit(TEXTS, CLASSES)
    for k in range(3):
        alone = SVC(kernel, tol=1e-8).fit(TEXTS, np.equal(CLASSES, k))
        assert model.decision_function(NEW)[:, k] == pytest.approx(alone.decision_function(NEW), abs=1e-6)
    assert len(model.report_.per_class) == 3
    assert model.report_.relative_gap <= 1e-8


@pytest.mark.parametrize("kind", ["normalized", "plain", "sum", "scaled", "columns"])
def test_several_classes_against_scikit_learn(kind):
    kernel = words().weighted("nb")
    made = {"normalized": kernel.normalized(), "plain": kernel, "scaled": 0.5 * kernel, "sum": kernel + NGram(1, unit="word"),
            "columns": Columns({"a": kernel})}[kind]  # fmt: skip
    X, new = ([{"a": x} for x in some] if kind == "columns" else some for some in (TEXTS, NEW))
    model = SVC(made, tol=1e-9, loss="squared_hinge").fit(X, CLASSES)
    plain = Features(words()).fit(TEXTS)
    counts, fresh = plain.transform(TEXTS), plain.transform(NEW)
    for k in range(3):
        weights = sp.diags(log_ratio(counts, np.equal(CLASSES, k)))
        A, B = counts @ weights, fresh @ weights
        if kind == "normalized":
            A, B = normalize(A), normalize(B)
        if kind == "scaled":
            A, B = np.sqrt(0.5) * A, np.sqrt(0.5) * B
        if kind == "sum":
            single = Features(NGram(1, unit="word")).fit(TEXTS)
            A, B = sp.hstack([A, single.transform(TEXTS)]), sp.hstack([B, single.transform(NEW)])
        peer = LinearSVC(tol=1e-10, max_iter=100_000, dual=True).fit(A, np.equal(CLASSES, k))
        assert model.decision_function(new)[:, k] == pytest.approx(peer.decision_function(B), abs=1e-4)


@pytest.mark.parametrize(
    "made",
    [lambda k: k, lambda k: k.normalized(), lambda k: k.balanced(), lambda k: 2 * k + NGram(2), lambda k: k * NGram(1)],
)
def test_the_matrix_of_new_and_training_examples_has_the_weights_of_training(made):
    kernel = made(words().weighted("idf"))
    features = Features(kernel).fit(TEXTS)
    expected = features.transform(NEW) @ features.transform(TEXTS).T
    assert kernel(NEW, TEXTS) == pytest.approx(expected.toarray(), abs=1e-12)
    model = SVC(kernel, tol=1e-7).fit(TEXTS, CLASSES)
    same = SVC("precomputed", tol=1e-7).fit(kernel(TEXTS), CLASSES)
    assert same.decision_function(kernel(NEW, TEXTS)) == pytest.approx(model.decision_function(NEW), abs=2e-3)


def test_rows_are_not_copied_per_class():
    kernel = words().weighted("nb").normalized()
    rows = Features(kernel).fit_rows(TEXTS, CLASSES)
    assert len(rows.problems) == 3
    assert len({id(each.entries) for each in rows.problems}) == 1


def test_weights_are_given_by_name():
    kernel = NGram(1).weighted({"a": 3.0, "q": 7.0})
    assert kernel(["ab", "a"]).tolist() == [[10.0, 9.0], [9.0, 9.0]]
    only = NGram(1).weighted({"a": 3.0}, missing=0.0)
    assert only(["ab", "b"]).tolist() == [[9.0, 0.0], [0.0, 0.0]]
    features = Features(NGram(1).weighted({"a": 3.0}, missing=2.0)).fit(["ab"])
    batch = features.kernel.batch(["acc"])
    assert features.feature_map_.transform(batch).diag().tolist() == [9.0 + 4 * 4]


KERNELS = [
    NGram(2).weighted("idf"),
    NGram(3, min_n=1).weighted("idf").normalized(),
    NGram(2, min_n=1).weighted({"a": 2.0, "ab": 0.0}, missing=0.5),
    0.5 * NGram(2).weighted("idf") + NGram(1).normalized(),
    (NGram(2) + GappedKmer(3, 2)).weighted("idf"),
    NGram(3, min_n=1).balanced(),
    NGram(3, min_n=1, order_weights=[1.0, 2.0, 0.5]).weighted("idf").balanced(),
    (NGram(2, min_n=1) + GappedKmer(3, 2)).weighted("idf").balanced(),
    NGram(2).normalized().weighted("idf"),
    NGram(2).weighted("idf") * NGram(1),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_weighted_kernels_keep_the_laws(kernel):
    check_kernel(kernel, ["abba", "", "cab", "dd", "abcabc", "b", "aab"])


def test_weighted_kernels_of_trees_keep_the_laws():
    trees = ["(a (b) (c))", "(a (b c))", "(b)", "(a (b) (c (b)))"]
    for kernel in (Subpath(0.5).weighted("idf").normalized(), RootPaths().weighted("idf")):
        check_kernel(kernel, trees)


@pytest.mark.parametrize("kernel", [words().weighted("idf").normalized(), words().weighted("nb").normalized(),
                                    words().weighted("nb").balanced(), words().weighted({"good": 3.0})], ids=repr)  # fmt: skip
def test_models_keep_weights(kernel, tmp_path):
    for y in (CLASSES, CLASSES == 1):
        model = SVC(kernel).fit(TEXTS, y)
        model.save(tmp_path / "model.treille", representation="auto")
        again = treille.load(tmp_path / "model.treille")
        assert again.decision_function(NEW).tolist() == model.decision_function(NEW).tolist()
        assert again.top_features(3) == model.top_features(3)
        assert model.predict(TEXTS).tolist() == SVC(kernel, n_jobs=3).fit(TEXTS, y).predict(TEXTS).tolist()


def test_cross_validation_fits_weights_in_each_fold():
    kernel = words().weighted("idf").normalized()
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    found = cross_val_predict(
        SVC(kernel, tol=1e-8, loss="squared_hinge"), TEXTS, CLASSES == 1, cv=folds, method="decision_function"
    )
    rows = make_pipeline(Features(kernel), LinearSVC(tol=1e-10, max_iter=100_000, dual=True))
    expected = cross_val_predict(rows, np.array(TEXTS), CLASSES == 1, cv=folds, method="decision_function")
    assert found == pytest.approx(expected, abs=1e-4)


def test_a_grid_search_sets_the_weights():
    grid = {"kernel__kernel__weights": ["idf", "nb"], "kernel__n": [1, 2]}
    search = GridSearchCV(SVC(words().weighted("idf").normalized()), grid, cv=2).fit(TEXTS, CLASSES == 1)
    assert set(search.best_params_) == set(grid)


def test_a_fitted_model_holds_no_labels():
    model = SVC(words().weighted("nb").normalized()).fit(TEXTS, CLASSES)
    assert vars(model.plan_.kernel.kernel).keys() == {"kernel", "weights", "missing"}
    assert b"FitContext" not in pickle.dumps(SVC(words().weighted("nb").balanced()).fit(TEXTS, CLASSES))
    assert repr(clone(model)) == repr(SVC(words().weighted("nb").normalized()))


def test_solvers_agree_on_weighted_rows():
    for kernel in (words().weighted("idf").normalized(), words().weighted("nb").balanced()):
        values = [
            SVC(kernel, tol=1e-7, solver=solver).fit(TEXTS, CLASSES == 1).report_.primal
            for solver in (DualCD(), SMO(), DualCD(representation="flat"), DualCD(shrinking=False))
        ]
        assert values == pytest.approx([values[0]] * 4, rel=1e-6)
    plain = [
        SVC(words().weighted("idf"), tol=1e-7, solver=DualCD(representation=form)).fit(TEXTS, CLASSES).report_.primal
        for form in ("auto", "flat", "merged", "naive")
    ]
    assert plain == pytest.approx([plain[0]] * 4, rel=1e-6)


def test_weights_of_zero_remove_features():
    dropped = SVC(NGram(1).weighted({"c": 0.0}), tol=1e-9).fit(["aac", "bbc", "abc"], [0, 1, 0])
    without = SVC(NGram(1), tol=1e-9).fit(["aa", "bb", "ab"], [0, 1, 0])
    assert dropped.decision_function(["ab", "bcc"]) == pytest.approx(without.decision_function(["ab", "b"]), abs=1e-6)


@pytest.mark.parametrize(("act", "message"), [
    (lambda: Features(words().weighted("nb")).fit(TEXTS), "there are none here: use it in SVC"),
    (lambda: SVR(words().weighted("nb")).fit(TEXTS, np.arange(10.0)), "weighs features by the classes"),
    (lambda: words().weighted("nb")(TEXTS), "weighted\\('idf'\\), which needs no labels"),
    (lambda: words().weighted("tfidf")(TEXTS), "expected 'idf', 'nb' or a mapping"),
    (lambda: words().weighted({"a": -1.0})(TEXTS), "numbers of at least 0"),
    (lambda: words().weighted({3: 1.0})(TEXTS), "expected names of features"),
    (lambda: words().weighted("idf", missing=2.0)(TEXTS), "missing belongs to a mapping"),
    (lambda: SubsetTree().weighted("idf")(["(a b)", "(a b)"]), "no explicit features to weigh"),
    (lambda: SVC(Weighted("precomputed")).fit(np.eye(2), [0, 1]), "expected a kernel"),
    (lambda: SVC(treille.kernels.Precomputed().weighted("idf")).fit(np.eye(2), [0, 1]), "no explicit features to weigh"),
    (lambda: SVC(RootPaths() + SubsetTree().centered()).fit(["(a b)", "(a c)"], [0, 1]), "one of its parts has no explicit"),
    (lambda: SVC(words().weighted({}, missing=0.0)).fit(TEXTS, CLASSES), "no feature is left"),
    (lambda: SVC(words().weighted("nb"), solver=SMO()).fit(TEXTS, CLASSES), "use the solver DualCD"),
    (lambda: SVC(words().weighted("nb") ** 2).fit(TEXTS, CLASSES), "multiplied or centred, .* no single matrix: use weights"),
    (lambda: SVC(words().weighted("nb").centered()).fit(TEXTS, CLASSES), "multiplied or centred, .* no single matrix: use weights"),
    (lambda: Features(words().weighted("nb")).fit_transform(TEXTS, CLASSES), "no single matrix: use weights"),
    (lambda: SVC(words().weighted("nb"), space="nystrom").fit(TEXTS, CLASSES), "no single kernel matrix"),
    (lambda: words().weighted(np.array(["idf"]))(TEXTS), "a mapping of feature names"),
    (lambda: SVC(words().weighted(pd.Series({"good": 2.0}))).fit(TEXTS, CLASSES), "a mapping of feature names"),
    (lambda: words().weighted("idf", missing=np.ones(2))(TEXTS), "missing is"),
    (lambda: SVC(words().weighted({}, missing=1e200)).fit(TEXTS, CLASSES), "too large for a float64"),
    (lambda: SVC(NGram(9).weighted("idf")).fit(["ab", "cd"], [0, 1]), "no example has a feature"),
    (lambda: SVC(words().weighted("nb")).fit(["a", "a"], [0, 1]), "weighted\\('idf'\\)"),
    (lambda: NGram(2**31 - 1, min_n=1).balanced()(TEXTS), "a part for each order, here 2,147,483,647"),
    (lambda: SVC(NGram(2).centered().weighted("idf")).fit(TEXTS, CLASSES), "weigh them before .centered"),
])  # fmt: skip
def test_bad_input_is_refused_with_a_remedy(act, message):
    with pytest.raises(InputError, match=message):
        act()


def test_factors_in_a_sum_multiply_the_parts_of_a_balanced_kernel():
    one, two = NGram(1).normalized(), NGram(2).normalized()
    expected = (one + 5 * two).normalized()(TEXTS)
    assert (NGram(1) + 5 * NGram(2)).balanced()(TEXTS) == pytest.approx(expected, abs=1e-12)
    assert (3 * NGram(2, min_n=1)).balanced()(TEXTS) == pytest.approx(NGram(2, min_n=1).balanced()(TEXTS), abs=1e-12)
    weighted = (NGram(1) + 5 * NGram(2)).weighted("idf").balanced()
    parts = NGram(1).weighted("idf").normalized() + 5 * NGram(2).weighted("idf").normalized()
    assert weighted(TEXTS) == pytest.approx(parts.normalized()(TEXTS), abs=1e-12)


@pytest.mark.parametrize("both", [words() + NGram(2), words() + NGram(3, unit="word")], ids=repr)
def test_names_in_a_mapping_are_those_of_the_sum_also_where_it_is_balanced(both):
    name = next(name for name in Features(both).fit(TEXTS).get_feature_names_out() if re.search(r":\s?good$", name))
    weights = {name: 3.0, "good": 7.0}
    found = both.weighted(weights).balanced()
    first = NGram(1, unit="word").weighted({"good": 3.0}).normalized() + NGram(2, unit="word").normalized()
    assert found(TEXTS) == pytest.approx((first + both.right.normalized()).normalized()(TEXTS), abs=1e-12)
    assert name in Features(found).fit(TEXTS).get_feature_names_out()


def test_columns_with_weights_pass_labels_on():
    kernel = Columns({"a": words().weighted("nb"), "b": NGram(2)}, column_weights={"a": 2.0})
    model = SVC(kernel, tol=1e-8).fit([{"a": x, "b": x} for x in TEXTS], CLASSES)
    same = SVC(2 * words().weighted("nb") + NGram(2), tol=1e-8).fit(TEXTS, CLASSES)
    found = model.decision_function([{"a": x, "b": x} for x in NEW])
    assert found == pytest.approx(same.decision_function(NEW), abs=1e-5)


def test_any_mapping_is_stored_and_written(tmp_path):
    weights = MappingProxyType({"good": np.float64(2.0)})
    model = SVC(words().weighted(weights)).fit(TEXTS, CLASSES)
    model.save(tmp_path / "model.treille")
    assert (
        treille.load(tmp_path / "model.treille").decision_function(NEW).tolist()
        == model.decision_function(NEW).tolist()
    )
    assert repr(words().weighted(weights)).endswith(".weighted({'good': 2.0})")
    assert parse_kernel(format_kernel(words().weighted(weights))).weights == {"good": 2.0}


def test_numbers_can_be_weighted():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    model = SVC(Linear().weighted("idf")).fit(X, [0, 1, 0])
    assert model.predict(X).tolist() == [0, 1, 0]


def test_kernels_are_written_and_parsed():
    for text in ("ngram(2, min_n=1).weighted(idf).balanced()", "ngram(2).weighted(nb).normalized()",
                 "(ngram(2) + ngram(3)).weighted(idf).balanced()"):  # fmt: skip
        kernel = parse_kernel(text)
        assert repr(parse_kernel(format_kernel(kernel))) == repr(kernel)
    with pytest.raises(InputError, match="too many"):
        parse_kernel("ngram(2).normalized(3)")


def test_a_model_file_with_weights_for_other_classes_is_refused():
    from treille.spaces.functions import read_functions

    for kernel in (words().weighted("nb").normalized(), words().weighted("nb").balanced()):
        three, two = (SVC(kernel).fit(TEXTS, y).functions_ for y in (CLASSES, CLASSES == 1))
        spec, arrays = three.state()
        assert read_functions(kernel, spec, arrays, 3).outputs(kernel.batch(NEW)).shape == (4, 3)
        wrong = arrays | {name: two.state()[1][name] for name in ("weights", "intercept")}
        with pytest.raises(InputError, match="do not fit its classes"):
            read_functions(kernel, spec, wrong, 1)
