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
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

import typer

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.tag.sentences import Direction, Format, Multiclass
from treille.io.read import FORMATS
from treille.kernels.parse import known_kernels
from treille.tagging import SCHEMES


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
    "--direction": [choice.value for choice in Direction],
    "--multiclass": [choice.value for choice in Multiclass],
    "--scheme": ["auto", "none", *SCHEMES],
}
OWN_VALUES = {"tag train": {"--format": [choice.value for choice in Format]}}  # where a command has others


@dataclass(frozen=True)
class _Names:
    """All that is completed: commands and groups of commands with their help, and the options of commands with theirs."""

    helps: dict[str, str] = field(default_factory=dict)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    options: dict[str, dict[str, str]] = field(default_factory=dict)  # by "command", or by "group command"

    def values(self) -> list[tuple[str, str, list[str]]]:
        """Values of options: of one command first, then those for all commands, `*`."""
        own = [(name, option, values) for name, each in OWN_VALUES.items() for option, values in each.items()]
        every = sorted({option for each in self.options.values() for option in each if _values("*", option)})
        return own + [("*", option, _values("*", option)) for option in every]


def run(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Prints the script for a shell."""
    root: Any = context.find_root().command
    names = _Names()
    for name, command in root.commands.items():
        names.helps[name] = _first_line(command.help or "")
        inside = getattr(command, "commands", {})
        if inside:
            names.groups[name] = {verb: _first_line(each.help or "") for verb, each in inside.items()}
        own = {f"{name} {verb}": _options(each) for verb, each in inside.items()}
        names.options.update(own or {name: _options(command)})
    script = {Shell.bash: _bash, Shell.zsh: _zsh, Shell.fish: _fish}[shell](names)
    if json:
        Printer(json=True).result({"shell": shell.value, "script": script})
    elif not quiet:
        typer.echo(script, nl=False)


def _options(command: Any) -> dict[str, str]:
    """The options of a command, each with its help."""
    shown = {name: p.help or "" for p in command.params for name in p.opts if name.startswith("--")}
    return {**shown, "--help": "Show this message and exit."}


def _values(command: str, option: str) -> list[str]:
    shared = [f"{name}(" for name in known_kernels()] if option == "--kernel" else VALUES.get(option, [])
    return OWN_VALUES.get(command, {}).get(option, shared)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _bash(names: _Names) -> str:
    groups = "\n".join(
        f'    {name}) if [[ $COMP_CWORD -eq 2 ]]; then COMPREPLY=($(compgen -W "{" ".join(own)} --help" -- "$word"));'
        ' return; fi; command="$command ${COMP_WORDS[2]}" ;;'
        for name, own in names.groups.items()
    )
    offered = "\n".join(f'    {shlex.quote(name)}) words="{" ".join(own)}" ;;' for name, own in names.options.items())
    values = "\n".join(
        f'    {_pattern(name, option)}) COMPREPLY=($(compgen -W {shlex.quote(" ".join(own))} -- "$word")); return ;;'
        for name, option, own in names.values()
    )
    return f"""_treille() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}" words=""
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{" ".join(names.helps)} --help --version" -- "$word")); return
  fi
  case "$command" in
{groups}
  esac
  case "$command $before" in
{values}
  esac
  case "$command" in
{offered}
  esac
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _treille treille
"""


def _pattern(command: str, option: str) -> str:
    """What a shell compares with a command and an option of it."""
    return f"*' {option}'" if command == "*" else shlex.quote(f"{command} {option}")


def _zsh(names: _Names) -> str:
    def described(each: dict[str, str]) -> str:
        return " ".join(shlex.quote(f"{name}:{re.sub(r'[:]', ' ', text)}") for name, text in each.items())

    groups = "\n".join(
        f"    {name}) if (( CURRENT == 3 )); then names=({described(own)}); _describe command names; return; fi;"
        ' command="$command ${words[3]}" ;;'
        for name, own in names.groups.items()
    )
    offered = "\n".join(f"    {shlex.quote(name)}) names=({described(own)}) ;;" for name, own in names.options.items())
    values = "\n".join(
        f"    {_pattern(name, option)}) compadd -Q -S '' -- {' '.join(map(shlex.quote, own))}; return ;;"
        for name, option, own in names.values()
    )
    return f"""#compdef treille
_treille() {{
  local -a names
  local command="${{words[2]}}"
  if (( CURRENT == 2 )); then names=({described(names.helps)}); _describe command names; return; fi
  case "$command" in
{groups}
  esac
  case "$command ${{words[CURRENT-1]}}" in
{values}
  esac
  case "$command" in
{offered}
  esac
  if [[ $PREFIX == -* ]]; then _describe option names; else _files; fi
}}
if [[ $funcstack[1] == _treille ]]; then _treille "$@"; else compdef _treille treille; fi
"""


def _fish(names: _Names) -> str:
    lines = [
        f"complete -c treille -n __fish_use_subcommand -f -a {name} -d {_quoted(text)}"
        for name, text in names.helps.items()
    ]
    for group, verbs in names.groups.items():
        first = f"'{_seen(group)}; and not {_seen(*verbs)}'"
        lines += [f"complete -c treille -n {first} -f -a {verb} -d {_quoted(text)}" for verb, text in verbs.items()]
    for name, own in names.options.items():
        group, _, verb = name.rpartition(" ")
        others = "".join(f"; and not {_seen(other)}" for other in names.groups) if not group else ""
        seen = f"'{_seen(group)}; and {_seen(verb)}'" if group else f"'{_seen(verb)}{others}'"
        for option, text in own.items():
            found = _values(name, option)
            values = f" -x -a {_quoted(' '.join(found))}" if found else ""
            lines.append(f"complete -c treille -n {seen} -l {option[2:]}{values} -d {_quoted(text)}")
    return "\n".join(lines) + "\n"


def _seen(*verbs: str) -> str:
    return f"__fish_seen_subcommand_from {' '.join(verbs)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
