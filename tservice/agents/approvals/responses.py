"""Response models of inbox items (protocol-approvals)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.agents.approvals.model import SHELL_TOOL, ApprovalItem, ItemKind
from tservice.agents.approvals.rules.requests import make_tool_request
from tservice.agents.approvals.rules.responses import RuleMatchResponse, make_match_response
from tservice.agents.approvals.rules.suggestions import offer_match
from tservice.core.kernel.event_payloads import ApprovalPayload
from tservice.core.values.payload import Payload, omit_if_none


class ApprovalOptionResponse(Payload):
    """Option of a dialog."""

    n: int
    label: str
    selected: Annotated[bool, Field(description="True if it is highlighted")]
    checked: bool | None = omit_if_none(
        description="True if its box is ticked; only on pages with several choices"
    )
    description: str | None = omit_if_none(
        description="The dialog's description of it, in addition to the label"
    )


class ApprovalItemResponse(ApprovalPayload):
    """Item that waits for a person."""

    kind: ItemKind
    created_at: int
    tool_name: str | None = omit_if_none()
    tool_summary: str | None = omit_if_none()
    tool_digest: str | None = omit_if_none(description="SHA-256 of the complete input of the tool")
    tool_missing: int | None = omit_if_none(
        description="Number of characters that toolSummary omits"
    )
    tool_other: tuple[str, ...] | None = omit_if_none(
        description="Names of further inputs of the tool that toolSummary does not show"
    )
    complete: bool | None = omit_if_none(
        description="True if toolName and toolSummary show the complete subject of a permission"
    )
    risk_hint: str | None = omit_if_none(
        description="Possible danger of the request, as text; a hint, not a protection"
    )
    message: str | None = omit_if_none()
    cwd: str | None = omit_if_none()
    context: str | None = omit_if_none()
    options: tuple[ApprovalOptionResponse, ...] | None = omit_if_none()
    dialog: str | None = omit_if_none(
        description="Kind of the dialog on the screen, such as permission, plan, trust or notice"
    )
    plan: str | None = omit_if_none(
        description="Plan that the agent asks to carry out, as Markdown"
    )
    rule_match: RuleMatchResponse | None = omit_if_none(
        description="Match of an approval rule for toolName that would allow exactly this"
    )
    takes_reason: bool | None = omit_if_none(
        description="True if a deny can have a reason, which the agent reads and continues with"
    )
    frame: str
    acknowledged_at: int | None = omit_if_none()


def make_item_response(item: ApprovalItem, *, takes_reason: bool = False) -> ApprovalItemResponse:
    """Return the item as a response; unknown fields are left out."""
    shown = ApprovalItemResponse.model_validate(item, from_attributes=True)
    told: dict[str, object] = {"frame": item.shown_frame, "takes_reason": takes_reason or None}
    if not item.options:
        told["options"] = None
    if item.tool_name is None and item.seen_command is not None:
        told |= {"tool_name": SHELL_TOOL, "tool_summary": item.seen_command}
    request = make_tool_request(item)
    offered = None if request is None else offer_match(request)
    if offered is not None:
        told["rule_match"] = make_match_response(offered)
    if item.context_above and item.context:
        told["context"] = f"… ({item.context_above} more rows above)\n{item.context}"
    return shown.model_copy(update=told)
