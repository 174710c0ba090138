"""A server of texts that several tests share."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'treille[serve]'")
pytest.importorskip("uvicorn", reason="needs the extra: pip install 'treille[serve]'")

from serving import served

import treille


@pytest.fixture(scope="session")
def wines() -> Any:
    """A model of texts."""
    texts = ["a red wine of dark cherries", "red and dark", "a white wine of green apples", "white and green"]
    return treille.SVC(treille.kernels.NGram(3)).fit(texts, ["red", "red", "white", "white"])


@pytest.fixture(scope="session")
def client(wines: Any):
    """A client of a server of texts."""
    with served(wines, name="wines") as found:
        yield found
