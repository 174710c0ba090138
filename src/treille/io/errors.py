"""The exception for invalid input."""


class InputError(ValueError):
    """Invalid input: the message names the location, what was found, what was expected, and what to do.

    >>> from treille.io import InputError
    >>> issubclass(InputError, ValueError)
    True
    """
