"""MCP servers, put together."""

from __future__ import annotations

from tservice.clis.interfaces import ICliRegistry
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.mcp.routes import McpSyncRoutes
from tservice.mcp.service import McpSyncService


def build_mcp(ground: Ground, *, clis: ICliRegistry) -> Feature[McpSyncService]:
    """The sync, on the files of the service's own user; a stop waits for the one that runs."""
    service = McpSyncService(
        clock=ground.reactor,
        threads=ground.doors.files,
        clis=clis,
        settings=ground.settings,
        hub=ground.hub,
        home=ground.home,
        environ=ground.environ,
    )
    return Feature(
        name="MCP sync",
        service=service,
        operations=McpSyncRoutes(service).operations(),
        close=service.stop,
    )
