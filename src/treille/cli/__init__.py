"""The command line. What commands need is imported when one runs: `treille --version` answers at once."""

import signal
import sys
from collections.abc import Sequence
from importlib.metadata import version


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    if arguments is None and hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly when a reader such as `head` has seen enough
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if words[0] == "--version":
        sys.stdout.write(f"treille {version('treille')}\n")
        return 0
    from treille.cli.app import run

    return run(words)
