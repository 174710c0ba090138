"""Drawings of trees, graphs and machines as SVG, without other programs."""
