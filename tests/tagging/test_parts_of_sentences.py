"""Sentences in parts: several files as one, one file in parts, with templates and schemes."""

import io

import pytest

import treille
from treille import InputError
from treille.tagging import Sentences, convert, read_features, read_sentences, read_templates, stream_features
from treille.tagging.schemes import converted


def test_parts_are_joined_with_the_places_of_their_tokens(tmp_path):
    (tmp_path / "a").write_text("to TO\nbe VB\n")
    (tmp_path / "b").write_text("\nor CC\n\nnot RB\nbe VB\n")
    parts = [read_sentences(tmp_path / name) for name in ("a", "b", "a")]
    whole = Sentences.join(parts)
    assert list(whole) == [tokens for part in parts for tokens in part]
    assert whole.place(3) == f"{tmp_path / 'b'}, line 4"
    assert Sentences.join([whole[1:3], parts[0]]).place(2) == f"{tmp_path / 'b'}, line 5"
    assert Sentences.join(parts[:1]) is parts[0]
    assert list(Sentences.join([Sentences([]), Sentences([["a"], []])])) == [["a"], []]
    features = [Sentences.of_features([[["a", "b"]]]), Sentences.of_features([[["b"], ["c"]]])]
    assert list(Sentences.join(features)) == [[["a", "b"]], [["b"], ["c"]]]
    with pytest.raises(InputError, match="found tokens with features, expected 2 columns as in"):
        Sentences.join([parts[0], features[0]])


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_features_in_parts_are_those_of_the_whole(block):
    text = b"A\ta\tb\n\n\nB\tb\r\nA\tc\r\n\r\nB\td"
    X, y = read_features(io.BytesIO(text))
    parts = list(stream_features(io.BytesIO(text), block=block))
    assert [tokens for part, _ in parts for tokens in part] == list(X)
    assert [tags for _, part in parts for tags in part] == list(y)
    with pytest.raises(InputError, match=r"stream from line 3, line 1|stream, line 3"):
        list(stream_features(io.BytesIO(b"A\ta\n\nB\tb:2.5\n"), block=block))


def test_templates_of_a_file_are_given_by_its_path_and_stay_in_the_model(tmp_path):
    path = tmp_path / "template"
    path.write_text("U00:%x[0,0]\nB\n")
    X, y = [["to", "be"], ["to", "go"]], [["TO", "VB"], ["TO", "VB"]]
    for templates in (path, str(path), read_templates(path), ["word[0]", "tag[-1]"]):
        model = treille.Tagger("linear()", templates, min_count=1).fit(X, y)
        model.save(tmp_path / "m.treille")
        again = treille.load(tmp_path / "m.treille")
        assert again.templates == ["word[0]", "tag[-1]"]
        assert again.predict(X) == model.predict(X) == y


def test_tags_are_converted_without_lists():
    tags = [["B-NP", "I-NP", "O"], ["B-NP"]]
    assert list(converted(tags, "BIOES")) == convert(tags, "BIOES") == [["B-NP", "E-NP", "O"], ["S-NP"]]
