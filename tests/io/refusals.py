"""A check that tests of readers share."""

import pytest

from treille.io import InputError, read


def assert_refused(path, **options):
    """Returns the message with which a file is refused."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    return str(caught.value)
