"""The options that several commands share, declared once."""

import inspect
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_type_hints

import numpy as np
import typer
from typer.core import TyperCommand

from treille import InputError, Strings, Trees, Vectors
from treille.cli.console import Printer
from treille.cli.models import check_writable, refuse_model
from treille.data.base import kind_of
from treille.data.recognition import TITLES, as_recognised
from treille.data.sequences import RESIDUES, as_residues
from treille.explain.scores import positive_class
from treille.io import Examples, read, read_chunks
from treille.io.open import STANDARD_INPUT
from treille.io.packed import PackedColumns
from treille.io.parameters import to_float
from treille.io.read import FORMATS
from treille.kernels import Kernel
from treille.kernels.parse import default_kernel, parse_kernel, parse_kernels
from treille.registry import require

# Raised by typer for a command line that it cannot understand; it exports the subclass only.
UsageError = cast("type[Any]", typer.BadParameter.__mro__[1])
Weights = Literal["cost", "logprob", "prob"]  # the kind of the numbers on the arcs of lattices


def option(metavar: str, help: str, *names: str, default: str | bool = True, **limits: Any) -> Any:
    """An option with a value, called like its parameter unless there are `names`; `default` describes the default value. Choices
    match in any case."""
    return typer.Option(*names, metavar=metavar, help=help, show_default=default, case_sensitive=False, **limits)


def flag(name: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help)


def argument(metavar: str, help: str) -> Any:
    """A word of the command line that is not an option."""
    return typer.Argument(metavar=metavar, help=help)


class Command(TyperCommand):
    """A command whose options of several values take all words up to the next option: `--test a b` means `--test a --test b`.

    Where an argument is left without words, they may have been meant for it, and are refused.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        several = {name for each in self.params if getattr(each, "multiple", False) for name in each.opts}
        words, option, further = list[str](), "", 0
        for i, word in enumerate(args):
            if word == "--":
                words += args[i:]
                break
            if word.startswith("-") and word != STANDARD_INPUT:
                name, _, value = word.partition("=")
                option, first = name if name in several else "", not value
            elif option and not first:
                words.append(option)
                further += 1
            else:
                first = False
            words.append(word)
        taken = " and ".join(sorted({word.partition("=")[0] for word in words} & several))
        try:
            rest = super().parse_args(ctx, list(words))
        except UsageError as error:
            if not further or not error.format_message().startswith("Missing argument"):
                raise
            advice = f"{taken} takes all words up to the next option: put the others before it, or after --"
            raise UsageError(f"{error.format_message()} {advice}", ctx=ctx) from None
        empty = [
            each for each in self.params if each.param_type_name == "argument" and not ctx.params.get(str(each.name))
        ]
        if further and empty:
            left = str(empty[0].metavar).strip("[]")
            advice = f"put {left} before it, or repeat {taken} before each of its values"
            raise UsageError(
                f"{taken} takes all words up to the next option, and none is left for {left}: {advice}", ctx=ctx
            )
        return rest


FILES = (
    "Texts, numbers, trees, graphs or lattices, see 'treille --help'; several files, or a folder; - is standard input."
)
DataFiles = Annotated[list[str], argument("FILE", FILES)]
ModelFile = Annotated[Path, argument("MODEL", "A model that 'treille train' saved.")]

TEXT = option("FIELD", "Field of the text; title+body joins two.", default="recognised by its name")
LABEL_HELP = "Field of the label; topics=acq sets acq against the rest, title~REGEX those that match."
LABEL = option("FIELD", LABEL_HELP, default="recognised by its name")
FORMAT = option("NAME", f"{', '.join(FORMATS)}, or one that a package adds.", default="recognised by name or content")
NUMBERS = option("KIND", "Numbers in lattices: cost, logprob or prob.", default="as the file has them")
SCALE = option(
    "FACTORS",
    "Factor of the costs of lattices, such as 0.1; or of scores that Kaldi's and HTK's files name: acoustic=0.1,language=1.",
    default="1",
)
ALPHABET = option(
    "NAME", "dna, rna or protein: fold case, read unknown residues as N or X, refuse other letters; or smiles."
)
LABELS = option("PATH", "Files of labels: an id and its label on each line, or one label per line.", default=False)
SYMBOLS = option("PATH", "Symbol table of lattices whose labels are numbers.", default=False)


@dataclass(frozen=True)
class Data:
    """Examples of files with labels, the data that their kernel takes, and why this kernel was chosen."""

    examples: Examples
    labels: list[str]
    X: Any
    kernel: Kernel
    why: str

    @property
    def alphabet(self) -> Any:
        """The alphabet that texts were read over, for other files like these."""
        return self.X.residues if isinstance(self.X, Strings) else None


@dataclass(frozen=True)
class Reading:
    """The values of the reading options. Its fields declare the options; see `with_options`."""

    text: Annotated[str | None, TEXT] = None
    label: Annotated[str | None, LABEL] = None
    labels: Annotated[list[Path] | None, LABELS] = None
    root_label: Annotated[bool, flag("--root-label", "The label of the root is the label of a tree.")] = False
    skip_unlabelled: Annotated[bool, flag("--skip-unlabelled", "Leave out examples without a label.")] = False
    format: Annotated[str | None, FORMAT] = None
    encoding: Annotated[str, option("NAME", "Encoding of the file, such as latin-1.")] = "utf-8"
    weights: Annotated[Weights | None, NUMBERS] = None
    scale: Annotated[str | None, SCALE] = None
    symbols: Annotated[Path | None, SYMBOLS] = None
    alphabet: Annotated[Literal["dna", "rna", "protein", "smiles"] | None, ALPHABET] = None

    def like(self, model: Any) -> "Reading":
        """Returns these options, completed by those with which the model's training examples were read."""
        return ReadingLike(**vars(self) | {"alphabet": self.alphabet or model.reading_.get("alphabet")}, model=model)

    def remembered(self) -> dict[str, Any]:
        """The options that a model file stores.

        >>> Reading(text="title+body", alphabet="dna", label="topic").remembered()
        {'text': 'title+body', 'label': 'topic', 'alphabet': 'dna'}
        """
        kept = ("text", "label", "weights", "scale", "alphabet", "root_label")
        return {name: getattr(self, name) for name in kept if getattr(self, name)}

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
        given = {each.name: getattr(self, each.name) for each in fields(Reading) if each.name != "alphabet"}
        given["labels"] = self.labels or None
        columns = tuple(kernel.reads.columns) if kernel else ()
        return given | {
            "columns": columns,
            "brackets": None if kernel is None or Trees in kernel.reads.kinds else False,
        }

    def chunks(
        self, paths: Sequence[str], labelled: bool, kernel: Kernel | None, ids: bool, **sizes: Any
    ) -> Iterator[Examples]:
        """The examples of files, some at a time."""
        for path in paths:
            refuse_model(path)
        return read_chunks(paths, labelled=labelled, ids=ids, **self.options(kernel), **sizes)

    def load(
        self, printer: Printer, paths: Sequence[str], labelled: bool | None, kernel: Kernel | None, **purpose: bool
    ) -> Data:
        """The data of files for a kernel; without one, for the default kernel for this `purpose`, see `default_kernel`."""
        examples = self.read(printer, paths, labelled, kernel)
        X, why = self.data(printer, examples, kernel), "as given"
        if kernel is None:
            X, found = as_recognised(X, -1)
            if found is not None:
                how = f"so they are read as with --alphabet {found}; --kernel KERNEL reads them as any other text"
                printer.note(f"the letters of these texts are those of {TITLES[found]}, {how}")
            kernel, why = default_kernel(X, **purpose)
        return Data(examples, examples.labels or [], X, kernel, why)

    def data(self, printer: Printer, examples: Examples, kernel: Kernel | None = None) -> Any:
        """The input of the kernel: the examples of a file unchanged, sequences over the alphabet, or columns."""
        if isinstance(examples.X, PackedColumns) and kernel is not None:
            return _with_numbers(examples, kernel)
        if self.alphabet is None:
            return examples.X
        kind = kind_of(examples.X)
        if kind is not Strings:
            expected = f"texts over the alphabet {self.alphabet}"
            raise InputError(f"{examples.source}: holds {kind.title}, expected {expected}")
        batch = as_residues(self.alphabet, examples.X, -1, examples.place)
        if self.alphabet not in RESIDUES:
            return batch
        letter = RESIDUES[self.alphabet][0].unknown
        kept = int(np.isin(batch.symbols, [i for i, name in enumerate(batch.alphabet) if name == letter]).sum())
        share = f"{kept:,} unknown of {len(batch.symbols):,} letters read as {letter}"
        printer.note(f"alphabet: {self.alphabet}, {share if kept else 'no unknown letters'}")
        return batch

    def inputs(self, *paths: str | None) -> list[str]:
        """All files that are read, which no output may replace."""
        return [str(path) for path in (*paths, *(self.labels or ()), self.symbols) if path]

    def encoding_of_sentences(self) -> str:
        """The encoding of files of sentences, for which the other options are not."""
        for name, value in vars(self).items():
            if value and name != "encoding":
                why = "is not for files of sentences: leave it out"
                raise typer.BadParameter(why, param_hint=f"--{name.replace('_', '-')}")
        return self.encoding

    def flags(self) -> str:
        """The options to give again with a new file: those that models do not keep.

        >>> Reading(text="title+body", encoding="latin-1").flags()
        ' --encoding latin-1'
        """
        values = {"format": self.format, "symbols": self.symbols and str(self.symbols)}
        values["encoding"] = None if self.encoding == "utf-8" else self.encoding
        return "".join(f" --{name} {shlex.quote(value)}" for name, value in values.items() if value)


@dataclass(frozen=True)
class ReadingLike(Reading):
    """The reading options for a file like the examples of a model."""

    model: Any = None

    def options(self, kernel: Kernel | None) -> dict[str, Any]:
        return super().options(kernel) | {"like": self.model}


def _with_numbers(examples: Examples, kernel: Kernel) -> PackedColumns:
    """The columns of examples, with texts as numbers in the columns whose kernels read numbers."""
    columns = dict(examples.X.columns)
    for name, own in kernel.reads.columns.items():
        given = columns.get(name)
        if not isinstance(given, list) or Vectors not in own.kinds:
            continue
        columns[name] = [to_float(str(value)) for value in given]
        for i in np.flatnonzero(~np.isfinite(columns[name])).tolist():
            found, expected = f"{name!r} is {str(given[i])[:40]!r}", "a number, which the kernel of this column reads"
            raise InputError(f"{examples.place(i)}: {found}, expected {expected}")
    return PackedColumns(columns)


KERNELS = (
    "Such as 'ngram(5)' or 'ngram(2, min_n=1, unit=word+lower).normalized()'; with --cv, the best of 'ngram(3..6)'. "
    "Units: char, char_wb, word, byte; +lower, +alnum, +nfc, +nfkc."
)
KernelText = Annotated[str | None, option("KERNEL", KERNELS, default="chosen for the data")]
Jobs = Annotated[int | None, option("N", "Threads.", default="all cores", min=1)]
Json = Annotated[bool, flag("--json", "Print one JSON object, and nothing else, on standard output.")]
Quiet = Annotated[bool, flag("--quiet", "Print nothing but warnings and errors.")]
QuietNotes = Annotated[bool, flag("--quiet", "Print the result, warnings and errors, no notes.")]
Force = Annotated[bool, flag("--force", "Overwrite what this command would not: other files, and its input.")]

ReportPath = Annotated[Path | None, option("PATH", "Also write a report page, HTML.")]
C = Annotated[float, option("NUMBER", "Weight of the losses; less is smoother.", "--C")]
Tol = Annotated[float, option("NUMBER", "Relative duality gap to reach.")]
POSITIVE = "The positive class of two, for F1 and the ROC curve."
Positive = Annotated[str | None, option("LABEL", POSITIVE, default="1, +, true, yes or positive, else sorts last")]


@dataclass(frozen=True)
class Training:
    """The options of commands that train: where to save, how to score and how to train. See `with_options`, as for `Reading`."""

    model: Annotated[Path | None, option("PATH", "Where to save the model.")] = None
    max_epochs: Annotated[int, option("N", "Passes over the data, at most.")] = 1000
    cv: Annotated[int | None, option("K", "Score by K-fold cross-validation.", "--cv", min=2)] = None
    holdout: Annotated[float | None, option("PART", "Score on a part held out, such as 0.2.")] = None
    test: Annotated[list[str] | None, option("FILE", "Score on other files.")] = None
    positive: Positive = None
    report: ReportPath = None
    jobs: Jobs = None
    seed: Annotated[int, option("N", "Seed of the visiting order and of the splits.")] = 0
    force: Force = False

    def check(self, inputs: list[str]) -> None:
        """Checks before any work whether the model and the report can be written."""
        check_writable(self.model, "model", inputs, self.force)
        check_writable(self.report, "report", [*inputs, str(self.model or "")], self.force)

    def parameters(self, printer: Printer) -> dict[str, Any]:
        """The parameters of all estimators."""
        return {"max_epochs": self.max_epochs, "n_jobs": self.jobs or -1, "verbose": int(not printer.quiet)}


class Given:
    """The options that are on the command line, even with the value that is the default."""

    def __init__(self, context: typer.Context):
        sources = {each.opts[0]: context.get_parameter_source(each.name or "") for each in context.command.params}
        self.options = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}

    def refuse(self, options: Sequence[str], why: str) -> None:
        """Ends the command with the reason `why` if one of these options was given; `{}` is replaced by the option."""
        for option in options:
            if option in self.options:
                raise typer.BadParameter(why.format(option), param_hint=option)


def _output(json: Json = False, quiet: Quiet = False) -> Printer:
    return Printer(json, quiet)


def _results(json: Json = False, quiet: QuietNotes = False) -> Printer:
    return Printer(json, notes=not quiet)


# Parameters of commands that `with_options` makes from the options that the second argument, a function or a class, takes.
ReadingOptions = Annotated[Reading, Reading]
TrainingOptions = Annotated[Training, Training]
GivenOptions = Annotated[Given, Given]
Output = Annotated[Printer, _output]
ResultOutput = Annotated[Printer, _results]


def with_options(*omitted: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator for commands: replaces parameters such as `reading: ReadingOptions` by options, except those omitted."""

    def decorate(run: Callable[..., None]) -> Callable[..., None]:
        parameters, made = list[inspect.Parameter](), dict[str, tuple[Callable[..., Any], list[str]]]()
        for parameter in _parameters(run):
            make = getattr(parameter.annotation, "__metadata__", (None,))[0]
            if callable(make):
                needed = [each for each in _parameters(make) if each.name not in omitted]
                made[parameter.name] = make, [each.name for each in needed]
            parameters += needed if callable(make) else [parameter]

        def command(**values: Any) -> None:
            for name, (make, needed) in made.items():
                values[name] = make(**{each: values.pop(each) for each in needed})
            run(**values)

        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        command.__dict__["__signature__"] = inspect.Signature(parameters)
        return command

    return decorate


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function or a class, with their types, as keyword-only ones, which need no order."""
    declared: Any = function.__dict__["__init__"] if isinstance(function, type) else function
    hints = get_type_hints(declared, include_extras=True)
    return [
        each.replace(kind=each.KEYWORD_ONLY, annotation=hints[each.name])
        for each in inspect.signature(function).parameters.values()
    ]


def kernel_options(text: str | None, parse: Callable[[str], list[Kernel]] = parse_kernels) -> list[Kernel]:
    """The kernels that the option --kernel describes, checked: several for an expression with ranges; none without the option."""
    with option_errors("--kernel"):
        kernels = parse(text) if text else []
        for kernel in kernels:
            kernel.check()
    return kernels


def kernel_option(text: str | None) -> Kernel | None:
    """The kernel that the option --kernel describes, checked; None without the option."""
    return next(iter(kernel_options(text, lambda text: [parse_kernel(text)])), None)


def positive_option(names: Sequence[str], wanted: str | None) -> str | None:
    """The positive class of these, see `positive_class`, checked; None where there are not two classes."""
    with option_errors("--positive"):
        return positive_class(names, wanted)


def solver_option(name: str) -> Any:
    """The solver that the option --solver names, with its defaults.

    >>> solver_option("SMO"), solver_option("auto")
    (SMO(), 'auto')
    """
    with option_errors("--solver"):
        return "auto" if name == "auto" else require("solvers", name)()


@contextmanager
def option_errors(name: str | None = None) -> Iterator[None]:
    """Reports bad input as the bad value of an option."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint=name) from None


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
