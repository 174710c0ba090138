"""Generated tables on pages: `<!-- include generated/x.md -->` becomes that file, its headings one level down."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

INCLUDE = re.compile(r"^<!-- include (\S+) -->$", re.MULTILINE)
ABSENT = "*No table yet: it has not been generated in this copy.*"


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    def included(found: re.Match[str]) -> str:
        path = Path(config.docs_dir, found[1])
        return re.sub(r"^#", "##", path.read_text(encoding="utf-8"), flags=re.MULTILINE) if path.is_file() else ABSENT

    return INCLUDE.sub(included, markdown)
