"""Parameters of MCP requests that have the wrong shape."""

from __future__ import annotations

from typing import Any

from tservice.client.mcp.protocol import VERSIONS

WRONG_SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("ping", {"_meta": []}),
    ("ping", {"_meta": {"progressToken": True}}),
    ("initialize", {"protocolVersion": 20250618}),
    ("initialize", {"protocolVersion": None}),
    ("initialize", {"protocolVersion": VERSIONS[0], "capabilities": []}),
    ("initialize", {"protocolVersion": VERSIONS[0], "clientInfo": "me"}),
    ("tools/list", {"cursor": 1}),
    ("tools/list", {"cursor": "another page"}),
    ("resources/list", {"cursor": None}),
    ("resources/templates/list", {"cursor": {}}),
    ("tools/call", {}),
    ("tools/call", {"name": ["list_sessions"]}),
    ("tools/call", {"name": "no_such_tool"}),
    ("tools/call", {"name": "list_sessions", "arguments": []}),
    ("tools/call", {"name": "list_sessions", "arguments": None}),
    ("tools/call", {"name": "list_sessions", "arguments": {"\ud800": 1}}),
    ("tools/call", {"name": "send_key", "arguments": {"sessionId": "s", "key": "\ud800"}}),
    ("tools/call", {"name": "\ud800"}),
    ("resources/read", {}),
    ("resources/read", {"uri": 7}),
    ("resources/read", {"uri": ["tservice://sessions/s1/screen"]}),
    ("logging/setLevel", {}),
    ("logging/setLevel", {"level": 3}),
    ("logging/setLevel", {"level": "loud"}),
]
