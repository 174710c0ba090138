"""The report of a tagger: scores of chunks, confused tags, and sentences with their errors."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from treille.data.alphabet import align
from treille.data.format import class_counts, count, shares, visible, visible_label
from treille.explain import training_report
from treille.explain.classification import confusion
from treille.explain.highlighting import highlighted_sentence
from treille.explain.page import Bar, Cell, Content, Example, Feature, Figure, Highlight, Page, Table
from treille.explain.report import NO_DATA, TOO_GOOD, Source, checked_pair, sentence
from treille.explain.scores import measure
from treille.explain.shown_examples import MOST_BYTES
from treille.io.errors import InputError
from treille.tagging import Sentences, chunk_scores
from treille.tagging.sentences import Column, one_column

MOST_SENTENCES = 100
MOST_SECONDS = 8.0  # of explaining decisions
MOST_FEATURES = 40
SHARES = 5  # features of a token, and conjunctions
LEGEND = "A wrong tag is crossed out, with the true one below it. Choose a word to see the features behind its tag."


def write_tagger_report(
    model: Any, X: Any, y: Any, path: str | os.PathLike[str], train: Any = None, source: Source | None = None
) -> None:
    """Writes the report of a fitted tagger to a file, see `Tagger.report`."""
    content = tagger_content(model, X, y, train, source)
    Page(f"treille report: {content.title}", [content]).write(path)


def tagger_content(model: Any, X: Any, y: Any, train: Any = None, source: Source | None = None) -> Content:
    """What the page says about the tagger."""
    source, train = source or Source(), checked_pair(train)
    if X is None and train is not None:
        (X, y), source = train, replace(source, training=True)
    content = training_report.of_model(model, source.warnings)
    lines = [
        f"treille tag run {source.model} FILE",
        f"treille tag evaluate {source.model} FILE",
        f"treille inspect {source.model}",
    ]
    content = replace(content, unit="sentence", legend=LEGEND, name=source.name, commands=lines)
    if X is None:
        return replace(content, summary=sentence(content.summary), banner=NO_DATA)
    sentences = X if isinstance(X, Sentences) else Sentences(X)
    if sentences.n_tokens == 0:
        raise InputError("there are no tokens: a report needs at least one, or None for a report of the model alone")
    words = f"{count(len(sentences), 'sentence')} with {count(sentences.n_tokens, 'token')}"
    content = replace(
        content,
        title=training_report.titled(model, source.data),
        summary=sentence(words, source.how, content.summary),
        banner=TOO_GOOD if source.training else "",
        data={"sentences": f"{len(sentences):,}", "tokens": f"{sentences.n_tokens:,}"},
    )
    predicted = model.tagged(sentences)
    true = None if y is None else one_column(y, "tag")
    if true is not None:
        content = _scored(content, model, sentences, true, predicted, train)
    return _with_sentences(content, model, sentences, true, predicted, source)


def _scored(
    content: Content, model: Any, sentences: Sentences, true: Sentences, predicted: Sentences, train: Any
) -> Content:
    """Figures, confused tags, and the table of chunks or tags."""
    a, b = texts_of(true), texts_of(predicted)
    tags = measure(a, b)
    others = _baselines(sentences, true, train)
    figures = []
    if model.own_scheme_ is not None:
        chunks = chunk_scores(true, predicted)
        values = {"this model": chunks.f1} | {name: chunk_scores(true, each).f1 for name, each in others.items()}
        note = f"precision {chunks.precision:.3f}, recall {chunks.recall:.3f}, as conlleval computes them"
        figures.append(_figure("F1 of chunks", values, note))
    rights = {name: float(np.mean(np.array(texts_of(each)) == np.array(a))) for name, each in others.items()}
    n = len(a)
    figures.append(
        _figure(
            "Accuracy of tags", {"this model": tags.accuracy} | rights, f"{round(tags.accuracy * n):,} of {n:,} right"
        )
    )
    whole = (
        np.add.reduceat(np.append(np.array(a) != np.array(b), False), true.offsets[:-1])[np.diff(true.offsets) > 0] == 0
    )
    figures.append(
        _figure(
            "Sentences without error", {"this model": float(whole.mean())}, f"{int(whole.sum()):,} of {len(whole):,}"
        )
    )
    note = (
        ""
        if train is not None
        else "With train=(X, y) or --train FILE, also compared with the most frequent tag of each word."
    )
    if model.own_scheme_ is not None:
        each = [(name, s.precision, s.recall, s.f1, s.n_true, s.n_predicted) for name, s in chunks.types.items()]
    else:
        guessed = Counter(b)
        each = [(name, s.precision, s.recall, s.f1, s.support, guessed[name]) for name, s in tags.per_class.items()]
    rows = [
        [Cell(visible_label(name)), *(Cell(f"{v:.3f}", v) for v in values), Cell(f"{t:,}", t), Cell(f"{p:,}", p)]
        for name, *values, t, p in each
    ]
    kind = "chunk" if model.own_scheme_ is not None else "tag"
    return replace(
        content,
        figures=figures,
        figures_note=note,
        confusion=confusion(tags),
        classes=Table([kind, "precision", "recall", "F1", "true", "predicted"], rows),
        classes_title=f"{kind.capitalize()}s",
        data=content.data | {"tags": shares(class_counts(a))},
        known=True,
    )


def _figure(name: str, values: dict[str, float], note: str) -> Figure:
    bars = [Bar(other, f"{value:.3f}", value) for other, value in values.items()]
    return Figure(name, f"{values['this model']:.3f}", bars, note)


def _baselines(sentences: Sentences, true: Sentences, train: Any) -> dict[str, Sentences]:
    """Other taggings: with training sentences, the most frequent tag of each word; the most frequent of all."""
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


def texts_of(sentences: Sentences) -> list[str]:
    """The first column of all tokens."""
    codes, values = sentences.columns[0]
    return np.array(values, object)[codes].tolist()


def _tagging(tags: Sequence[str], like: Sentences) -> Sentences:
    values = sorted(set(tags))
    return Sentences.of_columns([Column(align(list(tags), values), values)], like.offsets)


def _with_sentences(
    content: Content, model: Any, sentences: Sentences, true: Sentences | None, predicted: Sentences, source: Source
) -> Content:
    """The sentences with most errors, and some without."""
    lengths = np.diff(predicted.offsets)
    wrong = np.zeros(len(sentences), int)
    if true is not None:
        at = np.repeat(np.arange(len(sentences)), lengths)
        np.add.at(wrong, at, np.array(texts_of(true)) != np.array(texts_of(predicted)))
    order = np.lexsort((np.arange(len(wrong)), -wrong))
    n_wrong = min(int((wrong > 0).sum()), MOST_SENTENCES * 3 // 4)
    rows = [*order[:n_wrong], *np.flatnonzero((wrong == 0) & (lengths > 0))[: MOST_SENTENCES - n_wrong]]
    examples, size, begun, note = list[Example](), 0, time.perf_counter(), ""
    totals = defaultdict[str, Counter[str]](Counter)
    for row in map(int, rows):
        if size > MOST_BYTES:
            break
        found = None
        if not note and time.perf_counter() - begun < MOST_SECONDS:
            try:
                found = model.explain(sentences[row], count=SHARES)
            except InputError as error:
                note = f"Decisions are not explained: {error}."
        truth = None if true is None else true[row]
        tags = predicted[row]
        if found is None:
            html = plain_sentence(sentences[row], tags, truth)
        else:  # tags in the scheme of the training tags, which may be another than that of the decisions
            decisions = [decision._replace(tag=tag) for decision, tag in zip(found, tags, strict=True)]
            html = Markup(highlighted_sentence(decisions, truth))
        size += len(html)
        for decision in found or []:
            for name, share in decision.shares:
                totals[decision.tag][name] += share
        n, tokens = int(wrong[row]), int(lengths[row])
        said = (
            count(tokens, "token")
            if true is None
            else f"{n} of {count(tokens, 'tag')} wrong"
            if n
            else f"{count(tokens, 'tag')} right"
        )
        name = source.names[row] if source.names is not None else f"#{row}"
        examples.append(
            Example(name, row, said, None, n > 0 if true is not None else None, "", -n, n, [Highlight("", html)])
        )
    chosen = (
        "All sentences."
        if len(examples) == len(sentences)
        else f"{len(examples):,} of {len(sentences):,}: those with most errors, and some without."
    )
    features = {
        visible_label(tag): [
            Feature(visible(name), value) for name, value in totals[tag].most_common(MOST_FEATURES) if value > 0
        ]
        for tag in sorted(totals)
    }
    told = "What each feature contributed to the tags of the sentences above, in all." if features else ""
    return replace(
        content, examples=examples, examples_note=f"{chosen} {note}".strip(), features=features, features_note=told
    )


def plain_sentence(tokens: Sequence[Any], tags: Sequence[str], truth: Sequence[str] | None) -> Markup:
    """A sentence with its tags, without the reasons for them; wrong ones are marked."""
    parts = []
    for t, (token, tag) in enumerate(zip(tokens, tags, strict=True)):
        word = token if isinstance(token, str) else token[0] if isinstance(token, (tuple, list)) else f"token {t}"
        wrong = truth is not None and truth[t] != tag
        other = Markup('<span class="tag">true: {}</span>').format(visible_label(truth[t])) if truth and wrong else ""
        parts.append(
            Markup('<li class="token{}"><span class="word">{}</span><b class="tag">{}</b>{}</li>').format(
                " wrong" if wrong else "", visible(word, blanks=False), visible_label(tag), other
            )
        )
    return Markup('<div class="highlighted"><ol class="sentence">{}</ol></div>').format(Markup("").join(parts))
