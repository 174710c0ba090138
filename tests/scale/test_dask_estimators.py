"""Estimators on Dask collections with two worker processes: optimum, predictions and model are the same as in memory."""

import os
import signal
import threading
import time
import warnings
from itertools import pairwise

import numpy as np
import pytest
from clusters import in_round, local_cluster, texts

import treille
from treille.kernels import Columns, NGram
from treille.scale import Parts
from treille.solvers import BundleMethod, GatheredDualCD
from treille.solvers.problem import REGRESSION_LOSSES

pytest.importorskip("distributed", reason="needs dask and distributed: pip install 'treille[dask]'")

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import pandas as pd
from distributed import Client

X, three = texts(120)
two = (three == 1).astype(int)
NUMBERS = np.array([x.count("a") - x.count("b") for x in X], float)
WEIGHTS = np.random.default_rng(3).integers(1, 4, len(X)).astype(float)
KERNEL = NGram(3, min_n=1).normalized()
CUTS = [0, 5, 70, 120]


@pytest.fixture(scope="module")
def client():
    with local_cluster() as cluster, Client(cluster) as client:
        yield client


def bag(values, cuts=CUTS):
    """A bag with the partitions that `cuts` divides it into."""
    parts = [list(values[a:b]) for a, b in pairwise(cuts)]
    return db.from_delayed([dask.delayed(part, traverse=False) for part in parts])


def delayed(values, cuts=CUTS):
    return [dask.delayed(list(values[a:b]), traverse=False) for a, b in pairwise(cuts)]


def same_optimum(model, memory, tol=2e-3):
    """Both enclose the optimum: the intervals [dual, primal] overlap, and both are small."""
    one, two = model.report_, memory.report_
    assert one.status == "converged"
    assert one.relative_gap <= model.tol
    assert one.dual <= two.primal * (1 + 1e-9)
    assert two.dual <= one.primal * (1 + 1e-9)
    np.testing.assert_allclose(one.primal, two.primal, rtol=tol)


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (treille.SVC(KERNEL), two),
        (treille.SVC(KERNEL), three),
        (treille.SVC(KERNEL, loss="squared_hinge", fit_intercept=False), three),
        (treille.SVC(KERNEL, class_weight="balanced"), two),
        (treille.SVC(), np.array(["n", "y"])[two]),
        (treille.SVC(NGram(2).weighted("idf")), two),
        (treille.SVC(NGram(2).weighted("nb").normalized()), two),
        (treille.SVC(NGram(2).weighted("nb")), three),
        (treille.SVC(NGram(1) + 0.5 * NGram(2).normalized()), two),
        (treille.LogisticRegression(KERNEL), three),
        *((treille.SVR(KERNEL, loss=loss), NUMBERS) for loss in REGRESSION_LOSSES),
        (treille.Ridge(KERNEL), NUMBERS),
        (treille.Ridge(KERNEL, fit_intercept=True), np.stack([NUMBERS, NUMBERS**2], axis=1)),
        (treille.Ridge(KERNEL, fit_intercept=False), NUMBERS),
    ],
    ids=lambda value: repr(value).replace("\n", "") if hasattr(value, "fit") else f"{len(np.unique(value))} targets",
)
def test_the_optimum_is_that_of_training_in_memory(client, estimator, y):
    memory = type(estimator)(**estimator.get_params(deep=False)).fit(X, y)
    model = estimator.fit(delayed(X), [dask.delayed(y[a:b]) for a, b in pairwise(CUTS)])
    same_optimum(model, memory)
    assert model.plan_.space.name == "cluster"
    if isinstance(estimator, treille.Ridge):
        np.testing.assert_allclose(model.predict(X), memory.predict(X), atol=0.02)


def collections():
    frame = dd.from_pandas(pd.DataFrame({"text": X, "label": two}), npartitions=3)
    array = da.from_array(np.array(X, object), chunks=40), da.from_array(two, chunks=40)
    return {
        "bags": (bag(X), bag(two)),
        "series": (frame["text"], frame["label"]),
        "arrays": array,
        "lists of delayed parts": (delayed(X), delayed(two)),
        "one part": (bag(X, [0, 120]), bag(two, [0, 120])),
        "an empty part": (bag(X, [0, 60, 60, 120]), bag(two, [0, 60, 60, 120])),
        "an empty first part": (bag(X, [0, 0, 120]), bag(two, [0, 0, 120])),
    }


@pytest.mark.parametrize("name", list(collections()))
def test_collections_of_every_kind_give_the_optimum_and_lazy_predictions(client, name):
    given, y = collections()[name]
    model, memory = treille.SVC(KERNEL).fit(given, y), treille.SVC(KERNEL).fit(X, two)
    same_optimum(model, memory)
    predicted = model.predict(given)
    assert isinstance(predicted, da.Array)
    np.testing.assert_array_equal(predicted.compute(), model.predict(X))
    np.testing.assert_array_equal(model.decision_function(given).compute(), model.decision_function(X))
    assert model.score(given, y) == model.score(X, two)


def test_data_frames_are_read_by_a_kernel_of_columns(client):
    frame = pd.DataFrame({"text": X, "size": [float(len(x)) for x in X]})
    kernel = Columns({"text": NGram(2).normalized(), "size": 0.01 * treille.kernels.Linear()})
    y = dd.from_pandas(pd.Series(two), npartitions=3)
    model = treille.SVC(kernel).fit(dd.from_pandas(frame, npartitions=3), y)
    same_optimum(model, treille.SVC(kernel).fit(frame, two))


@pytest.mark.parametrize("estimator", [treille.SVC(KERNEL), treille.Ridge(KERNEL), treille.SVR(KERNEL)])
def test_parts_without_examples_do_not_count(client, estimator):
    words, y = [list(x) for x in X], two if isinstance(estimator, treille.SVC) else NUMBERS
    memory = type(estimator)(**estimator.get_params(deep=False)).fit(words, y)
    cuts = [0, 0, 50, 50, 120]
    same_optimum(estimator.fit(bag(words, cuts), bag(y, cuts)), memory)


def test_a_class_that_some_parts_lack_is_learned(client):
    order = np.argsort(three, kind="stable")
    sorted_X = [X[i] for i in order]
    model = treille.SVC(KERNEL).fit(bag(sorted_X), bag(three[order]))
    same_optimum(model, treille.SVC(KERNEL).fit(sorted_X, three[order]))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.class_counts_ == dict(enumerate(np.bincount(three).tolist()))


@pytest.mark.parametrize(
    "estimator", [treille.SVC(KERNEL, class_weight="balanced"), treille.SVR(KERNEL), treille.Ridge(KERNEL)]
)
def test_sample_weights_count(client, estimator):
    y = two if isinstance(estimator, treille.SVC) else NUMBERS
    memory = type(estimator)(**estimator.get_params(deep=False)).fit(X, y, WEIGHTS)
    model = estimator.fit(bag(X), bag(y), sample_weight=bag(WEIGHTS))
    same_optimum(model, memory)
    assert model.score(bag(X), bag(y), bag(WEIGHTS)) == pytest.approx(model.score(X, y, WEIGHTS))


def test_regressors_and_probabilities_are_predicted_lazily(client):
    ridge = treille.Ridge(KERNEL).fit(bag(X), bag(np.stack([NUMBERS, -NUMBERS], axis=1)))
    np.testing.assert_array_equal(ridge.predict(bag(X)).compute(), ridge.predict(X))
    model = treille.LogisticRegression(KERNEL).fit(bag(X), bag(three))
    for method in (model.predict_proba, model.predict_log_proba, model.decision_function):
        assert isinstance(method(bag(X)), da.Array)
        np.testing.assert_array_equal(method(bag(X)).compute(), method(X))


def test_predictions_are_not_computed_before_they_are_asked_for(client):
    model = treille.SVC(KERNEL).fit(X, two)

    def never():
        raise AssertionError("computed")

    lazy = model.predict([dask.delayed(never)()])
    with pytest.raises(AssertionError, match="computed"):
        lazy.compute()


def test_the_model_is_saved_loaded_and_explained_and_its_report_has_rounds(client, tmp_path):
    model = treille.SVC(KERNEL).fit(bag(X), bag(two))
    model.save(tmp_path / "model.treille")
    loaded = treille.load(tmp_path / "model.treille")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.report_ == model.report_.timeless()
    assert model.report_.rounds == model.report_.epochs > 0
    assert model.report_.bytes_sent > 0
    assert [name for name, _ in model.report_.stages] == ["counting features", "rounds"]
    explained = model.explain(X[0])
    assert "cluster" in str(model.plan_)
    assert explained.scores is not None
    assert "3 parts on a cluster" in model.plan_.sizes


def test_a_limit_on_rounds_or_seconds_warns(client):
    with pytest.warns(treille.ConvergenceWarning):
        treille.SVC(KERNEL, max_epochs=1, tol=1e-6).fit(bag(X), bag(two))
    with pytest.warns(treille.ConvergenceWarning):
        treille.SVC(KERNEL, solver=treille.solvers.BundleMethod(max_seconds=1e-9), tol=1e-6).fit(bag(X), bag(two))


def test_the_bits_do_not_depend_on_the_workers(client):
    one, two_workers = treille.SVC(KERNEL).fit(bag(X), bag(three)), treille.SVC(KERNEL).fit(bag(X), bag(three))
    np.testing.assert_array_equal(one.coef_, two_workers.coef_)
    for n_workers in (1, 3):
        with (
            local_cluster(n_workers, processes=False) as own,
            Client(own, set_as_default=False) as other,
            other.as_current(),
        ):
            model = treille.SVC(KERNEL).fit(bag(X), bag(three))
        np.testing.assert_array_equal(model.coef_, one.coef_)
        assert [model.features_.name(i) for i in range(20)] == [one.features_.name(i) for i in range(20)]


@pytest.fixture
def files(tmp_path):
    """Three files of labelled texts."""
    for part, (a, b) in enumerate(pairwise(CUTS)):
        lines = [f'{{"text": "{x}", "label": "{label}"}}\n' for x, label in zip(X[a:b], two[a:b], strict=True)]
        (tmp_path / f"part-{part}.jsonl").write_text("".join(lines))
    return str(tmp_path / "part-*.jsonl")


def test_files_are_read_by_the_workers(client, files):
    model = treille.SVC(KERNEL).fit(Parts.on(client, files))
    same_optimum(model, treille.SVC(KERNEL).fit(X, two))
    assert model.classes_.tolist() == ["0", "1"]


def test_features_that_occur_in_few_examples_are_left_out(client, files):
    model = treille.SVC(NGram(2)).fit(Parts.on(client, files, min_count=5))
    kept = [model.features_.name(i) for i in range(model.features_.n_features)]
    assert kept
    assert all(sum(name in x for x in X) >= 5 for name in kept)


def test_a_checkpoint_continues_after_the_scheduler_is_gone(files, tmp_path, monkeypatch):
    from treille.scale import folder

    monkeypatch.setattr(folder, "SECONDS", 0.0)
    monkeypatch.setattr(folder, "SHARE", 0)
    solver = BundleMethod()
    options, model = {"checkpoint": tmp_path / "state"}, treille.SVC(KERNEL, tol=1e-4, solver=solver)
    with local_cluster(1, processes=False) as cluster, Client(cluster, set_as_default=False) as first:
        whole = treille.SVC(KERNEL, tol=1e-4, solver=solver).fit(Parts.on(first, files)).report_.rounds
        with monkeypatch.context() as patched:
            in_round(patched, whole - 1, cluster.close)
            with pytest.raises(treille.InputError, match=r"is gone.*continues where it was"):
                model.fit(Parts.on(first, files, **options))
    with local_cluster(1, processes=False) as cluster, Client(cluster, set_as_default=False) as second:
        model.fit(Parts.on(second, files, **options))
    assert model.report_.status == "converged"
    assert model.report_.rounds <= whole


def workers_of(client):
    client.wait_for_workers(2, timeout=60)
    return list(client.run(os.getpid).values())


def test_a_worker_killed_in_a_round_changes_no_bit(client, monkeypatch):
    solver = BundleMethod()
    whole = treille.SVC(KERNEL, solver=solver).fit(bag(X), bag(two))
    for at in (1, 2):
        with monkeypatch.context() as patched:
            in_round(patched, at, lambda: os.kill(workers_of(client)[0], signal.SIGKILL))
            again = treille.SVC(KERNEL, solver=solver).fit(bag(X), bag(two))
        np.testing.assert_array_equal(again.coef_, whole.coef_)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [GatheredDualCD(), BundleMethod()], ids=repr)
def test_fifty_kills_at_random_moments_change_no_bit(solver):
    def fit():
        return treille.SVC(KERNEL, solver=solver).fit(bag(X), bag(two)).coef_

    random = np.random.default_rng(0)
    for _ in range(50):
        with local_cluster() as cluster, Client(cluster) as client:  # a new one: Dask gives up workers that die often
            fit()  # workers import treille
            begun = time.perf_counter()
            whole, took = fit(), time.perf_counter() - begun
            pid = random.choice(workers_of(client))
            killing = threading.Timer(random.uniform(0, took), os.kill, (pid, signal.SIGKILL))
            killing.start()
            np.testing.assert_array_equal(fit(), whole)
            killing.join()


@pytest.mark.parametrize("kernel", [KERNEL, NGram(1) + NGram(2).weighted("idf")], ids=repr)
def test_features_of_a_collection_are_those_of_its_examples(client, kernel):
    features, memory = treille.Features(kernel).fit(bag(X)), treille.Features(kernel).fit(X)
    matrices = features.transform(bag(X))
    assert [type(matrix).__name__ for matrix in matrices] == ["Delayed"] * 3
    found = np.vstack([matrix.toarray() for matrix in dask.compute(*matrices)])
    names, known = features.get_feature_names_out().tolist(), memory.get_feature_names_out().tolist()
    assert sorted(names) == sorted(known)
    order = [names.index(name) for name in known]
    np.testing.assert_allclose(found[:, order], memory.transform(X).toarray())
    with pytest.raises(treille.InputError, match="fit SVC, and use its features_"):
        treille.Features(NGram(2).weighted("nb")).fit(bag(X), bag(two))


def test_nothing_is_warned_of_on_the_way(client):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        treille.SVC(KERNEL).fit(bag(X), bag(two))
