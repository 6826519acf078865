"""Item of the inbox as clients see it (protocol-approvals)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.agents.approvals.model import ApprovalItem, ItemKind
from tservice.core.event_payloads import ApprovalPayload
from tservice.core.payload import Payload, omit_if_none

SEEN_TOOL = "Shell"
"""Value of C{toolName} for a command that was read from the screen."""


class ApprovalOptionResponse(Payload):
    """One choice of a dialog."""

    n: int
    label: str
    selected: Annotated[bool, Field(description="The highlight is on it")]
    checked: bool | None = omit_if_none(
        description="Whether its box is ticked; only on pages where several are ticked"
    )
    description: str | None = omit_if_none(
        description="What the dialog says of it beside its label"
    )


class ApprovalItemResponse(ApprovalPayload):
    """One thing that waits for a person."""

    kind: ItemKind
    created_at: int
    tool_name: str | None = omit_if_none()
    tool_summary: str | None = omit_if_none()
    tool_digest: str | None = omit_if_none(description="SHA-256 of all that the tool is given")
    tool_missing: int | None = omit_if_none(description="Characters that toolSummary leaves out")
    tool_other: tuple[str, ...] | None = omit_if_none(
        description="Names of further inputs of the tool, which toolSummary does not show"
    )
    complete: bool | None = omit_if_none(
        description="Whether a permission's toolName and toolSummary show all that it is about"
    )
    risk_hint: str | None = omit_if_none(
        description="What may be grave about it, in words; a hint and no protection"
    )
    message: str | None = omit_if_none()
    cwd: str | None = omit_if_none()
    context: str | None = omit_if_none()
    options: tuple[ApprovalOptionResponse, ...] | None = omit_if_none()
    frame: str
    acknowledged_at: int | None = omit_if_none()


def make_item_response(item: ApprovalItem) -> ApprovalItemResponse:
    """Return the item on the wire; unknown fields are left out."""
    shown = ApprovalItemResponse.model_validate(item, from_attributes=True)
    told: dict[str, object] = {"frame": item.shown_frame}
    if not item.options:
        told["options"] = None
    if item.tool_name is None and item.seen_command is not None:
        told |= {"tool_name": SEEN_TOOL, "tool_summary": item.seen_command}
    if item.context_above and item.context:
        told["context"] = f"… ({item.context_above} more rows above)\n{item.context}"
    return shown.model_copy(update=told)
