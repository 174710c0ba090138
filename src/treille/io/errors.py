"""The exception for invalid input."""


class InputError(ValueError):
    """What is wrong with a file or an argument: where, what was found, what was expected, what to do.

    >>> from treille.io import InputError
    >>> issubclass(InputError, ValueError)
    True
    """
