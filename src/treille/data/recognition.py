"""DNA, RNA, proteins and SMILES among plain texts, recognised by all of their letters.

The evidence must be overwhelming: every text is one word over the alphabet, there are hundreds of letters, and their shares are as
in nature and not as in words, names, numbers and codes.
"""

import re
from collections import Counter
from typing import Any

import numpy as np

from treille.data.base import first_item
from treille.data.sequences import as_residues
from treille.data.strings import Strings

ENOUGH = 200  # letters in all; less is no evidence
LONG = 10  # letters of a text, on average: words, names and codes are shorter
TITLES = {"dna": "DNA", "rna": "RNA", "protein": "proteins", "smiles": "SMILES"}
LINES = {  # that say how texts are read
    "dna": "X = treille.dna(X)",
    "rna": "X = treille.dna(X, rna=True)",
    "protein": "X = treille.protein(X)",
    "smiles": "X = treille.Graphs.from_smiles(X) for graphs of atoms,",
}

NUCLEOTIDES = re.compile("[ACGTUNRYSWKMBDHV]+", re.IGNORECASE)
AMINO_ACIDS = re.compile("[ACDEFGHIKLMNPQRSTVWYXBZJUOx]+[*]?")  # capitals, but masked residues
ATOM = r"(?:\[[^\[\]\s]+\]|Br|Cl|[BCNOPSFIbcnops*])"
SMILES = re.compile(rf"{ATOM}(?:{ATOM}|[()=#$:./\\~-]|%\d\d|\d)*")
BRACKETS = re.compile(r"\[[^\[\]]*\]")
RING = re.compile(r"%\d\d|\d")


def recognised(X: Any) -> str | None:
    """What plain texts are if they are no words: "dna", "rna", "protein" or "smiles"; None for everything else.

    >>> recognised(["GATTACAGATTACA", "ttagaccagt"] * 10), recognised(["MKVLAAGIVGERT", "ACDEFGHIKLMNPQRSTVWY"] * 10)
    ('dna', 'protein')
    >>> recognised(["CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"] * 10)
    'smiles'
    >>> recognised(["GATTACA", "TAGACAT"] * 100) is recognised(["a vine and a fig"] * 100) is None
    True
    """
    if isinstance(X, Strings):
        texts: list[Any] = list(X) if X.unit == "char" and X.residues is None and not _has_blanks(X) else []
    else:
        texts = list(X) if isinstance(first_item(X), str) else []
    if not all(isinstance(text, str) and text for text in texts):
        return None
    total = sum(map(len, texts))
    if total < ENOUGH or total < LONG * len(texts):
        return None
    if all(map(NUCLEOTIDES.fullmatch, texts)):
        return _nucleotides(texts, total)
    if all(map(AMINO_ACIDS.fullmatch, texts)):
        return "protein" if _are_residues(texts, total) else None
    return "smiles" if _are_molecules(texts) else None


def _has_blanks(X: Strings) -> bool:
    """Whether some text has a blank. The texts are not decoded, which takes seconds if they are many."""
    return any(X.alphabet[symbol].isspace() for symbol in np.flatnonzero(np.bincount(X.symbols)))


def _nucleotides(texts: list[str], total: int) -> str | None:
    """DNA or RNA: nine letters in ten are bases, and none of the four is rare."""
    counts = Counter("".join(texts).upper())
    thymine = "U" if counts["U"] > counts["T"] else "T"
    bases = [counts[base] for base in ("A", "C", "G", thymine)]
    if sum(bases) < 0.9 * total or min(bases) < 0.02 * total or min(counts["U"], counts["T"]) > 0:
        return None
    return "rna" if thymine == "U" else "dna"


def _are_residues(texts: list[str], total: int) -> bool:
    """Most of the 20 amino acids, and hardly any of the letters B, J, O, U, X and Z, which are an eighth of those of words."""
    counts = Counter("".join(texts))
    others = sum(counts[letter] for letter in "XBZJUOx*")
    usual = [letter for letter in "ACDEFGHIKLMNPQRSTVWY" if counts[letter] >= 0.002 * total]
    return others <= 0.03 * total and len(usual) >= 16


def _are_molecules(texts: list[str]) -> bool:
    """Atoms, a fifth of the characters carbon; bonds, parentheses and rings, which close."""
    if not all(map(SMILES.fullmatch, texts)):
        return False
    plain = [BRACKETS.sub("", text) for text in texts]
    counts, total = Counter("".join(plain)), sum(map(len, plain))
    carbon = counts["C"] + counts["c"] - sum(text.count("Cl") for text in plain)
    structure = sum(counts[mark] for mark in "()=#123456789%")
    return carbon >= 0.2 * total and structure >= 0.05 * total and all(map(_closes, plain))


def _closes(text: str) -> bool:
    """Whether parentheses of a molecule match, and every ring that is opened is closed."""
    depth = 0
    for mark in re.findall("[()]", text):
        depth += 1 if mark == "(" else -1
        if depth < 0:
            return False
    return depth == 0 and all(n % 2 == 0 for n in Counter(RING.findall(text)).values())


def as_recognised(X: Any, n_jobs: int | None = None) -> tuple[Any, str | None]:
    """Texts as they are read where no kernel is given for them, and what they were recognised as; other data unchanged, and None.

    >>> batch, found = as_recognised(["GATTACAGATTACA", "ttagaccagt"] * 10)
    >>> found, batch.residues, batch.alphabet
    ('dna', 'dna', ['A', 'C', 'G', 'T'])
    """
    found = recognised(X)
    return (X if found is None else as_residues(found, X, n_jobs)), found
