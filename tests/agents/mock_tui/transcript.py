"""The transcript file of a played Claude Code: one JSON object a line."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

VERSION = "2.1.197"
USAGE = {
    "input_tokens": 1200,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 5000,
    "output_tokens": 34,
}


def path_of(home: Path, cwd: Path, session: str) -> Path:
    """Where the real program keeps it: every sign but letters and digits becomes C{-}."""
    folder = re.sub(r"[^A-Za-z0-9]", "-", str(cwd))
    return home / ".claude" / "projects" / folder / f"{session}.jsonl"


class MockTranscript:
    """Appends entries; each one but the bookkeeping names its parent."""

    def __init__(self, home: Path, cwd: Path, session: str) -> None:
        self.path = path_of(home, cwd, session)
        self._cwd, self._session = cwd, session
        self._parent: str | None = None

    def _append(self, entry: Mapping[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def _add(self, kind: str, **fields: Any) -> str:
        identifier = str(uuid.uuid4())
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            **fields,
            "uuid": identifier,
            "timestamp": moment.replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(self._cwd),
            "sessionId": self._session,
            "version": VERSION,
            "gitBranch": "HEAD",
        }
        self._append(entry)
        self._parent = identifier
        return identifier

    def open(self) -> None:
        """The first lines, written with the first prompt or command."""
        self._append({"type": "mode", "mode": "normal", "sessionId": self._session})

    def prompt(self, text: str, prompt_id: str, mode: str) -> None:
        """What a person submitted."""
        message = {"role": "user", "content": text}
        human = {"origin": {"kind": "human"}, "promptSource": "typed"}
        self._add("user", promptId=prompt_id, message=message, permissionMode=mode, **human)

    def ran(self, command: str, told: str) -> None:
        """A shell command that the person gave, and what it printed."""
        for text in (f"<bash-input>{command}</bash-input>", told):
            self._add("user", message={"role": "user", "content": text})

    def said(self, content: Mapping[str, Any], model: str, stop: str) -> None:
        """One block of the model's answer."""
        message = {
            "id": f"msg_{uuid.uuid4().hex[:20]}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [content],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": USAGE,
        }
        self._add("assistant", message=message)

    def result(self, use: str, text: str, prompt_id: str, *, refused: bool = False) -> None:
        """A tool's result."""
        block = {"type": "tool_result", "tool_use_id": use, "content": text, "is_error": refused}
        message = {"role": "user", "content": [block]}
        self._add("user", promptId=prompt_id, message=message)

    def interrupted(self, prompt_id: str, *, tool: bool) -> None:
        """Escape ended the turn."""
        text = f"[Request interrupted by user{' for tool use' if tool else ''}]"
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        self._add("user", promptId=prompt_id, message=message)

    def command(self, name: str, arguments: str, output: str, prompt_id: str) -> None:
        """A slash command."""
        text = (
            f"<command-name>/{name}</command-name>\n"
            f"            <command-message>{name}</command-message>\n"
            f"            <command-args>{arguments}</command-args>"
        )
        self._add("user", promptId=prompt_id, message={"role": "user", "content": text})
        content = f"<local-command-stdout>{output}</local-command-stdout>"
        self._add("system", subtype="local_command", content=content, level="info")

    def finished(self, seconds: float) -> None:
        """The turn's length."""
        self._add("system", subtype="turn_duration", durationMs=int(seconds * 1000), isMeta=False)
