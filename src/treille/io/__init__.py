"""Reading and writing files: one module per format; `read` recognises the format."""

from .chunks import read_chunks
from .errors import InputError
from .examples import Examples
from .lattices import write_lattices
from .machine import MachineParts
from .open import open_text
from .read import read

__all__ = ["Examples", "InputError", "MachineParts", "open_text", "read", "read_chunks", "write_lattices"]
