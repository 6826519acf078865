"""Fires of a schedule, as pure rules of time and zone (protocol-cron-times).  Times are Unix
milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, tzinfo

from tservice.cron.crontab import find_expression_fire
from tservice.cron.model import JobSchedule, ScheduleType
from tservice.cron.wall_time import resolve_wall_time, to_wall_time

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS

_DAYS_AHEAD = 16
"""Days searched for the next fire of a week: two weeks, since a zone may leave out one day."""


def find_next_fire(schedule: JobSchedule, after: int, zone: tzinfo) -> int | None:
    """Return the first fire later than C{after}; C{None} if there is none.

    An interval is counted from C{after}.
    """
    match schedule.type:
        case ScheduleType.ONCE:
            return schedule.run_at if (schedule.run_at or 0) > after else None
        case ScheduleType.INTERVAL:
            return after + _interval_ms(schedule)
        case ScheduleType.CRON:
            found = find_expression_fire(schedule.cron_expression or "", after // 1000, zone)
            return None if found is None else found * 1000
        case _:
            return _find_next_day(schedule, after, zone)


def find_following_fire(schedule: JobSchedule, planned: int, now: int, zone: tzinfo) -> int | None:
    """Return the next fire after the one planned for C{planned}, which is done at C{now}.

    All fires missed in between are done with it.  An interval is counted from the planned time, so
    that it does not drift.
    """
    if schedule.type is ScheduleType.INTERVAL:
        step = _interval_ms(schedule)
        return planned + (max(0, now - planned) // step + 1) * step
    return find_next_fire(schedule, max(planned, now), zone)


def adjust_next_fire(
    schedule: JobSchedule, planned: int | None, covered: int, now: int, zone: tzinfo
) -> int | None:
    """Return the next fire after the clock was set, or the service started, so that no fire waits
    too long.

    A due fire stays due.  Clock times are computed again.  Those up to C{covered} are done, and do
    not fire again if the clock was set back by up to a day.  A clock that was further ahead was
    plainly wrong, and its C{covered} is ignored.  An interval never ends later than one interval
    from now.
    """
    if planned is None or planned <= now or schedule.type is ScheduleType.ONCE:
        return planned
    if schedule.type is ScheduleType.INTERVAL:
        return min(planned, now + _interval_ms(schedule))
    done = covered if covered <= now + DAY_MS else now
    return find_next_fire(schedule, max(now, done), zone)


def list_next_fires(schedule: JobSchedule, now: int, zone: tzinfo, count: int) -> list[int]:
    """Return the next C{count} fires, or fewer if there are no more."""
    found: list[int] = []
    at: int | None = now
    while at is not None and len(found) < count:
        at = find_next_fire(schedule, at, zone)
        if at is not None:
            found.append(at)
    return found


def _interval_ms(schedule: JobSchedule) -> int:
    return (schedule.interval_minutes or 1) * MINUTE_MS


def _find_next_day(schedule: JobSchedule, after: int, zone: tzinfo) -> int | None:
    clock = time.fromisoformat(schedule.daily_time or schedule.weekly_time or "00:00")
    for day in _schedule_days(schedule, to_wall_time(after // 1000, zone).date()):
        at = resolve_wall_time(datetime.combine(day, clock), zone)
        if at is not None and at * 1000 > after:
            return at * 1000
    return None


def _schedule_days(schedule: JobSchedule, first: date) -> Iterator[date]:
    """Yield the days of the schedule from C{first} on."""
    for number in range(_DAYS_AHEAD):
        try:
            day = first + timedelta(days=number)
        except OverflowError:
            return
        if schedule.weekly_days is None or day.isoweekday() % 7 in schedule.weekly_days:
            yield day
