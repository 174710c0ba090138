"""Scores of chunks, against conlleval's own output and seqeval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_schemes import TAGS, slow_chunks

from treille import InputError
from treille.tagging import chunk_scores

pairs = st.lists(st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), max_size=10), max_size=5)


def split(pairs):
    return [[a for a, _ in sentence] for sentence in pairs], [[b for _, b in sentence] for sentence in pairs]


@given(pairs)
def test_scores_follow_from_the_sets_of_chunks(pairs):
    true, predicted = split(pairs)
    mine, theirs = (
        {(i, *chunk) for i, tags in enumerate(side) for chunk in slow_chunks(tags)} for side in (true, predicted)
    )
    scores = chunk_scores(true, predicted)
    assert (scores.n_true, scores.n_predicted, scores.n_correct) == (len(mine), len(theirs), len(mine & theirs))
    assert scores.precision == (len(mine & theirs) / len(theirs) if theirs else 0)
    assert list(scores.types) == sorted({chunk[1] for chunk in mine | theirs})
    for name, each in scores.types.items():
        of = {chunk for chunk in mine | theirs if chunk[1] == name}
        assert (each.n_true, each.n_predicted, each.n_correct) == (
            len(of & mine),
            len(of & theirs),
            len(of & mine & theirs),
        )
    flat = [pair for sentence in pairs for pair in sentence]
    assert (scores.n_tokens, scores.n_correct_tags) == (len(flat), sum(a == b for a, b in flat))


@given(pairs)
def test_scores_are_those_of_seqeval(pairs):
    metrics = pytest.importorskip("seqeval.metrics")
    true, predicted = split([sentence for sentence in pairs if sentence])
    scores = chunk_scores(true, predicted)
    if not true or not scores.types:
        return
    assert scores.f1 == pytest.approx(metrics.f1_score(true, predicted, zero_division=0))
    assert scores.precision == pytest.approx(metrics.precision_score(true, predicted, zero_division=0))
    assert scores.recall == pytest.approx(metrics.recall_score(true, predicted, zero_division=0))
    report = metrics.classification_report(true, predicted, output_dict=True, zero_division=0)
    for name, each in scores.types.items():
        assert each.f1 == pytest.approx(report[name]["f1-score"])
        assert each.n_true == report[name]["support"]


def test_the_example_on_the_page_of_conlleval():
    # "processed 961 tokens with 459 phrases; found: 539 phrases; correct: 371" has precision 68.83, recall 80.83, F1 74.35.
    true = [["B-NP", "O"]] * 371 + [["B-NP", "O"]] * 88 + [["O", "O"]] * 168
    predicted = [["B-NP", "O"]] * 371 + [["O", "O"]] * 88 + [["B-NP", "O"]] * 168
    scores = chunk_scores(true, predicted)
    assert f"{scores.precision:.2%} {scores.recall:.2%} {100 * scores.f1:.2f}" == "68.83% 80.83% 74.35"
    assert str(scores).splitlines()[0] == "processed 1,254 tokens with 459 chunks; found 539 chunks; correct: 371"
    assert "precision:  68.83%; recall:  80.83%; F1:  74.35" in str(scores).splitlines()[1]
    assert str(scores).splitlines()[2].startswith("NP: ")


@pytest.mark.parametrize(
    ("true", "predicted", "message"),
    [
        ([["O"]], [["O"], ["O"]], "found 1 sentence of true tags and 2 of predicted ones"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], "sentence 1 has 2 true tags and 1 predicted one"),
        ([["O"]], [["NN"]], "sentence 0, token 0: the tag 'NN' is not a chunk tag"),
    ],
)
def test_taggings_that_cannot_be_compared_are_refused(true, predicted, message):
    with pytest.raises(InputError, match=message):
        chunk_scores(true, predicted)
