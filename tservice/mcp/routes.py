"""Routes of C{/api/mcp-sync}, which preview and run a sync."""

from __future__ import annotations

from tservice.core.errors import ErrorCode
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope
from tservice.mcp.responses import SyncAnswer
from tservice.mcp.service import McpSyncService


class McpSyncRoutes:
    """Routes for the preview and for the sync. The rules are in L{McpSyncService}."""

    def __init__(self, mcp: McpSyncService) -> None:
        self._mcp = mcp

    def operations(self) -> list[Operation]:
        """Return the operations of these routes."""
        return [
            self._make_operation(
                "GET", self.get_preview, "Preview the MCP servers that a sync would add to each CLI"
            ),
            self._make_operation("POST", self.run_sync, "Add the missing MCP servers to each CLI"),
        ]

    def _make_operation(self, method: str, handler: Handler, summary: str) -> Operation:
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

    async def get_preview(self, call: OperationCall) -> SyncAnswer:
        """Return the changes that a sync would make."""
        return await self._mcp.preview_sync(call.identity)

    async def run_sync(self, call: OperationCall) -> SyncAnswer:
        """Run a sync and return its result."""
        return await self._mcp.run_sync(call.identity, call.reauthorize)
