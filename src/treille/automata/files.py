"""Single machines from and to text, files, and pynini objects."""

import os
from collections.abc import Sequence
from typing import Any

from treille.automata.validation import check_semiring
from treille.io import openfst
from treille.io.errors import InputError
from treille.io.machine import MachineList, MachineParts
from treille.io.open import open_text, source_name
from treille.io.read import read
from treille.io.symbols import read_symbols

Table = str | os.PathLike[str] | Sequence[str] | None


def from_text(
    text_or_path: str | os.PathLike[str], semiring: str, isymbols: Table, osymbols: Table, acceptor: bool | None
) -> MachineParts:
    """The machine of a text, or of a file: a string without white space that is not a number is a path."""
    check_semiring(semiring)
    text, source = text_or_path, "text"
    if not isinstance(text, str) or ("\n" not in text and not text.isdecimal() and len(text.split()) == 1):
        source = source_name(text)
        with open_text(text) as stream:
            text = stream.read()
    return openfst.parse_text(text, source, semiring, read_symbols(isymbols), read_symbols(osymbols), acceptor)


def read_one(path: str | os.PathLike[str], format: str | None, weights: str | None, symbols: Table) -> MachineParts:
    """The machine of a file that holds one."""
    examples = read(path, format=format, weights=weights, symbols=symbols, labelled=False)
    if not isinstance(examples.X, MachineList):
        raise InputError(f"{examples.note}: expected a machine; name its format, such as format='openfst-text'")
    if len(examples) != 1:
        raise InputError(f"{path}: holds {len(examples):,} machines, expected one: treille.io.read reads them all")
    machine: MachineParts = examples.X.machines[0]
    return machine


def from_pynini(fst: Any) -> MachineParts:
    """The parts of a machine of pynini or pywrapfst."""
    pywrapfst = _imported("pywrapfst")
    if not isinstance(fst, pywrapfst.Fst):
        raise InputError(f"found {type(fst).__name__}, expected a machine of pynini or pywrapfst")
    if fst.fst_type() != "vector":
        fst = pywrapfst.convert(fst, "vector")
    return openfst.parse_binary(fst.write_to_string(), f"pynini's {type(fst).__name__}")


def to_pynini(parts: MachineParts) -> Any:
    """The machine of pynini with these parts."""
    return _imported("pynini").Fst.read_from_string(openfst.format_binary(parts))


def _imported(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise InputError(f"{name} is not installed: pip install pynini") from None
