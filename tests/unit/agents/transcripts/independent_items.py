"""What a person finds in a transcript, in its order, read without the service's code."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Found = tuple[str, str]
"""Kind of a thing (prompt, answer, thought, call, error, compaction) and its text, or the tool."""


def found_in(path: Path, mode: str) -> list[Found]:
    """Everything in a file, in its order."""
    lines = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    return list({"primary": _claude, "codex": _codex, "gemini": _gemini, "pi": _pi}[mode](lines))


def _claude(lines: list[dict[str, Any]]) -> Iterator[Found]:
    waiting: list[str] = []
    for line in lines:
        if line["type"] == "queue-operation":
            if line["operation"] == "enqueue" and not line["content"].startswith("<"):
                waiting.append(line["content"])
                yield "prompt", line["content"]
        elif line["type"] in ("user", "assistant"):
            content = line["message"]["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks:
                yield from _claude_block(line, block, waiting)


def _claude_block(line: dict[str, Any], block: dict[str, Any], waiting: list[str]) -> list[Found]:
    if block["type"] == "thinking":
        return [("thought", block["thinking"])] if block["thinking"] else []
    if block["type"] == "tool_use":
        return [("call", block["name"])]
    if block["type"] != "text" or line.get("isMeta"):
        return []
    text = block["text"]
    if line["type"] == "assistant":
        if (line["message"].get("model"), text) == ("<synthetic>", "No response requested."):
            return []  # what the CLI writes when it continues, and shows nobody
        return [("error" if line.get("isApiErrorMessage") else "answer", text)]
    if line.get("isCompactSummary"):
        return [("compaction", text)]
    if line.get("promptSource") == "queued" and text in waiting:
        waiting.remove(text)
        return []
    return [] if text.startswith(("<", "[Request interrupted")) else [("prompt", text)]


def _codex(lines: list[dict[str, Any]]) -> Iterator[Found]:
    for line in lines:
        told = line["payload"]
        if line["type"] == "compacted":
            yield "compaction", told["message"]
        elif told.get("type") in ("function_call", "custom_tool_call"):
            yield "call", told["name"]
        elif told.get("type") == "item_completed":
            item = told["item"]
            kind = {"UserMessage": "prompt", "AgentMessage": "answer"}.get(item["type"])
            if kind is not None:
                yield kind, "".join(block["text"] for block in item["content"])
        elif told.get("type") == "task_complete" and told.get("error"):
            yield "error", told["error"]["message"]


def _gemini(lines: list[dict[str, Any]]) -> Iterator[Found]:
    seen: set[str] = set()
    said: set[tuple[str, str, int]] = set()
    for line in lines:
        kept = [
            (told["id"], told["content"] if isinstance(told["content"], str) else _first(told))
            for told in line.get("$set", {}).get("messages", [])
        ]
        kept = [each for each in kept if not each[1].startswith("<session_context>")]
        if kept and not seen & {name for name, _ in kept}:
            yield "compaction", kept[0][1]
        seen |= {name for name, _ in kept}
        if line.get("type") not in ("user", "gemini", "error"):
            continue
        seen.add(line["id"])
        content = line["content"]
        texts = [content] if isinstance(content, str) else [each.get("text") for each in content]
        kind = {"user": "prompt", "gemini": "answer", "error": "error"}[line["type"]]
        for text in filter(None, texts):
            if (line["id"], kind, 0) not in said:
                said.add((line["id"], kind, 0))
                yield kind, text
        for number, call in enumerate(line.get("toolCalls", ())):
            if (line["id"], "call", number) not in said:
                said.add((line["id"], "call", number))
                yield "call", call["name"]


def _first(told: dict[str, Any]) -> str:
    return str(told["content"][0].get("text", "")) if told["content"] else ""


def _pi(lines: list[dict[str, Any]]) -> Iterator[Found]:
    for line in lines:
        if line["type"] == "compaction":
            yield "compaction", line["summary"]
        if line["type"] != "message":
            continue
        told = line["message"]
        if told["role"] == "toolResult":
            continue
        for block in told["content"]:
            if block["type"] == "toolCall":
                yield "call", block["name"]
            elif block["type"] == "thinking":
                yield "thought", block["thinking"]
            else:
                yield ("prompt" if told["role"] == "user" else "answer"), block["text"]
        if told.get("stopReason") == "error":
            yield "error", told["errorMessage"]


def found_in_database(path: Path, conversation: str) -> list[Found]:
    """Everything in a conversation of opencode, in its order."""
    rows = sqlite3.connect(path)
    found: list[Found] = []
    for name, told in rows.execute(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
        [conversation],
    ).fetchall():
        message = json.loads(told)
        parts = rows.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", [name])
        for (part,) in parts.fetchall():
            found += _opencode_part(message, json.loads(part))
        error = message.get("error")
        if error is not None and error["name"] != "MessageAbortedError":
            found.append(("error", error["data"]["message"]))
    rows.close()
    return found


def _opencode_part(message: dict[str, Any], part: dict[str, Any]) -> list[Found]:
    if part["type"] == "tool":
        return [("call", part["tool"])]
    if part["type"] == "compaction":
        return [("compaction", "The conversation is compacted.")]
    if part["type"] not in ("text", "reasoning") or part.get("synthetic") or not part["text"]:
        return []
    kind = "prompt" if message["role"] == "user" else "answer"
    if part["type"] == "reasoning":
        kind = "thought"
    elif message.get("summary") is True:
        kind = "compaction"
    return [(kind, part["text"])]


def answers_in(path: Path) -> int:
    """The number of the model's answers whose tokens a file has."""
    lines = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    told = [{**line, **line.get("message", {})} for line in lines]
    named = [each for each in told if each.get("model") != "<synthetic>"]
    return len({each["id"] for each in named if each.get("usage") or each.get("tokens")})
