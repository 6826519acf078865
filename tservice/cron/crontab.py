"""Cron expressions of five fields, in local wall time.  Pure.

croniter reads the expression; which instant a wall time stands for is decided as everywhere here:
an expression that names its hours fires once in the overlap and right after the gap, like a daily
job.  One whose hour begins with C{*} goes on by the clock: it fires in both passes of the overlap,
and the hour that does not exist is just not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from croniter import CroniterBadCronError, CroniterBadDateError, croniter

from tservice.cron.walltime import change, offset, resolve, seconds_of, wall

LONGEST = 200
"""Characters of an expression."""

_FIELD = re.compile(r"(?i)[0-9a-z*/,-]+")
_NAME = re.compile(
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat", re.IGNORECASE
)
_WEEK = 7 * 24 * 3600
"""Seconds in which the offset of a zone is taken to change once at most."""

_YEARS = 40
"""How far ahead a fire is looked for: a 29 February on a given weekday comes within that."""

_LATEST = datetime(9990, 1, 1)  # noqa: DTZ001


def check_expression(text: str) -> str | None:
    """What is wrong with an expression; C{None}: nothing.

    It is five fields of numbers, names of months and weekdays, C{* , - /}, and fires some time.
    """
    fields = text.split()
    if len(fields) != 5:
        return "must have 5 fields: minute hour day month weekday"
    if not all(_FIELD.fullmatch(field) and _knows(field) for field in fields):
        return "must hold numbers, names of months and weekdays, * , - and / only"
    try:
        _iterator(text, datetime(2024, 1, 1))()  # noqa: DTZ001
    except CroniterBadDateError:
        return "never fires"
    except (CroniterBadCronError, ValueError, KeyError) as error:
        return f"is no cron expression: {' '.join(str(error).split())}"
    return None


def next_of_expression(text: str, after: int, zone: tzinfo) -> int | None:
    """The first instant (Unix seconds) later than C{after} at which a good expression fires.

    @return: C{None} when there is none before the calendar ends.
    """
    shown = wall(after, zone)
    if shown > _LATEST:
        return None
    if text.split()[1].startswith("*"):
        return _next_running(text, after, zone)
    return _next_named(text, after, shown, zone)


def _next_named(text: str, after: int, shown: datetime, zone: tzinfo) -> int | None:
    step = _iterator(text, shown)
    try:
        while True:
            at = resolve(step(), zone)
            if at is not None and at > after:
                return at
    except CroniterBadDateError:
        return None


def _next_running(text: str, after: int, zone: tzinfo) -> int | None:
    """By the clock itself: from one stretch of the same offset to the next."""
    start, shown = after, wall(after, zone)
    try:
        while True:
            found = seconds_of(_iterator(text, shown)().replace(tzinfo=UTC)) - offset(start, zone)
            edge = _next_change(start, found, zone)
            if edge is None:
                return found
            start, shown = edge, wall(edge, zone) - timedelta(seconds=1)
    except CroniterBadDateError:
        return None


def _next_change(low: int, high: int, zone: tzinfo) -> int | None:
    """The first change of the offset after C{low}, up to C{high}."""
    while low < high:
        end = min(low + _WEEK, high)
        if offset(end, zone) != offset(low, zone):
            return change(low, end, zone)
        low = end
    return None


def _iterator(text: str, shown: datetime) -> Callable[[], datetime]:
    """Gives one matching wall time after the other, the first later than C{shown}."""
    found = croniter(text, shown, ret_type=datetime, max_years_between_matches=_YEARS)
    return lambda: found.get_next(datetime)


def _knows(field: str) -> bool:
    return all(map(_NAME.fullmatch, re.findall("[A-Za-z]+", field)))
