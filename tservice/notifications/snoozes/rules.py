"""Rules of snoozes: their ends, and the events that end them early (protocol-notices)."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import StrEnum

from tservice.core.kernel.errors import make_field_error
from tservice.core.kernel.event_payloads import ApprovalPayload
from tservice.core.kernel.events import Event, EventName
from tservice.sessions.interfaces import Snooze

HALF_HOUR_MS = 30 * 60 * 1000
MORNING = time(8)
"""Time of day at which a snooze until tomorrow ends."""
LONGEST_MS = 31 * 24 * 3600 * 1000
"""Longest snooze with a chosen end, in milliseconds."""


class SnoozeChoice(StrEnum):
    """Ends of a snooze that clients offer."""

    HALF_HOUR = "30m"
    TOMORROW = "tomorrow"
    ASKS = "asks"


_ASKING = frozenset(
    {
        EventName.HOOK_PERMISSION_PROMPT,
        EventName.HOOK_ELICITATION_DIALOG,
        EventName.SESSION_BLOCKED,
        EventName.SESSION_STALLED,
        EventName.SESSION_ERROR,
        EventName.SESSION_BREAKER_TRIPPED,
    }
)


def is_asking(event: Event) -> bool:
    """Return true if the event means that the session needs a person to continue."""
    if isinstance(event.payload, ApprovalPayload):
        return event.name is EventName.APPROVAL_PENDING and event.payload.kind != "idle"
    return event.name in _ASKING


def make_snooze(wanted: SnoozeChoice | int, zone: tzinfo, now: int) -> Snooze:
    """Return the snooze that a caller requests.

    @param wanted: a choice, or the end in Unix milliseconds.
    @param zone: time zone of the reader, for L{SnoozeChoice.TOMORROW}.
    @param now: Unix milliseconds.
    @raise ServiceError: 400: the end is not in the future, or too far away.
    """
    match wanted:
        case SnoozeChoice.ASKS:
            return Snooze()
        case SnoozeChoice.HALF_HOUR:
            return Snooze(until=now + HALF_HOUR_MS)
        case SnoozeChoice.TOMORROW:
            return Snooze(until=find_next_morning(zone, now))
        case int():
            if not now < wanted <= now + LONGEST_MS:
                raise make_field_error("until", "must be in the future, at most 31 days away")
            return Snooze(until=wanted)


def find_next_morning(zone: tzinfo, now: int) -> int:
    """Return L{MORNING} of the next day in C{zone}, in Unix milliseconds."""
    today = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=now)).astimezone(zone)
    morning = datetime.combine(today.date() + timedelta(days=1), MORNING, tzinfo=zone)
    return int(morning.timestamp() * 1000)


def is_in_force(snooze: Snooze | None, now: int) -> bool:
    """Return true if notices are paused at C{now}, in Unix milliseconds."""
    return snooze is not None and (snooze.until is None or now < snooze.until)
