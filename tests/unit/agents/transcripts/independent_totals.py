"""Totals of transcripts, read without any of the service's code and by other fields where there are
some: each message once, with its last usage, over all files of a home folder.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Sums = tuple[int, int]
"""Tokens sent, cached ones included, and tokens made."""


def _lines(root: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(root.rglob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            yield json.loads(line)


def _summed(messages: Mapping[str, Sums]) -> Sums:
    return sum(sent for sent, _ in messages.values()), sum(made for _, made in messages.values())


def claude_totals(root: Path) -> Sums:
    """By C{message.id}."""
    found = {}
    for line in _lines(root):
        message = line.get("message") or {}
        usage = message.get("usage")
        if line["type"] == "assistant" and usage and message["model"] != "<synthetic>":
            sent = [usage.get(name, 0) for name in usage if name.endswith("input_tokens")]
            found[message["id"]] = (sum(sent), usage["output_tokens"])
    return _summed(found)


def codex_totals(root: Path) -> Sums:
    """By the record that it writes of each response."""
    found = {}
    for line in _lines(root):
        told = line["payload"]
        if line["type"] == "token_usage_record":
            usage = told["usage"]
            name = told["turn_id"] + told["response_id"]
            found[name] = (usage["input_tokens"], usage["output_tokens"])
    return _summed(found)


def gemini_totals(root: Path) -> Sums:
    """By the id of each answer."""
    found = {}
    for line in _lines(root):
        tokens = line.get("tokens")
        if tokens:
            made = tokens["output"] + tokens["thoughts"]
            found[line["id"]] = (tokens["input"] + tokens["tool"], made)
    return _summed(found)


def pi_totals(root: Path) -> Sums:
    """By the id of each entry."""
    found = {}
    for line in _lines(root):
        usage = (line.get("message") or {}).get("usage")
        if usage:
            sent = usage["input"] + usage["cacheRead"] + usage["cacheWrite"]
            found[line["id"]] = (sent, usage["output"])
    return _summed(found)


def opencode_totals(root: Path) -> Sums:
    """By the sums of each conversation, less the messages that are older than it."""
    sums = [0, 0]
    (path,) = root.rglob("*.db")
    rows = sqlite3.connect(path)
    for name, began, sent, made in rows.execute(
        "SELECT id, time_created, tokens_input + tokens_cache_read + tokens_cache_write,"
        " tokens_output + tokens_reasoning FROM session"
    ):
        sums = [sums[0] + sent, sums[1] + made]
        copied = "SELECT data FROM message WHERE session_id = ? AND time_created < ?"
        for (data,) in rows.execute(copied, (name, began)):
            tokens = json.loads(data).get("tokens")
            if tokens:
                cache = tokens["cache"]
                sums[0] -= tokens["input"] + cache["read"] + cache["write"]
                sums[1] -= tokens["output"] + tokens["reasoning"]
    rows.close()
    return sums[0], sums[1]


READERS: Mapping[str, Callable[[Path], Sums]] = {
    "primary": claude_totals,
    "codex": codex_totals,
    "gemini": gemini_totals,
    "opencode": opencode_totals,
    "pi": pi_totals,
}
