"""The exception for invalid input, the warning about data, and the place of the caller for warnings."""

import contextlib
import os
import sys


class InputError(ValueError):
    """Invalid input: the message names the location, what was found, what was expected, and what to do.

    >>> from treille.io import InputError
    >>> issubclass(InputError, ValueError)
    True
    """


class DataWarning(UserWarning):
    """Data that may not be what they were meant to be, or that a kernel cannot tell apart: the message says what to write instead.

    >>> issubclass(DataWarning, UserWarning)
    True
    """


def first_level_outside() -> int:
    """The `stacklevel` at which the caller of treille is, seen from the function that calls this one."""
    inside = os.path.dirname(os.path.dirname(__file__)), contextlib.__file__  # treille enters its own contexts
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    return level
