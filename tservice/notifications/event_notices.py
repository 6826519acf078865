"""Notices that events cause, before any rule of an account is applied."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from tservice.core.kernel.event_payloads import (
    ApprovalPayload,
    CronRunPayload,
    SessionStalledPayload,
)
from tservice.core.kernel.events import Event, EventName
from tservice.notifications.model import ASKING, NoticeKind

_OF_ITEM: Mapping[str, tuple[NoticeKind, str]] = {
    "permission": ("permission_prompt", "asks for permission"),
    "question": ("elicitation_dialog", "asks a question"),
    "idle": ("idle_prompt", "waits for input"),
}
_OF_EVENT: Mapping[EventName, tuple[NoticeKind, str]] = {
    EventName.SESSION_BLOCKED: ("elicitation_dialog", "asks a question"),
    EventName.SESSION_STOP: ("stop", "has finished its turn"),
    EventName.SESSION_EXIT: ("exit", "has exited"),
    EventName.SESSION_ERROR: ("error", "keeps failing"),
    EventName.SESSION_STALLED: ("stalled", "seems to hang"),
    EventName.SESSION_LIMIT_PAUSE_SCHEDULED: ("limit_pause", "is paused by a usage limit"),
}


@frozen(kw_only=True)
class NoticeText:
    """Kind and text of a notice.

    @ivar session_name: name of the session in the event; C{None} if the event has none.
    """

    kind: NoticeKind
    says: str
    body: str = ""
    session_name: str | None = None


def find_notice_text(event: Event) -> NoticeText | None:
    """Return the notice that C{event} causes; C{None} if it causes none."""
    told = event.payload
    if isinstance(told, CronRunPayload):
        if told.status != "failed":
            return None
        says, body = "could not complete a scheduled job", told.error_message or ""
        return NoticeText(
            kind="run_failed", says=says, body=body, session_name=told.session_name or "A job"
        )
    if isinstance(told, ApprovalPayload):
        found = _OF_ITEM.get(told.kind) if event.name is EventName.APPROVAL_PENDING else None
        name: str | None = told.session_name
    else:
        found, name = _OF_EVENT.get(event.name), None
    if found is None:
        return None
    body = told.detail if isinstance(told, SessionStalledPayload) else ""
    return NoticeText(kind=found[0], says=found[1], body=body, session_name=name)


def find_ended_kinds(event: Event) -> frozenset[NoticeKind]:
    """Return the kinds of notices about the event's session that are no longer true."""
    match event.name:
        case EventName.APPROVAL_RESOLVED:
            return ASKING | {"idle_prompt"}
        case EventName.SESSION_WORKING | EventName.SESSION_INTERACTIVE:
            return frozenset({"stop", "idle_prompt", "exit", "error"})
        case EventName.SESSION_STOP | EventName.SESSION_IDLE | EventName.SESSION_EXIT:
            return ASKING | {"stalled"}
    return frozenset()
