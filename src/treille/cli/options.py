"""The options that several verbs share, declared once."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from treille import InputError, Strings
from treille.cli.console import Voice
from treille.data.sequences import DNA, PROTEIN, over
from treille.io import Examples, read
from treille.io.records import NumberRows
from treille.io.tree_parts import TreeParts


class Loss(str, Enum):
    """The losses that can be asked for."""

    hinge = "hinge"
    squared_hinge = "squared_hinge"


class Alphabet(str, Enum):
    """The alphabets that texts can be read over."""

    dna = "dna"
    rna = "rna"
    protein = "protein"


class ClassWeight(str, Enum):
    """The weights of classes that can be asked for."""

    balanced = "balanced"


DataFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="JSON lines, CSV, TSV, lines, FASTA, FASTQ, SVM-light; .gz of each; - is standard input."
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that 'treille train' saved.")]

NAMED = "told by its name"
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="FIELD", help="Field of the text; title+body joins two.", show_default=NAMED),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="FIELD", help="Field of the label; topics=acq sets acq against the rest.", show_default=NAMED
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="jsonl, csv, tsv, lines, fasta, fastq, svmlight, trees, conllu, newick or xml.",
        show_default="told by name or content",
    ),
]
AlphabetName = Annotated[
    Alphabet | None,
    typer.Option(
        "--alphabet",
        metavar="NAME",
        help="dna, rna or protein: fold case, read unknown residues as N or X, refuse other letters.",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME", help="Encoding of the file, such as latin-1.")]
KERNELS = "Such as 'ngram(5)' or 'ngram(2, min_n=1, unit=word).normalized()'."
KernelText = Annotated[
    str | None, typer.Option("--kernel", metavar="KERNEL", help=KERNELS, show_default="chosen for the data")
]
Jobs = Annotated[int | None, typer.Option("--jobs", metavar="N", min=1, help="Threads.", show_default="all cores")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but warnings and errors.")]

ModelPath = Annotated[Path | None, typer.Option("--model", metavar="PATH", help="Where to save the model.")]
C = Annotated[float, typer.Option("--C", metavar="NUMBER", help="Weight of the losses; less is smoother.")]
LossName = Annotated[Loss, typer.Option("--loss", metavar="NAME", help="hinge or squared_hinge.")]
Tol = Annotated[float, typer.Option("--tol", metavar="NUMBER", help="Relative duality gap to reach.")]
MaxEpochs = Annotated[int, typer.Option("--max-epochs", metavar="N", help="Passes over the data, at most.")]
ClassWeightName = Annotated[
    ClassWeight | None, typer.Option("--class-weight", metavar="balanced", help="Give rare classes a larger C.")
]
NoIntercept = Annotated[bool, typer.Option("--no-intercept", help="Learn no intercept.")]
Folds = Annotated[int | None, typer.Option("--cv", metavar="K", min=2, help="Score by K-fold cross-validation.")]
HoldOut = Annotated[
    float | None, typer.Option("--holdout", metavar="PART", help="Score on a part held out, such as 0.2.")
]
TestFile = Annotated[str | None, typer.Option("--test", metavar="FILE", help="Score on another file.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the visiting order and of the splits.")]


@dataclass(frozen=True)
class Reading:
    """How to read a file: what the options --text, --label, --format, --encoding and --alphabet say."""

    text: str | None = None
    label: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    alphabet: Alphabet | None = None

    def read(self, voice: Voice, path: str, labelled: bool | None) -> Examples:
        """The examples of a file, after saying how they were understood."""
        with voice.busy(f"reading {path}"):
            examples = read(
                path, format=self.format, text=self.text, label=self.label, encoding=self.encoding, labelled=labelled
            )
        voice.note(examples.note)
        return examples

    def read_labelled(self, voice: Voice, path: str) -> tuple[Examples, list[str]]:
        """The examples of a file, and their labels."""
        examples = self.read(voice, path, labelled=True)
        return examples, examples.labels or []

    def batch(self, voice: Voice, examples: Examples) -> list[str] | NumberRows | TreeParts | Strings:
        """What kernels shall read of a file: its texts or numbers as they are, or sequences over the alphabet."""
        if self.alphabet is None:
            return examples.X
        if not isinstance(examples.X, list):
            kind = "rows of numbers" if examples.trees is None else "trees"
            raise InputError(f"{examples.source}: holds {kind}, expected texts over the alphabet {self.alphabet.value}")
        alphabet, rna = PROTEIN if self.alphabet == Alphabet.protein else DNA, self.alphabet == Alphabet.rna
        batch = over(
            alphabet,
            examples.texts,
            "keep",
            rna,
            -1,
            lambda i: f"{examples.source}, the example on line {examples.lines[i]}",
        )
        kept = 0
        if alphabet.unknown in batch.alphabet:
            kept = int((batch.symbols == batch.alphabet.index(alphabet.unknown)).sum())
        share = f"{kept:,} unknown of {len(batch.symbols):,} letters read as {alphabet.unknown}"
        voice.note(f"alphabet: {self.alphabet.value}, {share if kept else 'no unknown letters'}")
        return batch

    def flags(self, labelled: bool = True) -> str:
        """The same options again, for a command to paste.

        >>> Reading(text="title+body", label="topics=acq").flags()
        ' --text title+body --label topics=acq'
        """
        given = {"text": self.text, "label": self.label if labelled else None, "format": self.format}
        given["alphabet"] = self.alphabet and self.alphabet.value if labelled else None
        given["encoding"] = None if self.encoding == "utf-8" else self.encoding
        return "".join(f" --{name} {shlex.quote(value)}" for name, value in given.items() if value)


def program() -> str:
    """How this program is called here: `treille` if the shell finds it by that name, else its path."""
    called = Path(sys.argv[0])
    found = shutil.which("treille")
    if called.name != "treille" or (found and Path(found).resolve() == called.resolve()):
        return "treille"
    return shlex.quote(str(called))


def command(*words: object) -> str:
    """A command line to paste.

    >>> command("predict", "my model.treille")
    "treille predict 'my model.treille'"
    """
    return " ".join([program(), *(shlex.quote(str(word)) for word in words)])
