"""Chunks and tag schemes compared with the rules of conlleval, token by token."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing import processor_seconds
from treille import InputError
from treille.tagging import (
    SCHEMES,
    Sentences,
    allowed_transitions,
    chunks,
    convert,
    detect_scheme,
    is_chunk_tag,
    repair,
)

TAGS = ["O", *(f"{letter}-{kind}" for letter in "BIES" for kind in ("NP", "VP", "X-Y"))]
tags = st.lists(st.sampled_from(TAGS), max_size=12)
sentences = st.lists(tags, max_size=5)


def slow_chunks(tags):
    """startOfChunk and endOfChunk of conlleval, in its version with E and S."""

    def split(tag):
        return (tag, "") if tag == "O" else tuple(tag.split("-", 1))

    def ends(before, tag, type_before, kind):
        return before in "ES" or (before in "BI" and tag in "BSO") or (before != "O" and type_before != kind)

    def begins(before, tag, type_before, kind):
        return tag in "BS" or (before in "ESO" and tag in "EI") or (tag != "O" and type_before != kind)

    found, first, before, type_before = [], None, "O", ""
    for i, (tag, kind) in enumerate([*map(split, tags), ("O", "")]):
        if first is not None and ends(before, tag, type_before, kind):
            found.append((type_before, first, i))
            first = None
        if tag != "O" and begins(before, tag, type_before, kind):
            first = i
        before, type_before = tag, kind
    return found


@given(tags)
def test_chunks_are_those_of_conlleval(tags):
    assert chunks(tags) == slow_chunks(tags)


@given(sentences, st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_chunks_survive_conversion_through_any_schemes(sentences, one, other):
    there = convert(sentences, one)
    assert [chunks(tags) for tags in there] == [chunks(tags) for tags in sentences]
    assert convert(convert(there, other), one) == there


@given(sentences, st.sampled_from(SCHEMES))
def test_repaired_tags_are_legal_and_remain_as_they_are(sentences, scheme):
    repaired = repair(sentences, scheme)
    assert repair(repaired, scheme) == repaired
    assert list(map(len, repaired)) == list(map(len, sentences))
    names = sorted({tag for tags in repaired for tag in tags})
    allowed, place = allowed_transitions(names, scheme), {name: i for i, name in enumerate(names)}
    for tags in repaired:
        around = [-1, *(place[tag] for tag in tags), -1]
        assert all(allowed[a, b] for a, b in itertools.pairwise(around))


@given(tags, st.sampled_from(["IOB1", "IOB2", "IOE1", "IOE2", "BIOES"]))
def test_a_sequence_of_allowed_transitions_is_left_as_it_is_and_others_are_repaired(tags, scheme):
    letters = {"IOB": "OBI", "IOE": "OIE", "BIO": "OBIES"}[scheme[:3]]
    tags = [tag for tag in tags if tag[0] in letters]
    allowed, place = allowed_transitions(TAGS_OF[letters], scheme), {t: i for i, t in enumerate(TAGS_OF[letters])}
    around = [-1, *(place[tag] for tag in tags), -1]
    legal = all(allowed[a, b] for a, b in itertools.pairwise(around))
    assert legal == (repair([tags], scheme) == [tags])


TAGS_OF = {letters: [tag for tag in TAGS if tag[0] in letters] for letters in ("OBI", "OIE", "OBIES")}


def test_the_schemes_by_example():
    text = ["B-NP", "I-NP", "B-NP", "I-NP", "B-VP", "O", "B-NP"]
    assert convert([text], "BIO") == [text]
    assert convert([text], "IOB") == [["I-NP", "I-NP", "B-NP", "I-NP", "I-VP", "O", "I-NP"]]
    assert convert([text], "IOE1") == [["I-NP", "E-NP", "I-NP", "I-NP", "I-VP", "O", "I-NP"]]
    assert convert([text], "IOE2") == [["I-NP", "E-NP", "I-NP", "E-NP", "E-VP", "O", "E-NP"]]
    assert convert([text], "iobes") == [["B-NP", "E-NP", "B-NP", "E-NP", "S-VP", "O", "S-NP"]]
    assert convert([text], "BILOU") == [["B-NP", "L-NP", "B-NP", "L-NP", "U-VP", "O", "U-NP"]]
    for scheme in ("IOB1", "IOB2", "IOE1", "IOE2", "BIOES", "BILOU"):
        assert detect_scheme(convert([text, ["B-NP", "B-NP"]], scheme)) == scheme


def test_chunks_of_neighbouring_sentences_are_not_joined():
    assert convert([["I-NP"], [], ["I-NP"]], "IOB2") == [["B-NP"], [], ["B-NP"]]
    assert convert([["B-NP"], ["B-NP"]], "IOB1") == [["I-NP"], ["I-NP"]]


def test_tags_without_a_type_are_chunks_of_one_unnamed_type():
    assert chunks(["B", "I", "O", "I"]) == [("", 0, 2), ("", 3, 4)]
    assert convert([["I", "I"]], "BIOES") == [["B", "E"]]


def test_nothing_is_no_chunk():
    assert chunks([]) == []
    assert convert([], "IOB2") == []
    assert convert([[], []], "IOB2") == [[], []]
    assert detect_scheme([]) == "IOB2"
    assert not is_chunk_tag("")
    assert not is_chunk_tag("BNP")
    assert not is_chunk_tag("O-NP")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: chunks(["O", "NN"]),
            r"sentence 0, token 1: the tag 'NN' is not a chunk tag, expected O, or B, I, E or S",
        ),
        (lambda: convert([["O"], ["B-NP", "X"]], "IOB2"), r"sentence 1, token 1: the tag 'X' is not a chunk tag"),
        (lambda: convert([["O"]], "IOB7"), r"found the scheme 'IOB7', expected one of IOB2"),
        (lambda: convert(["O"], "IOB2"), r"sentence 0 is str \('O'\), expected a list of tokens"),
        (lambda: convert([["O", 3]], "IOB2"), r"sentence 0, token 1 is int \('3'\), expected a str"),
        (lambda: convert([[("a", "O")]], "IOB2"), r"found 2 columns of tags, expected one tag per token"),
        (
            lambda: allowed_transitions(["E-NP"], "IOB2"),
            r"the tag 'E-NP' is not one of IOB2, whose letters are O, B, I",
        ),
    ],
)
def test_invalid_chunk_tags_are_refused_with_their_place(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_values_that_no_token_has_are_allowed():
    tags = Sentences([["NN"], ["B-NP"]])[1:]
    assert convert(tags, "IOB1") == [["I-NP"]]


def test_fifty_thousand_tokens_take_a_moment():
    rng = np.random.default_rng(0)
    text = [list(rng.choice(TAGS, 24)) for _ in range(2000)]
    with processor_seconds(1):
        convert(text, "BIOES")
