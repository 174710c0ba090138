"""The report of a tagger: scores of chunks, confused tags, and sentences with their errors."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from treille.data.base import align
from treille.data.format import class_counts, count, shares, visible, visible_label
from treille.explain.classification import class_row, confusion
from treille.explain.highlighting import highlighted_sentence
from treille.explain.page import Content, Feature, Figure, Highlight, Origin, Table
from treille.explain.scores import measure
from treille.explain.shown_examples import with_examples
from treille.explain.tagged_sentence import TaggedSentence
from treille.explain.tasks import Tagging
from treille.io.errors import InputError
from treille.tagging import Sentences, chunk_scores
from treille.tagging.sentences import Column, one_column

MOST_SENTENCES = 100
MOST_FEATURES = 40
SHARES = 5  # features of a token, and conjunctions
LEGEND = "A wrong tag is crossed out, with the true one below it. Choose a word to see the features behind its tag."


def tagged(content: Content, task: Tagging, X: Any, y: Any, train: Any, source: Origin) -> Content:
    """The content of a report with scores of tags, and sentences with their errors."""
    sentences = source.batch
    if sentences.n_tokens == 0:
        raise InputError("there are no tokens: a report needs at least one, or None for a report of the model alone")
    predicted = task.model.tagged(sentences) if source.outputs is None else source.outputs
    true = None if y is None else one_column(y, "tag")
    if true is not None and not np.array_equal(true.offsets, predicted.offsets):
        raise InputError("the tags do not have the lengths of the sentences")
    if true is not None:
        content = _scored(content, task.model, sentences, true, predicted, train)
    return _with_sentences(replace(content, legend=LEGEND), task.model, sentences, true, predicted, source)


def _scored(
    content: Content, model: Any, sentences: Sentences, true: Sentences, predicted: Sentences, train: Any
) -> Content:
    """Figures, confused tags, and the table of chunks or tags."""
    a, b = texts_of(true), texts_of(predicted)
    tags, others = measure(a.tolist(), b.tolist()), _baselines(sentences, true, train)
    of_chunks, figures = model.own_scheme_ is not None, []
    if of_chunks:
        chunks = chunk_scores(true, predicted)
        values = {"this model": chunks.f1} | {name: chunk_scores(true, each).f1 for name, each in others.items()}
        note = f"precision {chunks.precision:.3f}, recall {chunks.recall:.3f}, as conlleval computes them"
        figures.append(Figure.of("F1 of chunks", values, note))
        each = [(name, s.precision, s.recall, s.f1, (s.n_true, s.n_predicted)) for name, s in chunks.types.items()]
    else:
        guessed = Counter(b)
        each = [(name, s.precision, s.recall, s.f1, (s.support, guessed[name])) for name, s in tags.per_class.items()]
    rights = {name: float(np.mean(texts_of(other) == a)) for name, other in others.items()}
    note = f"{int((a == b).sum()):,} of {len(a):,} right"
    figures.append(Figure.of("Accuracy of tags", {"this model": tags.accuracy} | rights, note))
    whole = errors_of(true, predicted)[np.diff(true.offsets) > 0] == 0
    note = f"{int(whole.sum()):,} of {len(whole):,}"
    figures.append(Figure.of("Sentences without error", {"this model": float(whole.mean())}, note))
    compare = "With train=(X, y) or --train FILE, also compared with the most frequent tag of each word."
    rows = [class_row(name, values, sizes) for name, *values, sizes in each]
    kind = "chunk" if of_chunks else "tag"
    return replace(
        content,
        figures=figures,
        figures_note=compare if train is None else "",
        confusion=confusion(tags),
        classes=Table([kind, "precision", "recall", "F1", "true", "predicted"], rows),
        classes_title=f"{kind.capitalize()}s",
        data=content.data | {"tags": shares(class_counts(a))},
        known=True,
    )


def _baselines(sentences: Sentences, true: Sentences, train: Any) -> dict[str, Sentences]:
    """Taggings by baselines: the most frequent tag and, with training sentences, the most frequent tag of each word."""
    others = {}
    tags = texts_of(true if train is None else one_column(train[1], "tag"))
    most = Counter(sorted(tags)).most_common(1)[0][0]
    if train is not None and sentences.items is None:
        seen = defaultdict[str, Counter[str]](Counter)
        for word, tag in zip(texts_of(Sentences(train[0])), tags, strict=True):
            seen[word][tag] += 1
        guess = [seen[word].most_common(1)[0][0] if word in seen else most for word in texts_of(sentences)]
        others["most frequent tag of the word"] = _tagging(guess, true)
    others[f"majority: {visible_label(most)}"] = _tagging([most] * true.n_tokens, true)
    return others


def texts_of(sentences: Sentences) -> np.ndarray:
    """The first column of all tokens."""
    codes, values = sentences.columns[0]
    return np.array(values, object)[codes]


def errors_of(true: Sentences, predicted: Sentences) -> np.ndarray:
    """The number of wrong tags in each sentence."""
    at = np.repeat(np.arange(len(true)), np.diff(true.offsets))
    return np.bincount(at[texts_of(true) != texts_of(predicted)], minlength=len(true))


def _tagging(tags: Sequence[str], like: Sentences) -> Sentences:
    values = sorted(set(tags))
    return Sentences.of_columns([Column(align(list(tags), values), values)], like.offsets)


def _with_sentences(
    content: Content, model: Any, sentences: Sentences, true: Sentences | None, predicted: Sentences, source: Origin
) -> Content:
    """The sentences with most errors, and some without."""
    lengths = np.diff(predicted.offsets)
    wrong = np.zeros(len(sentences), int) if true is None else errors_of(true, predicted)
    order = np.argsort(-wrong, kind="stable")
    n_wrong = min(int((wrong > 0).sum()), MOST_SENTENCES * 3 // 4)
    right = np.flatnonzero((wrong == 0) & (lengths > 0))[: MOST_SENTENCES - n_wrong]
    totals = defaultdict[str, Counter[str]](Counter)

    def drawn(row: int, found: TaggedSentence | None) -> list[Highlight]:
        truth = None if true is None else true[row]
        for decision in found or ():
            totals[decision.tag].update(dict(decision.parts()))
        if found is None:
            return [Highlight("", Markup(highlighted_sentence(sentences[row], predicted[row], truth)))]
        return [Highlight("", Markup(found.html(truth=truth, count=SHARES)))]

    def said(row: int) -> tuple[str, str | None, bool | None, str, float, float]:
        n, tokens = int(wrong[row]), int(lengths[row])
        if true is None:
            return count(tokens, "token"), None, None, "", 0, 0
        return f"{n} of {count(tokens, 'tag')} wrong" if n else f"{count(tokens, 'tag')} right", None, n > 0, "", -n, n

    rows, which = np.append(order[:n_wrong], right), "those with most errors, and some without"
    content = with_examples(content, model, sentences, source, rows, drawn, said, which)
    features = {
        visible_label(tag): [Feature(visible(name), v) for name, v in totals[tag].most_common(MOST_FEATURES) if v > 0]
        for tag in sorted(totals)
    }
    told = "The total contribution of each feature to the tags of the sentences above." if features else ""
    return replace(content, features=features, features_note=told)
