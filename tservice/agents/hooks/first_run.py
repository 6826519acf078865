"""First-run state of the primary CLI, for users who enabled its automatic setup.

In its first run, the CLI contacts its own server, and then asks if the key of its environment may
be used, with "No" selected. A setting (C{firstRunSeedEnabled}, off by default) makes both
unnecessary. Entries are only added; those of the CLI or its user stay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tservice.core.disk.files import FileError, read_json, replace_atomically

FILE = ".claude.json"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
TAIL = 20
"""Characters from a key's end by which the CLI recognizes an allowed key."""
_NEW_MODE = 0o600


class NotSeededError(Exception):
    """The state file was not changed; the text gives the reason, never the content."""


def complete_first_run_state(state: object, key: str) -> dict[str, Any]:
    """Return the CLI's state with its first run completed and C{key} allowed.

    @param state: the content of the state file.
    @param key: the API key; C{""} for none. A key that is not longer than L{TAIL} is not written,
        because it would be stored whole.
    @raise NotSeededError: the content does not look like the CLI's state.
    """
    if not isinstance(state, dict):
        raise NotSeededError(f"{FILE}: it is not a JSON object")
    after = {"hasCompletedOnboarding": True, **state}
    tail = key[-TAIL:] if len(key) > TAIL else ""
    if not tail:
        return after
    answers = state.get("customApiKeyResponses", {})
    approved, rejected = (
        _get_answer_list(answers, "approved"),
        _get_answer_list(answers, "rejected"),
    )
    if tail not in (*approved, *rejected):
        said = {"rejected": [], **answers, "approved": [*approved, tail]}
        after["customApiKeyResponses"] = said
    return after


def _get_answer_list(answers: Any, name: str) -> list[Any]:
    found = answers.get(name, []) if isinstance(answers, dict) else None
    if not isinstance(found, list):
        raise NotSeededError(f"{FILE}: its answers about keys are not lists")
    return found


def seed_first_run(home: Path, environ: Mapping[str, str]) -> None:
    """Write the first-run state into the file that the CLI will read; skip an unchanged file.

    @param home: the home folder of the user who runs the CLI.
    @param environ: the environment of the pane.
    @raise NotSeededError: the file was not changed.
    """
    moved = environ.get("CLAUDE_CONFIG_DIR", "")
    path = (Path(moved) if moved.startswith("/") else home) / FILE
    try:
        if path.is_symlink():
            raise NotSeededError(f"{FILE}: it is a symbolic link")
        there = path.exists()
        before = read_json(path) if there else {}
        after = complete_first_run_state(before, environ.get(KEY_VARIABLE, ""))
        if after == before:
            return
        mode = path.stat().st_mode & 0o7777 if there else _NEW_MODE
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with replace_atomically(path) as temporary:
            temporary.write_text(json.dumps(after, indent=2, ensure_ascii=False), "utf-8")
            temporary.chmod(mode)
    except FileError as error:
        raise NotSeededError(str(error)) from None
    except UnicodeEncodeError:
        raise NotSeededError(f"{FILE}: contains a value that cannot be written back") from None
    except OSError as error:
        raise NotSeededError(f"{FILE}: {error.strerror}") from error
