"""What an MCP client is told unasked: items of the inbox that come or go (protocol-mcp-notices)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tservice.client.mcp.protocol import Message

TOLD = frozenset({"approval:pending", "approval:resolved"})
"""Names of events; as words, for the program that reads them from a pipe starts without the hub."""
QUIET = frozenset({"warning", "error", "critical", "alert", "emergency"})
"""Levels of log messages above that of a notice."""


def is_quiet(level: object) -> bool:
    """Whether a client that asks for messages from C{level} on wants no notices."""
    return isinstance(level, str) and level in QUIET


def notice(event: str, payload: Mapping[str, Any]) -> Message:
    """The message that tells of it."""
    params = {
        "level": "notice",
        "logger": "approvals",
        "data": {"event": event, **payload},
    }
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
