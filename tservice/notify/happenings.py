"""Which events are worth a message, and its words.  Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tservice.core.events import Event, EventName
from tservice.core.payloads import HookTold, RunTold
from tservice.core.text import cut_marked, shorten
from tservice.notify.model import Urgency

TITLE_LIMIT = 200
BODY_LIMIT = 1000
"""Characters; a longer body ends in how many are missing."""


@frozen(kw_only=True)
class Happening:
    """Something to tell.

    @ivar about: the session, or the run of a job, that must not be told of twice in a moment.
    @ivar says: follows the session's name in the title.
    @ivar repeats: the agent tells again of what its own hook told before.
    """

    event: str
    urgency: Urgency
    about: str
    says: str
    body: str
    session_id: str | None
    session_name: str | None = None
    repeats: bool = False

    def title(self, name: str | None) -> str:
        """One line; C{name} is the session's."""
        return one_line(f"{name or 'A session'} {self.says}", TITLE_LIMIT)


_SESSION_EVENTS: Mapping[EventName, tuple[Urgency, str, str]] = {
    EventName.HOOK_PERMISSION_PROMPT: (
        Urgency.CRITICAL,
        "asks for permission",
        "It waits for an answer.",
    ),
    EventName.HOOK_ELICITATION_DIALOG: (
        Urgency.CRITICAL,
        "asks a question",
        "It waits for an answer.",
    ),
    EventName.HOOK_IDLE_PROMPT: (
        Urgency.WARNING,
        "waits for input",
        "Nobody has answered for a while.",
    ),
    EventName.HOOK_STOP: (
        Urgency.INFO,
        "has finished its turn",
        "It is ready for the next prompt.",
    ),
    EventName.SESSION_ERROR: (
        Urgency.CRITICAL,
        "is in error",
        "It is not started again by itself.",
    ),
    EventName.SESSION_BREAKER_TRIPPED: (
        Urgency.CRITICAL,
        "keeps failing",
        "Its process failed again and again, so it is not started any more.",
    ),
    EventName.SESSION_LIMIT_PAUSE_SCHEDULED: (
        Urgency.WARNING,
        "is paused by a usage limit",
        "It goes on when the limit is reset.",
    ),
}


def happening(event: Event) -> Happening | None:
    """What C{event} is worth telling; C{None}: nothing (protocol-webhooks)."""
    if isinstance(event.payload, RunTold):
        return _failed_run(event.payload)
    known = _SESSION_EVENTS.get(event.name)
    session_id = event.session_id
    if known is None or session_id is None:
        return None
    urgency, says, body = known
    details = event.payload.data if isinstance(event.payload, HookTold) else {}
    return Happening(
        event=event.name.partition(":")[2],
        urgency=urgency,
        about=session_id,
        says=says,
        body=_details(details) or body,
        session_id=session_id,
        repeats=details.get("hook_event_name") == "Notification",
    )


def one_line(text: str, limit: int) -> str:
    """C{text} without line ends, control characters and half surrogate pairs, cut to C{limit}."""
    shown = "".join(" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in text)
    folded = " ".join(shown.split())
    return shorten(folded, limit)


def _body(text: str) -> str:
    return cut_marked(one_line(text, max(len(text), 1)), BODY_LIMIT)


def _details(data: Mapping[str, Any]) -> str:
    """The agent's own words, or its tool's name; never a command or a path, which may be secret."""
    message, tool = data.get("message"), data.get("tool_name")
    if isinstance(message, str) and message.strip():
        return _body(message)
    return _body(f"Tool: {tool}") if isinstance(tool, str) and tool else ""


def _failed_run(run: RunTold) -> Happening | None:
    if run.status != "failed":
        return None
    return Happening(
        event="runFailed",
        urgency=Urgency.WARNING,
        about=run.id,
        says="was to run a scheduled job, which failed",
        body=_body(run.error_message or "The run gave no reason."),
        session_id=run.session_id,
        session_name=run.session_name,
    )
