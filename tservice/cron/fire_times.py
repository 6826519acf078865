"""Computation of the times at which a schedule fires (protocol-cron-times).

All times are Unix milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, tzinfo

from tservice.cron.crontab import find_next_match
from tservice.cron.model import JobSchedule, ScheduleType
from tservice.cron.wall_time import resolve_wall_time, to_wall_time

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS

_DAYS_AHEAD = 16
"""Number of days searched for the next time of a weekly schedule.

Two weeks are needed, because a zone may skip a day.
"""


def find_next_fire(schedule: JobSchedule, after: int, zone: tzinfo) -> int | None:
    """Return the first time later than C{after} at which the schedule fires; C{None} if there is
    none.

    An interval begins at C{after}.
    """
    match schedule.type:
        case ScheduleType.ONCE:
            return schedule.run_at if (schedule.run_at or 0) > after else None
        case ScheduleType.INTERVAL:
            return after + _interval_ms(schedule)
        case ScheduleType.CRON:
            found = find_next_match(schedule.cron_expression or "", after // 1000, zone)
            return None if found is None else found * 1000
        case _:
            return _find_next_day(schedule, after, zone)


def find_fire_after_planned(
    schedule: JobSchedule, planned: int, now: int, zone: tzinfo
) -> int | None:
    """Return the next time after the planned one, which is handled at C{now}.

    Missed times between the two are skipped.  An interval is counted from the planned time, so that
    it does not drift.
    """
    if schedule.type is ScheduleType.INTERVAL:
        step = _interval_ms(schedule)
        return planned + (max(0, now - planned) // step + 1) * step
    return find_next_fire(schedule, max(planned, now), zone)


def correct_next_fire(
    schedule: JobSchedule, planned: int | None, covered: int, now: int, zone: tzinfo
) -> int | None:
    """Return the corrected next time after the clock was set, or the service started.

    A job that is due stays due.  Times of day are computed again.  Times up to C{covered} were
    already handled, and do not fire again if the clock was set back by up to a day.  If C{covered}
    is further ahead, the clock was wrong before, and C{covered} is ignored.  An interval ends at
    most one interval from now.
    """
    if planned is None or planned <= now or schedule.type is ScheduleType.ONCE:
        return planned
    if schedule.type is ScheduleType.INTERVAL:
        return min(planned, now + _interval_ms(schedule))
    done = covered if covered <= now + DAY_MS else now
    return find_next_fire(schedule, max(now, done), zone)


def list_next_fires(schedule: JobSchedule, now: int, zone: tzinfo, count: int) -> list[int]:
    """Return the next C{count} times at which the schedule fires, or fewer if there are no more."""
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
    """Yield the days on which the schedule fires, beginning with C{first}."""
    for number in range(_DAYS_AHEAD):
        try:
            day = first + timedelta(days=number)
        except OverflowError:
            return
        if schedule.weekly_days is None or day.isoweekday() % 7 in schedule.weekly_days:
            yield day
