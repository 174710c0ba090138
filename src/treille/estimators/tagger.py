"""Sequence tagging by classification of tokens."""

import os
import sys
from dataclasses import KW_ONLY, dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from treille import _core
from treille.estimators.base import Model, TrainingParameters
from treille.estimators.persistence import estimator_spec, save_estimator
from treille.estimators.plan import Plan
from treille.estimators.sources import require_memory
from treille.explain import Decision, TaggedSentence
from treille.explain.tasks import Tagging
from treille.io import conllu, stored
from treille.io.errors import InputError
from treille.io.parameters import (
    RandomState,
    check_choice,
    check_positive,
    check_seed,
    check_whole,
    effective_n_jobs,
    seed_of,
)
from treille.kernels import Conjunctions, Kernel
from treille.kernels.polynomial import conjunctions_of
from treille.kernels.precomputed import as_kernel
from treille.kernels.reading import Reads
from treille.solvers import DualCD, Problem, Report
from treille.solvers.problem import LOSSES
from treille.solvers.progress import progress_bar, stage
from treille.solvers.report import Solution
from treille.solvers.solver import after
from treille.spaces.conjunctions import ConjunctionSpace, ConjunctionWeights
from treille.tagging import Sentences, TokenFeatures, allowed_transitions, chunk_scores, convert, detect_scheme
from treille.tagging.schemes import converted, is_chunk_tag, scheme_named
from treille.tagging.sentences import Column, one_column
from treille.tagging.templates import TAG

SUPPORT = 2e-5  # default min_support of conjunctions, as a share of the tokens: 5 of 200,000, and 1 of a small corpus


@dataclass(eq=False, repr=False)
class Tagger(TrainingParameters, Model):
    """Tags the tokens of sentences: parts of speech, chunks, names. One support vector machine per tag, and a beam over sequences.

    A token's features come from templates: the words, affixes and parts of speech around it, and the tags given before it. A kernel
    of degree 2 adds all conjunctions of two features, by explicit weights, so that tagging stays fast.

    Parameters
    ----------
    kernel : Kernel, an expression such as "linear()", or None
        `Linear`, `Polynomial` or `Conjunctions` of the features of a token. None is ``Conjunctions(2, min_support=2e-5)``. The
        intercept takes the place of the polynomial's constant, and values are divided by the root of their mean square, so that
        C means the same for every degree.
    templates : list of str, path of a template file (also of CRF++), or None
        Which features a token has, such as ``["word[0]", "suffix3[0]", "tag[-1]"]``; see `treille.tagging.Template`. None: words,
        parts of speech, orthography and affixes of five tokens, pairs of neighbours, and the last two tags.
    C : float
        Weight of the losses against the regulariser.
    loss : {"squared_hinge", "hinge"}
    tol : float
        Stop when the duality gap is at most this fraction of the primal value.
    min_count : int
        Features that occur less often are left out.
    scheme : "auto", None, or a scheme such as "BIOES"
        How chunks are written while training and tagging; predictions are in the scheme of the training tags. "auto" keeps that
        scheme; None treats tags as plain labels: any may follow any.
    direction : {"forward", "backward"}
        Tag from left to right, or from right to left.
    beam : int
        How many sequences are kept while tagging a sentence; 1 is greedy.
    multiclass : {"rest", "pairs"}
        One machine per tag against the rest, or one for each pair of tags.
    max_epochs, n_jobs, random_state, verbose
        As in `SVC`.

    Attributes
    ----------
    tags_ : list of str
        The tags of the training sentences.
    features_ : TokenFeatures
        The features of tokens.
    report_, plan_
        As in `SVC`.

    Examples
    --------
    >>> import treille
    >>> X = [[("The", "DT"), ("cat", "NN"), ("sleeps", "VBZ")], [("A", "DT"), ("dog", "NN"), ("barks", "VBZ")]]
    >>> y = [["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"]]
    >>> model = treille.Tagger(min_count=1).fit(X, y)
    >>> model.predict([[("The", "DT"), ("bird", "NN"), ("sings", "VBZ")]])
    [['B-NP', 'I-NP', 'B-VP']]
    >>> model.score(X, y)
    1.0
    """

    _task = Tagging
    reads_ = Reads((Sentences,))
    kernel: Kernel | str | None = None
    templates: Any = None
    _: KW_ONLY
    C: float = 3.0
    loss: str = "squared_hinge"
    tol: float = 1e-2
    min_count: int = 2
    scheme: str | None = "auto"
    direction: str = "forward"
    beam: int = 5
    multiclass: str = "rest"
    random_state: RandomState = 0

    def fit(self, X: Any, y: Any) -> "Tagger":
        """Trains on sentences X with tags y, a list of tags for each sentence."""
        require_memory(X, self, "pass sentences as lists", "fit it on some of them")
        self.check_parameters()
        with stage("reading sentences", self.verbose):
            sentences, given = Sentences(X), one_column(y, "tag")
            if sentences.n_tokens == 0:
                raise InputError("there are no tokens: fit needs at least one")
            own = self._own_scheme(given)
            tags = given if own is None or self.scheme == "auto" else convert(given, str(self.scheme))
        kernel, why = as_kernel(self.kernel), "as given"
        if kernel is None:
            kernel, why = Conjunctions(2, min_support=SUPPORT), "the default of Tagger"
        with stage("computing features", self.verbose):
            options: dict[str, Any] = {"min_count": self.min_count, "direction": self.direction, "n_jobs": self.n_jobs}
            features, rows = TokenFeatures.fit(self.templates, sentences, tags, **options)
            if features.n_features == 0:
                raise InputError(f"no feature occurs {self.min_count} times: use a smaller min_count")
        item_of, n_static = _items(features)
        squares, min_support = conjunctions_of(kernel, sentences.n_tokens)
        with stage("finding conjunctions", self.verbose):
            space = ConjunctionSpace.of(rows.indptr, rows.ids, item_of, squares, min_support, self.n_jobs)
        solution, pairs = self._solve(space, features.tag_codes(tags, sentences), len(features.tags))
        with stage("weighing conjunctions", self.verbose):
            assert solution.coefficients is not None
            weights = space.weights_of(solution.coefficients, n_static)
        self.report_ = solution.report
        self.plan_ = Plan(
            kernel, why, ConjunctionSpace, "because features are binary", DualCD(), "because it works on rows",
            solution.report.representation, space.sizes(),
        )  # fmt: skip
        self._keep(features, item_of, weights, solution.intercept, pairs, own)
        if given.origin is not None and given.origin.tag_column:
            self.reading_["tag_column"] = given.origin.tag_column
        return self

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it."""
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        for name in ("max_epochs", "min_count", "beam"):
            check_whole(name, getattr(self, name))
        check_seed("random_state", self.random_state)
        check_choice("loss", self.loss, *LOSSES)
        check_choice("multiclass", self.multiclass, "rest", "pairs")
        if self.scheme not in ("auto", None):
            scheme_named(self.scheme)
        kernel = as_kernel(self.kernel)
        if kernel is not None:
            kernel.check()
            conjunctions_of(kernel, sys.maxsize)  # how many tokens there are is not known yet

    def _own_scheme(self, given: Sentences) -> str | None:
        """The scheme of the training tags, or None where they are plain labels."""
        column = given.columns[0]
        wrong = [v for v in column.values if not is_chunk_tag(v)]
        if self.scheme is None or (wrong and self.scheme == "auto"):
            return None
        if wrong:
            token = int(np.flatnonzero(column.codes == column.values.index(wrong[0]))[0])
            raise InputError(
                f"{given.place(token)}: the tag {wrong[0]!r} is not a chunk tag such as B-NP, which scheme={self.scheme!r} needs"
            )
        return detect_scheme(given)

    def _solve(self, space: ConjunctionSpace, codes: np.ndarray, n_tags: int) -> tuple[Solution, np.ndarray]:
        """The solution, and the pair of tags that each function separates; no pairs if each separates one tag from the rest."""
        loss, C = LOSSES[self.loss](), np.full(len(codes), float(self.C))
        tags = np.arange(n_tags, dtype=np.int32)
        pairs = np.array(list(combinations(tags, 2)), np.int32).reshape(-1, 2)
        if n_tags == 2 or self.multiclass == "rest":
            pairs = pairs[:0]
        problems = [Problem(loss, codes, C * np.isin(codes, pair), True, pair[:1]) for pair in pairs]
        problems = problems or [Problem(loss, codes, C, True, tags)]
        options: dict[str, Any] = {"tol": self.tol, "max_epochs": self.max_epochs, "n_jobs": self.n_jobs}
        seed = seed_of("random_state", self.random_state)
        with progress_bar(len(pairs) or n_tags, self.tol, self.verbose) as progress:
            solutions = [
                DualCD().solve(problem, space, seed=seed + k, progress=after(k, progress), **options)
                for k, problem in enumerate(problems)
            ]
        return Solution.combined(solutions), pairs

    def _keep(
        self,
        features: TokenFeatures,
        item_of: np.ndarray,
        weights: ConjunctionWeights,
        intercept: np.ndarray,
        pairs: np.ndarray,
        own_scheme: str | None,
    ) -> None:
        self.features_, self.item_of_, self.weights_ = features, item_of, weights
        self.intercept_, self.pairs_, self.own_scheme_ = intercept, pairs, own_scheme
        self.tags_, columns = list(features.tags), 0 if features.reads_items else max(1, features.n_columns)
        self.reading_ = {"columns": columns}
        used = own_scheme if self.scheme == "auto" else self.scheme
        allowed = np.ones((len(self.tags_) + 1,) * 2, bool)
        if own_scheme is not None:
            allowed = allowed_transitions(self.tags_, str(used))
        self.allowed_ = allowed if features.direction == "forward" else allowed.T

    def predict(self, X: Any) -> list[list[str]]:
        """The tags of sentences: a list for each."""
        return list(self.tagged(X))

    def tagged(self, X: Any) -> Sentences:
        """The same as `Sentences` with one column."""
        return self._in_own_scheme(self._decoded(self._read_batch(X)))

    def _read_batch(self, X: Any) -> Sentences:
        """New sentences; lists are features of tokens if the model was trained on features."""
        check_is_fitted(self)
        return Sentences(X) if self.reading_["columns"] else Sentences.of_features(X)

    def _in_own_scheme(self, tags: Sentences) -> Sentences:
        """Tags in the scheme of the training tags."""
        return tags if self.own_scheme_ is None or self.scheme == "auto" else converted(tags, self.own_scheme_)

    def _decoded(self, sentences: Sentences) -> Sentences:
        """The tags in the scheme that was learned."""
        check_whole("beam", self.beam)
        codes = _core.decode_tags(
            self.features_.core,
            self.weights_.scorer,
            self.item_of_,
            self.intercept_,
            self.weights_.scale,
            self.pairs_.ravel(),
            np.ascontiguousarray(self.allowed_, np.uint8).ravel(),
            self.beam,
            self.features_.batch(sentences),
            effective_n_jobs(self.n_jobs),
        )
        return Sentences.of_columns([Column(codes, self.tags_)], sentences.offsets)

    def score(self, X: Any, y: Any) -> float:
        """F1 of chunks, as conlleval computes it; the share of tokens with the right tag where tags are plain labels."""
        predicted = self.tagged(X)
        true = one_column(y, "tag")
        if self.own_scheme_ is not None:
            return chunk_scores(true, predicted).f1
        known = [self.tags_.index(v) if v in self.tags_ else -1 for v in true.columns[0].values]
        if not np.array_equal(true.offsets, predicted.offsets):
            raise InputError("the tags do not have the lengths of the sentences")
        return float((np.array(known, np.int32)[true.columns[0].codes] == predicted.columns[0].codes).mean())

    def explain(self, x: Any) -> TaggedSentence:
        """Explains the tags of a sentence: for each token, the contributions of its features to the score of its tag.

        >>> import treille
        >>> model = treille.Tagger("linear()", ["word[-1]", "word[0]"], min_count=1)
        >>> model = model.fit([["to", "sing"], ["to", "be"]], [["TO", "VB"], ["TO", "VB"]])
        >>> decision = model.explain(["to", "go"])[1]
        >>> decision.tag, decision.parts(count=1)[0].name
        ('VB', 'word[-1]=to')
        """
        return self.explain_all([x])[0]

    def explain_all(self, X: Any) -> list[TaggedSentence]:
        """The explanation of every sentence."""
        sentences = self._read_batch(X)
        if len(self.pairs_):
            raise InputError("multiclass is 'pairs', where single tags have no scores to explain: use 'rest'")
        tags = self._decoded(sentences)
        rows = self.features_.transform_tagged(sentences, tags, self.n_jobs)
        feature_of = np.argsort(self.item_of_)
        decisions = [
            self._decision(token, code, self.item_of_[rows.ids[start:stop]], feature_of)
            for token, code, (start, stop) in zip(
                sentences.tokens(), tags.columns[0].codes.tolist(), pairwise(rows.indptr.tolist()), strict=True
            )
        ]
        predicted, ends = self._in_own_scheme(tags), sentences.offsets.tolist()
        return [
            TaggedSentence(decisions[start:stop], own)
            for (start, stop), own in zip(pairwise(ends), predicted, strict=True)
        ]

    def _decision(self, token: Any, tag: int, items: np.ndarray, feature_of: np.ndarray) -> Decision:
        """Explains the score of a tag: a conjunction's share is divided among its features."""
        found = sorted(self.weights_.scorer.patterns(np.sort(items), tag), key=lambda each: -abs(each[1]))
        shares: dict[int, float] = {}
        for path, value in found:
            for item in path:
                shares[item] = shares.get(item, 0.0) + self.weights_.scale * value / len(path)
        named = sorted(shares.items(), key=lambda pair: -abs(pair[1]))
        return Decision(
            np.array([[share] for _, share in named]).reshape(-1, 1),
            np.zeros(1),
            self.intercept_[[tag]],
            [self.tags_[tag]],
            token=token,
            features=self.features_,
            ids=[int(feature_of[item]) for item, _ in named],
            patterns=[([int(feature_of[item]) for item in path], self.weights_.scale * value) for path, value in found],
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that `treille.load` reads."""
        check_is_fitted(self)
        spec, features = self.features_.state()
        weights_spec, weights = self.weights_.state()
        spec = estimator_spec(self) | {"reads": self.reads_.spec(), "features": spec, "weights": weights_spec}
        spec["own_scheme"] = self.own_scheme_ or ""
        if "tag_column" in self.reading_:
            spec["tag_column"] = self.reading_["tag_column"]
        if self.templates is not None:
            spec["params"]["templates"] = spec["features"]["templates"]
        arrays = stored.under("features", features) | stored.under("weights", weights)
        arrays |= {"intercept": self.intercept_, "pairs": self.pairs_.ravel()}
        save_estimator(path, spec, arrays, np.array(self.tags_))

    def _restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray) -> None:
        self.kernel = Kernel.from_spec(stored.value(spec, "kernel", dict))
        self.check_parameters()
        features = TokenFeatures.load(stored.value(spec, "features", dict), stored.part(arrays, "features"))
        pairs = stored.indices(arrays, "pairs", max(1, len(features.tags))).reshape(-1, 2)
        n_functions = len(pairs) or len(features.tags)
        item_of, n_static = _items(features)
        spec_of_weights, own_arrays = stored.value(spec, "weights", dict), stored.part(arrays, "weights")
        weights = ConjunctionWeights.load(spec_of_weights, own_arrays, features.n_features, n_functions, n_static)
        intercept = stored.array(arrays, "intercept", np.float64)
        sound = features.tags == classes.tolist() and n_functions == len(intercept)
        own = stored.value(spec, "own_scheme", str) or None
        if not sound or (own and scheme_named(own) != own):
            raise InputError("the weights in the file do not fit its features and tags")
        self.report_ = Report.from_dict(stored.value(spec, "report", dict))
        self.plan_ = Plan(self.kernel, "from the model file", sizes=f"{len(weights.levels):,} conjunctions with weight")
        self._keep(features, item_of, weights, intercept, pairs, own)
        if "tag_column" in spec:
            self.reading_["tag_column"] = conllu.tag_column(stored.value(spec, "tag_column", str))


def _items(features: TokenFeatures) -> tuple[np.ndarray, int]:
    """The item of each feature, and how many features read no tags.

    Rare features come first, as mining requires, and those that read tags last, as the decoder requires.
    """
    reads_tags = np.array([any(atom.column == TAG for atom in template.atoms) for template in features.templates])
    late = reads_tags[features.feature_templates]
    item_of = np.empty(features.n_features, np.uint32)
    item_of[np.lexsort((-np.arange(features.n_features), late))] = np.arange(features.n_features)
    return item_of, int(np.count_nonzero(~late))
