"""The diagrams on the page "Architecture" are up to date with the sources."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIAGRAM = runpy.run_path(str(ROOT / "docs" / "architecture_diagram.py"))


def test_the_diagrams_are_up_to_date():
    for name, text in DIAGRAM["generated"]().items():
        drawn = (ROOT / "docs" / "generated" / "architecture" / name).read_text(encoding="utf-8")
        assert drawn == text, f"{name} differs from the imports: run python docs/architecture_diagram.py"


def test_the_package_above_is_drawn_above():
    rows = DIAGRAM["layers"]({"io": set(), "data": {"io"}, "kernels": {"data", "io"}})
    assert rows == [["io"], ["data"], ["kernels"]]
    assert DIAGRAM["reduced"]({"io": set(), "data": {"io"}, "kernels": {"data", "io"}}) == [
        ("data", "io"),
        ("kernels", "data"),
    ]
