"""The diagrams on the page "Architecture" are those of the sources."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import architecture_diagram


def test_the_diagrams_are_up_to_date():
    for name, text in architecture_diagram.generated().items():
        drawn = (ROOT / "docs" / "generated" / "architecture" / name).read_text(encoding="utf-8")
        assert drawn == text, f"{name} differs from the imports: run python docs/architecture_diagram.py"


def test_the_package_above_is_drawn_above():
    rows = architecture_diagram.layers({"io": set(), "data": {"io"}, "kernels": {"data", "io"}})
    assert rows == [["io"], ["data"], ["kernels"]]
    assert architecture_diagram.reduced({"io": set(), "data": {"io"}, "kernels": {"data", "io"}}) == [
        ("data", "io"),
        ("kernels", "data"),
    ]
