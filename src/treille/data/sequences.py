"""DNA and proteins: strings over a fixed alphabet, with case, ambiguity codes and masks normalised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.data.base import align
from treille.data.strings import Strings
from treille.io.errors import InputError
from treille.io.parameters import check_choice
from treille.io.units import TextUnit


@dataclass(frozen=True)
class Alphabet:
    """Letters, the ambiguity codes, and the letter that replaces these."""

    name: str
    letters: str
    codes: str
    unknown: str


DNA = Alphabet("DNA", "ACGT", "NRYSWKMBDHV", "N")
PROTEIN = Alphabet("protein", "ACDEFGHIKLMNPQRSTVWY", "XBZJUO", "X")
RESIDUES = {"dna": (DNA, False), "rna": (DNA, True), "protein": (PROTEIN, False)}
ALPHABETS = (*RESIDUES, "smiles")  # of which the last has any letters, and keeps their case
COMPLEMENT = dict(zip("ACGTUNRYSWKMBDHV", "TGCAANYRSWMKVHDB", strict=True))
COMPLEMENT |= {letter.lower(): other.lower() for letter, other in COMPLEMENT.items()}


def dna(X: Any, unknown: str = "keep", rna: bool = False, n_jobs: int | None = None) -> Strings:
    """DNA as `Strings` over A, C, G, T; lower case, which marks repeats, is folded.

    Parameters
    ----------
    X : list of str, or Strings of characters
    unknown : {"keep", "error"}
        What to do with N and the other IUPAC codes (R, Y, S, W, K, M, B, D, H, V): keep each as the letter N, or refuse it.
    rna : bool
        Read U as T.

    Raises
    ------
    InputError : names item and position of a letter that is none of these, gaps included.

    Examples
    --------
    >>> import treille
    >>> batch = treille.dna(["ACGTacgt", "GATTR"])
    >>> list(batch), batch.alphabet
    (['ACGTACGT', 'GATTN'], ['A', 'C', 'G', 'N', 'T'])
    >>> treille.dna(["ACGU"])
    Traceback (most recent call last):
    treille.io.errors.InputError: item 0, position 3: found 'U', expected DNA: ACGT or a code of NRYSWKMBDHV; rna=True reads U as T
    """
    return over(DNA, X, unknown, rna, n_jobs)


def protein(X: Any, unknown: str = "keep", n_jobs: int | None = None) -> Strings:
    """Proteins as `Strings` over the 20 amino acids; lower case is folded, and a stop (*) at the end is dropped.

    Parameters
    ----------
    X : list of str, or Strings of characters
    unknown : {"keep", "error"}
        What to do with X, the ambiguous B, Z and J, and the rare U (selenocysteine) and O (pyrrolysine): keep each as the
        letter X, or refuse it.

    Raises
    ------
    InputError : names item and position of a letter that is none of these, gaps included.

    Examples
    --------
    >>> import treille
    >>> list(treille.protein(["MKVB*", "mkv"]))
    ['MKVX', 'MKV']
    """
    return over(PROTEIN, X, unknown, False, n_jobs)


def over(
    alphabet: Alphabet,
    X: Any,
    unknown: str,
    rna: bool,
    n_jobs: int | None,
    place: Callable[[int], str] = "item {}".format,
) -> Strings:
    """Strings over an alphabet; `place(i)` names item i in messages."""
    check_choice("unknown", unknown, "keep", "error")
    batch = X if isinstance(X, Strings) else Strings(X, n_jobs=n_jobs)
    if TextUnit.of(batch.unit).base != "char" and len(batch.symbols):
        raise InputError(f"the sequences are of unit {batch.unit!r}, expected strings of letters")
    symbols, offsets = _without_stops(batch) if alphabet is PROTEIN else (batch.symbols, batch.offsets)
    becomes = [_letter(alphabet, symbol, unknown, rna) for symbol in batch.alphabet]
    letters = sorted({*alphabet.letters, *(letter for letter in becomes if letter)})
    codes = align(becomes, letters, unknown=-1)
    symbols, originals = codes[symbols], symbols
    for at in np.flatnonzero(symbols < 0)[:1]:
        item = int(np.searchsorted(offsets, at, side="right")) - 1
        where = f"{place(item)}, position {at - offsets[item]}"
        raise InputError(f"{where}: {_found(alphabet, batch.alphabet[originals[at]], unknown)}")
    made = Strings.from_arrays(symbols, offsets, letters, "char")
    made.residues = "protein" if alphabet is PROTEIN else "rna" if rna else "dna"
    return made


def as_residues(
    name: str, X: Any, n_jobs: int | None = None, place: Callable[[int], str] = "item {}".format
) -> Strings:
    """Texts read as "dna", "rna", "protein" or "smiles"; a batch that was read so is returned unchanged.

    >>> list(as_residues("rna", ["acgu"]))
    ['ACGT']
    """
    if isinstance(X, Strings) and X.residues == name:
        return X
    if name == "smiles":
        made = X[:] if isinstance(X, Strings) else Strings(X, "char", n_jobs)
        made.residues = name
        return made
    alphabet, rna = RESIDUES[name]
    return over(alphabet, X, "keep", rna, n_jobs, place)


def reverse_complement(sequence: Any) -> Any:
    """The other strand, read in its own direction: of a str, or of every sequence of `Strings`.

    Case is kept, IUPAC codes have their complements, and the complement of U is A. Everything else is refused.

    >>> import treille
    >>> treille.reverse_complement("ACGTTN"), list(treille.reverse_complement(treille.dna(["AAC", "G"])))
    ('NAACGT', ['GTT', 'C'])
    """
    if isinstance(sequence, str):
        return "".join(_complement(letter) for letter in reversed(sequence))
    if not isinstance(sequence, Strings) or TextUnit.of(sequence.unit).base != "char":
        kind = type(sequence).__name__
        raise InputError(f"found {kind}, expected a str or Strings of characters, as treille.dna(X) makes them")
    others = [_complement(letter) for letter in sequence.alphabet]
    letters = sorted(set(others))
    codes = align(others, letters)
    offsets = sequence.offsets
    mirrored = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets)) - np.arange(offsets[-1])
    made = Strings.from_arrays(codes[sequence.symbols[mirrored]], offsets, letters, sequence.unit)
    made.residues = sequence.residues
    return made


def _letter(alphabet: Alphabet, symbol: str, unknown: str, rna: bool) -> str | None:
    """The letter that replaces a symbol; None if it is not allowed."""
    upper = "T" if rna and symbol in "Uu" else symbol.upper()
    if len(upper) == 1 and upper in alphabet.letters:
        return upper
    return alphabet.unknown if len(upper) == 1 and upper in alphabet.codes and unknown == "keep" else None


def _without_stops(batch: Strings) -> tuple[np.ndarray, np.ndarray]:
    if "*" not in batch.alphabet or not len(batch.symbols):
        return batch.symbols, batch.offsets
    ends = batch.offsets[1:] - 1
    stopped = (np.diff(batch.offsets) > 0) & (batch.symbols[ends] == batch.alphabet.index("*"))
    offsets = batch.offsets.copy()
    offsets[1:] -= np.cumsum(stopped)
    return np.delete(batch.symbols, ends[stopped]), offsets


def _found(alphabet: Alphabet, symbol: str, unknown: str) -> str:
    codes = f" or a code of {alphabet.codes}" if unknown == "keep" else ""
    if unknown == "error" and symbol.upper() in alphabet.codes:
        hint = f"; unknown='keep' keeps it as {alphabet.unknown}"
    elif alphabet is DNA and symbol in "Uu":
        hint = "; rna=True reads U as T"
    elif symbol in "-.":
        hint = "; take the gaps of an alignment out first"
    else:
        hint = "; a stop is allowed only at the end" * (symbol == "*" and alphabet is PROTEIN)
    return f"found {symbol!r}, expected {alphabet.name}: {alphabet.letters}{codes}{hint}"


def _complement(letter: str) -> str:
    if letter not in COMPLEMENT:
        raise InputError(f"found {letter!r}, which has no complement: expected DNA, one of ACGT or the IUPAC codes")
    return COMPLEMENT[letter]
