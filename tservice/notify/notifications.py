"""Selection of the events that cause a message, and the text of the message.  Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tservice.core.event_payloads import CronRunPayload, HookEventPayload
from tservice.core.events import Event, EventName
from tservice.core.text import cut_marked, shorten_text
from tservice.notify.model import MessageUrgency

TITLE_LIMIT = 200
BODY_LIMIT = 1000
"""Maximum characters; a longer body ends with the number of missing characters."""


@frozen(kw_only=True)
class NotificationEvent:
    """Event that causes a message.

    @ivar about: the session or job run, for suppressing duplicates in quick succession.
    @ivar says: follows the session's name in the title.
    @ivar repeats: the agent repeats an event that its own hook reported before.
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
        """Return the title on one line; C{name} is the session's."""
        return fold_to_line(f"{name or 'A session'} {self.says}", TITLE_LIMIT)


_SESSION_EVENTS: Mapping[EventName, tuple[MessageUrgency, str, str]] = {
    EventName.HOOK_PERMISSION_PROMPT: (
        MessageUrgency.CRITICAL,
        "asks for permission",
        "It waits for an answer.",
    ),
    EventName.HOOK_ELICITATION_DIALOG: (
        MessageUrgency.CRITICAL,
        "asks a question",
        "It waits for an answer.",
    ),
    EventName.HOOK_IDLE_PROMPT: (
        MessageUrgency.WARNING,
        "waits for input",
        "Nobody has answered for a while.",
    ),
    EventName.HOOK_STOP: (
        MessageUrgency.INFO,
        "has finished its turn",
        "It is ready for the next prompt.",
    ),
    EventName.SESSION_ERROR: (
        MessageUrgency.CRITICAL,
        "is in error",
        "It is not restarted automatically.",
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


def classify_event(event: Event) -> NotificationEvent | None:
    """Return the message data of C{event}; C{None} if it causes no message (protocol-webhooks)."""
    if isinstance(event.payload, CronRunPayload):
        return _classify_run(event.payload)
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


def fold_to_line(text: str, limit: int) -> str:
    """Return C{text} without line ends, control characters and lone surrogates, cut to C{limit}."""
    shown = "".join(" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in text)
    folded = " ".join(shown.split())
    return shorten_text(folded, limit)


def _make_body(text: str) -> str:
    return cut_marked(fold_to_line(text, max(len(text), 1)), BODY_LIMIT)


def _describe_details(data: Mapping[str, Any]) -> str:
    """Return the agent's message, or its tool's name. Commands and paths are left out, because
    they may be secret.
    """
    message, tool = data.get("message"), data.get("tool_name")
    if isinstance(message, str) and message.strip():
        return _make_body(message)
    return _make_body(f"Tool: {tool}") if isinstance(tool, str) and tool else ""


def _classify_run(run: CronRunPayload) -> NotificationEvent | None:
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
