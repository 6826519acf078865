"""A stdio MCP server with one tool, C{ask_user}, that asks the person to fill in a form.

Run by an agent CLI as C{python mcp_form.py}; knows nothing of the other modules.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "Who is asking"},
        "agree": {"type": "boolean", "title": "Agree"},
    },
    "required": ["name"],
}
TOOL = {
    "name": "ask_user",
    "description": "Asks the person for a name",
    "inputSchema": {"type": "object", "properties": {}},
}


class FormMcpServer:
    """The protocol without its pipes: message in, messages out."""

    def __init__(self) -> None:
        self._numbers = count(1000)
        self._asked: dict[int, Any] = {}

    def receive(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The messages to send for one that came."""
        method, identifier = message.get("method"), message.get("id")
        if method is None:
            yield self._answered(identifier, message.get("result"))
        elif method == "initialize":
            yield _result(identifier, self._welcome(message["params"]))
        elif method == "tools/list":
            yield _result(identifier, {"tools": [TOOL]})
        elif method == "tools/call":
            yield self._ask(identifier)
        elif identifier is not None:
            yield _result(identifier, {})

    def _welcome(self, params: dict[str, Any]) -> dict[str, Any]:
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "forms", "version": "1"},
        }

    def _ask(self, identifier: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._asked[number] = identifier
        params = {"mode": "form", "message": "Who are you?", "requestedSchema": SCHEMA}
        return {"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": params}

    def _answered(self, number: Any, result: Any) -> dict[str, Any]:
        text = json.dumps(result, sort_keys=True)
        return _result(self._asked.pop(number), {"content": [{"type": "text", "text": text}]})


def _result(identifier: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def main() -> None:
    """Serve standard input until it closes."""
    server = FormMcpServer()
    for line in sys.stdin:
        for answer in server.receive(json.loads(line)):
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
