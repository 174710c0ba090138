"""The one error of this room: what a user's file or argument got wrong."""


class InputError(ValueError):
    """What is wrong with a file or an argument: where, what was found, what was expected, what to do.

    >>> from treille.io import InputError
    >>> issubclass(InputError, ValueError)
    True
    """
