"""Sessions whose conversations are looked for, made by a test."""

from __future__ import annotations

from typing import Any

from tservice.sessions.record.model import NameSource, Session

MADE = 1_800_000_000_000


def make_session(**fields: Any) -> Session:
    known: dict[str, Any] = {
        "id": "s",
        "mode": "codex",
        "name": "n",
        "name_source": NameSource.MANUAL,
        "working_dir": "/srv",
        "created_at": MADE,
        "last_activity_at": MADE,
    }
    return Session(**{**known, **fields})
