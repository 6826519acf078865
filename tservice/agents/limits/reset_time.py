"""Parser of a usage limit's reset time from the agent's text (protocol-automatic).

This module does no I/O.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from attrs import frozen

from tservice.core.kernel.event_payloads import RateLimitWindow, TelemetryPayload

RESUME_DELAY_MS = 2 * 60 * 1000
"""Milliseconds from the reset of the limit until a session resumes (protocol-automatic)."""
JUST_NOW = timedelta(minutes=5)
"""Maximum age of a time of day that still means today, because the text may be read late."""
FARTHEST = timedelta(days=32)
"""Maximum distance of a reset time from now; a later time is treated as a parsing error."""

FULL = 100.0
"""Percentage at which a plan's window is used up."""

_WINDOWS = {"fiveHour": "5-hour", "sevenDay": "7-day"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_EPOCH = re.compile(r"(?<![0-9])([0-9]{10})(?:[0-9]{3})?(?![0-9])")
_ISO = re.compile(r"\b(?P<year>20[0-9]{2})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})\b")
_CLOCK = re.compile(
    r"(?<![0-9:.])(?P<hour>[0-9]{1,2})"
    r"(?:(?::(?P<minute>[0-9]{2})(?::[0-9]{2})?)?\s*(?P<half>[ap])\.?m\b\.?"
    r"|:(?P<minute24>[0-9]{2})(?::[0-9]{2})?(?!\s*[ap]\.?m\b))",
    re.IGNORECASE,
)
_DATE = re.compile(
    rf"\b(?:(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?P<day2>[0-9]{{1,2}})(?:st|nd|rd|th)?\s+(?P<month2>{'|'.join(_MONTHS)})[a-z]*\.?)"
    r"(?:,?\s+(?P<year>20[0-9]{2}))?(?![0-9:])",
    re.IGNORECASE,
)
_DAY = re.compile(rf"\b(?P<day>{'|'.join(_DAYS)})(?:[a-z]*day)?\b", re.IGNORECASE)
_SPAN = re.compile(
    r"(?P<count>[0-9]{1,4})\s*(?P<unit>d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?"
    r"|s(?:ec(?:ond)?s?)?)\b",
    re.IGNORECASE,
)
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_OFFSET = re.compile(
    r"\b(?:UTC|GMT)(?:\s*(?P<sign>[+-])(?P<hours>[0-9]{1,2})(?::?(?P<rest>[0-9]{2}))?)?"
)
_ZONE = re.compile(r"\b[A-Z][A-Za-z_]+(?:/[A-Za-z_+-]+[0-9]*){1,2}\b")


@frozen(kw_only=True)
class UsageLimit:
    """Usage limit that an agent has reached.

    @ivar text: the agent's sentence about the limit.
    @ivar reset_at: Unix milliseconds of the reset; C{None} if the sentence contains no time that
        can be parsed.
    """

    text: str
    reset_at: int | None


def find_full_window(told: TelemetryPayload, now_ms: int) -> UsageLimit | None:
    """Return the used-up window with the latest reset in a status line's report, or C{None}.

    @param told: the payload of C{session:statusTelemetry}.
    """
    windows = {"fiveHour": told.five_hour, "sevenDay": told.seven_day}
    found = [_make_window_limit(window, name, now_ms) for name, window in windows.items()]
    full = [limit for limit in found if limit is not None]
    return max(full, key=lambda limit: limit.reset_at or 0, default=None)


def _make_window_limit(window: RateLimitWindow | None, name: str, now_ms: int) -> UsageLimit | None:
    if window is None or window.used_percentage < FULL:
        return None
    resets = window.reset_at
    if resets is not None and resets <= now_ms:
        return None
    return UsageLimit(text=f"{_WINDOWS[name]} limit reached", reset_at=resets)


def parse_reset(text: str, now_ms: int, local: tzinfo) -> int | None:
    """Return the reset time in Unix milliseconds; C{None} if the text contains no time.

    @param text: for example C{3pm (UTC)}, C{Nov 21 at 9:30am}, C{in 2 hours 5 minutes}.
    @param now_ms: time at which the text was written, in Unix milliseconds.
    @param local: the time zone of times without one: that of the machine where the agent runs.
    """
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    found = _parse_epoch(text) or _parse_duration(text, now) or _parse_date_time(text, now, local)
    if found is None or not now - timedelta(days=1) < found < now + FARTHEST:
        return None
    return int(found.timestamp() * 1000)


def compute_resume_time(limit: UsageLimit) -> int | None:
    """Return the time to resume, in Unix milliseconds (protocol-automatic).

    The result is C{None} if the reset time is unknown.
    """
    return None if limit.reset_at is None else limit.reset_at + RESUME_DELAY_MS


def _parse_epoch(text: str) -> datetime | None:
    found = _EPOCH.search(text)
    return None if found is None else datetime.fromtimestamp(int(found[1]), UTC)


def _parse_duration(text: str, now: datetime) -> datetime | None:
    """Return the time after a duration such as C{in 2h 15m} or C{2 hours}; C{None} without one."""
    if _CLOCK.search(text) or _DATE.search(text):
        return None
    spans = list(_SPAN.finditer(text))
    seconds = sum(int(each["count"]) * _UNITS[each["unit"][0].lower()] for each in spans)
    return now + timedelta(seconds=seconds) if seconds else None


def _parse_date_time(text: str, now: datetime, local: tzinfo) -> datetime | None:
    zone = _parse_zone(text) or local
    here = now.astimezone(zone)
    clock = _parse_clock(text)
    day = _parse_weekday_or_date(text, here)
    if clock is None and day is None:
        return None
    hour, minute = clock or (0, 0)
    if day is None:
        return _find_next_time(here, hour, minute, zone)
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)


def _find_next_time(here: datetime, hour: int, minute: int, zone: tzinfo) -> datetime:
    """Return the next occurrence of a time of day."""
    today = datetime(here.year, here.month, here.day, hour, minute, tzinfo=zone)
    if today.astimezone(UTC) > here.astimezone(UTC) - JUST_NOW:
        return today
    morrow = here.date() + timedelta(days=1)
    return datetime(morrow.year, morrow.month, morrow.day, hour, minute, tzinfo=zone)


def _parse_clock(text: str) -> tuple[int, int] | None:
    for found in _CLOCK.finditer(text):
        hour = int(found["hour"])
        minute = int(found["minute"] or found["minute24"] or 0)
        if found["half"] and 1 <= hour <= 12:
            hour = hour % 12 + (12 if found["half"].lower() == "p" else 0)
        elif found["half"]:
            continue
        if hour < 24 and minute < 60:
            return hour, minute
    return None


def _parse_weekday_or_date(text: str, here: datetime) -> date | None:
    iso = _ISO.search(text)
    if iso is not None:
        return _make_date(int(iso["year"]), int(iso["month"]), int(iso["day"]))
    found = _DATE.search(text)
    if found is not None:
        return _parse_month_day(found, here)
    if "tomorrow" in text.lower():
        return here.date() + timedelta(days=1)
    weekday = _DAY.search(text)
    if weekday is None:
        return None
    ahead = (_DAYS.index(weekday["day"].lower()) - here.weekday()) % 7
    return here.date() + timedelta(days=ahead or 7)


def _parse_month_day(found: re.Match[str], here: datetime) -> date | None:
    month = _MONTHS.index((found["month"] or found["month2"]).lower()) + 1
    day = int(found["day"] or found["day2"])
    if found["year"]:
        return _make_date(int(found["year"]), month, day)
    this = _make_date(here.year, month, day)
    if this is None or this < here.date() - timedelta(days=1):
        return _make_date(here.year + 1, month, day)
    return this


def _make_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _parse_zone(text: str) -> tzinfo | None:
    named = _ZONE.search(text)
    if named is not None:
        try:
            return ZoneInfo(named[0])
        except (KeyError, ValueError, OSError):
            return None
    found = _OFFSET.search(text)
    if found is None:
        return None
    if not found["hours"]:
        return UTC
    minutes = int(found["hours"]) * 60 + int(found["rest"] or 0)
    if minutes >= 24 * 60:
        return None
    return timezone(timedelta(minutes=minutes if found["sign"] == "+" else -minutes))
