"""Transcripts as the agents write them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

RECORDED = Path(__file__).parent


def make_database(path: Path, *more: str, sample: str = "opencode-1.18.33.sql") -> Path:
    """Opencode's database as recorded, with C{more} statements."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = sqlite3.connect(path)
    rows.executescript((RECORDED / sample).read_text("utf-8"))
    for statement in more:
        rows.execute(statement)
    rows.commit()
    rows.close()
    return path
