"""Refusals on a cluster: one InputError that says what was found and what to do."""

import builtins
import sys
import time
import traceback

import numpy as np
import pytest
from clusters import in_round, local_cluster, texts

import treille
from treille.kernels import NGram
from treille.scale import LocalClusterWarning, Parts, cluster
from treille.scale.cluster import is_collection

pytest.importorskip("distributed", reason="needs dask and distributed: pip install 'treille[dask]'")

import dask
import dask.array as da
import dask.bag as db
import distributed
from distributed import Client

X, three = texts(60)
y = (three == 1).astype(int)
KERNEL = NGram(2)


@pytest.fixture(scope="module")
def client():
    with local_cluster(1, processes=False) as own, Client(own) as client:
        yield client


def parts(*values):
    return [dask.delayed(part, traverse=False) for part in values]


def refused(model, *data, **options):
    """The message of an InputError that shows no frames of Dask."""
    with pytest.raises(treille.InputError) as caught:
        model.fit(*data, **options)
    shown = "".join(traceback.format_exception(caught.value))
    assert "The above exception" not in shown
    assert "During handling" not in shown
    return str(caught.value)


SVC = treille.SVC(KERNEL)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((parts(X[:30], X[30:]), parts(y)), "X has 2 partitions, y 1: divide them alike"),
        ((parts(X[:30], X[30:]), parts(y[:30], y[31:])), "partition 1: there are 30 examples but 29 labels"),
        ((parts(X),), "labels are missing: fit(X, y) requires y"),
        ((parts(X), y), "y a ndarray in memory: pass y as a collection divided like X"),
        ((parts(X), y.tolist()), "y a list in memory"),
        ((parts(X[:30], X[30:]), parts(y[:30], None)), "partition 1: has no labels"),
        ((parts(X[:30], X[30:]), parts(y[:30], [0.5] * 30)), "partition 1: label 0 is not a whole number"),
        (
            (parts(X[:30], X[30:]), parts(y[:30], ["a"] * 30)),
            "partition 1: has labels such as 'a', partition 0 such as",
        ),
        ((parts(X[:30], X[30:]), parts([0] * 30, [0] * 30)), "all labels are 0"),
        ((parts([], []), parts([], [])), "there are no examples"),
        ((parts(X[:30], [1.5] * 30), parts(y[:30], y[30:])), "partition 1: "),
        ((parts(X[:30], [["a", "word"]] * 30), parts(y[:30], y[30:])), "partition 1: "),
        ((parts(X[:30], [None] * 30), parts(y[:30], y[30:])), "partition 1: item 0 is None, expected a string"),
        ((da.zeros((60, 4), chunks=(30, 2)), da.from_array(y, chunks=30)), "rechunk it so that each holds whole rows"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_bad_data_are_refused_with_the_partition_and_the_item(client, data, message):
    assert message in refused(SVC, *data)


def test_a_partition_with_examples_of_another_unit_is_refused_with_its_first_item(client):
    message = refused(SVC, parts(X[:30], [["a", "word"]] * 30), parts(y[:30], y[30:]))
    assert "partition 1" in message
    assert "partition 0" in message
    assert "word" in message


def test_sample_weights_of_another_length_are_refused(client):
    message = refused(SVC, parts(X[:30], X[30:]), parts(y[:30], y[30:]), sample_weight=parts([1.0] * 30, [1.0] * 29))
    assert message.startswith("partition 1: sample_weight has the shape (29,)")


def test_regression_targets_that_differ_between_parts_are_refused(client):
    message = refused(treille.Ridge(KERNEL), parts(X[:30], X[30:]), parts(np.ones(30), np.ones((30, 2))))
    assert message.startswith("partition 1: has rows of 2 numbers, partition 0 one number per example")
    assert "Ridge takes more" in refused(treille.SVR(KERNEL), parts(X), parts(np.ones((60, 2))))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (treille.SVCCV(KERNEL), "choose parameters on some of them, then train SVC on the cluster"),
        (treille.RidgeCV(KERNEL), "then train Ridge on the cluster"),
        (treille.OneClassSVM(KERNEL), "OneClassSVM needs all examples in memory"),
        (
            treille.Perceptron(KERNEL),
            "Perceptron needs all examples in memory, and these are on a Dask cluster: use SVC",
        ),
        (
            treille.LearnedSVC(KERNEL),
            "LearnedSVC needs all examples in memory, and these are on a Dask cluster: learn the weights on some of them, then "
            "train SVC, SVR, Ridge or LogisticRegression on the cluster",
        ),
        (
            treille.SVC(treille.kernels.AllSubstrings()),
            "has no explicit features, so it cannot be trained on data in parts",
        ),
        (
            treille.SVC(treille.kernels.Subpath()),
            "are the edges of the suffix tree of all examples",
        ),
        (treille.SVC(KERNEL.normalized().centered()), "leave out .centered()"),
        (treille.SVC(KERNEL + NGram(1).centered()), "leave out .centered()"),
        (treille.SVC(KERNEL, space="nystrom"), "use 'auto' for data on a cluster"),
        (
            treille.SVC(KERNEL, solver=treille.solvers.DualCD()),
            "use 'auto' or GatheredDualCD() or BundleMethod() for data on a cluster",
        ),
        (treille.SVC(KERNEL, fit_intercept="free"), "use False or True for data on a cluster"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else type(value).__name__,
)
def test_models_that_a_cluster_cannot_train_are_refused_before_anything_is_sent(model, message):
    never = [dask.delayed(pytest.fail)("computed")]
    assert message in refused(model, never, never)


def test_errors_of_the_collection_itself_arrive_as_they_are(client):
    def broken():
        raise KeyError("a column that is missing")

    with pytest.raises(KeyError, match="a column that is missing"):
        SVC.fit([dask.delayed(broken)()], parts(y))


def test_a_worker_with_another_version_is_refused(client, monkeypatch):
    monkeypatch.setattr(cluster, "_version_here", lambda: "0.0.1")
    assert "has treille 0.0.1, and treille" in refused(SVC, parts(X), parts(y))
    monkeypatch.setattr(cluster, "_version_here", lambda: None)
    assert "has no treille" in refused(SVC, parts(X), parts(y))


def test_a_worker_that_cannot_import_treille_is_refused(client, monkeypatch):
    def missing():
        raise ModuleNotFoundError("No module named 'treille'")

    monkeypatch.setattr(cluster, "_version_here", missing)
    assert "cannot run treille: No module named 'treille': install treille" in refused(SVC, parts(X), parts(y))


def test_a_cluster_without_workers_is_refused_soon(monkeypatch):
    monkeypatch.setattr(cluster, "WITHOUT_WORKERS", 1.0)
    with local_cluster(0, processes=False) as own, Client(own, set_as_default=False) as client, client.as_current():
        assert "has no workers" in refused(SVC, parts(X), parts(y))


def test_a_cluster_that_loses_all_its_workers_is_given_up(monkeypatch):
    monkeypatch.setattr(cluster, "WITHOUT_WORKERS", 1.0)
    monkeypatch.setattr(cluster, "PATIENCE", 0.2)
    with local_cluster(1, processes=False) as own, Client(own, set_as_default=False) as client, client.as_current():
        slow = [dask.delayed(_slowly)(X)]
        client.loop.call_later(1.0, own.scale, 0)
        assert "has had no workers for 1 seconds" in refused(SVC, slow, parts(y))


def _slowly(values):
    time.sleep(3)
    return values


def test_a_scheduler_that_is_gone_in_the_middle_is_named(monkeypatch):
    with local_cluster(1, processes=False) as own, Client(own, set_as_default=False) as client, client.as_current():
        in_round(monkeypatch, 1, own.close)
        message = refused(treille.SVC(KERNEL, tol=1e-6, solver=treille.solvers.BundleMethod()), parts(X), parts(y))
    assert message.startswith("the Dask scheduler at inproc://")
    assert "is gone" in message


def test_without_dask_the_error_says_how_to_install_it(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.partition(".")[0] == "distributed":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "distributed")
    assert refused(SVC, parts(X), parts(y)).endswith("pip install 'treille[dask]'")


@pytest.fixture
def no_default(monkeypatch):
    """There is no default client: the one that tests share has no part in this, nor have workers in this process."""

    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed.client, "_global_clients", {})
    monkeypatch.setattr(distributed, "get_client", none)


def test_a_client_that_is_not_the_default_one_is_used_alone(no_default, tmp_path):
    lines = [f'{{"text": "{x}", "label": "{label}"}}\n' for x, label in zip(X, y, strict=True)]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    with local_cluster(1, processes=False) as own, Client(own, set_as_default=False) as client:
        model = treille.SVC(KERNEL).fit(Parts.on(client, tmp_path / "a.jsonl"))
    assert model.report_.status == "converged"


def test_without_a_client_a_local_cluster_is_started_with_a_warning_and_closed(no_default, monkeypatch):
    def small(**options):
        started.append(real(1, threads_per_worker=1, processes=False, dashboard_address=":0"))
        return started[-1]

    started, real = [], distributed.LocalCluster
    monkeypatch.setattr(distributed, "LocalCluster", small)
    with pytest.warns(LocalClusterWarning, match="a local cluster of 1 workers was started") as caught:
        treille.SVC(KERNEL).fit(parts(X), parts(y))
    assert caught[0].filename == __file__
    assert [own.status.name for own in started] == ["closed"]


def test_a_client_of_the_user_stays_open(client):
    treille.SVC(KERNEL).fit(parts(X), parts(y))
    treille.SVC(KERNEL).fit(db.from_sequence(X, npartitions=2), db.from_sequence(y.tolist(), npartitions=2))
    assert client.status == "running"


def test_files_on_a_cluster_have_their_own_labels(client, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "ab", "label": 0}\n{"text": "cd", "label": 1}\n')
    given = Parts.on(client, tmp_path / "a.jsonl")
    assert "have their own labels" in refused(SVC, given, y)
    with pytest.raises(treille.InputError, match="no such file"):
        Parts.on(client, tmp_path / "b.jsonl")
    (tmp_path / "a.jsonl").write_text('{"text": "ab", "label": 0}\n{"text": 3, "label": 1}\n')
    assert "a.jsonl" in refused(SVC, given)


def test_lists_are_collections_only_if_all_their_items_are_delayed():
    assert is_collection(parts(X))
    assert not is_collection([dask.delayed(1), "ab"])
    assert not is_collection(X)
