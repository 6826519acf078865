"""MCP resources: the screen and the last answer of each session (protocol-mcp-tools)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tservice.client.mcp import arguments as given
from tservice.client.mcp.plan import Plan
from tservice.client.mcp.tools import TOOLS

_TOOLS = {tool.name: tool for tool in TOOLS}
_PARTS = MappingProxyType(
    {"screen": ("read_screen", "Contents of its terminal"),
     "last-response": ("last_response", "Its agent's last answer")}
)  # fmt: skip
_URI = re.compile(rf"tservice://sessions/([A-Za-z0-9-]{{1,64}})/({'|'.join(_PARTS)})")

TEMPLATES = tuple(
    {
        "uriTemplate": f"tservice://sessions/{{sessionId}}/{part}",
        "name": part,
        "description": about,
        "mimeType": "text/plain",
    }
    for part, (_, about) in _PARTS.items()
)


def list_resources(sessions: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the resources of these sessions."""
    return [
        {
            "uri": f"tservice://sessions/{session['id']}/{part}",
            "name": f"{session['name']}: {part}",
            "description": about,
            "mimeType": "text/plain",
        }
        for session in sessions
        for part, (_, about) in _PARTS.items()
    ]


def plan_reading(uri: str) -> Plan | None:
    """Return the plan for reading a resource, or C{None} if the resource does not exist."""
    found = _URI.fullmatch(uri)
    if found is None:
        return None
    tool = _TOOLS[_PARTS[found[2]][0]]
    wanted: Mapping[str, Any] = {"sessionId": found[1]}
    arguments: given.ToolArguments = tool.takes.model_validate(wanted)
    return tool.plan(arguments)
