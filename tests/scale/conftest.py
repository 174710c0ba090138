"""So little memory that there are several blocks, and checkpoints at every opportunity."""

import os

import pytest

import treille.solvers.block_minimization as block_minimization
from treille.scale import folder

MANY = 600_000  # shares of the memory: a block is a part or two of 20 short texts


@pytest.fixture
def small_blocks(monkeypatch):
    """So little memory that every block has a part or two, and few examples of others are kept."""
    monkeypatch.setattr(block_minimization, "SHARES", MANY)


@pytest.fixture
def checkpoints(monkeypatch):
    """A state is written at every opportunity, but not waited for until the disk has it."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(folder, "SECONDS", 0.0)
    monkeypatch.setattr(folder, "SHARE", 0)
