"""Chunks as tags, in the schemes IOB1, IOB2, IOE1, IOE2, BIOES and BILOU, and the scores of chunks, as conlleval computes them.

Tags are read as the script conlleval reads them, whatever their scheme: each sequence of chunk tags, legal or not, describes
exactly one list of chunks. Converting to a scheme writes the tags that this scheme has for these chunks; converting to the scheme
that the tags were meant for repairs illegal sequences. All functions are vectorised over the tokens of all sentences.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treille.data.base import align, codes_of
from treille.data.format import count
from treille.io.errors import InputError
from treille.tagging.sentences import Column, Sentences, check_lengths, one_column

SCHEMES = ("IOB2", "BIOES", "IOB1", "IOE2", "IOE1", "BILOU")
OTHER_NAMES = {"BIO": "IOB2", "IOB": "IOB1", "IOE": "IOE1", "IOBES": "BIOES", "BILUO": "BILOU"}
TAG = re.compile(r"O|([BIESLU])(?:-(.*))?", re.DOTALL)
LETTERS = "OBIES"  # L is E, and U is S
KINDS = codes_of(LETTERS) | {"L": 3, "U": 4}


class Chunks(NamedTuple):
    """Chunks of all sentences: chunk k is of type ``types[type_of[k]]``, in the tokens ``first[k]`` to ``end[k] - 1``."""

    type_of: np.ndarray
    first: np.ndarray
    end: np.ndarray
    types: list[str]


def is_chunk_tag(tag: str) -> bool:
    """Returns whether a tag is O, or one of B, I, E, S, L and U, alone or before a type.

    >>> [is_chunk_tag(tag) for tag in ("O", "B-NP", "I", "NN")]
    [True, True, True, False]
    """
    return TAG.fullmatch(tag) is not None


def scheme_named(name: Any) -> str:
    """The scheme of this name, in any spelling.

    >>> scheme_named("bio"), scheme_named("IOBES")
    ('IOB2', 'BIOES')
    """
    known = OTHER_NAMES.get(str(name).upper(), str(name).upper())
    if known not in SCHEMES:
        raise InputError(f"found the scheme {name!r}, expected one of {', '.join((*SCHEMES, *OTHER_NAMES))}")
    return known


def chunks(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """The chunks of one sentence as conlleval reads them: type, first token, and one more than the last token.

    >>> chunks(["B-NP", "I-NP", "I-VP", "O", "I-NP"])
    [('NP', 0, 2), ('VP', 2, 3), ('NP', 4, 5)]
    """
    found = chunks_of([tags])
    types = [found.types[t] for t in found.type_of]
    return list(zip(types, found.first.tolist(), found.end.tolist(), strict=True))


def convert(sentences: Any, to: str) -> list[list[str]]:
    """The tags of sentences in another scheme.

    Parameters
    ----------
    sentences : list of lists of tags, or Sentences with one column
        In any scheme: the chunks are those that conlleval reads.
    to : {"IOB1", "IOB2", "IOE1", "IOE2", "BIOES", "BILOU"}
        BIO is another name of IOB2, IOB one of IOB1, and IOBES one of BIOES.

    >>> convert([["B-NP", "I-NP", "B-NP", "O"]], "BIOES"), convert([["B-NP", "I-NP", "B-NP", "O"]], "IOB1")
    ([['B-NP', 'E-NP', 'S-NP', 'O']], [['I-NP', 'I-NP', 'B-NP', 'O']])
    """
    return list(converted(sentences, to))


def converted(sentences: Any, to: str) -> Sentences:
    """The result of `convert` as `Sentences` with one column, without a list per sentence."""
    tags, to = one_column(sentences, "tag"), scheme_named(to)
    return _written(tags, chunks_of(tags), to)


def repair(sentences: Any, scheme: str) -> list[list[str]]:
    """Legal tags of a scheme with the same chunks; legal sequences remain as they are.

    For example, in IOB2 an I-X after O, or after a tag of another type, becomes B-X.

    >>> repair([["O", "I-NP", "I-VP", "I-VP"]], "IOB2"), repair([["B-NP", "O", "I-NP", "E-NP"]], "BIOES")
    ([['O', 'B-NP', 'B-VP', 'I-VP']], [['S-NP', 'O', 'B-NP', 'E-NP']])
    """
    return convert(sentences, scheme)


def detect_scheme(sentences: Any) -> str | None:
    """The first of IOB2, BIOES, IOB1, IOE2, IOE1 and BILOU in which all sequences are legal; None if there is none.

    >>> detect_scheme([["B-NP", "I-NP", "O"]]), detect_scheme([["I-NP", "B-NP"]]), detect_scheme([["I-NP", "S-NP"]])
    ('IOB2', 'IOB1', None)
    """
    tags = one_column(sentences, "tag")
    found, given = chunks_of(tags), list(tags)
    return next((scheme for scheme in SCHEMES if list(_written(tags, found, scheme)) == given), None)


def allowed_transitions(tags: Sequence[str], scheme: str) -> np.ndarray:
    """The pairs of tags that may follow each other in a legal sequence: entry [i, j] for tag j after tag i.

    The last row is for the first tag of a sentence, and the last column for the last one.

    >>> allowed_transitions(["O", "B-NP", "I-NP"], "IOB2")[:, 2].tolist()  # I-NP after each tag, and at the beginning
    [False, True, True, False]
    """
    scheme = scheme_named(scheme)
    parsed = [_parsed(tag) for tag in tags]
    letters = {"IOB": "OBI", "IOE": "OIE", "BIL": "OBILU", "BIO": "OBIES"}[scheme[:3]]
    wrong = next((tag for tag, kind in zip(tags, parsed, strict=True) if kind is None or tag[0] not in letters), None)
    if wrong is not None:
        raise InputError(f"the tag {wrong!r} is not one of {scheme}, whose letters are {', '.join(letters)}")
    around = [*(pair for pair in parsed if pair is not None), (0, "")]
    return np.array([[_may_follow(before, after, scheme) for after in around] for before in around])


def _may_follow(before: tuple[int, str], after: tuple[int, str], scheme: str) -> bool:
    (a, b), same = (LETTERS[before[0]], LETTERS[after[0]]), before[1] == after[1] and before[0] > 0 and after[0] > 0
    if scheme == "IOB2":
        return b != "I" or same
    if scheme == "IOB1":
        return b != "B" or same
    if scheme == "IOE2":
        return a != "I" or same
    if scheme == "IOE1":
        return a != "E" or same
    return same and b in "IE" if a in "BI" else b not in "IE"


def chunks_of(sentences: Any) -> Chunks:
    """The chunks of all sentences, their tokens numbered through.

    A chunk begins with B and S, with I and E after O, E and S, and where the type changes; it ends where the next one begins,
    before O, and with E and S.
    """
    tags = one_column(sentences, "tag")
    codes, names = tags.columns[0]
    parsed = [_parsed(name) for name in names]
    for token in np.flatnonzero(np.array([pair is None for pair in parsed], bool)[codes])[:1]:
        raise InputError(
            f"{tags.place(token)}: the tag {names[codes[token]][:40]!r} is not a chunk tag, expected O,"
            " or B, I, E or S with a type, such as B-NP"
        )
    pairs = [pair or (0, "") for pair in parsed]
    types = list(dict.fromkeys(name for kind, name in pairs if kind))
    number = codes_of(types)
    kind = np.array([kind for kind, _ in pairs], np.int8)[codes] if pairs else np.empty(0, np.int8)
    type_of = np.array([number[name] if kind else -1 for kind, name in pairs], np.int32)[codes] if pairs else codes
    before, type_before = np.roll(kind, 1), np.roll(type_of, 1)
    starts = tags.offsets[:-1][np.diff(tags.offsets) > 0]
    before[starts], type_before[starts] = 0, -1
    inside = kind > 0
    begins = inside & ((kind == 1) | (kind == 4) | (before == 0) | (before >= 3) | (type_of != type_before))
    cut = begins | ~inside
    cut[starts] = True
    ends = inside & np.append(cut[1:], True)
    first = np.flatnonzero(begins)
    return Chunks(type_of[first], first, np.flatnonzero(ends) + 1, types)


def _parsed(tag: str) -> tuple[int, str] | None:
    """The kind of a tag (0: O, 1: B, 2: I, 3: E, 4: S) and the type; None for other tags."""
    match = TAG.fullmatch(tag)
    return match and (KINDS[match[1] or "O"], match[2] or "")


def _written(tags: Sentences, found: Chunks, scheme: str) -> Sentences:
    """The tags of chunks."""
    n, (type_of, first, end, types) = tags.n_tokens, found
    same_before = np.zeros(len(first), bool)  # the chunk directly follows one of the same type, in the same sentence
    if len(first) > 1:
        sentence = np.searchsorted(tags.offsets, first, side="right")
        same_before[1:] = (first[1:] == end[:-1]) & (type_of[1:] == type_of[:-1]) & (sentence[1:] == sentence[:-1])
    kind, of = np.zeros(n, np.int32), np.zeros(n, np.int32)
    lengths = end - first
    positions = np.repeat(first - np.append(0, np.cumsum(lengths)[:-1]), lengths) + np.arange(lengths.sum())
    kind[positions], of[positions] = 2, np.repeat(type_of, lengths)
    if scheme in ("BIOES", "BILOU"):
        kind[end - 1] = 3
        kind[first] = np.where(lengths == 1, 4, 1)
    elif scheme == "IOB2":
        kind[first] = 1
    elif scheme == "IOB1":
        kind[first[same_before]] = 1
    elif scheme == "IOE2":
        kind[end - 1] = 3
    else:
        kind[first[same_before] - 1] = 3
    letters = "OBILU" if scheme == "BILOU" else LETTERS
    table = [f"{letter}-{name}" if name else letter for letter in letters for name in types]
    codes = np.where(kind > 0, kind * len(types) + of + 1, 0).astype(np.int32)
    return Sentences.of_columns([Column(codes, ["O", *table])], tags.offsets)


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
