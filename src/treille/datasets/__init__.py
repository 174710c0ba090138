"""Datasets: functions of the standard library, and public sets from a folder."""

from .functions import functions
from .public import (
    amazon_reviews,
    conll2000,
    cslog,
    data_folder,
    fastsk,
    fisher_callhome,
    graphs,
    inex,
    kegg_glycan,
    reuters,
    trec_qc,
    treebank_sample,
)

__all__ = [
    "amazon_reviews",
    "conll2000",
    "cslog",
    "data_folder",
    "fastsk",
    "fisher_callhome",
    "functions",
    "graphs",
    "inex",
    "kegg_glycan",
    "reuters",
    "trec_qc",
    "treebank_sample",
]
