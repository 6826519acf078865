"""Routes of C{/api/mcp-sync}, which preview and run a sync."""

from __future__ import annotations

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_SERVICE_STATE
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.mcp.responses import SyncAnswer
from tservice.mcp.service import McpSyncService


def _require_enabled(routes: McpSyncRoutes) -> None:
    routes._mcp.require_enabled()


_SYNC = OperationFields(
    tag="MCP servers",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    allowed=_require_enabled,
    errors=(ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.INTERNAL_ERROR),
)


class McpSyncRoutes:
    """Routes for the preview and for the sync. The rules are in L{McpSyncService}."""

    def __init__(self, mcp: McpSyncService) -> None:
        self._mcp = mcp

    @operation("GET", "/api/mcp-sync", _SYNC, scope_reason=READS_SERVICE_STATE)
    async def get_preview(self, call: OperationCall) -> SyncAnswer:
        """Preview the MCP servers that a sync would add to each CLI."""
        return await self._mcp.preview_sync(call.caller)

    @operation(
        "POST",
        "/api/mcp-sync",
        _SYNC,
        scope_reason=(
            "Copies the MCP servers of one agent of the service's own user to the others, "
            "nothing else."
        ),
    )
    async def run_sync(self, call: OperationCall) -> SyncAnswer:
        """Add the missing MCP servers to each CLI."""
        return await self._mcp.run_sync(call.caller)
