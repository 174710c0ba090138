"""The commands: one module for each, whose docstring is its help."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

import treille
from treille.cli import tag
from treille.cli.console import Printer, fail
from treille.cli.options import Command, UsageError

HELP = """Train support vector machines on texts and other structures, or on tagged sentences, and use them.

\b
Start here:
  treille quickstart
  treille train reviews.csv --model reviews.treille --cv 5
  treille train pos.fa neg.fa --alphabet dna --model sites.treille
  treille predict reviews.treille new.csv
  treille serve reviews.treille --open
  treille tag train chunks.txt --model chunks.treille --holdout 0.1

\b
Files are JSON, CSV, TSV, Parquet, lines with the label first, FASTA, FASTQ,
SVM-light, trees, graphs or lattices, each also as .gz; a folder of them, or
one file per class; - is standard input. Results go to standard output, notes
and progress to standard error. 'treille tag --help' describes files for
taggers.

\b
Exit codes:
  0    done
  1    bad input: a file, or its content
  2    a command line that cannot be understood, or an option's value
  3    trained and saved, but the duality gap did not reach --tol
  130  interrupted
"""

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
VERBS = "quickstart train learn predict evaluate explain report serve inspect features gram convert completion"
for verb in VERBS.split():
    module = import_module(f"treille.cli.{verb}")
    app.command(verb, cls=Command, help=module.__doc__)(module.run)

app.add_typer(tag.group, name="tag")


@app.callback(help=HELP)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,  # see `main`
) -> None: ...


def run(words: Sequence[str]) -> int:
    """Runs a command line and returns its exit code. A user's mistake ends in one message, not in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: Printer().warn(str(message))  # without lines of our source
            code = app(list(words), prog_name="treille", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except UsageError as error:
        where = getattr(error.ctx, "command_path", "treille")
        message = error.format_message().replace("Value error, ", "")  # from pydantic, which checks choices
        fail(f"{message}\nTry '{where} --help'.")
        return 2
    except (treille.InputError, OSError, MemoryError) as error:
        fail(_message(error))
        return 1
    if code == 130:
        fail("interrupted")
    return code if isinstance(code, int) else 0


def _message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory: use fewer examples, or a kernel with fewer features"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
