"""Scores of taggings, as `tag train` and `tag evaluate` print them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treille import Tagger
from treille.data.alphabet import align
from treille.tagging import ChunkScores, Sentences, chunk_scores


@dataclass(frozen=True)
class TagScores:
    """Accuracy of tags, the pairs that are confused most often, and the scores of chunks if the tags are those of chunks."""

    n_sentences: int
    n_tokens: int
    n_correct: int
    confused: list[tuple[str, str, int]]
    chunks: ChunkScores | None

    @property
    def accuracy(self) -> float:
        """The share of tokens with the right tag."""
        return self.n_correct / self.n_tokens

    def __str__(self) -> str:
        f1 = "" if self.chunks is None else f"F1 of chunks {self.chunks.f1:.4f}, "
        return f"{f1}accuracy {self.accuracy:.4f} ({self.n_correct:,} of {self.n_tokens:,} tags right)"

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        confused = [{"true": true, "predicted": found, "tokens": n} for true, found, n in self.confused]
        value: dict[str, Any] = {"sentences": self.n_sentences, "tokens": self.n_tokens, "accuracy": self.accuracy}
        value |= {"f1": None, "confused": confused}
        if self.chunks is not None:
            value |= _as_dict(self.chunks) | {
                "types": {name: _as_dict(each) for name, each in self.chunks.types.items()}
            }
        return value


def compare(model: Tagger, X: Sentences, y: Sentences) -> TagScores:
    """Scores of a model on tagged sentences."""
    predicted = model.tagged(X)
    chunks = chunk_scores(y, predicted) if model.own_scheme_ is not None else None
    names = sorted({*y.columns[0].values, *predicted.columns[0].values})
    true, found = (align(each.columns[0].values, names)[each.columns[0].codes] for each in (y, predicted))
    wrong = true != found
    pairs, counts = np.unique(true[wrong].astype(np.int64) * len(names) + found[wrong], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    each = zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
    confused = [(names[pair // len(names)], names[pair % len(names)], n) for pair, n in each]
    return TagScores(len(X), X.n_tokens, int((~wrong).sum()), confused, chunks)


def _as_dict(scores: Any) -> dict[str, Any]:
    counts = {"true": scores.n_true, "predicted": scores.n_predicted, "correct": scores.n_correct}
    return {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1} | counts
