"""Reading and writing files: one module per format; `read` recognises the format."""

from .errors import InputError
from .examples import Examples
from .lattices import write_lattices
from .machine import MachineParts
from .open import open_text
from .read import read

__all__ = ["Examples", "InputError", "MachineParts", "open_text", "read", "write_lattices"]
