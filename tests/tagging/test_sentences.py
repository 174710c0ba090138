"""Sentences: tokens in columns, from lists."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, train_test_split

import treille
from treille import InputError, registry
from treille.tagging import Sentences

words = st.text("abÅ\U0001f600", max_size=3)


@given(st.lists(st.lists(words, max_size=5), max_size=5), st.integers(1, 4))
def test_sentences_give_back_what_they_were_made_of(data, n):
    assert list(Sentences(data)) == data
    wide = [[(word, word + "!") for word in sentence] for sentence in data]
    if any(data):
        for made in (
            Sentences(wide),
            Sentences([[list(token) for token in s] for s in wide]),
            Sentences(map(iter, wide)),
        ):
            assert list(made) == wide
            assert list(pickle.loads(pickle.dumps(made))) == wide
    parts = list(Sentences(data).chunks(n))
    assert [sentence for part in parts for sentence in part] == data
    assert all(len(part) == 1 or part.n_tokens <= n for part in parts)


def test_sentences_are_selected_like_rows():
    data = [["a", "b"], [], ["c"], ["a"]]
    sentences = Sentences(data)
    assert sentences[0] == sentences[-4] == ["a", "b"]
    assert list(sentences[1:3]) == [[], ["c"]]
    assert list(sentences[[3, 0, 3]]) == [["a"], ["a", "b"], ["a"]]
    assert list(sentences[np.array([True, False, False, True])]) == [["a", "b"], ["a"]]
    assert list(sentences[::-1]) == data[::-1]
    with pytest.raises(IndexError):
        sentences[4]
    with pytest.raises(ValueError, match="read-only"):
        sentences.columns[0].codes[0] = 1


def test_scikit_learn_splits_sentences_and_lists():
    data = [[str(i)] for i in range(10)]
    for sentences in (data, Sentences(data)):
        left, right = train_test_split(sentences, test_size=0.3, random_state=0)
        assert sorted([*left, *right]) == data
    assert sum(len(Sentences(data)[test]) for _, test in KFold(3).split(Sentences(data))) == 10


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("The cat", r"found str, expected a list of sentences"),
        (["The cat"], r"sentence 0 is str \('The cat'\), expected a list of tokens"),
        ([["a"], 3], r"sentence 1 is int \('3'\), expected a list of tokens"),
        (
            [["a"], ["b", None]],
            r"sentence 1, token 1 is NoneType \('None'\), expected a str, like the tokens before it",
        ),
        ([[("a", "b"), "ab"]], r"sentence 0, token 1 is str \('ab'\), expected a str, or a tuple"),
        ([[("a", "b")], [("a",)]], r"sentence 1, token 0 has 1 column, expected 2 like the tokens before it"),
        ([[()]], r"sentence 0, token 0 has 0 columns, expected at least one"),
        ([[("a", 1)]], r"sentence 0, token 0, column 1 is int \('1'\), expected str"),
        ([[("a", [])]], r"sentence 0, token 0, column 1 is list"),
    ],
)
def test_invalid_tokens_are_refused_with_their_place(data, message):
    with pytest.raises(InputError, match=message):
        Sentences(data)


def test_tokens_with_features_are_selected_and_pickled_like_others():
    data = [[["a", "b"], []], [], [["c", "a"]]]
    sentences = Sentences.of_features(data)
    assert list(sentences) == data
    assert list(sentences[[2, 0]]) == [data[2], data[0]]
    assert sentences[0] == data[0]
    assert list(pickle.loads(pickle.dumps(sentences))) == data
    assert repr(sentences) == "Sentences(3 sentences, 3 tokens, 4 features)"
    assert list(Sentences([[{"a": "x", "b": True}, {"n": {"m": "y"}}]])) == [[["a=x", "b"], ["n:m=y"]]]
    assert [sorted(token) for token in Sentences([[{"q", "p"}, frozenset()]])[0]] == [["p", "q"], []]


def test_a_column_is_separated_from_the_others():
    words, tags = Sentences([[("a", "N", "O"), ("b", "V", "B")], []]).separate(1)
    assert list(words) == [[("a", "O"), ("b", "B")], []]
    assert list(tags) == [["N", "V"], []]
    for sentences, column in ((Sentences([["a"]]), -1), (words, 2), (words, -3)):
        with pytest.raises(InputError, match=f"column {column} cannot be separated: there (is 1 column|are 2 columns)"):
            sentences.separate(column)


@pytest.mark.parametrize(
    "X", [Sentences([[("to", "TO"), ("be", "VB")], [], [("or", "CC")]]), Sentences([[{"a": 1}], []])]
)
def test_sentences_are_a_kind_of_data(X):
    assert isinstance(X, treille.Batch)
    assert registry.find("data", "Sentences") is Sentences
    again = treille.Batch.from_state(*X.state())
    assert list(again) == list(X)
    assert list(Sentences.join([X.take([1]), X.take([0])])) == [X[1], X[0]]
    assert X.volume == sum(map(len, X)) == int(X.part_offsets[-1])
    assert [len(X.part_names(i)) for i in range(len(X))] == list(map(len, X))
    assert X.nbytes > 0
    assert Sentences.write_json([("to", "TO"), "be"]) == [["to", "TO"], "be"]
    assert list(Sentences.read_json([Sentences.write_json(each) for each in X], {"columns": len(X.columns)})) == list(X)
    assert Sentences.summarise(X, 1, 80).fields["tokens"] == str(X.n_tokens)


def test_damaged_sentences_are_refused():
    spec, arrays = Sentences([[("to", "TO"), ("be", "VB")]]).state()
    for change in ({"column1": np.zeros(1, np.int32)}, {"offsets": np.array([0, 3])}, {"column0": np.array([0, 9])}):
        with pytest.raises(InputError):
            treille.Batch.from_state(spec, arrays | change)
