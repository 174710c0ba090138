"""Precision, recall and F1 of chunks, as conlleval and seqeval compute them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.data.base import align
from treille.data.format import count
from treille.tagging.schemes import Chunks, chunks_of
from treille.tagging.sentences import check_lengths, one_column


@dataclass(frozen=True)
class Scores:
    """Counts of chunks and what follows from them; a quotient by zero is zero.

    >>> scores = Scores(n_true=4, n_predicted=5, n_correct=3)
    >>> scores.precision, scores.recall, round(scores.f1, 4)
    (0.6, 0.75, 0.6667)
    """

    n_true: int
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """Correct chunks among the predicted ones."""
        return self.n_correct / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Correct chunks among the true ones."""
        return self.n_correct / self.n_true if self.n_true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.n_true + self.n_predicted
        return 2 * self.n_correct / both if both else 0.0


@dataclass(frozen=True)
class ChunkScores(Scores):
    """The scores of all chunks together, of each type, and the accuracy of the tags.

    >>> from treille.tagging import chunk_scores
    >>> print(chunk_scores([["B-NP", "O"]], [["B-NP", "O"]]))
    processed 2 tokens with 1 chunk; found 1 chunk; correct: 1
    accuracy: 100.00%; precision: 100.00%; recall: 100.00%; F1: 100.00
    NP: precision: 100.00%; recall: 100.00%; F1: 100.00  1
    """

    n_tokens: int
    n_correct_tags: int
    types: dict[str, Scores]  # sorted by name

    @property
    def accuracy(self) -> float:
        """Correct tags among all."""
        return self.n_correct_tags / self.n_tokens if self.n_tokens else 0.0

    def __str__(self) -> str:
        lines = [
            f"processed {count(self.n_tokens, 'token')} with {count(self.n_true, 'chunk')}; "
            f"found {count(self.n_predicted, 'chunk')}; correct: {self.n_correct:,}",
            f"accuracy: {self.accuracy:7.2%}; {_line(self)}",
        ]
        width = max(map(len, self.types), default=0)
        return "\n".join(lines + [f"{name:>{width}}: {_line(s)}  {s.n_true:,}" for name, s in self.types.items()])


def chunk_scores(true: Any, predicted: Any) -> ChunkScores:
    """Compares the chunks of two taggings of the same sentences.

    A predicted chunk is correct if a true one has the same type and the same tokens. Tags of any scheme are read as conlleval reads
    them; conlleval and seqeval compute the same values.

    Parameters
    ----------
    true, predicted : list of lists of tags, or Sentences with one column

    Examples
    --------
    >>> from treille.tagging import chunk_scores
    >>> scores = chunk_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "B-VP", "B-VP"]])
    >>> round(scores.precision, 3), scores.recall, scores.f1, scores.accuracy, scores.types["VP"].n_true
    (0.667, 1.0, 0.8, 0.75, 1)
    """
    left, right = one_column(true, "tag"), one_column(predicted, "tag")
    check_lengths(left, right, "true tag", "predicted one")
    mine, theirs = chunks_of(left), chunks_of(right)
    types = sorted({*mine.types, *theirs.types})
    a, b = _types_at(mine, types, left.n_tokens), _types_at(theirs, types, left.n_tokens)
    both, at = _ends_at(mine, left.n_tokens) == _ends_at(theirs, left.n_tokens), a >= 0
    correct = np.bincount(a[at & both & (a == b)], minlength=len(types))
    n_true, n_predicted = (np.bincount(side[side >= 0], minlength=len(types)) for side in (a, b))
    each = zip(n_true.tolist(), n_predicted.tolist(), correct.tolist(), strict=True)
    same = align(right.columns[0].values, left.columns[0].values)[right.columns[0].codes] == left.columns[0].codes
    n_all, n_found, n_right = (int(counts.sum()) for counts in (n_true, n_predicted, correct))
    by_type = {name: Scores(*counts) for name, counts in zip(types, each, strict=True)}
    return ChunkScores(n_all, n_found, n_right, left.n_tokens, int(same.sum()), by_type)


def _types_at(chunks: Chunks, types: list[str], n_tokens: int) -> np.ndarray:
    """The type of the chunk that begins at each token, -1 for none."""
    at = np.full(n_tokens, -1, np.int32)
    at[chunks.first] = align(chunks.types, types)[chunks.type_of] if chunks.types else -1
    return at


def _ends_at(chunks: Chunks, n_tokens: int) -> np.ndarray:
    """The end of the chunk that begins at each token."""
    at = np.zeros(n_tokens, np.int64)
    at[chunks.first] = chunks.end
    return at


def _line(scores: Scores) -> str:
    return f"precision: {scores.precision:7.2%}; recall: {scores.recall:7.2%}; F1: {100 * scores.f1:6.2f}"
