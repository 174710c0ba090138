"""Diagrams of the packages for the page "Architecture", from the imports of src/treille and the includes of core.

    python docs/architecture_diagram.py

writes two diagrams to docs/generated/architecture/; an arrow means "uses", and arrows implied by others are left out.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "generated" / "architecture"
WIDTH, HEIGHT, GAP, LAYER = 130, 34, 18, 80
Graph = dict[str, set[str]]


def python_packages() -> Graph:
    """The packages of treille, and what each imports."""
    root = ROOT / "src" / "treille"
    names = {path.name for path in root.iterdir() if (path / "__init__.py").is_file()}
    graph: Graph = {name: set() for name in names}
    for name in names:
        for path in (root / name).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                modules += [each.name for each in node.names] if isinstance(node, ast.Import) else []
                targets = {module.split(".")[1] for module in modules if module.startswith("treille.")}
                if "treille" in modules:  # names that the package itself exports are for users, mostly estimators
                    exported = {each.name for each in node.names} - {"_core"}
                    targets |= (exported & names) | ({"estimators"} if exported - names else set())
                graph[name] |= targets & names - {name}
    return graph


def core_directories() -> Graph:
    """The directories of the core, and what each includes."""
    root = ROOT / "core"
    names = {path.name for path in root.iterdir() if path.is_dir() and path.name != "tests"}
    graph: Graph = {name: set() for name in names}
    for name in names:
        for path in (root / name).glob("*.[ch]pp"):
            found = re.findall(r'^#include "(\w+)/', path.read_text(encoding="utf-8"), re.MULTILINE)
            graph[name] |= set(found) & names - {name}
    return graph


def layers(graph: Graph) -> list[list[str]]:
    """Names grouped by the length of their longest path of uses, the bottom layer first. A cycle raises a RecursionError."""

    def depth(name: str) -> int:
        return 1 + max(map(depth, graph[name]), default=-1)

    depths = {name: depth(name) for name in graph}
    return [sorted(n for n in graph if depths[n] == level) for level in range(max(depths.values()) + 1)]


def reduced(graph: Graph) -> list[tuple[str, str]]:
    """The edges that no longer path implies."""

    def reaches(a: str, b: str) -> bool:
        return b in graph[a] or any(reaches(c, b) for c in graph[a])

    edges = [(a, b) for a in graph for b in graph[a]]
    return sorted((a, b) for a, b in edges if not any(reaches(c, b) for c in graph[a] - {b}))


def diagram(graph: Graph) -> str:
    """An SVG with one row per layer; names that use no others are at the bottom."""
    rows = layers(graph)
    width = max(len(row) for row in rows) * (WIDTH + GAP) + GAP
    height = len(rows) * LAYER + GAP
    place = {}
    for level, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + GAP) + GAP) / 2
        for k, name in enumerate(row):
            place[name] = (left + k * (WIDTH + GAP), height - (level + 1) * LAYER + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="14">',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>',
    ]
    for a, b in reduced(graph):
        x, y, u, v = place[a][0] + WIDTH / 2, place[a][1] + HEIGHT, place[b][0] + WIDTH / 2, place[b][1]
        bend = (v - y) / 2
        path = f"M{x:g} {y:g}C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}"
        parts.append(f'<path d="{path}" fill="none" stroke="#99a" marker-end="url(#a)"/>')
    for name, (x, y) in sorted(place.items()):
        middle = x + WIDTH / 2
        parts.append(f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef" stroke="#667"/>')
        parts.append(f'<text x="{middle:g}" y="{y + 22:g}" text-anchor="middle">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def generated() -> dict[str, str]:
    """The files by name."""
    return {"packages.svg": diagram(python_packages()), "core.svg": diagram(core_directories())}


if __name__ == "__main__":
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in generated().items():
        (TARGET / name).write_text(text, encoding="utf-8")
        print(TARGET / name)
