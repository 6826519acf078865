"""A conversation as Codex keeps it (tests/agents/FACTS.rst), written in a test's time."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twisted.internet.task import Clock


class KeptByCodex:
    """One conversation, begun with its first line."""

    def __init__(self, home: Path, work: Path, clock: Clock) -> None:
        self._clock = clock
        self._path = home / ".codex" / "sessions" / "2027" / "01" / "15" / "rollout-01a1f992.jsonl"
        self._path.parent.mkdir(parents=True)
        self._write("session_meta", id="01a1f992-16a6-75d3-ab87-b7929ca8a4b1", cwd=str(work))

    def prompted(self, text: str) -> None:
        """A turn begins."""
        self._write("event_msg", type="task_started")
        self._item("UserMessage", text)

    def answered(self, text: str) -> None:
        """The turn ends."""
        self._item("AgentMessage", text)
        self._write("event_msg", type="task_complete")

    def failed(self, text: str) -> None:
        """The turn ends without an answer."""
        self._write("event_msg", type="task_complete", error={"message": text})

    def _item(self, kind: str, text: str) -> None:
        content = [{"type": "Text", "text": text}]
        self._write("event_msg", type="item_completed", item={"type": kind, "content": content})

    def _write(self, name: str, **payload: Any) -> None:
        now = self._clock.seconds()
        at = datetime.fromtimestamp(now, UTC).isoformat()
        with self._path.open("a") as file:
            file.write(json.dumps({"timestamp": at, "type": name, "payload": payload}) + "\n")
        os.utime(self._path, (now, now))
