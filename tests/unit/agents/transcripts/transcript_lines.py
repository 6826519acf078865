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


def gemini_line(name: str, kind: str, text: str, at: str = "") -> dict[str, Any]:
    """A message of Gemini CLI; C{at} is its second and the rest."""
    content = [{"text": text}]
    stamp = f"2026-11-28T17:22:{at or '00.000'}Z"
    return {"id": name, "timestamp": stamp, "type": kind, "content": content}


def repeated_gemini_lines() -> list[dict[str, Any]]:
    """What Gemini CLI 0.61 writes when a person refuses a tool: all that was said, once more."""
    context = "<session_context>\nThis is the Gemini CLI."
    again = [
        gemini_line("s1", "user", context, "10.828"),
        gemini_line("u3", "user", "first", "10.828"),
        gemini_line("a3", "gemini", "one", "10.829"),
        {"$set": {"lastUpdated": "2026-11-28T17:22:10.829Z"}},
        gemini_line("u4", "user", "second", "10.829"),
    ]
    return [
        {"sessionId": "g1", "projectHash": "0", "kind": "main"},
        {"$set": {"messages": [gemini_line("s0", "user", context)]}},
        gemini_line("u1", "user", "first", "01.000"),
        gemini_line("a1", "gemini", "one", "02.000"),
        gemini_line("u2", "user", "second", "09.000"),
        *again,
        {"$set": {"messages": [each for each in again if "id" in each]}},
        gemini_line("u5", "user", "first", "11.000"),
        gemini_line("a5", "gemini", "three", "12.000"),
    ]


def write_lines(path: Path, *entries: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        for each in entries:
            file.write(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n")
