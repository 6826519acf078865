"""Selection of the events that cause a message, and the text of these messages."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tservice.core.kernel.event_payloads import (
    ApprovalPayload,
    ChecksPayload,
    CronRunPayload,
    HookEventPayload,
)
from tservice.core.kernel.events import Event, EventName
from tservice.core.values.text import cut_with_note, shorten_text
from tservice.notify.model import MessageUrgency

TITLE_LIMIT = 200
BODY_LIMIT = 1000
"""Maximum characters of a body.

A longer one ends with the number of omitted characters.
"""


@frozen(kw_only=True)
class NotificationEvent:
    """Event that causes a message.

    @ivar about: id of the session or job run, by which duplicates are recognised.
    @ivar says: text that follows the session's name in the title.
    @ivar repeats: true if the agent may have reported the same event before, by its own hook.
    """

    event: str
    urgency: MessageUrgency
    about: str
    says: str
    body: str
    session_id: str | None
    session_name: str | None = None
    repeats: bool = False

    def make_title(self, name: str | None) -> str:
        """Return the title of the message, on one line.

        @param name: name of the session; C{None} if it is unknown.
        """
        return fold_to_line(f"{name or 'A session'} {self.says}", TITLE_LIMIT)


_Words = tuple[MessageUrgency, str, str]
_PERMISSION: _Words = (
    MessageUrgency.CRITICAL, "asks for permission", "It waits for an answer.",
)  # fmt: skip
_QUESTION: _Words = (MessageUrgency.CRITICAL, "asks a question", "It waits for an answer.")
_END: _Words = (
    MessageUrgency.INFO, "has finished its turn", "It is ready for the next prompt.",
)  # fmt: skip

# Of an agent with hooks both sources report the same, within the time of the duplicate filter.
_ITEM_EVENTS: Mapping[str, tuple[str, _Words]] = {
    "permission": ("permission_prompt", _PERMISSION),
    "question": ("elicitation_dialog", _QUESTION),
}
_SESSION_EVENTS: Mapping[EventName, _Words] = {
    EventName.HOOK_PERMISSION_PROMPT: _PERMISSION,
    EventName.HOOK_ELICITATION_DIALOG: _QUESTION,
    EventName.SESSION_STOP: _END,
    EventName.HOOK_IDLE_PROMPT: (
        MessageUrgency.WARNING,
        "waits for input",
        "Nobody has answered for a while.",
    ),
    EventName.HOOK_STOP: _END,
    EventName.SESSION_ERROR: (
        MessageUrgency.CRITICAL,
        "is in error",
        "It is not restarted automatically.",
    ),
    EventName.SESSION_STALLED: (
        MessageUrgency.WARNING,
        "seems to hang",
        "It has not moved for a while.",
    ),
    EventName.SESSION_BREAKER_TRIPPED: (
        MessageUrgency.CRITICAL,
        "keeps failing",
        "Its process failed repeatedly, so it is no longer restarted.",
    ),
    EventName.SESSION_LIMIT_PAUSE_SCHEDULED: (
        MessageUrgency.WARNING,
        "is paused by a usage limit",
        "It continues when the limit is reset.",
    ),
}


def make_notification(event: Event) -> NotificationEvent | None:
    """Return the data for a message about C{event} (protocol-webhooks).

    C{None} means that the event causes no message.
    """
    if isinstance(event.payload, CronRunPayload):
        return _make_run_notification(event.payload)
    if isinstance(event.payload, ChecksPayload) and event.name is EventName.CHECK_FINISHED:
        return _make_checks_notification(event.payload)
    if isinstance(event.payload, ApprovalPayload) and event.name is EventName.APPROVAL_PENDING:
        return _make_item_notification(event.payload)
    known = _SESSION_EVENTS.get(event.name)
    session_id = event.session_id
    if known is None or session_id is None:
        return None
    urgency, says, body = known
    details = event.payload.data if isinstance(event.payload, HookEventPayload) else {}
    return NotificationEvent(
        event=event.name.partition(":")[2],
        urgency=urgency,
        about=session_id,
        says=says,
        body=_describe_details(details) or body,
        session_id=session_id,
        repeats=details.get("hook_event_name") == "Notification",
    )


def _make_item_notification(item: ApprovalPayload) -> NotificationEvent | None:
    found = _ITEM_EVENTS.get(item.kind)
    if found is None:
        return None
    name, (urgency, says, body) = found
    return NotificationEvent(
        event=name,
        urgency=urgency,
        about=item.session_id,
        says=says,
        body=body,
        session_id=item.session_id,
        session_name=item.session_name,
    )


def fold_to_line(text: str, limit: int) -> str:
    """Return C{text} as one line of at most C{limit} characters.

    Line ends, control characters and lone surrogates are replaced.
    """
    shown = "".join(" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in text)
    folded = " ".join(shown.split())
    return shorten_text(folded, limit)


def _make_body(text: str) -> str:
    return cut_with_note(fold_to_line(text, max(len(text), 1)), BODY_LIMIT)


def _describe_details(data: Mapping[str, Any]) -> str:
    """Return the agent's message, or the name of its tool.

    Commands and paths are left out, because they may be secret.
    """
    message, tool = data.get("message"), data.get("tool_name")
    if isinstance(message, str) and message.strip():
        return _make_body(message)
    return _make_body(f"Tool: {tool}") if isinstance(tool, str) and tool else ""


def _make_checks_notification(run: ChecksPayload) -> NotificationEvent | None:
    if not run.needs_person:
        return None
    red = [each.name for each in run.checks if each.state not in ("passed", "cancelled")]
    tries = f" The agent was asked {run.attempt} times." if run.attempt else ""
    says = "has checks that were interrupted" if run.state == "interrupted" else "ended a turn red"
    return NotificationEvent(
        event="checks",
        urgency=MessageUrgency.WARNING,
        about=run.session_id,
        says=says,
        body=_make_body(f"Checks: {', '.join(red) or 'none'}.{tries}"),
        session_id=run.session_id,
    )


def _make_run_notification(run: CronRunPayload) -> NotificationEvent | None:
    if run.status != "failed":
        return None
    return NotificationEvent(
        event="runFailed",
        urgency=MessageUrgency.WARNING,
        about=run.id,
        says="could not complete a scheduled job",
        body=_make_body(run.error_message or "The run gave no reason."),
        session_id=run.session_id,
        session_name=run.session_name,
    )
