"""Tag the words of sentences: parts of speech, chunks, names.

\b
Examples:
  treille tag train train.txt --holdout 0.1 --model chunks.treille
  treille tag run chunks.treille new.txt > tagged.txt
  treille tag evaluate chunks.treille test.txt

Files have one token per line, its columns (word, part of speech, ...) separated by blanks or by tabs, and a blank
line after each sentence, as in the shared tasks of CoNLL; the tag is the last column, in CoNLL-U UPOS. Each may be
gzipped; - is standard input.
"""

import typer

from treille.cli.options import Command
from treille.cli.tag import evaluate, run, train

group = typer.Typer(rich_markup_mode=None)
for module in (train, run, evaluate):
    group.command(module.__name__.rpartition(".")[2], cls=Command, help=module.__doc__)(module.run)


@group.callback(invoke_without_command=True, help=__doc__)
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
