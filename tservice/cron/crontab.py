"""Cron expressions of five fields, in local wall time.

The syntax is that of crontab(5) of Debian.  Two forms that Debian refuses are accepted as well:
C{8/2} (from 8 to the end of the field), and a range that wraps around, such as C{22-2} or
C{fri-mon}.

When a clock is set forward, wall times are skipped; when it is set back, they occur twice.  An
expression with explicit hours fires once at repeated times, and right after skipped ones, like a
daily job.  An expression whose hour field begins with C{*} fires at both repeated times, and not
for skipped ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from attrs import frozen

from tservice.cron.wall_time import (
    find_offset_change,
    resolve_wall_time,
    to_seconds,
    to_wall_time,
    utc_offset,
)

MAX_EXPRESSION_LENGTH = 200
"""Maximum characters of an expression."""

_FIELD = re.compile(r"(?i)[0-9a-z*/,-]+")
_PART = re.compile(r"(?i)(?:(?P<star>\*)|(?P<low>\w+)(?:-(?P<high>\w+))?)(?:/(?P<step>[0-9]+))?")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_NAMES = frozenset([*_MONTHS, *_WEEKDAYS])

_WEEK = 7 * 24 * 3600
"""Period in seconds in which a zone's UTC offset is assumed to change at most once."""

_DAYS_AHEAD = 40 * 366
"""Number of days searched for the next time.

A 29 February on a given weekday occurs at least every 40 years.
"""

_LATEST = datetime(9990, 1, 1)  # noqa: DTZ001


@frozen(kw_only=True)
class FieldRule:
    """Rule for one field of an expression.

    @ivar least: the smallest value.
    @ivar most: the largest value; for the weekday it is 7, which means 0 (Sunday).
    @ivar names: names of the values, beginning with that of C{least}.
    """

    label: str
    least: int
    most: int
    names: tuple[str, ...] = ()


MINUTE = FieldRule(label="minute", least=0, most=59)
HOUR = FieldRule(label="hour", least=0, most=23)
DAY = FieldRule(label="day", least=1, most=31)
MONTH = FieldRule(label="month", least=1, most=12, names=tuple(_MONTHS))
WEEKDAY = FieldRule(label="weekday", least=0, most=6, names=tuple(_WEEKDAYS))
_RULES = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)


@frozen(kw_only=True)
class CronExpression:
    """Values of each field of an expression, ascending and without duplicates.

    @ivar weekdays: days of the week; 0 is Sunday.
    @ivar both_days: true if the day of the month or the weekday begins with C{*}.  A day must then
        match both fields; otherwise one of them is enough.
    @ivar follows_clock: true if the hour begins with C{*}.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    both_days: bool
    follows_clock: bool

    def matches_day(self, day: date) -> bool:
        """Return true if month, day of the month and weekday of C{day} match the expression."""
        if day.month not in self.months:
            return False
        found = (day.day in self.days, day.isoweekday() % 7 in self.weekdays)
        return all(found) if self.both_days else any(found)


def parse_expression(text: str) -> CronExpression:
    """Parse a cron expression.

    @raise ValueError: the text is no cron expression; the message says which rule is broken.
    """
    fields = text.split()
    if len(fields) != len(_RULES):
        raise ValueError("must have 5 fields: minute hour day month weekday")
    if not all(_FIELD.fullmatch(field) and _has_known_names(field) for field in fields):
        raise ValueError("must hold numbers, names of months and weekdays, * , - and / only")
    read = [_parse_field(field, rule) for field, rule in zip(fields, _RULES, strict=True)]
    minutes, hours, days, months, weekdays = read
    return CronExpression(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=weekdays,
        both_days=fields[2].startswith("*") or fields[4].startswith("*"),
        follows_clock=fields[1].startswith("*"),
    )


def find_expression_fault(text: str) -> str | None:
    """Return the reason why a text is no cron expression; C{None} if it is one."""
    try:
        expression = parse_expression(text)
    except ValueError as error:
        return str(error)
    if next(_list_wall_times(expression, datetime(2024, 1, 1)), None) is None:  # noqa: DTZ001
        return "never fires"
    return None


def find_next_match(text: str, after: int, zone: tzinfo) -> int | None:
    """Return the first time later than C{after} at which a valid expression fires.

    @param after: Unix seconds, like the result.
    @return: C{None} if there is no such time.
    """
    shown = to_wall_time(after, zone)
    if shown > _LATEST:
        return None
    expression = parse_expression(text)
    if expression.follows_clock:
        return _find_next_following_clock(expression, after, zone)
    found = (resolve_wall_time(at, zone) for at in _list_wall_times(expression, shown))
    return next((at for at in found if at is not None and at > after), None)


def _find_next_following_clock(expression: CronExpression, after: int, zone: tzinfo) -> int | None:
    """Return the first matching time of an expression that fires at both repeated wall times.

    The search goes through the periods between two changes of the zone's UTC offset.
    """
    start, shown = after, to_wall_time(after, zone)
    while True:
        at = next(_list_wall_times(expression, shown), None)
        if at is None:
            return None
        found = to_seconds(at.replace(tzinfo=UTC)) - utc_offset(start, zone)
        edge = _find_next_change(start, found, zone)
        if edge is None:
            return found
        start, shown = edge, to_wall_time(edge, zone) - timedelta(seconds=1)


def _find_next_change(low: int, high: int, zone: tzinfo) -> int | None:
    """Return the first change of the zone's UTC offset between two times in Unix seconds.

    C{None} means that the offset does not change.
    """
    while low < high:
        end = min(low + _WEEK, high)
        if utc_offset(end, zone) != utc_offset(low, zone):
            return find_offset_change(low, end, zone)
        low = end
    return None


def _list_wall_times(expression: CronExpression, after: datetime) -> Iterator[datetime]:
    """Yield the matching wall times later than C{after}, up to 40 years ahead."""
    first = after.date().toordinal()
    for number in range(first, min(first + _DAYS_AHEAD, date.max.toordinal())):
        day = date.fromordinal(number)
        if not expression.matches_day(day):
            continue
        for hour in expression.hours:
            for minute in expression.minutes:
                at = datetime.combine(day, time(hour, minute))
                if at > after:
                    yield at


def _parse_field(field: str, rule: FieldRule) -> tuple[int, ...]:
    found: set[int] = set()
    for part in field.split(","):
        found.update(_parse_part(part, rule))
    return tuple(sorted(found))


def _parse_part(text: str, rule: FieldRule) -> list[int]:
    found = _PART.fullmatch(text)
    if found is None:
        raise ValueError(f"the {rule.label} {text!r} is no number, range or step")
    step = int(found["step"] or 1)
    if step == 0:
        raise ValueError(f"the {rule.label} {text!r} has a step of 0")
    if found["star"]:
        return list(range(rule.least, rule.most + 1, step))
    low = _parse_value(found["low"], rule)
    size = rule.most - rule.least + 1
    if found["high"]:
        high = _parse_value(found["high"], rule)
        last = high if low <= high else high + size
    else:
        last = max(low, rule.most) if found["step"] else low
    return [(value - rule.least) % size + rule.least for value in range(low, last + 1, step)]


def _parse_value(text: str, rule: FieldRule) -> int:
    if text.lower() in rule.names:
        return rule.least + rule.names.index(text.lower())
    most = rule.most + (rule is WEEKDAY)
    if not text.isdecimal() or not rule.least <= int(text) <= most:
        raise ValueError(f"the {rule.label} {text!r} must be {rule.least} to {most}")
    return int(text)


def _has_known_names(field: str) -> bool:
    return all(name.lower() in _NAMES for name in re.findall("[A-Za-z]+", field))
