"""Weighted automata and transducers: `Fst`, its operations, and a library of transducers that define kernels."""

from treille.automata.fst import Fst

__all__ = ["Fst"]
