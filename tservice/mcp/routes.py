"""Routes of C{/api/mcp-sync}."""

from __future__ import annotations

from tservice.core.errors import ErrorCode
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope
from tservice.mcp.service import McpSyncService
from tservice.mcp.shown import SyncAnswer


class McpSyncRoutes:
    """Routes of the preview and the sync; the rules are in L{McpSyncService}."""

    def __init__(self, mcp: McpSyncService) -> None:
        self._mcp = mcp

    def operations(self) -> list[Operation]:
        """Return the operations of the routes."""
        return [
            self._operation("GET", self.preview, "Which MCP servers a sync would add to which CLI"),
            self._operation("POST", self.sync, "Add to each CLI the MCP servers that it lacks"),
        ]

    def _operation(self, method: str, handler: Handler, summary: str) -> Operation:
        return Operation(
            method=method,
            path="/api/mcp-sync",
            access=AccessRule.ADMIN,
            scope=Scope.ADMIN,
            handler=handler,
            summary=summary,
            tag="MCP servers",
            response_model=SyncAnswer,
            errors=(ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.INTERNAL_ERROR),
            allowed=self._mcp.require_enabled,
        )

    async def preview(self, call: OperationCall) -> SyncAnswer:
        """Return the result of a dry run."""
        return await self._mcp.preview(call.identity)

    async def sync(self, call: OperationCall) -> SyncAnswer:
        """Run a sync."""
        return await self._mcp.sync(call.identity, call.reauthorize)
