"""Examples of several columns: input, values and refusals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import treille
from treille import SVC, Features, InputError, Strings
from treille.data import Table
from treille.kernels import Columns, Kernel, Linear, NGram, Subsequence
from treille.testing import check_kernel
from twins import cosine, ngram_kernel

RANDOM = np.random.default_rng(3)
N = 40
CODES = np.arange(N) % 2
TITLES = ["".join(RANDOM.choice(list("abcd" if k else "bcde"), 8)) for k in CODES]
TAGS = [" ".join(RANDOM.choice(["new", "old", "long", "short"], 3)) for _ in CODES]
PRICES = RANDOM.normal(size=N) + CODES
KERNEL = Columns(
    {"title": NGram(2).normalized(), "tags": NGram(1, unit="word"), "price": Linear()}, column_weights={"tags": 0.5}
)


def frame(**more):
    return pd.DataFrame({"title": TITLES, "tags": TAGS, "price": PRICES, "id": range(N)} | more)


def twin(x, y):
    title, tags = cosine(ngram_kernel(2)), ngram_kernel(1)
    total = title(x["title"], y["title"]) + 0.5 * tags(x["tags"], y["tags"])
    return total + float(np.dot(x["price"], y["price"]))


def forms():
    data = frame()
    return {
        "frame": data,
        "frame with an index": data.set_index(np.arange(N) * 7),
        "dict": {name: data[name].tolist() for name in data},
        "arrays": {name: data[name].to_numpy() for name in data},
        "dicts": data.to_dict("records"),
        "structured": data.astype({"title": "U8", "tags": "U30"})
        .to_records(index=False, column_dtypes={"title": "U8", "tags": "U30"})
        .view(np.ndarray),
        "table": KERNEL.batch(data),
    }


@pytest.mark.parametrize("form", forms())
def test_every_container_of_columns_is_read_alike(form):
    expected = KERNEL(frame())
    np.testing.assert_array_equal(KERNEL(forms()[form]), expected)


def test_the_battery_passes():
    check_kernel(KERNEL, frame()[:8], twin)
    check_kernel((0.5 * KERNEL).normalized(), frame()[:8], cosine(lambda x, y: 0.5 * twin(x, y)))
    check_kernel(KERNEL + 1, frame()[:8], lambda x, y: twin(x, y) + 1)


def test_features_are_named_by_column():
    names = Features(KERNEL).fit(frame()).get_feature_names_out().tolist()
    assert {"title: bc", "tags: new", "price: x0"} <= set(names)


def test_a_column_without_features_leaves_the_matrix():
    kernel = Columns({"title": NGram(1) * Subsequence(2), "tags": NGram(1)})
    assert not kernel.has_features
    np.testing.assert_allclose(kernel(frame()), (NGram(1) * Subsequence(2))(TITLES) + NGram(1)(TAGS))
    left, right = kernel.batch(frame()[:5]), kernel.batch(frame())
    np.testing.assert_allclose(
        kernel.expansion(right, np.ones((N, 1))).values(left), kernel(frame()[:5], frame()).sum(1)[:, None]
    )


def test_columns_are_the_sum_of_their_kernels_in_a_model_too(tmp_path):
    model = SVC(KERNEL, tol=1e-6).fit(frame(), CODES)
    stacked = np.hstack(
        [
            Features(NGram(2).normalized()).fit_transform(TITLES).toarray(),
            0.5**0.5 * Features(NGram(1, unit="word")).fit_transform(TAGS).toarray(),
            PRICES[:, None],
        ]
    )
    plain = SVC(Linear(), tol=1e-6).fit(stacked, CODES)
    assert model.report_.primal == pytest.approx(plain.report_.primal, rel=1e-5)
    np.testing.assert_allclose(model.decision_function(frame()), plain.decision_function(stacked), atol=1e-2)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert repr(again.kernel) == repr(KERNEL)
    new = frame(title=["unseen"] * N)
    assert np.array_equal(again.decision_function(new), model.decision_function(new))


def test_pipelines_and_grid_searches_reach_the_columns():
    steps = [("keep", FunctionTransformer(lambda X: X[X.columns[::-1]])), ("svc", SVC(KERNEL))]
    grid = {"svc__kernel__title__kernel__n": [1, 3], "svc__kernel__tags": [NGram(1), NGram(2)]}
    search = GridSearchCV(Pipeline(steps), grid, cv=2, error_score="raise").fit(frame(), CODES)
    best = search.best_estimator_["svc"].kernel
    assert best.kernels["title"].kernel.n == search.best_params_["svc__kernel__title__kernel__n"]
    assert KERNEL.kernels["title"].kernel.n == 2
    scores = [
        cross_val_score(SVC(KERNEL), X, CODES, cv=3).tolist() for X in (frame(), forms()["dicts"], forms()["table"])
    ]
    assert scores[0] == scores[1] == scores[2]


def test_parameters_go_down_to_each_column():
    kernel = clone(KERNEL)
    assert kernel.kernels["title"] is not KERNEL.kernels["title"]
    assert kernel.get_params()["title__kernel__n"] == 2
    before = kernel.kernels
    kernel.set_params(title__kernel__n=4, tags=NGram(3), column_weights=None)
    assert repr(kernel).startswith(
        "Columns(kernels={'title': NGram(n=4).normalized(), 'tags': NGram(n=3), 'price': Linear("
    )
    assert repr(before["tags"]) == "NGram(n=1, unit='word')", "the dict that was given is left as it was"
    kernel.set_params(kernels={"a": NGram(1)}, a__n=2)
    assert repr(kernel) == "Columns(kernels={'a': NGram(n=2)})"
    with pytest.raises(ValueError, match="Invalid parameter 'b'"):
        kernel.set_params(b=NGram(1))
    spec = KERNEL.spec()
    assert Kernel.from_spec(spec).spec() == spec
    odd = Columns({"kernel": NGram(1), "named": NGram(2), "params": NGram(3)})
    assert repr(Kernel.from_spec(odd.spec())) == repr(odd)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Columns({}), "kernels is {}, expected a dict with one kernel per column"),
        (Columns([NGram(1)]), "expected a dict with one kernel per column"),
        (Columns({"title": "ngram"}), "the kernel of column 'title' is 'ngram', expected a kernel"),
        (Columns({"title": NGram(0)}), "n is 0"),
        (Columns({"a__b": NGram(1)}), "a column is named 'a__b', expected text without '__'"),
        (Columns({"column_weights": NGram(1)}), "a column is named 'column_weights'"),
        (Columns({3: NGram(1)}), "a column is named 3"),
        (Columns({"title": NGram(1)}, column_weights=[1]), r"column_weights is [1], expected a dict"),
        (
            Columns({"title": NGram(1)}, column_weights={"text": 1}),
            "column_weights has the column 'text', which has no kernel",
        ),
        (
            Columns({"title": NGram(1)}, column_weights={"title": 0}),
            "the weight of column 'title' is 0, expected a positive",
        ),
        (Columns({"body": NGram(1)}), "there is no column 'body': there are 'title', 'tags', 'price', 'id'"),
        (Columns({"price": NGram(1)}), "column 'price': found an array of shape"),
        (Columns({"title": Linear()}), "column 'title': "),
    ],
)
def test_bad_columns_are_refused_by_name(kernel, message):
    with pytest.raises(InputError) as refused:
        kernel(frame())
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({"title": ["a", "b"], "tags": ["x"]}, "column 'tags' has 1 examples, column 'title' has 2"),
        ([{"title": "a", "tags": "x"}, {"title": "b"}], "example 1 has no 'tags': it has 'title'"),
        ([{"title": "a", "tags": "x"}, "b"], "example 1 is a str, expected a dict"),
        (["a", "b"], "example 0 is a str, expected a dict: X must be a data frame"),
        (3, "found int, expected a data frame, a dict of columns, a structured array, or a list of dicts"),
        (np.zeros((3, 2)), "example 0 is a ndarray, expected a dict"),
        ({"title": ["a", None], "tags": ["x", "y"]}, "column 'title': item 1 is None"),
        ({}, "there is no column 'title': there are none"),
        (Table({"tags": Strings(["a"])}), "there is no column 'title': there are 'tags'"),
    ],
)
def test_bad_data_is_refused_by_name(X, message):
    with pytest.raises(InputError) as refused:
        Columns({"title": NGram(1), "tags": NGram(1)})(X)
    assert message in str(refused.value)


def test_missing_numbers_are_refused_with_their_row():
    with pytest.raises(InputError, match=r"column 'price': .*\b3\b"):
        KERNEL(frame(price=[np.nan if i == 3 else 1.0 for i in range(N)]))
    with pytest.raises(InputError, match=r"column 'price': .*\b3\b"):
        KERNEL(frame().to_dict("list") | {"price": [None if i == 3 else 1.0 for i in range(N)]})


def test_no_examples_are_a_table_of_length_0():
    kernel = Columns({"title": NGram(1), "tags": NGram(1)})
    assert len(kernel.batch([])) == 0
    assert kernel([], [{"title": "a", "tags": "b"}]).shape == (0, 1)


def test_columns_are_added_and_multiplied():
    a, b = Columns({"title": NGram(1)}), Columns({"tags": NGram(2, unit="word")})
    X, Y = frame()[:9], frame()[9:14]
    for kernel, expected in (
        (a + b, a(X, Y) + b(X, Y)),
        ((1 + a) * b, (1 + a(X, Y)) * b(X, Y)),
        ((a * b + a) ** 2, (a(X, Y) * b(X, Y) + a(X, Y)) ** 2),
        (a * KERNEL, a(X, Y) * KERNEL(X, Y)),
    ):
        np.testing.assert_allclose(kernel(X, Y), expected)
        np.testing.assert_allclose(kernel(kernel.batch(X), iter(Y.to_dict("records"))), expected)
    check_kernel(a + b.normalized(), X)
    small = treille.SVC((a * a).normalized()).fit(frame(), CODES)
    assert small.plan_.space.name == "rows"


def test_a_column_read_in_two_ways_is_refused():
    kernel = Columns({"tags": NGram(1, unit="word")}) + Columns({"tags": NGram(1, unit=str.split)})
    with pytest.raises(InputError, match="column 'tags' is read in two ways"):
        kernel(frame())
    with pytest.raises(InputError):
        (Columns({"tags": NGram(1)}) + NGram(1))(frame())
