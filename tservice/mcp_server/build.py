"""Construction of the MCP server over HTTP."""

from __future__ import annotations

from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.mcp_server.connections import McpConnections
from tservice.mcp_server.routes import McpRoutes, OperationCaller
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime


def build_mcp_server(ground: Runtime, calls: OperationCaller) -> FeatureRegistration[McpRoutes]:
    """Build the feature with the C{/mcp} routes.

    @param calls: calls operations of the service.
    """
    connections = McpConnections(ground.reactor, ground.random)
    routes = McpRoutes(connections, calls, ground.hub, ground.reactor)
    return FeatureRegistration(
        name="MCP server",
        service=routes,
        operations=collect_operations(routes),
        measures=[make_gauge("mcp_connections", "MCP clients by HTTP.", lambda: len(connections))],
        close=routes.close,
    )
