"""Local wall time and the instants it stands for, in any zone.  Pure.

A wall time that a clock change skips (the spring gap) stands for the first valid instant after it;
one that comes twice (the autumn overlap) stands for its first (protocol-cron-times).  Instants are
Unix seconds, wall times are naive C{datetime}s.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(seconds: int) -> datetime:
    """The aware C{datetime} of an instant, in UTC."""
    return _EPOCH + timedelta(seconds=seconds)


def seconds_of(moment: datetime) -> int:
    """The instant of an aware C{datetime}."""
    return int((moment - _EPOCH).total_seconds())


def wall(seconds: int, zone: tzinfo) -> datetime:
    """What a clock on the wall shows at an instant."""
    return instant(seconds).astimezone(zone).replace(tzinfo=None, fold=0)


def offset(seconds: int, zone: tzinfo) -> int:
    """Seconds by which the wall is ahead of UTC at an instant."""
    found = instant(seconds).astimezone(zone).utcoffset()
    return 0 if found is None else int(found.total_seconds())


def resolve(shown: datetime, zone: tzinfo) -> int | None:
    """The instant that a wall time stands for.

    @return: C{None} for a day that the zone leaves out altogether.
    """
    found = seconds_of(shown.replace(tzinfo=zone, fold=0).astimezone(UTC))
    if wall(found, zone) == shown:
        return found
    # In a gap the offset from before it leads behind it, and that from after it before it.
    before = seconds_of(shown.replace(tzinfo=zone, fold=1).astimezone(UTC))
    edge = change(before, found, zone)
    return None if _leaves_out(shown.date(), edge, zone) else edge


def change(low: int, high: int, zone: tzinfo) -> int:
    """The first instant after C{low} whose offset is not C{low}'s; C{high}'s must differ."""
    old = offset(low, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if offset(middle, zone) == old:
            low = middle
        else:
            high = middle
    return high


def _leaves_out(day: date, edge: int, zone: tzinfo) -> bool:
    """Whether the change at C{edge} jumps over all of C{day}: a zone that crosses the date line."""
    return wall(edge - 1, zone).date() < day and wall(edge, zone) >= datetime.combine(
        day + _DAY, time()
    )
