"""The words in which each CLI is told to do something, and what it asks nobody about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tests.stress.harness import StressHarness

Call = tuple[str, dict[str, Any]]
"""A tool's name and its input."""


def _allow_claude(home: Path) -> None:
    allowed = ["Bash", "Write", "Edit", "Read", "Agent", "Task"]
    _merge(home / ".claude" / "settings.json", {"permissions": {"allow": allowed}})


def _allow_codex(home: Path) -> None:
    config = home / ".codex" / "config.toml"
    told = config.read_text("utf-8").replace('"on-request"', '"never"')
    config.write_text(f'sandbox_mode = "danger-full-access"\n{told}', "utf-8")


def _allow_gemini(home: Path) -> None:
    allowed = ["run_shell_command", "write_file", "replace", "read_file"]
    _merge(home / ".gemini" / "settings.json", {"tools": {"allowed": allowed}})


def _allow_opencode(home: Path) -> None:
    config = home / ".config" / "opencode" / "opencode.json"
    allowed = dict.fromkeys(("bash", "edit", "task", "external_directory"), "allow")
    _merge(config, {"permission": allowed})


def _merge(path: Path, more: Mapping[str, Any]) -> None:
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**known, **more}), "utf-8")


@frozen(kw_only=True)
class ConversationManner:
    """What is told to one CLI.

    @ivar write: writes a file with a text.
    @ivar edit: replaces a text in a file.
    @ivar side: begins a sub-agent with a prompt; C{None} where the CLI has none.
    @ivar compact: the command that compacts the conversation.
    @ivar fails: the HTTP status at which it gives up at once; C{None}: it never does.
    @ivar interrupt: the keys that interrupt a turn.
    @ivar allow: has its home allow every tool.
    """

    run: Callable[[str], Call]
    write: Callable[[str, str], Call]
    edit: Callable[[str, str, str], Call]
    side: Callable[[str], Call] | None = None
    patience: Mapping[str, Any] = field(factory=dict)
    compact: str = "/compact"
    fails: int | None = 400
    interrupt: tuple[str, ...] = ("Escape",)
    allow: Callable[[Path], None] = field(default=lambda home: None)


def _patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


MANNERS: Mapping[str, ConversationManner] = {
    "claude": ConversationManner(
        run=lambda command: ("Bash", {"command": command, "description": "run"}),
        write=lambda path, text: ("Write", {"file_path": path, "content": text}),
        edit=lambda path, old, new: (
            "Edit",
            {"file_path": path, "old_string": old, "new_string": new},
        ),
        side=lambda prompt: (
            "Agent",
            {"description": "look", "prompt": prompt, "subagent_type": "general-purpose"},
        ),
        patience={"timeout": 600_000},
        allow=_allow_claude,
    ),
    "codex": ConversationManner(
        run=lambda command: ("exec_command", {"cmd": command}),
        write=lambda path, text: (
            "exec_command",
            {"cmd": f"apply_patch <<'X'\n{_patch(f'*** Add File: {path}', f'+{text}')}\nX"},
        ),
        edit=lambda path, old, new: (
            "exec_command",
            {
                "cmd": "apply_patch <<'X'\n"
                + _patch(f"*** Update File: {path}", "@@", f"-{old}", f"+{new}")
                + "\nX"
            },
        ),
        allow=_allow_codex,
    ),
    "gemini": ConversationManner(
        run=lambda command: ("run_shell_command", {"command": command, "description": "run"}),
        write=lambda path, text: ("write_file", {"file_path": path, "content": text}),
        edit=lambda path, old, new: (
            "replace",
            {"file_path": path, "old_string": old, "new_string": new, "instruction": "translate"},
        ),
        compact="/compress",
        allow=_allow_gemini,
    ),
    "opencode": ConversationManner(
        run=lambda command: ("bash", {"command": command, "description": "run"}),
        write=lambda path, text: ("write", {"filePath": path, "content": text}),
        edit=lambda path, old, new: (
            "edit",
            {"filePath": path, "oldString": old, "newString": new},
        ),
        side=lambda prompt: (
            "task",
            {"description": "look", "prompt": prompt, "subagent_type": "general"},
        ),
        patience={"timeout": 600_000},
        # It asks for a failed answer again and again.
        fails=None,
        interrupt=("Escape", "Escape"),
        allow=_allow_opencode,
    ),
    "pi": ConversationManner(
        run=lambda command: ("bash", {"command": command}),
        write=lambda path, text: ("write", {"path": path, "content": text}),
        edit=lambda path, old, new: (
            "edit",
            {"path": path, "edits": [{"oldText": old, "newText": new}]},
        ),
    ),
}


def find_transcripts(place: StressHarness) -> list[Path]:
    """The CLI's conversations, those of sub-agents included; opencode's database."""
    home = place.world.place.home
    folder, pattern = {
        "claude": (home / ".claude" / "projects", "*.jsonl"),
        "codex": (home / ".codex" / "sessions", "*.jsonl"),
        "gemini": (home / ".gemini" / "tmp", "*/chats/**/*.jsonl"),
        "opencode": (home / ".local" / "share" / "opencode", "opencode.db"),
        "pi": (home / ".pi" / "agent" / "sessions", "*.jsonl"),
    }[place.cli]
    return sorted(folder.rglob(pattern))
