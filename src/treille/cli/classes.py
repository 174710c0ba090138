"""Checks of labels before training: they are classes, not scores or names of examples."""

from collections.abc import Iterable

from treille import InputError
from treille.data.format import class_counts
from treille.io import Examples


def check_classes(examples: Examples) -> None:
    """Refuses labels that are scores, or names of the examples."""
    labels, source = examples.labels or [], examples.source
    counts = class_counts(labels)
    if 2 * len(counts) > len(labels) and _are_scores(counts):
        raise InputError(
            f"{source}: the labels are {len(counts):,} different numbers, such as {labels[0]}: scores, not classes."
            " To learn scores use treille.SVR in Python, on treille.io.read(...).targets()"
        )
    single = [label for label, n in counts.items() if n == 1]
    first_words = "first in its header" in examples.note or "first word of its line" in examples.note
    if len(counts) > 2 and 2 * len(single) > len(counts) and (first_words or 2 * len(counts) > len(labels)):
        raise _no_classes(examples, single, len(counts), first_words)


def _no_classes(examples: Examples, single: list[str], n: int, first_words: bool) -> InputError:
    """For labels most of which only one example has: they are something else."""
    taken = " (the first word of a line or header)" * first_words
    found = f"{len(single):,} of {n:,} classes have one example only, such as {single[0][:40]!r}{taken}: these are no labels"
    ways = [
        "one file or folder per class (treille train pos.fa neg.fa)",
        "--labels FILE with an id and its label on each line",
    ]
    if examples.format in ("fasta", "fastq"):
        ways.append("--label KEY for KEY=VALUE in the headers")
    else:
        ways.append("a tab after the label" if examples.format == "lines" else "--label FIELD for another field")
    return InputError(f"{examples.source}: {found}. Give labels by {', by '.join(ways[:-1])}, or by {ways[-1]}")


def _are_scores(labels: Iterable[str]) -> bool:
    """Numbers, and not all of them whole."""
    try:
        return not all(float(label).is_integer() for label in labels)
    except ValueError:
        return False
