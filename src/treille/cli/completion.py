"""Print a script that completes commands, options and their values in a shell.

\b
Examples:
  treille completion bash >> ~/.bashrc
  treille completion zsh > "${fpath[1]}/_treille"
  treille completion fish > ~/.config/fish/completions/treille.fish

The script holds all names, so completion does not start Python. Print it again after an upgrade.
"""

import inspect
import re
import shlex
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

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


@dataclass(frozen=True)
class _Names:
    """All that is completed: commands and groups of commands with their help, options with their help and their values."""

    helps: dict[str, str] = field(default_factory=dict)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    options: dict[str, dict[str, str]] = field(default_factory=dict)  # by "command", or by "group command"
    values: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # by command and option

    def add(self, path: str, command: Any) -> None:
        """Adds the options of a command."""
        self.options[path] = {}
        types = inspect.signature(command.callback).parameters
        for parameter in command.params:
            for name in (name for name in parameter.opts if name.startswith("--")):
                self.options[path][name] = parameter.help or ""
                values = _choices(types[parameter.name].annotation) or VALUES.get(name)
                if values:
                    self.values[path, name] = values
        self.options[path]["--help"] = "Show this message and exit."


def _choices(kind: Any) -> list[str]:
    """The values of a type of texts, anywhere in it."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [value for inner in get_args(kind) for value in _choices(inner)]


@options.with_options()
def run(
    context: typer.Context,
    shell: Annotated[Shell, argument("SHELL", "bash, zsh or fish.")],
    printer: options.Output,
) -> None:
    """Prints the script for a shell."""
    root: Any = context.find_root().command
    names = _Names()
    for name, command in root.commands.items():
        names.helps[name] = _first_line(command.help or "")
        inside = getattr(command, "commands", {})
        if inside:
            names.groups[name] = {verb: _first_line(each.help or "") for verb, each in inside.items()}
        for path, each in {f"{name} {verb}": each for verb, each in inside.items()}.items() or {name: command}.items():
            names.add(path, each)
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](names)
    printer.result({"shell": shell, "script": script})
    if not (printer.json or printer.quiet):
        typer.echo(script, nl=False)


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
        f"    '{path} {option}') COMPREPLY=($(compgen -W {shlex.quote(' '.join(own))} -- \"$word\")); return ;;"
        for (path, option), own in names.values.items()
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
        f"    '{path} {option}') compadd -Q -S '' -- {' '.join(map(shlex.quote, own))}; return ;;"
        for (path, option), own in names.values.items()
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
            found = names.values.get((name, option))
            values = f" -x -a {_quoted(' '.join(found))}" if found else ""
            lines.append(f"complete -c treille -n {seen} -l {option[2:]}{values} -d {_quoted(text)}")
    return "\n".join(lines) + "\n"


def _seen(*verbs: str) -> str:
    return f"__fish_seen_subcommand_from {' '.join(verbs)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
