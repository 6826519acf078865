"""Cron expressions of five fields, in local wall time.  Pure.

The dialect is crontab(5) of Debian.  Two forms that it refuses are accepted as well: C{8/2} (from 8
to the end of the field) and a range that goes past the end, such as C{22-2} or C{fri-mon}.

An expression that names its hours fires once in a clock's overlap and right after its gap, like a
daily job.  An expression whose hour begins with C{*} follows the clock: it fires in both passes of
the overlap, and never in the hour that does not exist.
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
"""Characters of an expression."""

_FIELD = re.compile(r"(?i)[0-9a-z*/,-]+")
_PART = re.compile(r"(?i)(?:(?P<star>\*)|(?P<low>\w+)(?:-(?P<high>\w+))?)(?:/(?P<step>[0-9]+))?")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_NAMES = frozenset([*_MONTHS, *_WEEKDAYS])

_WEEK = 7 * 24 * 3600
"""Seconds in which the offset of a zone is assumed to change once at most."""

_DAYS_AHEAD = 40 * 366
"""Days searched for one fire: a 29 February on a given weekday comes within 40 years."""

_LATEST = datetime(9990, 1, 1)  # noqa: DTZ001


@frozen(kw_only=True)
class FieldRule:
    """Rule of one field of an expression.

    @ivar least: the smallest value.
    @ivar most: the largest value; of the weekday C{7} is accepted too and means C{0}.
    @ivar names: words for the values from C{least} on.
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
    """Values that an expression names, ascending and without repetition.

    @ivar weekdays: 0 is Sunday.
    @ivar both_days: a field of the day begins with C{*}, so a day must match both of them;
        otherwise either of the two is enough.
    @ivar follows_clock: the hour begins with C{*}.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    both_days: bool
    follows_clock: bool

    def matches_day(self, day: date) -> bool:
        """Return true if the expression fires on C{day}."""
        if day.month not in self.months:
            return False
        found = (day.day in self.days, day.isoweekday() % 7 in self.weekdays)
        return all(found) if self.both_days else any(found)


def parse_expression(text: str) -> CronExpression:
    """Parse C{text}.

    @raise ValueError: it is no cron expression; the text says which rule it breaks.
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


def check_expression(text: str) -> str | None:
    """Return what is wrong with an expression; C{None}: nothing."""
    try:
        expression = parse_expression(text)
    except ValueError as error:
        return str(error)
    if next(_wall_times(expression, datetime(2024, 1, 1)), None) is None:  # noqa: DTZ001
        return "never fires"
    return None


def find_expression_fire(text: str, after: int, zone: tzinfo) -> int | None:
    """Return the first instant (Unix seconds) after C{after} at which a valid expression fires.

    @return: C{None} if there is none before the calendar ends.
    """
    shown = to_wall_time(after, zone)
    if shown > _LATEST:
        return None
    expression = parse_expression(text)
    if expression.follows_clock:
        return _find_next_by_clock(expression, after, zone)
    found = (resolve_wall_time(at, zone) for at in _wall_times(expression, shown))
    return next((at for at in found if at is not None and at > after), None)


def _find_next_by_clock(expression: CronExpression, after: int, zone: tzinfo) -> int | None:
    """Search by the clock itself: from one stretch of the same offset to the next."""
    start, shown = after, to_wall_time(after, zone)
    while True:
        at = next(_wall_times(expression, shown), None)
        if at is None:
            return None
        found = to_seconds(at.replace(tzinfo=UTC)) - utc_offset(start, zone)
        edge = _find_next_change(start, found, zone)
        if edge is None:
            return found
        start, shown = edge, to_wall_time(edge, zone) - timedelta(seconds=1)


def _find_next_change(low: int, high: int, zone: tzinfo) -> int | None:
    """Return the first change of the offset after C{low}, up to C{high}."""
    while low < high:
        end = min(low + _WEEK, high)
        if utc_offset(end, zone) != utc_offset(low, zone):
            return find_offset_change(low, end, zone)
        low = end
    return None


def _wall_times(expression: CronExpression, after: datetime) -> Iterator[datetime]:
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
