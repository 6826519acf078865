"""Feature of the MCP server over HTTP."""

from __future__ import annotations

from tservice.client.mcp.connections import McpConnections
from tservice.client.mcp.http_routes import McpRoutes, OperationCaller
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.metrics import make_gauge


def build_mcp_server(ground: Ground, calls: OperationCaller) -> Feature[McpRoutes]:
    """Build the feature with the C{/mcp} routes."""
    connections = McpConnections(ground.reactor, ground.random)
    routes = McpRoutes(connections, calls, ground.hub, ground.reactor)
    return Feature(
        name="MCP server",
        service=routes,
        operations=routes.operations(),
        measures=[make_gauge("mcp_connections", "MCP clients by HTTP.", lambda: len(connections))],
        close=routes.close,
    )
