"""Every law of check_estimator catches a classifier that breaks it."""

from dataclasses import replace

import numpy as np
import pytest

from treille import SVC, SVR, InputError, Ridge
from treille.kernels import NGram
from treille.testing import check_estimator, estimator_checks

RANDOM = np.random.default_rng(0)
CODES = np.array([0, 1, 2] * 6)
TEXTS = ["".join(RANDOM.choice(list("abcd"[k:] + "d"), 6)) for k in CODES]
LABELS = np.array(["x", "y", "z"])[CODES]


class Silent(SVC):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class Contrary(SVC):
    def predict(self, X):
        return self.classes_[self.decision_function(X).argmin(axis=1)]


class Remembering(SVC):
    def fit(self, X, y, sample_weight=None):
        before = getattr(self, "intercept_", 0.0)
        super().fit(X, y, sample_weight)
        self.functions_ = replace(self.functions_, intercept=self.intercept_ + 1e-9 * before)
        return self


class Meddling(SVC):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        if sample_weight is not None:
            sample_weight *= 2
        return self


class Born(SVC):
    def predict(self, X):
        return super().predict(X) if hasattr(self, "functions_") else np.zeros(len(X))


class Crashing(SVC):
    def decision_function(self, X):
        self.functions_  # noqa: B018
        return super().decision_function(X)

    def predict(self, X):
        return super().predict(X) if hasattr(self, "functions_") else SVC.decision_function(self, X)


class Leaky(SVC):
    def __getstate__(self):
        state = super().__getstate__()
        if "functions_" in state:
            state["functions_"] = replace(self.functions_, intercept=self.intercept_ * 2)
        return state


class Lossy(SVC):
    def save(self, path):
        twin = SVC(**self.get_params(deep=False))
        twin.__dict__.update(self.__dict__)
        if hasattr(self, "intercept_"):
            twin.functions_ = replace(self.functions_, intercept=self.intercept_ + 1)
        twin.save(path)


class Sociable(SVC):
    def decision_function(self, X):
        scores = super().decision_function(X)
        return scores - 1e-9 * len(scores)


class Ordered(SVC):
    def fit(self, X, y, sample_weight=None):
        first = next(iter(X)) == TEXTS[0]
        ones = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        return super().fit(X, y, ones * (1 if first else 2))


class Stringy(SVC):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y if y is None else np.asarray(y).astype(str), sample_weight)


class Unweighted(SVC):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


class Generous(SVC):
    def fit(self, X, y, sample_weight=None):
        weights = None if sample_weight is None else np.maximum(sample_weight, 0.5)
        return super().fit(X, y, weights)


class Classless(SVC):
    def fit(self, X, y, sample_weight=None):
        twin = SVC(**self.get_params(deep=False) | {"class_weight": None}).fit(X, y, sample_weight)
        self.__dict__.update(twin.__dict__, class_weight=self.class_weight)
        return self


class Seeded(SVC):
    def fit(self, X, y, sample_weight=None):
        ones = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        return super().fit(X, y, ones * (1 + self.random_state))


class Boastful(SVC):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.report_ = replace(self.report_, per_class=(replace(self.report_.per_class[0], dual=1e9),))
        return self


class Threaded(SVC):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.functions_ = replace(self.functions_, intercept=self.intercept_ + (self.n_jobs == 2) * 1e-12)
        return self


class Lenient(SVC):
    def fit(self, X, y, sample_weight=None):
        return super().fit([x or "" for x in X] if isinstance(X, list) and X else X, y, sample_weight)


class Trusting(SVC):
    def fit(self, X, y, sample_weight=None):
        if y is not None and len(y) == len(TEXTS) + 1:
            y = y[:-1]
        return super().fit(X, y, sample_weight)


class Forgiving(SVC):
    def fit(self, X, y, sample_weight=None):
        C, self.C = self.C, abs(self.C) if self.C == -1.0 else self.C
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.C = C


class Hasty(SVC):
    def fit(self, X, y, sample_weight=None):
        if hasattr(self, "functions_"):
            self.functions_ = replace(self.functions_, intercept=np.zeros(3))
        return super().fit(X, y, sample_weight)


class Own(SVC):
    """A correct class that treille does not export."""


MUTANTS = {
    "fit returns the estimator": Silent,
    "predicts the highest decision": Contrary,
    "fitting again gives the same model": Remembering,
    "fit leaves parameters and data as they were": Meddling,
    "clones are unfitted and alike": Born,
    "unfitted models say so": Crashing,
    "pickling keeps the decisions": Leaky,
    "saving and loading keeps the decisions": Lossy,
    "a decision does not depend on the company": Sociable,
    "the order of training examples does not matter": Ordered,
    "labels of every type come back as given": Stringy,
    "a whole weight is a repetition": Unweighted,
    "no weight is no example": Generous,
    "a class weight is a sample weight": Classless,
    "another seed gives the same objective": Seeded,
    "the gap is a bound": Boastful,
    "the number of threads does not matter": Threaded,
    "bad examples are refused": Lenient,
    "bad labels are refused": Trusting,
    "bad weights and parameters are refused": Forgiving,
    "a refused fit leaves the model as it was": Hasty,
}


def test_every_law_of_ours_has_a_mutant():
    laws = [law.__name__.replace("_", " ") for law in estimator_checks.LAWS]
    assert [law for law in laws if not law.startswith("works in")] == list(MUTANTS)


@pytest.mark.parametrize("law", MUTANTS)
def test_a_classifier_that_breaks_a_law_is_caught_by_name(law, monkeypatch):
    if MUTANTS[law] is Lossy:  # it writes files as SVC does
        monkeypatch.setattr(estimator_checks, "is_ours", lambda estimator: True)
    with pytest.raises(AssertionError, match=f"breaks the law '{law}': "):
        check_estimator(MUTANTS[law](NGram(2)), TEXTS, LABELS)


def test_a_user_defined_classifier_need_not_be_registered():
    check_estimator(Own(NGram(2)), TEXTS, LABELS)


@pytest.mark.parametrize(
    "labels", [LABELS[:-1], ["x"] * 18, [*LABELS[:-1], "w"]], ids=["too few", "one class", "a class of one"]
)
def test_too_little_to_check_with_is_refused(labels):
    with pytest.raises(
        InputError, match="check_estimator needs a label for each example, and two classes of at least four"
    ):
        check_estimator(SVC(NGram(2)), TEXTS, labels)


NUMBERS = CODES + 0.1 * RANDOM.normal(size=18)


class Constant(Ridge):
    def predict(self, X):
        return np.full((len(X), 1), 1.0)


class Boasting(Ridge):
    def score(self, X, y, sample_weight=None):
        return 1.0


class Whole(Ridge):
    def fit(self, X, y, sample_weight=None):
        kind = getattr(y, "dtype", None)
        return super().fit(X, y + 1 if kind == np.float32 else y, sample_weight)


class Blind(SVR):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, None)


class Tolerant(Ridge):
    def fit(self, X, y, sample_weight=None):
        return super().fit(
            X, np.nan_to_num(y) if isinstance(y, np.ndarray) and y.dtype.kind == "f" else y, sample_weight
        )


class Merry(SVR):
    def check_parameters(self):
        if self.tol != -1e-3:
            super().check_parameters()


class Anchored(SVR):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.functions_ = replace(self.functions_, intercept=np.minimum(self.functions_.intercept, 30.0))
        return self


@pytest.mark.parametrize(
    ("mutant", "law"),
    [
        (Anchored, "a constant added to the numbers is added to the predictions"),
        (Constant, "predicts numbers"),
        (Boasting, "predicts numbers"),
        (Whole, "numbers of every type will do"),
        (Blind, "a whole weight is a repetition"),
        (Tolerant, "bad numbers are refused"),
        (Merry, "bad weights and parameters are refused"),
    ],
)
def test_a_regressor_that_breaks_a_law_is_caught_by_name(mutant, law):
    with pytest.raises(AssertionError, match=f"breaks the law '{law}': "):
        check_estimator(mutant(NGram(2)), TEXTS, NUMBERS)


def test_too_few_numbers_are_refused():
    with pytest.raises(InputError, match="check_estimator needs a number for each example, and at least eight"):
        check_estimator(Ridge(NGram(2)), TEXTS[:5], NUMBERS[:5])
