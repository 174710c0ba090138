"""Print a script that completes commands, options and their values in a shell.

\b
Examples:
  treille completion bash >> ~/.bashrc
  treille completion zsh > "${fpath[1]}/_treille"
  treille completion fish > ~/.config/fish/completions/treille.fish

The script holds all names, so completion does not start Python. Print it again after an upgrade.
"""

import inspect
import shlex
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import typer
from jinja2 import Environment, PackageLoader, StrictUndefined
from typer.core import TyperGroup

from treille.cli import options
from treille.cli.options import argument
from treille.io.read import FORMATS
from treille.kernels.parse import known_kernels
from treille.tagging import SCHEMES

Shell = Literal["bash", "zsh", "fish"]
VALUES: dict[str, list[str]] = {  # of options whose type does not list them
    "--kernel": [f"{name}(" for name in known_kernels()],
    "--scheme": ["auto", "none", *SCHEMES],
    **{name: list(FORMATS) for name in ("--format", "--from", "--to")},
}


class _Option(NamedTuple):
    name: str
    help: str
    choices: list[str]

    @property
    def described(self) -> tuple[str, str]:
        return self.name, self.help


@options.with_options()
def run(
    context: typer.Context, shell: Annotated[Shell, argument("SHELL", "bash, zsh or fish.")], printer: options.Output
) -> None:
    """Prints the script for a shell."""
    root: Any = context.find_root().command
    groups = {name: each.commands for name, each in root.commands.items() if isinstance(each, TyperGroup)}
    commands = {name: each for name, each in root.commands.items() if name not in groups}
    commands |= {f"{group} {verb}": each for group, verbs in groups.items() for verb, each in verbs.items()}
    found = {path: list(_options(command)) for path, command in commands.items()}
    environment = Environment(
        loader=PackageLoader("treille.cli", "templates"), undefined=StrictUndefined, trim_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"quote": shlex.quote, "quote_fish": _quoted_for_fish}
    script = environment.get_template(f"completion.{shell}").render(
        commands=_helps(root.commands),
        groups={group: _helps(verbs) for group, verbs in groups.items()},
        options=found,
        with_values=[(path, option) for path, own in found.items() for option in own if option.choices],
    )
    printer.result({"shell": shell, "script": script})
    if not (printer.json or printer.quiet):
        typer.echo(script, nl=False)


def _helps(commands: Mapping[str, Any]) -> dict[str, str]:
    """The first line of the help of each command."""
    return {name: command.help.strip().partition("\n")[0] for name, command in commands.items()}


def _options(command: Any) -> Iterator[_Option]:
    types = inspect.signature(command.callback).parameters
    for parameter in command.params:
        for name in (name for name in parameter.opts if name.startswith("--")):
            yield _Option(
                name, parameter.help or "", _choices(types[parameter.name].annotation) or VALUES.get(name, [])
            )
    yield _Option("--help", "Show this message and exit.", [])


def _choices(kind: Any) -> list[str]:
    """The values of a type of texts, anywhere in it."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [value for inner in get_args(kind) for value in _choices(inner)]


def _quoted_for_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
