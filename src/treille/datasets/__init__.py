"""Datasets: functions of the standard library, and public sets from a folder."""

from .flow_graphs import flow_graph, function_graphs
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
    "flow_graph",
    "function_graphs",
    "functions",
    "graphs",
    "inex",
    "kegg_glycan",
    "reuters",
    "trec_qc",
    "treebank_sample",
]
