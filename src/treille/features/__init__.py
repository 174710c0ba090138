"""Explicit features: fitted feature maps, rows in all their layouts, and compaction of rows. Knows data, but no kernel."""

from treille.features.compaction import Representation, represent
from treille.features.concatenated_rows import CenteredRows, ConcatenatedRows, PerProblemRows
from treille.features.conjunction_rows import ConjunctionRows
from treille.features.contributions import Contributions, Occurrences
from treille.features.dense_rows import DenseRows
from treille.features.feature_map import (
    DependentFeaturesError,
    ExplainingMap,
    Families,
    FeatureMap,
    FeatureStrings,
    LocatingMap,
    MergingMap,
    StringMap,
)
from treille.features.parted_rows import PartedRows, RowParts, concatenate_rows
from treille.features.rows import CountableRows, DivisibleRows, FeatureRows, MatrixRows, Rows, StoredRows, WeighableRows

__all__ = [
    "CenteredRows",
    "ConcatenatedRows",
    "ConjunctionRows",
    "Contributions",
    "CountableRows",
    "DenseRows",
    "DependentFeaturesError",
    "DivisibleRows",
    "ExplainingMap",
    "Families",
    "FeatureMap",
    "FeatureRows",
    "FeatureStrings",
    "LocatingMap",
    "MatrixRows",
    "MergingMap",
    "Occurrences",
    "PartedRows",
    "PerProblemRows",
    "Representation",
    "RowParts",
    "Rows",
    "StoredRows",
    "StringMap",
    "WeighableRows",
    "concatenate_rows",
    "represent",
]
