"""Response models of MCP syncs (protocol-mcp-sync)."""

from __future__ import annotations

from pydantic import Field

from tservice.core.kernel.event_payloads import McpSyncPayload
from tservice.core.values.payload import Payload, omit_if_none
from tservice.mcp.model import TargetStatus
from tservice.mcp.survey import SyncTarget


class TargetAnswer(Payload):
    """Configuration file of one CLI. Servers are listed by name only."""

    id: str
    label: str
    file: str
    status: TargetStatus
    error: str | None = omit_if_none(description="Absent unless there was an error")
    servers: list[str] = Field(description="Names that it already had")
    added: list[str] = Field(description="Names that were added, or would be")
    skipped: list[str] = Field(description="Names that its format cannot express")


class SyncAnswer(McpSyncPayload):
    """Result of a sync, or of its dry run."""

    applied: bool = Field(description="False for a dry run")
    targets: list[TargetAnswer]
    conflicts: list[str] = Field(description="Names that CLIs define differently")
    disabled: list[str] = Field(
        description="Names that are disabled in every CLI that defines them"
    )
    unsupported: list[str] = Field(description="Installed agents with no known MCP file")


def to_target_response(target: SyncTarget) -> TargetAnswer:
    """Convert a target to the response model, with the path of its file and the names of its
    servers.
    """
    return TargetAnswer(
        id=target.location.id,
        label=target.location.label,
        file=target.location.stated if target.path is None else str(target.path),
        status=target.status,
        error=target.error,
        servers=[] if target.table is None else [*target.table.names],
        added=[*target.added],
        skipped=[*target.skipped],
    )
