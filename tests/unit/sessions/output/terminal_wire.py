"""What the tests of a stream have at its two ends."""

from __future__ import annotations

import json
from typing import Any

from tests.runtime_harness import HERE
from tservice.mux.interface import PaneSpec

SPEC = PaneSpec(session_id="s", argv=("sh",), env={}, cwd="/", cols=40, rows=10, place=HERE)

PROMPT = b"\x1b[?2004h$ "


class FakeTerminalWire:
    """A socket that keeps what it was sent and can be full."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self.data = b""
        self.sizes: list[int] = []
        self.full = False

    def send_text(self, text: str) -> None:
        message = json.loads(text)
        self.frames.append(message)
        if message["t"] == "snapshot":
            self.data = b""

    def send_binary(self, data: bytes) -> None:
        self.data += data
        self.sizes.append(len(data))

    def is_writable(self) -> bool:
        return not self.full

    def kinds(self) -> list[str]:
        return [message["t"] for message in self.frames]
