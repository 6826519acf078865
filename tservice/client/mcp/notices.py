"""Notices to MCP clients about approvals that appear or are resolved (protocol-mcp-notices)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tservice.client.mcp.protocol import Message

NOTICE_EVENTS = frozenset({"approval:pending", "approval:resolved"})
"""Names of the events that are reported. They are plain strings, as the stdio program starts
without the event hub.
"""
QUIETER_LEVELS = frozenset({"warning", "error", "critical", "alert", "emergency"})
"""Log levels above the level of a notice."""


def excludes_notices(level: object) -> bool:
    """Return true if a client that asks for messages from C{level} on gets no notices."""
    return isinstance(level, str) and level in QUIETER_LEVELS


def build_notice(event: str, payload: Mapping[str, Any]) -> Message:
    """Return the notification message for an event."""
    params = {
        "level": "notice",
        "logger": "approvals",
        "data": {"event": event, **payload},
    }
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
