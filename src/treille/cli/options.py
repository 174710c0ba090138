"""The options that several commands share, declared once."""

import functools
import inspect
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
import typer

from treille import InputError, Strings, Trees
from treille.cli.columns import with_numbers
from treille.cli.console import Printer
from treille.cli.models import refuse_model
from treille.data.base import kind_of
from treille.data.sequences import RESIDUES, as_residues
from treille.io import Examples, read, read_chunks
from treille.io.parts import ColumnParts
from treille.io.read import FORMATS
from treille.kernels import Kernel
from treille.kernels.parse import parse_kernel, parse_kernels


class Hinge(str, Enum):
    """The values of --loss for a tagger."""

    hinge = "hinge"
    squared_hinge = "squared_hinge"


class Loss(str, Enum):
    """The values of --loss."""

    hinge = "hinge"
    squared_hinge = "squared_hinge"
    logistic = "logistic"


class Alphabet(str, Enum):
    """The values of --alphabet."""

    dna = "dna"
    rna = "rna"
    protein = "protein"


class ClassWeight(str, Enum):
    """The values of --class-weight."""

    balanced = "balanced"


class Weights(str, Enum):
    """The values of --weights: what the numbers on the arcs of lattices are."""

    cost = "cost"
    logprob = "logprob"
    prob = "prob"


DataFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Texts, numbers, trees, graphs or lattices, see 'treille --help'; several files, or a folder; - is standard input.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that 'treille train' saved.")]


def _option(metavar: str, help: str, default: str | bool = True) -> Any:
    return typer.Option(metavar=metavar, help=help, show_default=default)


TEXT = _option("FIELD", "Field of the text; title+body joins two.", "recognised by its name")
LABEL_HELP = "Field of the label; topics=acq sets acq against the rest, title~REGEX those that match."
LABEL = _option("FIELD", LABEL_HELP, "recognised by its name")
FORMAT = _option("NAME", f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}.", "recognised by name or content")
ENCODING = _option("NAME", "Encoding of the file, such as latin-1.")
NUMBERS = _option("KIND", "Numbers in lattices: cost, logprob or prob.", "as the file has them")
ALPHABET = _option("NAME", "dna, rna or protein: fold case, read unknown residues as N or X, refuse other letters.")
LABELS = _option("PATH", "File of labels: an id and its label on each line, or one label per line.", False)
SYMBOLS = _option("PATH", "Symbol table of lattices whose labels are numbers.", False)
ROOT = typer.Option("--root-label", help="The label of a tree is that of its root.")
SKIP = typer.Option("--skip-unlabelled", help="Leave out examples without a label.")
REMEMBERED = ("text", "weights", "alphabet", "root_label")  # kept in models


@dataclass(frozen=True)
class Reading:
    """How to read a file: the values of the reading options. Its fields declare the options; see `reading_options`."""

    text: Annotated[str | None, TEXT] = None
    label: Annotated[str | None, LABEL] = None
    labels: Annotated[Path | None, LABELS] = None
    root_label: Annotated[bool, ROOT] = False
    skip_unlabelled: Annotated[bool, SKIP] = False
    format: Annotated[str | None, FORMAT] = None
    encoding: Annotated[str, ENCODING] = "utf-8"
    weights: Annotated[Weights | None, NUMBERS] = None
    symbols: Annotated[Path | None, SYMBOLS] = None
    alphabet: Annotated[Alphabet | None, ALPHABET] = None

    def like(self, model: Any) -> "Reading":
        """The same, as the examples of a model were read where these options do not say otherwise."""
        known = {
            name: value for name, value in model.reading_.items() if name in REMEMBERED and not getattr(self, name)
        }
        kinds: dict[str, Callable[[Any], Any]] = {"weights": Weights, "alphabet": Alphabet}
        return replace(self, **{name: kinds.get(name, lambda value: value)(value) for name, value in known.items()})

    def remembered(self) -> dict[str, Any]:
        """What a model keeps of it.

        >>> Reading(text="title+body", alphabet=Alphabet.dna, label="topic").remembered()
        {'text': 'title+body', 'alphabet': 'dna'}
        """
        values = {name: getattr(self, name) for name in REMEMBERED}
        return {name: v.value if isinstance(v, Enum) else v for name, v in values.items() if v}

    def read(self, printer: Printer, paths: Sequence[str], labelled: bool | None, kernel: Kernel | None) -> Examples:
        """The examples of files, after a note on how they were understood. The kernel decides whether they have columns."""
        for path in paths:
            refuse_model(path)
        with printer.busy(f"reading {paths[0]}"):
            examples = read(paths, labelled=labelled, **self.options(kernel))
        printer.note(examples.note)
        return examples

    def options(self, kernel: Kernel | None) -> dict[str, Any]:
        """The options of `treille.io.read`."""
        return {
            "format": self.format,
            "text": self.text,
            "label": self.label,
            "encoding": self.encoding,
            "weights": self.weights and self.weights.value,
            "symbols": self.symbols,
            "labels": self.labels,
            "columns": tuple(kernel.reads.columns) if kernel else (),
            "root_label": self.root_label,
            "brackets": None if kernel is None or Trees in kernel.reads.kinds else False,
            "skip_unlabelled": self.skip_unlabelled,
        }

    def chunks(
        self, paths: Sequence[str], labelled: bool, kernel: Kernel | None, ids: bool, **sizes: Any
    ) -> Iterator[Examples]:
        """The examples of files, some at a time."""
        for path in paths:
            refuse_model(path)
        return read_chunks(paths, labelled=labelled, ids=ids, **self.options(kernel), **sizes)

    def read_labelled(
        self, printer: Printer, paths: Sequence[str], kernel: Kernel | None = None
    ) -> tuple[Examples, list[str]]:
        """The examples of files, and their labels."""
        examples = self.read(printer, paths, True, kernel)
        return examples, examples.labels or []

    def data(self, printer: Printer, examples: Examples, kernel: Kernel | None = None) -> Any:
        """What kernels take: the examples of a file as they are, sequences over the alphabet, or columns."""
        if isinstance(examples.X, ColumnParts) and kernel is not None:
            return with_numbers(examples, kernel)
        if self.alphabet is None:
            return examples.X
        kind = kind_of(examples.X)
        if kind is not Strings:
            expected = f"texts over the alphabet {self.alphabet.value}"
            raise InputError(f"{examples.source}: holds {kind.title}, expected {expected}")
        batch = as_residues(self.alphabet.value, examples.X, -1, examples.place)
        letter = RESIDUES[self.alphabet.value][0].unknown
        kept = int(np.isin(batch.symbols, [i for i, name in enumerate(batch.alphabet) if name == letter]).sum())
        share = f"{kept:,} unknown of {len(batch.symbols):,} letters read as {letter}"
        printer.note(f"alphabet: {self.alphabet.value}, {share if kept else 'no unknown letters'}")
        return batch

    def inputs(self, *paths: str | None) -> list[str]:
        """All files that are read, which no output may replace."""
        return [str(path) for path in (*paths, self.labels, self.symbols) if path]

    def flags(self) -> str:
        """The options to give again with a new file: those that models do not keep.

        >>> Reading(text="title+body", encoding="latin-1").flags()
        ' --encoding latin-1'
        """
        values = {"format": self.format, "symbols": self.symbols and str(self.symbols)}
        values["encoding"] = None if self.encoding == "utf-8" else self.encoding
        return "".join(f" --{name} {shlex.quote(value)}" for name, value in values.items() if value)


def reading_options(*omitted: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator for commands: replaces their parameter `reading` by the options of `Reading`, except those omitted."""

    def decorate(run: Callable[..., None]) -> Callable[..., None]:
        types = get_type_hints(Reading, include_extras=True)
        own = {field.name: field.default for field in fields(Reading) if field.name not in omitted}
        hints = get_type_hints(run, include_extras=True)

        @functools.wraps(run)
        def command(**values: Any) -> None:
            reading = Reading(**{name: values.pop(name) for name in own})
            run(reading=reading, **values)

        parameters = list[inspect.Parameter]()
        for parameter in inspect.signature(run).parameters.values():
            added = own if parameter.name == "reading" else {parameter.name: parameter.default}
            parameters += [
                inspect.Parameter(name, parameter.KEYWORD_ONLY, default=default, annotation=(types | hints)[name])
                for name, default in added.items()
            ]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        command.__dict__["__signature__"] = inspect.Signature(parameters)
        del command.__dict__["__wrapped__"]
        return command

    return decorate


KERNELS = (
    "Such as 'ngram(5)' or 'ngram(2, min_n=1, unit=word+lower).normalized()'; with --cv, the best of 'ngram(3..6)'. "
    "Units: char, char_wb, word, byte; +lower, +alnum, +nfc, +nfkc."
)
KernelText = Annotated[
    str | None, typer.Option("--kernel", metavar="KERNEL", help=KERNELS, show_default="chosen for the data")
]
Jobs = Annotated[int | None, typer.Option("--jobs", metavar="N", min=1, help="Threads.", show_default="all cores")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but warnings and errors.")]
QuietNotes = Annotated[bool, typer.Option("--quiet", help="Print the result, warnings and errors, no notes.")]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite what this command would not: other files, and its input.")
]

ReportPath = Annotated[Path | None, typer.Option("--report", metavar="PATH", help="Also write a report page, HTML.")]
ModelPath = Annotated[Path | None, typer.Option("--model", metavar="PATH", help="Where to save the model.")]
Cs = Annotated[
    str, typer.Option("--C", metavar="NUMBER", help="Weight of the losses; with --cv, the best of several: 0.1,1,10.")
]
C = Annotated[float, typer.Option("--C", metavar="NUMBER", help="Weight of the losses; less is smoother.")]
HingeName = Annotated[Hinge, typer.Option("--loss", metavar="NAME", help="hinge or squared_hinge.")]
LossName = Annotated[
    Loss, typer.Option("--loss", metavar="NAME", help="hinge, squared_hinge, or logistic, for probabilities.")
]
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
TestFiles = Annotated[
    list[str] | None, typer.Option("--test", metavar="FILE", help="Score on another file; give it again for each file.")
]
Stream = Annotated[
    bool,
    typer.Option("--stream", help="Train a perceptron in one pass over a file that need not fit in memory."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="SIZE", help="Train in parts that fit, such as 2GB: FILE may be larger than memory."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Train on a Dask cluster, such as tcp://host:8786; its workers read FILEs, a part each.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        help="With --memory or --dask: if training ends early, the same command continues.",
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option("--scratch", metavar="DIR", help="With --memory: for temporary files, three times the size of FILE."),
]
MinCount = Annotated[
    int,
    typer.Option(
        "--min-count",
        metavar="N",
        min=1,
        help="With --memory or --dask: keep features that occur in N examples or more.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the visiting order and of the splits.")]


def kernel_option(text: str | None) -> Kernel | None:
    """The kernel that the option --kernel describes, checked; None without the option."""
    try:
        kernel = parse_kernel(text) if text else None
        if kernel is not None:
            kernel.check()
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--kernel") from None
    return kernel


def kernel_options(text: str | None) -> list[Kernel]:
    """The kernels that the option --kernel describes, checked: several for an expression with ranges; none without the option."""
    try:
        kernels = parse_kernels(text) if text else []
        for kernel in kernels:
            kernel.check()
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--kernel") from None
    return kernels


def numbers_option(text: str, name: str) -> list[float]:
    """The numbers of an option, with commas between them.

    >>> numbers_option("0.1,1,10", "--C")
    [0.1, 1.0, 10.0]
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number, nor several with commas", param_hint=name) from None


def program() -> str:
    """The name of this program for the shell: `treille` if the shell finds it by that name, otherwise its path."""
    called = Path(sys.argv[0])
    found = shutil.which("treille")
    if called.name != "treille" or (found and Path(found).resolve() == called.resolve()):
        return "treille"
    return shlex.quote(str(called))


def command(*words: object) -> str:
    """A command line to paste."""
    return " ".join([program(), *(shlex.quote(str(word)) for word in words)])
