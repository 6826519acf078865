"""Conversion between local wall time and instants, in any zone.  Pure.

A wall time that a clock change skips (the spring gap) means the first valid instant after it.  A
wall time that occurs twice (the autumn overlap) means its first instant (protocol-cron-times).
Instants are Unix seconds, wall times are naive C{datetime}s.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(seconds: int) -> datetime:
    """Return the aware C{datetime} of an instant, in UTC."""
    return _EPOCH + timedelta(seconds=seconds)


def seconds_of(moment: datetime) -> int:
    """Return the instant of an aware C{datetime}."""
    return int((moment - _EPOCH).total_seconds())


def wall(seconds: int, zone: tzinfo) -> datetime:
    """Return the wall time at an instant."""
    return instant(seconds).astimezone(zone).replace(tzinfo=None, fold=0)


def offset(seconds: int, zone: tzinfo) -> int:
    """Return the seconds by which wall time is ahead of UTC at an instant."""
    found = instant(seconds).astimezone(zone).utcoffset()
    return 0 if found is None else int(found.total_seconds())


def resolve(shown: datetime, zone: tzinfo) -> int | None:
    """Return the instant of a wall time.

    @return: C{None} for a day that the zone skips.
    """
    found = seconds_of(shown.replace(tzinfo=zone, fold=0).astimezone(UTC))
    if wall(found, zone) == shown:
        return found
    # In a gap, the earlier offset gives an instant after it, and the later offset one before it.
    before = seconds_of(shown.replace(tzinfo=zone, fold=1).astimezone(UTC))
    edge = change(before, found, zone)
    return None if _leaves_out(shown.date(), edge, zone) else edge


def change(low: int, high: int, zone: tzinfo) -> int:
    """Return the first instant after C{low} whose offset differs from C{low}'s; C{high}'s must
    differ.
    """
    old = offset(low, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if offset(middle, zone) == old:
            low = middle
        else:
            high = middle
    return high


def _leaves_out(day: date, edge: int, zone: tzinfo) -> bool:
    """Return true if the change at C{edge} skips all of C{day}, as when crossing the date line."""
    return wall(edge - 1, zone).date() < day and wall(edge, zone) >= datetime.combine(
        day + _DAY, time()
    )
