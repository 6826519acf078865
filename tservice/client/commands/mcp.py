"""C{mcp}: MCP tools for agents (protocol-mcp-tools)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tservice.client.commands.context import Context
from tservice.client.errors import Unusable

if TYPE_CHECKING:
    from tservice.client.mcp.plan import Ask


def mcp(context: Context) -> int:
    """Serve MCP until the input ends."""
    from tservice.client.mcp.protocol import RpcServer
    from tservice.client.mcp.stdio import Stdio
    from tservice.client.mcp.tools import offered

    caller = context.caller
    scopes = _scopes(context.words.scopes)
    # A token without this scope gets no notices of approvals.
    told = scopes is None or "approvals" in scopes

    async def send(ask: Ask) -> Any:
        return caller.call(ask.method, ask.path, ask.body, ask.query, ask.wait_ms)

    server = RpcServer(offered(scopes), send, notices=told)
    events = caller.events if told else None
    Stdio(server, sys.stdin.buffer, sys.stdout.buffer, events).serve()
    return 0


def _scopes(text: str | None) -> frozenset[str] | None:
    """Return the scopes of a comma-separated list.

    @raise Unusable: a scope is unknown.
    """
    if text is None:
        return None
    from tservice.core.scopes import Scope

    found = frozenset(filter(None, (word.strip() for word in text.split(","))))
    unknown = sorted(found - set(Scope))
    if unknown or not found:
        known = ", ".join(Scope)
        raise Unusable(
            f"--scopes: unknown scope {', '.join(unknown) or '(empty)'}; known are {known}"
        )
    return found
