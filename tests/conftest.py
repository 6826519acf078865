"""Fixtures for every test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """C{self.mktemp()} writes below the current folder, so that must not be the checkout."""
    monkeypatch.chdir(tmp_path)
