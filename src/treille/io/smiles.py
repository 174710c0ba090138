"""Molecules as SMILES, read with rdkit: atoms are nodes labelled by their symbols, bonds are edges labelled by their types."""

from typing import Any

from .errors import InputError
from .graph_parts import PlainGraph


def smiles_graph(text: Any, place: str) -> PlainGraph:
    """The graph of a molecule, hydrogen atoms left out unless they are written as atoms."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise InputError("SMILES are read by rdkit, which is not installed: pip install rdkit") from None
    if not isinstance(text, str):
        raise InputError(f"{place} is {type(text).__name__}, expected SMILES as a str")
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(text)
    if molecule is None or not text.strip():
        raise InputError(f"{place}: rdkit cannot read {text[:80]!r}, expected SMILES such as CC(=O)O")
    atoms = [atom.GetSymbol() for atom in molecule.GetAtoms()]
    bonds = list(molecule.GetBonds())
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    return PlainGraph(atoms, ends, [str(bond.GetBondType()).lower() for bond in bonds])
