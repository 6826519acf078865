"""An item of the inbox as clients see it (protocol-approvals)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.agents.approvals.model import Item, ItemKind
from tservice.core.payload import Payload, absent
from tservice.core.payloads import ApprovalTold


class OptionAnswer(Payload):
    """One choice of a dialog."""

    n: int
    label: str
    selected: Annotated[bool, Field(description="The highlight is on it")]
    checked: bool | None = absent(
        description="Whether its box is ticked; only on pages where several are ticked"
    )
    description: str | None = absent(description="What the dialog says of it beside its label")


class ItemAnswer(ApprovalTold):
    """One thing that waits for a person."""

    kind: ItemKind
    created_at: int
    tool_name: str | None = absent()
    tool_summary: str | None = absent()
    message: str | None = absent()
    cwd: str | None = absent()
    context: str | None = absent()
    options: tuple[OptionAnswer, ...] | None = absent()
    frame: str
    acknowledged_at: int | None = absent()


def item_answer(item: Item) -> ItemAnswer:
    """The item on the wire; what is not known is left out."""
    shown = ItemAnswer.model_validate(item, from_attributes=True)
    return shown if item.options else shown.model_copy(update={"options": None})
