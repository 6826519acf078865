"""Conversion between local wall time and instants, in any zone.  Pure.

A wall time that a clock change skips (the spring gap) means the first valid instant after it.  A
wall time that occurs twice (the autumn overlap) means its first instant (protocol-cron-times).
Instants are Unix seconds, wall times are naive C{datetime}s.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_datetime(seconds: int) -> datetime:
    """Return the aware C{datetime} of an instant, in UTC."""
    return _EPOCH + timedelta(seconds=seconds)


def to_seconds(moment: datetime) -> int:
    """Return the instant of an aware C{datetime}."""
    return int((moment - _EPOCH).total_seconds())


def to_wall_time(seconds: int, zone: tzinfo) -> datetime:
    """Return the wall time at an instant."""
    return to_datetime(seconds).astimezone(zone).replace(tzinfo=None, fold=0)


def utc_offset(seconds: int, zone: tzinfo) -> int:
    """Return the seconds by which wall time is ahead of UTC at an instant."""
    found = to_datetime(seconds).astimezone(zone).utcoffset()
    return 0 if found is None else int(found.total_seconds())


def resolve_wall_time(shown: datetime, zone: tzinfo) -> int | None:
    """Return the instant of a wall time.

    @return: C{None} for a day that the zone skips.
    """
    found = to_seconds(shown.replace(tzinfo=zone, fold=0).astimezone(UTC))
    if to_wall_time(found, zone) == shown:
        return found
    # In a gap, the earlier offset gives an instant after it, and the later offset one before it.
    before = to_seconds(shown.replace(tzinfo=zone, fold=1).astimezone(UTC))
    edge = find_offset_change(before, found, zone)
    return None if _skips_day(shown.date(), edge, zone) else edge


def find_offset_change(low: int, high: int, zone: tzinfo) -> int:
    """Return the first instant after C{low} whose offset differs from C{low}'s; C{high}'s must
    differ.
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
    """Return true if the change at C{edge} skips all of C{day}, as when crossing the date line."""
    return to_wall_time(edge - 1, zone).date() < day and to_wall_time(
        edge, zone
    ) >= datetime.combine(day + _DAY, time())
