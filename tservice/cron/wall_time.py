"""Conversion between local wall time and Unix time, in any time zone.

A wall time that a clock change skips (in spring) means the first valid time after it.  A wall time
that occurs twice (in autumn) means the first occurrence (protocol-cron-times).  Times are Unix
seconds, and wall times are naive C{datetime}s.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_datetime(seconds: int) -> datetime:
    """Return the timezone-aware C{datetime} in UTC of a Unix time."""
    return _EPOCH + timedelta(seconds=seconds)


def to_seconds(moment: datetime) -> int:
    """Return the Unix time of a timezone-aware C{datetime}."""
    return int((moment - _EPOCH).total_seconds())


def to_wall_time(seconds: int, zone: tzinfo) -> datetime:
    """Return the wall time, in C{zone}, of a Unix time."""
    return to_datetime(seconds).astimezone(zone).replace(tzinfo=None, fold=0)


def utc_offset(seconds: int, zone: tzinfo) -> int:
    """Return the number of seconds by which wall time in C{zone} is ahead of UTC at a Unix time."""
    found = to_datetime(seconds).astimezone(zone).utcoffset()
    return 0 if found is None else int(found.total_seconds())


def resolve_wall_time(shown: datetime, zone: tzinfo) -> int | None:
    """Return the Unix time of a wall time in C{zone}.

    @return: C{None} if the zone skips that day.
    """
    found = to_seconds(shown.replace(tzinfo=zone, fold=0).astimezone(UTC))
    if to_wall_time(found, zone) == shown:
        return found
    # In a gap, the earlier offset gives an instant after it, and the later offset one before it.
    before = to_seconds(shown.replace(tzinfo=zone, fold=1).astimezone(UTC))
    edge = find_offset_change(before, found, zone)
    return None if _skips_day(shown.date(), edge, zone) else edge


def find_offset_change(low: int, high: int, zone: tzinfo) -> int:
    """Return the first time after C{low} with another UTC offset than C{low}.

    The offset at C{high} must be different, too.  All times are Unix seconds.
    """
    old = utc_offset(low, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if utc_offset(middle, zone) == old:
            low = middle
        else:
            high = middle
    return high


def _skips_day(day: date, edge: int, zone: tzinfo) -> bool:
    """Return true if the zone skips the whole C{day}, as when crossing the date line.

    @param edge: Unix time at which the UTC offset changes.
    """
    return to_wall_time(edge - 1, zone).date() < day and to_wall_time(
        edge, zone
    ) >= datetime.combine(day + _DAY, time())
