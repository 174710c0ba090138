"""Data to try things on: functions of the standard library, and public sets from a folder."""

from .functions import functions
from .public import cslog, data_folder, fastsk, inex, kegg_glycan, reuters, trec_qc, treebank_sample

__all__ = [
    "cslog",
    "data_folder",
    "fastsk",
    "functions",
    "inex",
    "kegg_glycan",
    "reuters",
    "trec_qc",
    "treebank_sample",
]
