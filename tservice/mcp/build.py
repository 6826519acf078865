"""Construction of the MCP sync feature."""

from __future__ import annotations

from tservice.clis.interfaces import ICliRegistry
from tservice.http.operation_decorator import collect_operations
from tservice.mcp.routes import McpSyncRoutes
from tservice.mcp.service import McpSyncService
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime


def build_mcp(ground: Runtime, *, clis: ICliRegistry) -> FeatureRegistration[McpSyncService]:
    """Build the feature for the configuration files of the service's own user.

    Stopping it waits for a running sync.
    """
    service = McpSyncService(
        clock=ground.reactor,
        threads=ground.worker_pools.files,
        clis=clis,
        settings=ground.settings,
        hub=ground.hub,
        home=ground.home,
        environ=ground.environ,
    )
    return FeatureRegistration(
        name="MCP sync",
        service=service,
        operations=collect_operations(McpSyncRoutes(service)),
        close=service.stop,
    )
