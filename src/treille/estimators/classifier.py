"""Base class of the classifiers: labels, prediction, discriminative features, model files."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, overload

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from treille.estimators.base import KernelMachine
from treille.estimators.sources import Posed, check_labels, check_weights, class_weights, found_labels
from treille.explain.fragments import HeavyFragment, heavy_fragments
from treille.explain.merged import MergedFeature, merged_features
from treille.explain.tasks import Classification
from treille.io.errors import InputError
from treille.scale.cluster import computed
from treille.scale.dask_counting import ClusterCounts
from treille.scale.parts import Collected
from treille.scikit_learn import ClassifierMixin
from treille.solvers import Problem, Solution
from treille.solvers.problem import Hinge
from treille.spaces.functions import KernelFunctions
from treille.spaces.weight_automaton import weight_fst

LEAST_USED = 0.1  # of the dual variables of a class, below which its weight is said to change little


class Classifier(ClassifierMixin, KernelMachine):
    """A classifier of structured examples, one class against the rest; subclasses name the loss."""

    _task = Classification
    C: float = 1.0
    class_weight: dict[Any, float] | str | None
    classes_: np.ndarray

    def _posed(self, y: Any, sample_weight: Any, n: int) -> Posed:
        classes, codes = check_labels(y, n)
        C = check_weights(self.C, codes, classes, self.class_weight, sample_weight)
        return self._of_classes(classes, codes, C)

    def _of_classes(self, classes: np.ndarray, codes: np.ndarray, C: np.ndarray) -> Posed:
        positive = np.arange(len(classes)) if len(classes) > 2 else np.array([1])
        return Posed(Problem(self._loss(), codes, C, self.fit_intercept, positive), {"classes_": classes})

    def _posed_on_cluster(self, counts: ClusterCounts) -> tuple[Posed, Callable[[Collected], Problem]]:
        totals = counts.class_counts()
        seen = [(own.place, label) for own in counts.facts for label in own.examples]
        for place, label in seen:
            if type(label) is not type(seen[0][1]):
                first = f"{seen[0][0]} such as {seen[0][1]!r}"
                raise InputError(f"{place}: has labels such as {label!r}, {first}: use labels of one type")
        classes, _ = check_labels(np.array(list(totals)), len(totals))
        each = np.array([totals[label] for label in classes.tolist()], np.float64)
        weights = float(self.C) * class_weights(self.class_weight, classes, each)
        posed = self._of_classes(classes, np.zeros(0, np.int32), np.zeros(0))
        return posed, partial(_problem_of_part, posed.problem, classes, weights)

    def _advice(self, posed: Posed, solution: Solution) -> str:
        """Says so where the class weights change little.

        They multiply the upper bounds of the dual variables of the hinge loss. Where no variable needs the larger bound, or
        is at the smaller one, the solution is the same without them. The dual variables of other losses have no such bound.
        """
        problem = posed.problem
        if self.class_weight is None or not isinstance(problem.loss, Hinge) or not len(problem.targets):
            return ""
        classes, codes, alpha = posed.fitted["classes_"], problem.targets, solution.alpha
        weights = class_weights(self.class_weight, classes, np.bincount(codes, minlength=len(classes)))
        most, weighted = 0.0, np.flatnonzero(weights != 1)
        for c in weighted.tolist():
            own = (codes == c) & (problem.C > 0)
            a, C = alpha[c if len(alpha) > 1 else 0, own], problem.C[own]
            used = a >= C * min(1.0, 1 / weights[c]) * (1 - 1e-9)
            most = max(most, used.sum() / max(1, (a > 0).sum()))
        if most >= LEAST_USED or not len(weighted):
            return ""
        return (
            f"change little: at most {most:.0%} of the dual variables of any class reach the bounds that the weights change. "
            f"Use C={self.C / 10:g}, or let SVCCV(scoring='f1_macro') choose C"
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance-like scores: one per example for two classes, else one per example and class."""
        return self._predicted(X, self._decisions)

    def predict(self, X: Any) -> np.ndarray:
        """The class of every example."""
        return self._predicted(X, self._decided)

    def _decisions(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[:, 0] if len(self.classes_) == 2 else outputs

    def _decided(self, outputs: np.ndarray) -> np.ndarray:
        return self.classes_[(outputs[:, 0] > 0).astype(int) if len(self.classes_) == 2 else outputs.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of examples whose class is predicted."""
        truth, found = computed(y), computed(self.predict(X))
        found_labels(truth, len(found))
        return accuracy_score(truth, found, sample_weight=computed(sample_weight))

    @overload
    def top_features(self, count: int = 10, merge: Literal[False] = False) -> dict[Any, list[tuple[str, float]]]: ...

    @overload
    def top_features(
        self, count: int = 10, *, merge: Literal[True], examples: Any = None
    ) -> dict[Any, list[MergedFeature]]: ...

    def top_features(self, count: int = 10, merge: bool = False, examples: Any = None) -> Any:
        """For every class, the features with the largest weights in its favour.

        With `merge`, n-grams that overlap are joined to the longer stretches that they come from, as
        `treille.explain.MergedFeature`: name, weight, and, with `examples` such as the training texts, document frequency and a
        sentence in which it occurs. Without examples, n-grams are joined by their strings alone.

        >>> import treille
        >>> texts = ["the transport strike", "a strike of transport", "the price of corn", "corn and its price"]
        >>> model = treille.SVC(treille.kernels.NGram(4)).fit(texts, ["strike", "strike", "corn", "corn"])
        >>> [name for name, weight in model.top_features(3)["strike"]]
        [' tra', 'tran', 'rans']
        >>> top = model.top_features(2, merge=True, examples=texts)["strike"]
        >>> [(one.name, one.frequency, one.sentence) for one in top]
        [('transport', 2, 'the transport strike'), ('strike', 2, 'the transport strike')]
        """
        functions = self._linear()
        columns = functions.weights if len(self.classes_) > 2 else np.hstack([-functions.weights, functions.weights])
        if merge:
            batch = None if examples is None else self._read_batch(examples)
            found = merged_features(self.features_, columns, count, batch, examples)
            return dict(zip(self.classes_.tolist(), found, strict=True))
        top = {}
        for label, column in zip(self.classes_.tolist(), columns.T, strict=True):
            best = np.argsort(-column, kind="stable")[:count]
            top[label] = [(functions.features.name(int(i)), float(column[i])) for i in best if column[i] > 0]
        return top

    def fragments(self, count: int = 10) -> dict[Any, list[HeavyFragment]]:
        """For every class, the tree fragments with the largest weights in its favour, for `SubsetTree` and `PartialTree`.

        A fragment z has the weight sum_i beta_i phi_z(x_i), phi_z its value in the feature space of the kernel, so that the score
        is the sum over all fragments of weight times value, plus the intercept. Found by a best-first search in the support trees.

        >>> import treille
        >>> trees = ["(S (NP (D a) (N cat)) (VP sat))", "(S (NP (D a) (N dog)) (VP ran))", "(S (NP he) (VP sat))", "(S (NP it))"]
        >>> model = treille.SVC(treille.kernels.SubsetTree()).fit(trees, ["noun", "noun", "pronoun", "pronoun"])
        >>> sorted(fragment.name for fragment in model.fragments(2)["noun"])
        ['(D (a))', '(NP (D) (N))']
        """
        check_is_fitted(self)
        functions, found = self.functions_, None
        if isinstance(functions, KernelFunctions):
            own = functions.coefficients
            columns = own if len(self.classes_) > 2 else np.hstack([-own, own])
            found = heavy_fragments(functions.kernel, functions.support, columns, count)
        if found is None:
            raise InputError(
                f"{self.plan_.kernel!r} has no tree fragments to search: use SubsetTree or PartialTree, or top_features for "
                "kernels with explicit features"
            )
        return dict(zip(self.classes_.tolist(), found, strict=True))

    def weight_automaton(self) -> Any:
        """W' as a minimal weighted automaton: an acceptor `treille.Fst` that assigns each feature's string its weight in ``coef_``.

        With more than two classes, a dict with one per class. It does not include the intercept.

        >>> import treille
        >>> model = treille.SVC(treille.kernels.NGram(2)).fit(["abab", "cdcd"], [0, 1])
        >>> model.weight_automaton().n_states, model.weight_automaton().n_arcs
        (6, 8)
        """
        functions = self._linear()
        machines = [weight_fst(functions.features, column) for column in functions.weights.T]
        return machines[0] if len(self.classes_) == 2 else dict(zip(self.classes_.tolist(), machines, strict=True))

    def _classes_to_save(self) -> np.ndarray:
        return self.classes_

    def _restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray) -> None:
        if len(classes) < 2:
            raise InputError("the file has fewer than two classes")
        self._read(spec, arrays, len(classes) if len(classes) > 2 else 1)
        self.classes_ = classes


def _problem_of_part(whole: Problem, classes: np.ndarray, weights: np.ndarray, labels: Collected) -> Problem:
    """The problem of the examples of a part, whose labels are numbered within the part."""
    places = np.searchsorted(classes, np.array(list(labels.codes), classes.dtype)) if labels.codes else np.zeros(1, int)
    codes = places[labels.labels[0]] if labels.n else np.zeros(0, np.int64)
    return replace(whole, targets=codes, C=weights[codes] * labels.sample_weight())
