"""Weighted automata and transducers: `Fst`, its operations, and a library of transducers that define kernels."""

from treille.automata import library
from treille.automata.builder import Builder
from treille.automata.fst import Fst

__all__ = ["Builder", "Fst", "library"]
