"""The plan: which kernel, space and solver, and why."""

import numpy as np
import pandas as pd
import pytest

import treille
from treille import SVC, InputError, Strings
from treille.kernels import NGram
from treille.spaces import RowsSpace, plan

CHARACTERS, BYTES, WORDS = (
    NGram(5).normalized(),
    NGram(5, unit="byte").normalized(),
    NGram(2, 1, unit="word").normalized(),
)


@pytest.mark.parametrize(
    ("X", "kernel"),
    [
        (["a text", "another"], CHARACTERS),
        (pd.Series(["a", "b"], index=[5, 6]), CHARACTERS),
        (np.array(["a", "b"]), CHARACTERS),
        ([], CHARACTERS),
        (Strings(["a"]), CHARACTERS),
        ([b"a", b"b"], BYTES),
        (Strings(["a"], unit="byte"), BYTES),
        ([["a", "b"], ["c"]], WORDS),
        ([[], ["c"]], WORDS),
        ([np.arange(3)], WORDS),
        (np.array([[1, 2], [3, 4]]), WORDS),
        (Strings(["a b"], unit="word"), WORDS),
        (Strings(["a b"], unit=str.split), WORDS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_kernel_means_one_for_the_kind_of_the_data(X, kernel):
    chosen = plan(None, X)
    assert repr(chosen.kernel) == repr(kernel)
    assert chosen.kernel_why.startswith("chosen: ")
    kernel.batch(X)  # the kernel chosen reads the data


@pytest.mark.parametrize("X", ["a text", None, 3, [None], [3.5]], ids=repr)
def test_data_of_no_known_kind_are_refused_with_or_without_a_kernel(X):
    for kernel in (None, NGram(2)):
        with pytest.raises(InputError):
            SVC(kernel).fit(X, [0, 1])


def test_the_model_says_what_was_chosen_and_how_large_it_was():
    model = SVC().fit(["the quick", "brown fox"], [0, 1])
    shown = str(model.plan_)
    assert shown.startswith("kernel: NGram(n=5).normalized(), chosen: 5-grams of characters")
    assert "\nspace: rows, because NGram has explicit features" in shown
    assert "\nsolver: DualCD, because it needs rows and reports its duality gap" in shown
    assert "\nsizes: 2 examples, 10 features, 10 entries, " in shown
    assert isinstance(model.plan_, treille.Plan)


def test_what_was_given_is_told_as_given():
    model = SVC(NGram(2), solver=treille.solvers.DualCD()).fit(["ab", "cd"], [0, 1])
    assert model.plan_.kernel is model.kernel
    assert model.plan_.kernel_why == model.plan_.solver_why == "as given"


def test_a_space_is_a_kernel_met_with_a_batch():
    space = RowsSpace.of(NGram(1), NGram(1).batch(["ab", "a"]), n_jobs=2)
    assert (len(space.rows), space.features.n_features) == (2, 2)
