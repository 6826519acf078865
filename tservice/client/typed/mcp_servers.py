"""MCP servers: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling


class SyncAnswer(TypedDict):
    """What was done, or would be."""

    applied: bool
    targets: list[TargetAnswer]
    conflicts: list[str]
    disabled: list[str]
    unsupported: list[str]


class TargetAnswer(TypedDict):
    """One CLI's configuration file; of servers there are only names."""

    id: str
    label: str
    file: str
    status: Literal["ok", "absent", "skipped", "unreadable", "failed"]
    error: NotRequired[str]
    servers: list[str]
    added: list[str]
    skipped: list[str]


class MCPServers(Calling):
    """MCP servers."""

    async def get_mcp_sync(self) -> SyncAnswer:
        """Which MCP servers a sync would add to which CLI."""
        found: SyncAnswer = await self.call("GET", "/mcp-sync")
        return found

    async def post_mcp_sync(self) -> SyncAnswer:
        """Add to each CLI the MCP servers that it lacks."""
        found: SyncAnswer = await self.call("POST", "/mcp-sync")
        return found
