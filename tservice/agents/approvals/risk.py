"""Hints at what may be grave about a command (protocol-approvals).  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_GRAVE = (
    (r"\brm\s+(?:\S+\s+)*?-\w*[rf]|\bgit\s+clean\s+-\w*f|\bfind\b.*\s-delete\b",
     "Deletes files for good"),
    (r"\bsudo\b|\bdoas\b", "Runs with the rights of root"),
    (r"\bmkfs|\bdd\s+if=|>\s*/dev/(?:sd|nvme|disk)", "Writes over a disk"),
    (r"\bgit\s+push\s.*(?:-f\b|--force)|\bgit\s+reset\s+--hard", "Throws commits or changes away"),
    (r"\b(?:curl|wget)\b.*\|\s*(?:sudo\s+)?\w*sh\b", "Runs a program from the network"),
    (r"\bchmod\s+-\w*R|\bchown\s+-\w*R", "Changes the rights of many files"),
    (r"\bdrop\s+(?:table|database)\b|\btruncate\s+table\b", "Deletes data of a database"),
    (r"\bkubectl\s+delete\b|\bterraform\s+(?:apply|destroy)\b", "Changes what runs elsewhere"),
)  # fmt: skip


def risk_of(command: str, *, wrapped: bool = False) -> str | None:
    """Return what makes a command worth a second look.

    @param wrapped: it was read from a screen, where a line may be only a row.
    """
    texts = (command, command.replace("\n", ""), command.replace("\n", " "))
    return next(filter(None, map(_risk_of, texts if wrapped else texts[:1])), None)


def risk_of_screen(rows: Sequence[str]) -> str | None:
    """Return what makes a dialog worth a second look whose command is not known."""
    return next(filter(None, map(_risk_of, rows)), None)


def _risk_of(text: str) -> str | None:
    return next((hint for pattern, hint in _GRAVE if re.search(pattern, text, re.I)), None)
