"""Training on parts ends at the optimum of training in memory, for every loss, kernel and kind of data."""

import numpy as np
import pytest
from sklearn.base import clone
from small_parts import divided, some_texts

import treille
import treille.solvers.block_minimization as block_minimization
from treille import SVC, SVR, Fst, Lattices, LogisticRegression, Ridge
from treille.data import Graph
from treille.kernels import (
    Columns,
    Conjunctions,
    GappedKmer,
    Gappy,
    Linear,
    NGram,
    RootPaths,
    SubTree,
    WeisfeilerLehman,
)
from treille.solvers.block_minimization import BlockRun
from treille.solvers.problem import REGRESSION_LOSSES, Hinge, Logistic, SquaredHinge

TWO, THREE = some_texts(), some_texts(n_classes=3, seed=1)
TOL = 1e-5


def outputs(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def assert_same_optimum(estimator, X, y, parts, tol=TOL):
    inside, whole = (clone(estimator).set_params(tol=tol).fit(*data) for data in ((parts,), (X, y)))
    assert inside.report_.status == "converged"
    assert inside.plan_.space.name == "parts"
    assert abs(inside.report_.primal - whole.report_.primal) <= 2 * tol * whole.report_.primal
    found, expected = outputs(inside, X), outputs(whole, X)
    assert np.allclose(found, expected, atol=0.05)
    return inside, whole


@pytest.mark.parametrize("data", [TWO, THREE], ids=["2 classes", "3 classes"])
@pytest.mark.parametrize(
    "estimator",
    [
        SVC(NGram(3)),
        SVC(NGram(3).normalized(), loss="squared_hinge"),
        SVC(NGram(2), fit_intercept=False),
        SVC(NGram(2).normalized(), class_weight="balanced"),
        SVC(NGram(2).normalized(), class_weight={0: 3.0}),
        LogisticRegression(NGram(2).normalized()),
        SVC(NGram(2).weighted("idf").normalized()),
        SVC(NGram(2).weighted("nb")),
        SVC(NGram(2).weighted("nb").normalized(), loss="squared_hinge"),
        SVC((NGram(1) + 2.0 * NGram(3)).normalized()),
        SVC(NGram(3, min_n=1).balanced()),
        SVC(NGram(2, min_n=1).weighted("nb").balanced()),
        LogisticRegression(NGram(1).weighted("nb") + NGram(2).normalized()),
        SVC(NGram(2).weighted({"ab": 3.0}, missing=0.5)),
        SVC(1 + NGram(2)),
        SVC((NGram(1) * NGram(2)).normalized()),
        SVC((NGram(1) ** 2).normalized()),
        SVC(Gappy(2, max_gap=1).normalized()),
        SVC(GappedKmer(3, 2).normalized()),
    ],
    ids=repr,
)
def test_classifiers_reach_the_optimum_of_training_in_memory(estimator, data, small_blocks):
    assert_same_optimum(estimator, *data, divided(*data))


@pytest.mark.parametrize(
    "estimator",
    [
        *(SVR(NGram(2).normalized(), loss=loss, epsilon=0.2) for loss in REGRESSION_LOSSES),
        SVR(NGram(2).weighted("idf").normalized()),
        Ridge(NGram(2).normalized()),
        Ridge(NGram(1) + NGram(2), fit_intercept=True),
    ],
    ids=repr,
)
def test_regressors_reach_the_optimum_of_training_in_memory(estimator, small_blocks):
    X, y = TWO[0], np.array([len(text) + 3 * text.count("ab") for text in TWO[0]]) / 8.0
    assert_same_optimum(estimator, X, y, divided(X, y))


def test_ridge_takes_several_targets(small_blocks):
    X, y = TWO[0], np.array([[len(text), text.count("a")] for text in TWO[0]], float)
    inside, whole = assert_same_optimum(Ridge(NGram(2).normalized()), X, y, divided(X, y))
    assert inside.coef_.shape == whole.coef_.shape


def some_trees(n=60, seed=2):
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)

    def tree(depth, k):
        name = "ABCD"[min(3, random.integers(3) + k)]
        inside = [tree(depth - 1, k) for _ in range(random.integers(1, 3))] if depth else []
        return f"({name}{''.join(' ' + each for each in inside)})"

    return [tree(random.integers(1, 4), k) for k in y], y


def some_graphs(n=40, seed=3):
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    sizes = random.integers(3, 7, n)
    return [
        Graph(
            [str(label) for label in random.choice(list("abc"), size, p=[0.6 - 0.3 * k, 0.2, 0.2 + 0.3 * k])],
            [(i, int(random.integers(i))) for i in range(1, size)],
        )
        for size, k in zip(sizes, y, strict=True)
    ], y


def some_lattices(n=40, seed=4):
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    machines = []
    for k in y:
        arcs = []
        for state in range(int(random.integers(2, 5))):
            one, two = random.choice(
                list("abcd"), 2, replace=False, p=[0.4, 0.3, 0.2, 0.1] if k else [0.1, 0.2, 0.3, 0.4]
            )
            share = float(random.uniform(0.1, 0.9))
            arcs += [(state, word, word, p, state + 1) for word, p in ((str(one), share), (str(two), 1 - share))]
        machines.append(Fst.from_arcs(arcs, {arcs[-1][-1]: 1.0}))
    return machines, y


@pytest.mark.parametrize("kernel", [SubTree(), SubTree(leaves=True).normalized(), RootPaths().normalized()], ids=repr)
def test_trees_are_trained_in_parts(kernel, small_blocks):
    X, y = some_trees()
    assert_same_optimum(SVC(kernel), X, y, divided(X, y, 9))


@pytest.mark.parametrize(
    "kernel", [WeisfeilerLehman(2), None, WeisfeilerLehman(1).normalized() + WeisfeilerLehman(0)], ids=repr
)
def test_graphs_are_trained_in_parts(kernel, small_blocks):
    X, y = some_graphs()
    assert_same_optimum(SVC(kernel), X, y, divided(X, y, 7))


@pytest.mark.parametrize("kernel", [None, NGram(2, min_n=1, unit="word").normalized()], ids=repr)
@pytest.mark.parametrize("read", [list, Lattices])
def test_lattices_are_trained_in_parts(kernel, read, small_blocks):
    X, y = some_lattices()
    X = read(X)
    assert_same_optimum(SVC(kernel), X, y, divided(X, y, 8))


def test_columns_and_sets_are_trained_in_parts(small_blocks):
    (X, y), random = TWO, np.random.default_rng(5)
    tags = [set(random.choice(list("pqrs"), 2 + k)) for k in y]
    rows = [
        {"text": text, "tags": " ".join(sorted(own)), "size": len(text) / 10} for text, own in zip(X, tags, strict=True)
    ]
    kernel = Columns(
        {"text": NGram(2).weighted("idf").normalized(), "tags": NGram(1, unit="word"), "size": Linear()},
        column_weights={"tags": 0.5},
    )
    assert_same_optimum(SVC(kernel), rows, y, divided(rows, y))
    ones = [dict.fromkeys(own, 1) for own in tags]
    assert_same_optimum(SVC(Conjunctions(2)), ones, y, divided(ones, y))


def test_default_kernels_of_texts_are_trained_in_parts(small_blocks):
    inside, whole = assert_same_optimum(SVC(), *THREE, divided(*THREE))
    assert repr(inside.plan_.kernel) == repr(whole.plan_.kernel)
    names = [sorted(map(each.features_.name, range(each.features_.n_features))) for each in (inside, whole)]
    assert names[0] == names[1]


LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic()}


@pytest.mark.parametrize("kernel", [NGram(2), NGram(2).weighted("nb").normalized() + 0.5 * NGram(1)], ids=repr)
@pytest.mark.parametrize("name", LOSSES)
def test_the_reported_primal_value_is_that_of_the_weights(kernel, name, small_blocks):
    """Computed here from coef_, intercept_ and the definition; the dual value is below every primal value."""
    X, y = THREE
    machine = LogisticRegression(kernel, C=0.7) if name == "logistic" else SVC(kernel, C=0.7, loss=name)
    model = machine.set_params(tol=1e-3).fit(divided(X, y))
    f, norms = model.decision_function(X), (model.coef_**2).sum(axis=1) + model.intercept_**2
    for k, report in enumerate(model.report_.per_class):
        target = np.where(y == k, 1.0, -1.0)
        primal = 0.5 * norms[k] + 0.7 * LOSSES[name].value(target, f[:, k]).sum()
        assert report.primal == pytest.approx(primal, rel=1e-9)
        assert report.dual <= primal <= report.dual + 1.001e-3 * primal


def test_sample_weights_of_triples_are_those_of_fit(small_blocks):
    X, y = TWO
    weights = np.random.default_rng(6).uniform(0, 3, len(X))
    weights[::7] = 0.0
    inside = SVC(NGram(2), tol=TOL).fit(divided(X, y, weights=weights))
    whole = SVC(NGram(2), tol=TOL).fit(X, y, weights)
    assert inside.report_.primal == pytest.approx(whole.report_.primal, rel=2 * TOL)
    assert np.allclose(inside.decision_function(X), whole.decision_function(X), atol=0.02)


@pytest.mark.parametrize(
    "sizes", [[120], [1, 118, 1], [0, 3, 60, 0, 2, 55, 0], [5] * 24], ids=["one part", "unequal", "empty ones", "many"]
)
def test_the_sizes_of_parts_do_not_change_the_optimum(sizes, small_blocks):
    assert_same_optimum(SVC(NGram(2).weighted("nb").normalized()), *THREE, divided(*THREE, sizes))


def test_data_sorted_by_label_and_parts_that_lack_classes_reach_the_same_optimum(small_blocks):
    X, y = THREE
    order = np.argsort(y, kind="stable")
    X, y = [X[i] for i in order], y[order]
    names = np.array(["vine", "wine", "a longer name"])[y]  # a class that comes late has the longest name
    inside, whole = assert_same_optimum(SVC(NGram(2).normalized()), X, names, divided(X, names))
    assert inside.classes_.tolist() == whole.classes_.tolist()
    assert (inside.predict(X) == whole.predict(X)).mean() > 0.98


@pytest.mark.parametrize("labels", [[True, False], ["no", "yes"], [-1, 1], [1.0, 2.0]], ids=repr)
def test_labels_of_every_type_are_returned_as_given(labels):
    X, y = TWO
    y = np.array(labels)[y]
    model, whole = SVC(NGram(2)).fit(divided(X, y)), SVC(NGram(2)).fit(X, y)
    assert model.classes_.tolist() == whole.classes_.tolist()
    assert model.classes_.dtype == whole.classes_.dtype


def test_one_block_is_solved_at_once_and_many_blocks_reach_the_same_optimum(monkeypatch):
    primals, visited, visit = [], set(), BlockRun._visit

    def visiting(self, block, rows):
        visited.add((len(self.blocks), block))
        visit(self, block, rows)

    monkeypatch.setattr(BlockRun, "_visit", visiting)
    for shares in (4, 600_000, 10_000_000):
        monkeypatch.setattr(block_minimization, "SHARES", shares)
        primals.append(SVC(NGram(2).normalized(), tol=1e-6).fit(divided(*TWO, 15)).report_.primal)
    assert {n for n, _ in visited} == {4, 8}
    assert len(visited) == 4 + 8
    assert np.ptp(primals) <= 2e-6 * primals[0]


def test_the_result_does_not_depend_on_the_number_of_threads(small_blocks):
    models = [SVC(NGram(3, min_n=1).normalized(), n_jobs=n_jobs).fit(divided(*THREE)) for n_jobs in (1, 2, 5)]
    for model in models[1:]:
        assert (model.coef_ == models[0].coef_).all()
        assert (model.intercept_ == models[0].intercept_).all()


def test_a_model_trained_on_parts_is_saved_and_read_back(tmp_path):
    model = SVC(NGram(2).weighted("nb").normalized()).fit(divided(*THREE))
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert (again.decision_function(THREE[0]) == model.decision_function(THREE[0])).all()
