"""Approvals: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class AnswerBody(TypedDict):
    """What a person chose."""

    action: Literal["approve", "deny", "option", "options", "text"]
    option: NotRequired[int | None]
    options: NotRequired[list[int] | None]
    text: NotRequired[str | None]
    expectFrame: NotRequired[str | None]


class AnsweredAnswer(TypedDict):
    """What was done."""

    id: str
    sessionId: str
    action: Literal["approve", "deny", "option", "options", "text"]


class DismissedAnswer(TypedDict):
    """The item that was taken away."""

    id: str


class ItemAnswer(TypedDict):
    """One thing that waits for a person."""

    id: str
    sessionId: str
    sessionName: str
    kind: Literal["permission", "question", "idle"]
    createdAt: int
    toolName: NotRequired[str]
    toolSummary: NotRequired[str]
    toolDigest: NotRequired[str]
    toolMissing: NotRequired[int]
    toolOther: NotRequired[list[str]]
    complete: NotRequired[bool]
    riskHint: NotRequired[str]
    message: NotRequired[str]
    cwd: NotRequired[str]
    context: NotRequired[str]
    options: NotRequired[list[OptionAnswer]]
    frame: str
    acknowledgedAt: NotRequired[int]


class ItemsAnswer(TypedDict):
    """The pending items, oldest first."""

    approvals: list[ItemAnswer]


class OptionAnswer(TypedDict):
    """One choice of a dialog."""

    n: int
    label: str
    selected: bool
    checked: NotRequired[bool]
    description: NotRequired[str]


class ViewedAnswer(TypedDict):
    """The idle item that was acknowledged, if there was one."""

    sessionId: str
    acknowledged: str | None


class Approvals(Calling):
    """Approvals."""

    async def get_approvals(self) -> ItemsAnswer:
        """What waits for a person, checked against the terminals."""
        found: ItemsAnswer = await self.call("GET", "/approvals")
        return found

    async def post_approvals_item_answer(self, item: str, body: AnswerBody) -> AnsweredAnswer:
        """Answer a dialog or an idle prompt."""
        found: AnsweredAnswer = await self.call(
            "POST", f"/approvals/{quoted(item)}/answer", body=body
        )
        return found

    async def post_approvals_item_dismiss(self, item: str) -> DismissedAnswer:
        """Take an item out of the inbox."""
        found: DismissedAnswer = await self.call("POST", f"/approvals/{quoted(item)}/dismiss")
        return found

    async def post_approvals_session_id_viewed(self, id: str) -> ViewedAnswer:
        """Acknowledge a session's idle prompt."""
        found: ViewedAnswer = await self.call("POST", f"/approvals/session/{quoted(id)}/viewed")
        return found
