"""Runs the scripts whose paths it reads from standard input with ``--smoke``, each in a fork of this process.

A fork has treille and scikit-learn imported already, which takes longer than most smoke runs. For each script, a line of JSON:
the exit code, the output and the processor seconds.
"""

import io
import json
import os
import resource
import runpy
import sys
import tempfile
import traceback
from contextlib import redirect_stderr, redirect_stdout

import sklearn.feature_extraction.text
import sklearn.model_selection
import sklearn.svm  # noqa: F401

import treille  # noqa: F401


def run(script: str, output: str) -> None:
    """Runs the script as the main program, with its output in a file; ends this process."""
    os.dup2(os.open(output, os.O_WRONLY), 1)
    os.dup2(1, 2)
    sys.argv, sys.stdin = [script, "--smoke"], io.StringIO()
    sys.path[0] = os.path.dirname(script)
    code = 0
    with open(1, "w", closefd=False) as out, redirect_stdout(out), redirect_stderr(out):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            code = 1 if end.code else 0
            print(end.code or "")
        except BaseException:
            code = 1
            traceback.print_exc()
    os._exit(code)


def main() -> None:
    for line in sys.stdin:
        with tempfile.NamedTemporaryFile() as output:
            process = os.fork()
            if process == 0:
                run(line.strip(), output.name)
            _, status, used = os.wait4(process, 0)
            answer = {"code": os.waitstatus_to_exitcode(status), "output": output.read().decode(errors="replace")}
        print(json.dumps(answer | {"seconds": used.ru_utime + used.ru_stime}), flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
