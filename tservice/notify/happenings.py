"""Which events are worth a message, and its words.  Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tservice.core.events import Event
from tservice.notify.model import Urgency

TITLE_LIMIT = 200
BODY_LIMIT = 1000
"""Characters; longer texts are cut."""


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


_SESSION_EVENTS: Mapping[str, tuple[Urgency, str, str]] = {
    "hook:permission_prompt": (Urgency.CRITICAL, "asks for permission", "It waits for an answer."),
    "hook:elicitation_dialog": (Urgency.CRITICAL, "asks a question", "It waits for an answer."),
    "hook:idle_prompt": (Urgency.WARNING, "waits for input", "Nobody has answered for a while."),
    "hook:stop": (Urgency.INFO, "has finished its turn", "It is ready for the next prompt."),
    "session:error": (Urgency.CRITICAL, "is in error", "It is not started again by itself."),
    "session:breakerTripped": (
        Urgency.CRITICAL,
        "keeps failing",
        "Its process failed again and again, so it is not started any more.",
    ),
    "session:limitPauseScheduled": (
        Urgency.WARNING,
        "is paused by a usage limit",
        "It goes on when the limit is reset.",
    ),
}
_CRON_EVENTS = ("cron:runCreated", "cron:runUpdated")


def happening(event: Event) -> Happening | None:
    """What C{event} is worth telling; C{None}: nothing (protocol-webhooks)."""
    if event.name in _CRON_EVENTS:
        return _failed_run(event.data)
    known = _SESSION_EVENTS.get(event.name)
    session_id = event.session_id
    if known is None or session_id is None:
        return None
    urgency, says, body = known
    data = event.data.get("data")
    details = data if isinstance(data, Mapping) else {}
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
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"


def _details(data: Mapping[str, Any]) -> str:
    """The agent's own words, or its tool's name; never a command or a path, which may be secret."""
    message, tool = data.get("message"), data.get("tool_name")
    if isinstance(message, str) and message.strip():
        return one_line(message, BODY_LIMIT)
    return one_line(f"Tool: {tool}", BODY_LIMIT) if isinstance(tool, str) and tool else ""


def _failed_run(run: Mapping[str, Any]) -> Happening | None:
    if run.get("status") != "failed":
        return None
    reason, session_id, name = (
        value if isinstance(value, str) and value else None
        for value in (run.get("errorMessage"), run.get("sessionId"), run.get("sessionName"))
    )
    return Happening(
        event="runFailed",
        urgency=Urgency.WARNING,
        about=str(run.get("id")),
        says="was to run a scheduled job, which failed",
        body=one_line(reason or "The run gave no reason.", BODY_LIMIT),
        session_id=session_id,
        session_name=name,
    )
