"""Lines of transcripts, written by a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

AT = "2026-11-20T13:30:00.250Z"


ID = "7c1f6a52-0000-4000-8000-000000000001"


def prompt_line(text: str) -> dict[str, Any]:
    return {
        "type": "user",
        "sessionId": ID,
        "cwd": "/srv",
        "timestamp": AT,
        "message": {"role": "user", "content": text},
    }


def answer_line(text: str, name: str = "m1", sent: int = 100, made: int = 7) -> dict[str, Any]:
    usage = {"input_tokens": sent, "cache_read_input_tokens": 1000, "output_tokens": made}
    content = [{"type": "text", "text": text}]
    message = {"id": name, "model": "opus", "content": content, "usage": usage}
    return {"type": "assistant", "sessionId": ID, "timestamp": AT, "message": message}


def write_lines(path: Path, *entries: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        for each in entries:
            file.write(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n")
