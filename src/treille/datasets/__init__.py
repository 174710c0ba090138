"""Datasets that every machine with Python has: the functions of the standard library, as texts and as graphs."""

from .flow_graphs import flow_graph, function_graphs
from .functions import functions

__all__ = ["flow_graph", "function_graphs", "functions"]
