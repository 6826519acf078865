"""First-run state of the primary CLI, for users who chose to have it put in place.

Without it the CLI asks its own server before anything else, and then whether the key of its
environment may be used, with "No" marked.  A setting (C{firstRunSeedEnabled}, off) answers both
beforehand.  Add-only: what the CLI or its user wrote stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tservice.core.files import FileError, read_json, replacement

FILE = ".claude.json"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
TAIL = 20
"""Characters from a key's end by which the CLI knows a key that was allowed."""
_NEW_MODE = 0o600


class NotSeeded(Exception):
    """The file was left alone; the text says why, never what is in it."""


def seeded(state: object, key: str) -> dict[str, Any]:
    """The CLI's state with its first run behind it and C{key} allowed.

    @param key: C{""} for none.  One that is no longer than its tail is not written down: it would
        be there whole.
    @raise NotSeeded: it is not what the CLI's state looks like.
    """
    if not isinstance(state, dict):
        raise NotSeeded(f"{FILE}: it is no JSON object")
    after = {"hasCompletedOnboarding": True, **state}
    tail = key[-TAIL:] if len(key) > TAIL else ""
    if not tail:
        return after
    answers = state.get("customApiKeyResponses", {})
    approved, rejected = _list(answers, "approved"), _list(answers, "rejected")
    if tail not in (*approved, *rejected):
        said = {"rejected": [], **answers, "approved": [*approved, tail]}
        after["customApiKeyResponses"] = said
    return after


def _list(answers: Any, name: str) -> list[Any]:
    found = answers.get(name, []) if isinstance(answers, dict) else None
    if not isinstance(found, list):
        raise NotSeeded(f"{FILE}: its answers about keys are no lists")
    return found


def seed(home: Path, environ: Mapping[str, str]) -> None:
    """Put it into the file that the CLI will read; nothing is written where nothing changes.

    @param home: the home folder of whom the CLI runs as.
    @param environ: of the pane.
    @raise NotSeeded: the file was left alone.
    """
    moved = environ.get("CLAUDE_CONFIG_DIR", "")
    path = (Path(moved) if moved.startswith("/") else home) / FILE
    try:
        if path.is_symlink():
            raise NotSeeded(f"{FILE}: is a symbolic link")
        there = path.exists()
        before = read_json(path) if there else {}
        after = seeded(before, environ.get(KEY_VARIABLE, ""))
        if after == before:
            return
        mode = path.stat().st_mode & 0o7777 if there else _NEW_MODE
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with replacement(path) as temporary:
            temporary.write_text(json.dumps(after, indent=2, ensure_ascii=False), "utf-8")
            temporary.chmod(mode)
    except FileError as error:
        raise NotSeeded(str(error)) from None
    except UnicodeEncodeError:
        raise NotSeeded(f"{FILE}: holds a value that could not be written back") from None
    except OSError as error:
        raise NotSeeded(f"{FILE}: {error.strerror}") from error
