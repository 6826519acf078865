"""A slow and simple judge of local time, and the sweep of every zone and day against it.

The judge knows nothing of the rules under test: it walks through the stretches of constant offset
and looks for a wall time in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from zoneinfo import ZoneInfo

from attrs import frozen

from tservice.cron.fire_times import find_next_fire
from tservice.cron.model import JobSchedule, ScheduleType

FIRST, LAST = date(2026, 1, 1), date(2035, 12, 31)
_HOUR = 3600
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001


@frozen
class OffsetStretch:
    """A span of instants (Unix seconds) of one offset, the end not in it."""

    begin: int
    end: int
    ahead: int

    def first_shown(self, shown: int) -> int | None:
        """The instant at which the wall shows C{shown} (seconds of 1970 on the wall)."""
        at = shown - self.ahead
        return at if self.begin <= at < self.end else None


def every_zone() -> list[str]:
    """The name of every zone of tzdata."""
    return files("tzdata").joinpath("zones").read_text().split()


def zone_stretches(zone: ZoneInfo, begin: int, end: int) -> list[OffsetStretch]:
    """The stretches from C{begin} to C{end}; changes are found by trying every hour, then every
    second of that hour.
    """
    found: list[OffsetStretch] = []
    start, ahead = begin, _ahead(zone, begin)
    for hour in range(begin + _HOUR, end + 1, _HOUR):
        if _ahead(zone, hour) != ahead:
            edge = next(
                second
                for second in range(hour - _HOUR + 1, hour + 1)
                if _ahead(zone, second) != ahead
            )
            found.append(OffsetStretch(start, edge, ahead))
            start, ahead = edge, _ahead(zone, hour)
    return [*found, OffsetStretch(start, end, ahead)]


def _ahead(zone: ZoneInfo, seconds: int) -> int:
    offset = datetime.fromtimestamp(seconds, zone).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


def expected_fire(spans: Sequence[OffsetStretch], day: date, clock: time) -> int:
    """When a daily job of C{clock} is to fire on C{day}: at the first instant that shows it, or
    else at the first that shows something later.
    """
    shown = int((datetime.combine(day, clock) - _EPOCH).total_seconds())
    for span in spans:
        at = span.first_shown(shown)
        if at is not None:
            return at
    return next(span.begin for span in spans if span.begin + span.ahead > shown)


def span_of(first: date, last: date) -> tuple[int, int]:
    """The instants around these days, wherever on earth."""
    begin = datetime.combine(first, time(), UTC) - timedelta(days=3)
    end = datetime.combine(last, time(), UTC) + timedelta(days=10)
    return int(begin.timestamp()), int(end.timestamp())


def fires_between(schedule: JobSchedule, zone: ZoneInfo, begin: int, end: int) -> Iterator[int]:
    """What the rules under test say: every fire between two instants, one from the other."""
    at = find_next_fire(schedule, begin * 1000, zone)
    while at is not None and at < end * 1000:
        yield at // 1000
        at = find_next_fire(schedule, at, zone)


def each_day(first: date, last: date) -> Iterator[date]:
    """Each day from one to the other."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def check_fires(
    name: str,
    clock: time,
    first: date = FIRST,
    last: date = LAST,
    weekdays: Iterable[int] = (),
    spans: Sequence[OffsetStretch] | None = None,
) -> int:
    """Compare every fire of a daily (or weekly) job with the judge's, from one day to another.

    @param weekdays: 0 is Sunday; none: every day.
    @param spans: the zone's stretches, where they are known.
    @return: how many there were.
    @raise AssertionError: a day has none, two, or another.
    """
    zone = ZoneInfo(name)
    if spans is None:
        spans = zone_stretches(zone, *span_of(first, last))
    wanted = tuple(sorted(weekdays))
    text = clock.strftime("%H:%M")
    schedule = JobSchedule(
        type=ScheduleType.WEEKLY if wanted else ScheduleType.DAILY,
        daily_time=None if wanted else text,
        weekly_days=wanted or None,
        weekly_time=text if wanted else None,
    )
    due = [
        (day, expected_fire(spans, day, clock))
        for day in each_day(first, last)
        if not wanted or day.isoweekday() % 7 in wanted
    ]
    found = list(fires_between(schedule, zone, due[0][1] - 1, due[-1][1] + 1))
    expected = [at for _, at in due]
    if found != expected:
        wrong = next(at for at in sorted({*found} ^ {*expected}))
        raise AssertionError(
            f"{name} {text} {wanted}: differs at {datetime.fromtimestamp(wrong, zone)}"
        )
    return len(found)
