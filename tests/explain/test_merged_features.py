"""Overlapping n-grams are joined to the stretches that they come from."""

import numpy as np
import pytest

import treille
from treille import SVC
from treille.explain.merged import sentence_around
from treille.kernels import Columns, Gappy, Linear, NGram, SubTree

TEXTS = [
    "The transport strike goes on. Nobody works.",
    "A strike in transport! Ships wait.",
    "Transport of cars; the transport union is on strike.",
    "Corn is cheap. The price of corn fell.",
    "The harvest of corn was good, and its price low.",
    "Cheap corn, low price.",
]
LABELS = ["strike"] * 3 + ["corn"] * 3


def names(top, label):
    return [one.name for one in top[label]]


@pytest.mark.parametrize(
    "kernel",
    [
        NGram(4),
        NGram(5, min_n=2).normalized(),
        NGram(4, unit="char_wb").weighted("idf").normalized(),
        NGram(4, min_n=3).balanced(),
        NGram(4).centered(),
    ],
    ids=repr,
)
def test_n_grams_of_a_word_become_the_word(kernel):
    model = SVC(kernel).fit(TEXTS, LABELS)
    top = model.top_features(6, merge=True, examples=TEXTS)
    assert "transport" in names(top, "strike")
    assert any("corn" in name.split() for name in names(top, "corn"))
    for label, found in top.items():
        assert len(found) <= 6
        assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)
        for one in found:
            assert one.frequency == sum(one.name in text for text in TEXTS), (label, one)
            assert one.name.split()[0] in one.sentence


def test_the_weight_is_that_of_all_features_inside():
    model = SVC(NGram(4)).fit(TEXTS, LABELS)
    found = next(one for one in model.top_features(6, merge=True, examples=TEXTS)["strike"] if one.name == "transport")
    weights = {model.features_.name(i): w for i, w in enumerate(model.coef_[0])}
    grams = [" transport "[i : i + 4] for i in range(8)]
    options = [sum(weights.get(g, 0.0) for g in grams[a:b]) for a in (0, 1) for b in (7, 8)]
    assert any(found.weight == pytest.approx(total) for total in options)
    name, weight, frequency, sentence = found
    assert (name, weight, frequency) == ("transport", found.weight, 3)
    assert sentence == "The transport strike goes on."


def test_words_are_joined_to_phrases():
    texts = [
        "the prime minister spoke",
        "a prime minister left",
        "our prime minister",
        "one red house",
        "red house",
        "my red house",
    ]
    model = SVC(NGram(2, unit="word")).fit(texts, [0, 0, 0, 1, 1, 1])
    assert names(model.top_features(1, merge=True, examples=texts), 0) == ["prime minister"]
    long = [f"{a} united states of america {b}" for a, b in (("in", "so"), ("the", "and"), ("our", "has"))]
    model = SVC(NGram(2, unit="word")).fit([*long, *texts[3:]], [0, 0, 0, 1, 1, 1])
    assert names(model.top_features(2, merge=True, examples=long), 0)[0] == "united states of america"
    assert "united states of america" in names(model.top_features(2, merge=True), 0)[0]


def test_without_examples_strings_are_joined_alone():
    model = SVC(NGram(4)).fit(TEXTS, LABELS)
    top = model.top_features(5, merge=True)
    assert any("transport" in name for name in names(top, "strike"))
    assert all(one.frequency is None and one.sentence is None for found in top.values() for one in found)
    longest = max(len(name) for name, _ in model.top_features(5)["strike"])
    assert longest == 4 < max(len(name) for name in names(top, "strike"))


def test_units_of_a_sum_stay_apart():
    model = SVC(NGram(4) + NGram(1, unit="word+lower")).fit(TEXTS, LABELS)
    found = names(model.top_features(8, merge=True, examples=TEXTS), "strike")
    assert any(name == "char:transport" for name in found)
    assert any(name.startswith("word:") for name in found)


@pytest.mark.parametrize("kernel", [Gappy(3, 0.5, max_gap=2), SubTree()], ids=repr)
def test_other_features_are_left_as_they_are(kernel):
    X = (
        ["(S (NP he) (VP sat))", "(S (NP it) (VP (V ate) (NP it)))"]
        if isinstance(kernel, SubTree)
        else ["abcab", "cdcdd"]
    )
    model = SVC(kernel).fit(X, [0, 1])
    plain, merged = model.top_features(3), model.top_features(3, merge=True, examples=X)
    assert {label: [(one.name, one.weight) for one in found] for label, found in merged.items()} == plain


def test_columns_are_merged_one_by_one():
    X = {"text": TEXTS, "size": np.arange(6.0)}
    model = SVC(Columns({"text": NGram(4).normalized(), "size": Linear()})).fit(X, LABELS)
    found = model.top_features(6, merge=True, examples=X)["strike"]
    assert "text: transport" in [one.name for one in found]
    assert all(one.sentence for one in found if one.name.startswith("text: "))


def test_hostile_texts_are_merged():
    texts = [
        "",
        "   ",
        "a",
        "\n\n",
        "(((",
        "[a-z]+ \\w",
        "\x00\x01",
        "\N{RIGHT-TO-LEFT OVERRIDE}abc",
        "x" * 5000,
        "y" * 5000,
    ]
    model = SVC(NGram(3, min_n=1)).fit(texts, [0, 1] * 5)
    for found in model.top_features(20, merge=True, examples=texts).values():
        assert all(len(one.sentence) <= 200 for one in found if one.sentence is not None)


def test_a_loaded_model_merges_alike(tmp_path):
    model = SVC(NGram(4).normalized()).fit(TEXTS, LABELS)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert names(again.top_features(3, merge=True, examples=TEXTS), "strike") == names(
        model.top_features(3, merge=True, examples=TEXTS), "strike"
    )


def test_a_sentence_is_cut_around_the_name():
    text = "First. " + "word " * 100 + "here it is " + "more " * 100
    found = sentence_around("here it is", text)
    assert "here it is" in found
    assert len(found) <= 110
    assert sentence_around("absent", "short text") == "short text"


def test_the_error_of_a_model_without_features_names_an_alternative():
    model = SVC(treille.kernels.Subsequence(2)).fit(TEXTS, LABELS)
    with pytest.raises(AttributeError, match=r"has no explicit features.*use explain\(x\), whose support lists"):
        model.top_features()
