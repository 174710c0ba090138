"""Print a script that completes commands, options and their values in a shell.

\b
Examples:
  treille completion bash >> ~/.bashrc
  treille completion zsh > "${fpath[1]}/_treille"
  treille completion fish > ~/.config/fish/completions/treille.fish

The script holds all names, so completion does not start Python. Print it again after an upgrade.
"""

import re
import shlex
from enum import Enum
from typing import Annotated, Any

import typer

from treille.cli import options
from treille.cli.console import Printer
from treille.io.read import FORMATS
from treille.kernels.parse import known_kernels


class Shell(str, Enum):
    """The shells that scripts are made for."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


VALUES: dict[str, list[str]] = {
    "--alphabet": [choice.value for choice in options.Alphabet],
    "--weights": [choice.value for choice in options.Weights],
    "--to-weights": [choice.value for choice in options.Weights],
    "--loss": [choice.value for choice in options.Loss],
    "--class-weight": [choice.value for choice in options.ClassWeight],
    "--format": list(FORMATS),
    "--from": list(FORMATS),
    "--to": list(FORMATS),
}


def run(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Prints the script for a shell."""
    root: Any = context.find_root().command
    commands = {name: _options(command) for name, command in root.commands.items()}
    helps = {name: _first_line(command.help or "") for name, command in root.commands.items()}
    script = {Shell.bash: _bash, Shell.zsh: _zsh, Shell.fish: _fish}[shell](commands, helps)
    if json:
        Printer(json=True).result({"shell": shell.value, "script": script})
    elif not quiet:
        typer.echo(script, nl=False)


def _options(command: Any) -> dict[str, str]:
    """The options of a command, each with its help."""
    shown = {name: p.help or "" for p in command.params for name in p.opts if name.startswith("--")}
    return {**shown, "--help": "Show this message and exit."}


def _values(option: str) -> list[str]:
    return [f"{name}(" for name in known_kernels()] if option == "--kernel" else VALUES.get(option, [])


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _bash(commands: dict[str, dict[str, str]], helps: dict[str, str]) -> str:
    offered = "\n".join(f'    {name}) words="{" ".join(own)}" ;;' for name, own in commands.items())
    known = sorted({option for own in commands.values() for option in own if _values(option)})
    values = "\n".join(
        f'    {name}) COMPREPLY=($(compgen -W {shlex.quote(" ".join(_values(name)))} -- "$word")); return ;;'
        for name in known
    )
    return f"""_treille() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{" ".join(commands)} --help --version" -- "$word")); return
  fi
  case "$before" in
{values}
  esac
  case "${{COMP_WORDS[1]}}" in
{offered}
  esac
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _treille treille
"""


def _zsh(commands: dict[str, dict[str, str]], helps: dict[str, str]) -> str:
    def described(names: dict[str, str]) -> str:
        return " ".join(shlex.quote(f"{name}:{re.sub(r'[:]', ' ', text)}") for name, text in names.items())

    offered = "\n".join(f"    {name}) names=({described(own)}) ;;" for name, own in commands.items())
    known = sorted({option for own in commands.values() for option in own if _values(option)})
    values = "\n".join(
        f"    {name}) compadd -Q -S '' -- {' '.join(map(shlex.quote, _values(name)))}; return ;;" for name in known
    )
    return f"""#compdef treille
_treille() {{
  local -a names
  if (( CURRENT == 2 )); then names=({described(helps)}); _describe command names; return; fi
  case "${{words[CURRENT-1]}}" in
{values}
  esac
  case "${{words[2]}}" in
{offered}
  esac
  if [[ $PREFIX == -* ]]; then _describe option names; else _files; fi
}}
if [[ $funcstack[1] == _treille ]]; then _treille "$@"; else compdef _treille treille; fi
"""


def _fish(commands: dict[str, dict[str, str]], helps: dict[str, str]) -> str:
    lines = [
        f"complete -c treille -n __fish_use_subcommand -f -a {name} -d {_quoted(text)}" for name, text in helps.items()
    ]
    for name, own in commands.items():
        for option, text in own.items():
            values = f" -x -a {_quoted(' '.join(_values(option)))}" if _values(option) else ""
            seen = f"'__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c treille -n {seen} -l {option[2:]}{values} -d {_quoted(text)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
