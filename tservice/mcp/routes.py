"""C{/api/mcp-sync}."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tservice.core.errors import ErrorCode
from tservice.http.models import Answer
from tservice.http.operations import Access, Call, Handler, Operation, Scope
from tservice.mcp.model import Status
from tservice.mcp.service import McpSyncService


class TargetAnswer(Answer):
    """One CLI's configuration file; of servers there are only names."""

    id: str
    label: str
    file: str
    status: Status
    error: str | None = Field(default=None, description="Absent unless something went wrong")
    servers: list[str] = Field(description="Names that it had")
    added: list[str] = Field(description="Names that it was given, or would be")
    skipped: list[str] = Field(description="Names that its format cannot express")


class SyncAnswer(Answer):
    """What was done, or would be."""

    applied: bool = Field(description="False for the dry run")
    targets: list[TargetAnswer]
    conflicts: list[str] = Field(description="Names that CLIs define differently")
    disabled: list[str] = Field(description="Names that are switched off wherever they are")
    unsupported: list[str] = Field(description="Installed agents with no known MCP file")


class McpSyncRoutes:
    """The dry run and the sync; the rules live in L{McpSyncService}."""

    def __init__(self, mcp: McpSyncService) -> None:
        self._mcp = mcp

    def operations(self) -> list[Operation]:
        """The routes."""
        return [
            self._operation("GET", self.preview, "Which MCP servers a sync would add to which CLI"),
            self._operation("POST", self.sync, "Add to each CLI the MCP servers that it lacks"),
        ]

    def _operation(self, method: str, handler: Handler, summary: str) -> Operation:
        return Operation(
            method=method,
            path="/api/mcp-sync",
            access=Access.ADMIN,
            scope=Scope.ADMIN,
            handler=handler,
            summary=summary,
            tag="MCP servers",
            answer=SyncAnswer,
            errors=(ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.INTERNAL_ERROR),
            allowed=self._mcp.require_enabled,
        )

    async def preview(self, call: Call) -> dict[str, Any]:
        """The dry run."""
        return await self._mcp.preview(call.identity)

    async def sync(self, call: Call) -> dict[str, Any]:
        """The sync itself."""
        return await self._mcp.sync(call.identity)
