"""The perceptron on structured examples, for all of them at once or for a stream."""

import time
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np

from treille.data import Batch
from treille.estimators.base import KernelParameter, TrainingParameters, reading_of
from treille.estimators.classifier import Classifier
from treille.estimators.plan import Plan, requested_nystrom
from treille.estimators.sources import check_weights, found_labels, require_memory
from treille.estimators.streams import FeatureStream, Stream, as_streamed, stream_of
from treille.io.errors import InputError
from treille.io.parameters import RandomState, check_flag
from treille.kernels import Kernel
from treille.kernels.parse import default_kernel
from treille.kernels.precomputed import as_kernel
from treille.scikit_learn import Self
from treille.solvers import PerceptronSolver, Report
from treille.solvers.problem import Loss, Separation
from treille.spaces import GramSpace, Nystrom, RowsSpace


@dataclass(eq=False, repr=False)
class Perceptron(TrainingParameters, Classifier):
    """Perceptron for classes of strings and other structured examples: fast, learns from streams, does not regularise.

    Visits the examples in random order, and adds those that are misclassified to the weights, until an epoch has no mistake. If the
    classes can be separated with a margin, this takes at most (R / margin)^2 mistakes, where R is the largest norm of an example.
    If they cannot, training ends at `max_epochs` with a `ConvergenceWarning`, and `SVC` is the better choice. Several classes are
    learned one against the rest.

    Parameters
    ----------
    kernel : Kernel, an expression such as "ngram(5)", function or None
        As in `SVC`. For `partial_fit`, None picks the default kernel without weights that depend on all examples.
    averaged : bool
        Predict with the mean of the weights over all visits, which depends less on the order of the examples than the last weights.
    max_epochs : int
        Maximum number of passes over the data in `fit`.
    fit_intercept : bool
        Learn an intercept: the weight of a constant feature of value 1.
    class_weight : dict, "balanced" or None
        Multiplies what a mistake on an example of a class adds to the weights. `partial_fit` does not know "balanced".
    space, n_jobs, random_state, verbose
        As in `SVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, plan_, features_
        As in `SVC`.
    report_ : Report
        Mistakes of each epoch, the margin, the bound on mistakes, epochs, seconds, status, seed. The status "converged" means
        that the last epoch had no mistake.
    running_accuracy_ : float
        After `partial_fit`: the share of all examples so far whose class was predicted right just before they were learned, with
        the weights at that time. It is a score on unseen examples.

    References
    ----------
    Rosenblatt: The perceptron: a probabilistic model for information storage and organization in the brain. 1958.
    Freund, Schapire: Large margin classification using the perceptron algorithm. Machine Learning 1999.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.Perceptron(NGram(2)).fit(["abab", "baba", "ccdd", "dccd"], ["ab", "ab", "cd", "cd"])
    >>> model.predict(["aabb", "cdcd"]).tolist(), model.report_.status
    (['ab', 'cd'], 'converged')
    >>> stream = treille.Perceptron(NGram(2))
    >>> for texts, labels in [(["abab", "ccdd"], ["ab", "cd"]), (["baba", "eff"], ["ab", "ef"])]:
    ...     stream = stream.partial_fit(texts, labels)
    >>> stream.predict(["abba", "cdd", "effe"]).tolist()
    ['ab', 'cd', 'ef']
    """

    kernel: KernelParameter = None
    _: KW_ONLY
    averaged: bool = True
    max_epochs: int = 100
    fit_intercept: bool = True
    class_weight: dict[Any, float] | str | None = None
    space: str | Nystrom = "auto"
    random_state: RandomState = 0
    running_accuracy_: float = field(init=False)
    _stream: Stream | None = field(init=False, default=None)
    _fixed: bool = field(init=False, default=False)  # whether no other classes may come

    tol = 1.0  # there is no gap to reach

    @property
    def solver(self) -> Any:  # type: ignore[override]  # not a parameter here
        """The solver, with the options of the estimator."""
        return PerceptronSolver(averaged=bool(self.averaged))

    def check_parameters(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("averaged", self.averaged)
        super().check_parameters()

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Trains on examples X with labels y. A positive weight multiplies what a mistake adds to the weights."""
        require_memory(X, self, "call partial_fit for each part", "use SVC, or fit it on some of them")
        super().fit(X, y, sample_weight)
        self._stream, self._fixed = None, False
        vars(self).pop("running_accuracy_", None)
        return self

    def _loss(self) -> Loss:
        return Separation()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns from more examples, in one pass in their order. Earlier examples are not needed again.

        Many calls have the result of one call with all examples in the same order, however they are divided. Features and
        classes that occur for the first time are added. With `classes`, all classes that there will be, other labels are refused.
        After `fit`, or when the model was read from a file, it begins with the weights of the model.

        Where the kernel has features that can be added to, only weights are kept. For kernels without features, for products and
        powers, which have very many, and for `Subpath`, whose features depend on all examples, the examples on which a mistake was
        made are kept. Kernels that depend on all training examples, with `.weighted()` or `.centered()`, are refused.

        >>> import treille
        >>> model = treille.Perceptron(treille.kernels.NGram(1)).partial_fit(["a", "b"], [0, 1]).partial_fit(["ac", "c"], [0, 0])
        >>> [model.features_.name(i) for i in range(3)], model.running_accuracy_
        (['a', 'b', 'c'], 0.5)
        """
        self.check_parameters()
        require_memory(X, self, "pass one part after another", "pass one partition after another")
        if requested_nystrom(self.space) is not None:
            raise InputError(
                f"space is {self.space!r}, which compares with landmarks among all examples: partial_fit needs space='auto'"
            )
        start = time.perf_counter()
        stream, begun = self._stream, self.__sklearn_is_fitted__()
        if begun:
            kernel, why, batch = self.plan_.kernel, self.plan_.kernel_why, self._read_batch(X)
        else:
            source = self._examples(X, _choose_kernel)
            kernel, why, batch = source.kernel, source.kernel_why, source.batch
        if len(batch) == 0:
            raise InputError("there are no examples: partial_fit needs at least one")
        labels, codes = found_labels(y, len(batch))
        known, fixed = self._classes(labels, classes)
        weights = self.class_weight
        if weights == "balanced":
            raise InputError(
                "class_weight is 'balanced', which depends on all labels: give partial_fit a dict, or use fit"
            )
        if isinstance(weights, dict):  # other classes of the stream may come later
            weights = {label: weight for label, weight in weights.items() if label in labels}
        C = check_weights(1.0, codes, labels, weights, sample_weight, least=0)
        if stream is None:
            stream = stream_of(kernel, batch, self.fit_intercept, self.n_jobs, self if begun else None)
        stream = stream.copied()  # so that a call that fails, or is interrupted, changes nothing
        before = self.classes_ if stream.n_classes else known[:0]
        if len(known) > stream.n_classes:
            stream.with_classes(np.searchsorted(known, before), len(known))
        try:
            stream.learn(batch, np.searchsorted(known, labels).astype(np.int32)[codes], C)
            stream.seconds += time.perf_counter() - start
            learned = self._learned(stream, kernel, why, batch)
        except BaseException:
            stream.undo()
            raise
        vars(self).update(learned, _stream=stream, _fixed=fixed, classes_=known)
        return self

    def _classes(self, labels: np.ndarray, given: Any) -> tuple[np.ndarray, bool]:
        """All classes after this call, and whether there can be no others."""
        known = self.classes_ if self.__sklearn_is_fitted__() else None
        if given is not None:
            given = found_labels(given, len(given))[0]
            if self._fixed and known is not None and given.tolist() != known.tolist():
                raise InputError(
                    f"classes is {given.tolist()}, but earlier calls had {known.tolist()}: give the same, or None"
                )
        fixed = self._fixed or given is not None
        parts = [each for each in (known, given, labels) if each is not None]
        if len({_kind(each) for each in parts}) > 1:
            raise InputError(
                f"labels are {', '.join(f'{each.tolist()[0]!r}' for each in parts)}, expected labels of one type in all calls"
            )
        united = np.unique(np.concatenate(parts))
        allowed = given if given is not None else known
        if fixed and allowed is not None:
            for label in united[~np.isin(united, allowed)].tolist():
                raise InputError(
                    f"the label {label!r} is not among the classes {allowed.tolist()}: name all classes in the first call"
                )
        return united, fixed

    def _learned(self, stream: Stream, kernel: Kernel, why: str, batch: Batch) -> dict[str, Any]:
        """The attributes of the model after a pass."""
        functions = stream.functions(bool(self.averaged))
        linear = isinstance(stream, FeatureStream)
        reason = f"because the features of the kernel can{'' if linear else 'not'} be added to"
        chosen = Plan(kernel, why, RowsSpace if linear else GramSpace, reason, self.solver, "as given")
        each, radius = [], stream.radius
        for norm, total, mistakes in zip(stream.norms(), stream.sums, stream.mistakes.tolist(), strict=True):
            bound = min(radius, float(norm / total)) if total > 0 else radius
            each.append(Report(radius, -bound, 1, stream.seconds, "stream", 0, mistakes=(mistakes,), radius=radius))
        return {
            "functions_": functions,
            "plan_": replace(chosen, sizes=functions.sizes()),
            "report_": Report.combined(each),
            "running_accuracy_": stream.right / max(1, stream.steps),
            "reads_": kernel.reads.fitted(batch),
            "reading_": vars(self).get("reading_", {}) | reading_of(batch),
            "n_iter_": 1,
        }


def _choose_kernel(kernel: Any, X: Any, labels: bool) -> tuple[Kernel, str]:
    """Chooses a kernel like `choose_kernel`; by default, one whose features do not depend on all examples."""
    given = as_kernel(kernel)
    if given is not None:
        return given, "as given"
    chosen, why = default_kernel(X, features=True)
    streamed = as_streamed(chosen)
    if streamed.needs_features != chosen.needs_features:
        why += "; here without weights, which depend on all examples"
    return streamed, why


def _kind(labels: np.ndarray) -> str:
    """The kind of labels, equal for labels of one type."""
    kind = labels.dtype.kind
    return "number" if kind in "iuf" else type(labels.tolist()[0]).__name__ if len(labels) else kind
