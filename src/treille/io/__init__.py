"""Files in and out. One file per format; `read` tells them apart."""

from .errors import InputError
from .lattices import write_lattices
from .machine import MachineParts
from .read import Examples, read
from .source import open_text

__all__ = ["Examples", "InputError", "MachineParts", "open_text", "read", "write_lattices"]
