"""Features of tokens, against a twin that reads the definition."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import InputError
from treille.tagging import Sentences, Template, TokenFeatures
from treille.tagging.templates import ITEMS, TAG, derived

TEMPLATES = [
    "word[0]",
    "word[-2]",
    "pos[1]",
    "suffix2[-1]",
    "x1.lower[0]",
    "ortho[2]",
    "bias",
    "word[-1]|word[0]",
    "prefix1[0]|pos[-1]|suffix1[1]",
    "tag[-1]",
    "tag[-2]",
    "tag[-2]|tag[-1]",
    "word[0]|tag[-1]",
    "suffix2[0]|pos[1]|tag[-1]|tag[-3]",
]
token = st.tuples(st.text("aB-", min_size=1, max_size=3), st.sampled_from(["N", "V"]), st.sampled_from(["O", "B", "I"]))
tagged = st.lists(st.lists(token, max_size=6), max_size=5)
chosen = st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=8, unique=True)


def value(sentence, tags, i, atom, direction):
    if atom.column == TAG:
        at = i - atom.offset if direction == "forward" else i + atom.offset
        return tags[at] if 0 <= at < len(tags) else "_B"
    at = i + atom.offset
    if at < 0:
        return f"_B-{-at}"
    if at >= len(sentence):
        return f"_B+{at - len(sentence) + 1}"
    return derived(atom.attribute, [sentence[at][atom.column]])[0]


def slow_names(sentences, tags, templates, direction, dynamic=True):
    """For each token, the names of its features."""
    rows = []
    for sentence, own in zip(sentences, tags, strict=True):
        for i in range(len(sentence)):
            rows.append(set())
            for template in map(Template.parse, templates):
                if template.dynamic and not dynamic:
                    continue
                values = [value(sentence, own, i, atom, direction) for atom in template.atoms]
                if None not in values:
                    parts = [f"{atom}={v}" for atom, v in zip(template.atoms, values, strict=True)]
                    rows[-1].add("|".join(parts) or "bias")
    return rows


def split(data):
    return [[t[:2] for t in s] for s in data], [[t[2] for t in s] for s in data]


def names_of(features, rows):
    return [{features.name(z) for z in rows.ids[a:b]} for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)]


@settings(deadline=None, max_examples=150)
@given(tagged, tagged, chosen, st.sampled_from(["forward", "backward"]), st.integers(1, 3), st.sampled_from([1, 3]))
def test_features_are_those_of_the_definition(train, test, templates, direction, min_count, n_jobs):
    train.append([("a", "N", "O"), ("Bab", "V", "B"), ("-", "N", "I")])  # so that there are two columns and three tags
    X, y = split(train)
    features, rows = TokenFeatures.fit(templates, X, y, min_count=min_count, direction=direction, n_jobs=n_jobs)
    twin = slow_names(X, y, templates, direction)
    counts = Counter(name for row in twin for name in row)
    frequent = {name for name, n in counts.items() if n >= min_count}
    names = [features.name(z) for z in range(features.n_features)]
    assert set(names) == frequent
    assert len(set(names)) == len(names)
    assert [counts[name] for name in names] == sorted((counts[name] for name in names), reverse=True)
    assert names_of(features, rows) == [row & frequent for row in twin]
    for a, b in zip(rows.indptr, rows.indptr[1:], strict=False):
        assert (np.diff(rows.ids[a:b]) > 0).all()

    X, y = split(test)
    new = features.transform(X, n_jobs=n_jobs)
    assert names_of(features, new) == [r & frequent for r in slow_names(X, y, templates, direction, dynamic=False)]
    assert names_of(features, features.transform_tagged(X, y, n_jobs)) == [
        row & frequent for row in slow_names(X, y, templates, direction)
    ]
    check_dynamic(features, X, y, new, slow_names(X, y, templates, direction), direction)


def check_dynamic(features, X, y, rows, twin, direction):
    """Static and dynamic features of a decoder that gives the tags y are those of the definition."""
    at = 0
    for sentence, tags in zip(X, y, strict=True):
        for i in range(len(sentence)):
            previous = np.full(features.core.history, len(features.tags), np.int32)
            for k in range(features.core.history):
                before = i - k - 1 if direction == "forward" else i + k + 1
                if 0 <= before < len(tags):
                    previous[k] = features.tags.index(tags[before])
            ids = features.core.dynamic_ids(np.ascontiguousarray(rows.parts[at]), previous)
            all_ids = [*ids, *rows.ids[rows.indptr[at] : rows.indptr[at + 1]]]
            assert len(set(all_ids)) == len(all_ids)
            assert {features.name(z) for z in all_ids} == twin[at] & {
                features.name(z) for z in range(features.n_features)
            }
            at += 1


@settings(deadline=None, max_examples=50)
@given(tagged, chosen, st.sampled_from(["forward", "backward"]), st.data())
def test_features_come_back_from_their_state_and_some_of_them_can_be_kept(train, templates, direction, data):
    train.append([("a", "N", "O"), ("Bab", "V", "B"), ("-", "N", "I")])
    X, y = split(train)
    features, rows = TokenFeatures.fit(templates, X, y, direction=direction)
    spec, arrays = features.state()
    again = TokenFeatures.load(json.loads(json.dumps(spec)), arrays)
    same = again.transform_tagged(X, y)
    assert np.array_equal(same.ids, rows.ids)
    assert [again.name(z) for z in range(again.n_features)] == [features.name(z) for z in range(features.n_features)]
    kept = sorted(data.draw(st.sets(st.integers(0, features.n_features - 1))))
    fewer = features.restrict(np.array(kept, np.int64))
    assert [fewer.name(z) for z in range(fewer.n_features)] == [features.name(z) for z in kept]
    assert (fewer.transform_tagged(X, y).to_csr() != rows.to_csr()[:, kept]).nnz == 0


def test_features_of_a_function_of_the_user():
    X = [[{"word": "The", "title": True, "bias": 1.0}, {"word": "cat", "title": False, "bias": 1.0}], [{"word": "cat"}]]
    y = [["D", "N"], ["N"]]
    features, rows = TokenFeatures.fit(None, X, y)
    assert names_of(features, rows) == [
        {"word=The", "title", "bias", "tag[-1]=_B", "tag[-2]=_B", "tag[-2]=_B|tag[-1]=_B"},
        {"word=cat", "bias", "tag[-1]=D", "tag[-2]=_B", "tag[-2]=_B|tag[-1]=D"},
        {"word=cat", "tag[-1]=_B", "tag[-2]=_B", "tag[-2]=_B|tag[-1]=_B"},
    ]
    again = TokenFeatures.load(*features.state())
    lists = Sentences.of_features([[["word=cat", "new", "word=cat"]], []])
    assert names_of(again, again.transform(lists)) == [{"word=cat"}]
    assert any(atom.column == ITEMS for template in again.templates for atom in template.atoms)
    assert again.n_columns == 0


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (
            {"length": 2.5},
            r"sentence 0, token 1: the feature 'length' is 2.5, expected str, bool, 0 or 1: divide it into ranges",
        ),
        ({"word": None}, r"sentence 0, token 1: the feature 'word' is None, expected str, bool, 0 or 1$"),
        ({3}, r"sentence 0, token 1: '3' is int, expected a feature as str"),
        ("word", r"sentence 0, token 1 is str \('word'\), expected a list, set or dict of features"),
    ],
)
def test_features_that_are_not_binary_are_refused_with_their_place(token, message):
    with pytest.raises(InputError, match=message):
        Sentences([[{"bias": True}, token]])


def test_a_selection_of_sentences_has_the_same_features_as_the_sentences_alone():
    X = Sentences([[(f"w{i}", "N"), ("x", "V")] for i in range(50)])
    y = [["O", "B"]] * 50
    features, rows = TokenFeatures.fit(["word[0]", "word[1]|pos[0]"], X, y)
    part = features.transform(X[7:9])
    assert np.array_equal(part.ids, rows.ids[rows.indptr[14] : rows.indptr[18]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TokenFeatures.fit(None, [["a"]], [["O", "O"]]), "sentence 0 has 1 token and 2 tags"),
        (lambda: TokenFeatures.fit(None, [["a"]], [["O"], ["O"]]), "found 1 sentence of tokens and 2 of tags"),
        (
            lambda: TokenFeatures.fit(None, [["a"]], [["O"]], direction="up"),
            "direction is 'up', expected 'forward'",
        ),
        (lambda: TokenFeatures.fit(None, [["a"]], [["O"]], min_count=0), "min_count is 0, expected a whole number"),
        (lambda: fitted().transform([["a"]]), "found tokens of 1 column, expected 2 as in training"),
        (lambda: fitted().tag_codes([["O", "X"]]), "sentence 0, token 1: the tag 'X' does not occur in the training"),
        (lambda: fitted([[{"a"}]]).transform([["a"]]), "found tokens with columns, expected tokens with features"),
    ],
)
def test_tokens_tags_and_options_that_do_not_match_the_features_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def fitted(X=None):
    return TokenFeatures.fit(None, X or [[("a", "N")]], [["O"]])[0]


def test_nothing_has_no_features():
    rows = fitted().transform([])
    assert len(rows.indptr) == 1
    assert fitted().transform([[], []]).to_csr().shape == (0, fitted().n_features)


@pytest.mark.parametrize(
    "damage",
    [
        lambda spec, arrays: arrays.update(feature_codes=arrays["feature_codes"] + 100),
        lambda spec, arrays: arrays.update(feature_codes=arrays["feature_codes"][:-1]),
        lambda spec, arrays: arrays.update(feature_codes=np.full_like(arrays["feature_codes"], -1)),
        lambda spec, arrays: arrays.update(feature_templates=arrays["feature_templates"] + 60),
        lambda spec, arrays: arrays.update({n: np.concatenate([a, a]) for n, a in arrays.items()}),
        lambda spec, arrays: spec.update(values=spec["values"][1:]),
        lambda spec, arrays: spec.update(direction="up"),
        lambda spec, arrays: spec.update(templates=["nonsense"]),
        lambda spec, arrays: spec.update(tags=[]),
    ],
)
def test_a_damaged_state_is_refused(damage):
    spec, arrays = TokenFeatures.fit(None, [[("a", "N"), ("b", "V")]], [["B", "I"]])[0].state()
    damage(spec, arrays)
    with pytest.raises(InputError):
        TokenFeatures.load(spec, arrays)
