"""Changes of files in the forms in which agents record them.

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tservice.agents.transcripts.conversation.items import PATH_CHARS, DiffHunk, FileDiff
from tservice.agents.transcripts.model import get_object_or_empty

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")
_PATCHED = re.compile(r"\*\*\* (Add|Update|Delete) File: (.{1,4096})")


def make_diff(path: str, hunks: Iterable[DiffHunk]) -> FileDiff:
    """Return the change of a file, with its numbers of lines."""
    found = tuple(hunks)
    signs = [line[:1] for hunk in found for line in hunk.lines]
    return FileDiff(
        path=path[:PATH_CHARS], added=signs.count("+"), removed=signs.count("-"), hunks=found
    )


def make_new_file_diff(path: str, content: str) -> FileDiff:
    """Return the change that creates a file."""
    lines = tuple(f"+{line}" for line in content.splitlines())
    return make_diff(path, [DiffHunk(old_start=0, new_start=1, lines=lines)] if lines else [])


def make_replacement_diff(path: str, old: str, new: str) -> FileDiff:
    """Return the replacement of a text in a file, at an unknown line."""
    lines = (*(f"-{line}" for line in old.splitlines()), *(f"+{each}" for each in new.splitlines()))
    return make_diff(path, [DiffHunk(old_start=0, new_start=0, lines=lines)] if lines else [])


def parse_structured_patch(path: str, hunks: Any) -> FileDiff | None:
    """Return the change in Claude Code's C{structuredPatch}; C{None} without one."""
    if not isinstance(hunks, list) or not hunks:
        return None
    found = []
    for each in map(get_object_or_empty, hunks):
        lines = each.get("lines")
        if isinstance(lines, list):
            text = tuple(line for line in lines if isinstance(line, str))
            starts = _get_line_number(each, "oldStart"), _get_line_number(each, "newStart")
            found.append(DiffHunk(old_start=starts[0], new_start=starts[1], lines=text))
    return make_diff(path, found) if found else None


def parse_unified_diff(path: str, text: str) -> FileDiff | None:
    """Return the change in a unified diff of one file; C{None} if it has no hunks."""
    found = list(_iterate_hunks(text.splitlines()))
    return make_diff(path, found) if found else None


def parse_patch(text: str) -> tuple[FileDiff, ...]:
    """Return the changes in a patch of Codex's C{apply_patch}."""
    parts: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        named = _PATCHED.match(line)
        if named is not None:
            parts.append((named[2], []))
        elif parts and not line.startswith("***"):
            parts[-1][1].append(line)
    found = []
    for path, lines in parts:
        marked = tuple(line for line in lines if line[:1] in ("+", "-", " "))
        hunks = [DiffHunk(old_start=0, new_start=0, lines=marked)] if marked else []
        found.append(make_diff(path, hunks))
    return tuple(found)


def _iterate_hunks(lines: list[str]) -> Iterator[DiffHunk]:
    start: tuple[int, int] | None = None
    kept: list[str] = []
    for line in lines:
        named = _HUNK.match(line)
        if named is not None:
            if start is not None:
                yield DiffHunk(old_start=start[0], new_start=start[1], lines=tuple(kept))
            start, kept = (int(named[1]), int(named[2])), []
        elif start is not None and line[:1] in ("+", "-", " "):
            kept.append(line)
    if start is not None:
        yield DiffHunk(old_start=start[0], new_start=start[1], lines=tuple(kept))


def _get_line_number(found: Any, name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) and 0 <= value < 2**31 else 0
