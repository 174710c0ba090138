"""Sequence tagging: sentences, chunks as tags, feature templates, and the features of tokens."""

from treille.tagging.files import (
    SentenceBlock,
    read_features,
    read_sentences,
    stream_features,
    stream_sentences,
    write_sentences,
)
from treille.tagging.schemes import (
    SCHEMES,
    ChunkScores,
    allowed_transitions,
    chunk_scores,
    chunks,
    convert,
    detect_scheme,
    is_chunk_tag,
    repair,
)
from treille.tagging.sentences import Column, Sentences
from treille.tagging.templates import Template, default_templates, read_templates
from treille.tagging.token_features import TokenFeatures, TokenRows

__all__ = [
    "SCHEMES",
    "ChunkScores",
    "Column",
    "SentenceBlock",
    "Sentences",
    "Template",
    "TokenFeatures",
    "TokenRows",
    "allowed_transitions",
    "chunk_scores",
    "chunks",
    "convert",
    "default_templates",
    "detect_scheme",
    "is_chunk_tag",
    "read_features",
    "read_sentences",
    "read_templates",
    "repair",
    "stream_features",
    "stream_sentences",
    "write_sentences",
]
