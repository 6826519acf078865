"""Notices that inform MCP clients when approvals appear or are resolved (protocol-mcp-notices)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tservice.client.mcp.protocol import Message

NOTICE_EVENTS = frozenset({"approval:pending", "approval:resolved"})
"""Names of the events that cause notices.

They are plain strings, so that the stdio program need not import the event hub.
"""
QUIETER_LEVELS = frozenset({"warning", "error", "critical", "alert", "emergency"})
"""Log levels above that of a notice. A client that requests one of them gets no notices."""


def excludes_notices(level: object) -> bool:
    """Return true if a client that requests messages from C{level} upwards gets no notices."""
    return isinstance(level, str) and level in QUIETER_LEVELS


def build_notice(event: str, payload: Mapping[str, Any]) -> Message:
    """Return the notification message for an event."""
    params = {
        "level": "notice",
        "logger": "approvals",
        "data": {"event": event, **payload},
    }
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
