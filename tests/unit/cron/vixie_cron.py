"""crontab(5) as Debian's cron evaluates it: one minute at a time, from bit maps."""

from __future__ import annotations

from datetime import datetime

_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_NAMES = (
    "", "", "", "jan feb mar apr may jun jul aug sep oct nov dec",
    "sun mon tue wed thu fri sat",
)  # fmt: skip


def fires_at(text: str, at: datetime) -> bool:
    """Return whether the expression fires in the minute C{at}, by the C program's own rule."""
    fields = text.split()
    minute, hour, day, month, weekday = map(_bits, fields, range(5))
    if not (at.minute in minute and at.hour in hour and at.month in month):
        return False
    sunday = 7 if at.isoweekday() == 7 else None
    on_weekday = at.isoweekday() % 7 in weekday or sunday in weekday
    on_day = at.day in day
    if fields[2][0] == "*" or fields[4][0] == "*":
        return on_day and on_weekday
    return on_day or on_weekday


def _bits(field: str, number: int) -> set[int]:
    low, high = _RANGES[number]
    found = set()
    for item in field.lower().split(","):
        span, _, step = item.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            begin, end = low, high
        else:
            begin = _value(first, number)
            end = _value(last or first, number)
        for value in range(begin, end + 1):
            if (value - begin) % int(step or 1) == 0:
                found.add(value)
    return found


def _value(word: str, number: int) -> int:
    names = _NAMES[number].split()
    return names.index(word) + _RANGES[number][0] if word in names else int(word)
