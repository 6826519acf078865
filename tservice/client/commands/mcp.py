"""C{mcp}: run an MCP server for agents on standard input and output (protocol-mcp-tools)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable

if TYPE_CHECKING:
    from tservice.client.mcp.plan import PlannedRequest


def mcp(context: CommandContext) -> int:
    """Run the MCP server until the end of the input."""
    from tservice.client.mcp.protocol import RpcServer
    from tservice.client.mcp.stdio import StdioServer
    from tservice.client.mcp.tools import select_tools

    caller = context.caller
    scopes = _parse_scopes(context.words.scopes)
    # A token without this scope gets no notices of approvals.
    told = scopes is None or "approvals" in scopes

    async def send(ask: PlannedRequest) -> Any:
        return caller.send_request(ask.method, ask.path, ask.body, ask.query, ask.wait_ms)

    server = RpcServer(select_tools(scopes), send, notices=told)
    events = caller.iterate_events if told else None
    StdioServer(server, sys.stdin.buffer, sys.stdout.buffer, events).serve_messages()
    return 0


def _parse_scopes(text: str | None) -> frozenset[str] | None:
    """Parse a comma-separated list of scopes.

    @return: C{None} if C{text} is C{None}, so that all tools are offered.
    @raise Unusable: a scope is unknown.
    """
    if text is None:
        return None
    from tservice.core.kernel.scopes import Scope

    found = frozenset(filter(None, (word.strip() for word in text.split(","))))
    unknown = sorted(found - set(Scope))
    if unknown or not found:
        known = ", ".join(Scope)
        raise Unusable(
            f"--scopes: unknown scope {', '.join(unknown) or '(empty)'}; known are {known}"
        )
    return found
