"""Files in and out. One file per format; `read` tells them apart."""

from .errors import InputError
from .read import Examples, read
from .source import open_text

__all__ = ["Examples", "InputError", "open_text", "read"]
