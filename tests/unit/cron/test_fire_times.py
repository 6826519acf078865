"""When schedules fire: clock changes, intervals, cron expressions, clocks that are set."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.cron.zone_judge import (
    FIRST,
    LAST,
    OffsetStretch,
    check_fires,
    every_zone,
    expected_fire,
    zone_stretches,
)
from tservice.cron.crontab import find_expression_fault
from tservice.cron.fire_times import (
    DAY_MS,
    MINUTE_MS,
    correct_next_fire,
    find_fire_after_planned,
    find_next_fire,
    list_next_fires,
)
from tservice.cron.model import JobSchedule, ScheduleType
from tservice.cron.wall_time import find_offset_change, resolve_wall_time, utc_offset

BERLIN = ZoneInfo("Europe/Berlin")
EDGES = ("Europe/Berlin", "America/Nuuk", "Australia/Lord_Howe", "Antarctica/Troll", "Africa/Cairo",
         "Africa/Casablanca", "America/Asuncion", "Asia/Beirut", "America/Santiago")  # fmt: skip
"""Zones whose changes are odd: at midnight, of half an hour, of two hours, four a year."""

ZONES = st.one_of(st.sampled_from(EDGES), st.sampled_from(every_zone()))
CLOCKS = st.times().map(lambda found: found.replace(second=0, microsecond=0, tzinfo=None))


def ms(*parts: int, zone: ZoneInfo = BERLIN, fold: int = 0) -> int:
    return int(datetime(*parts, tzinfo=zone, fold=fold).timestamp() * 1000)  # type: ignore[arg-type,misc]


def daily(clock: str) -> JobSchedule:
    return JobSchedule(type=ScheduleType.DAILY, daily_time=clock)


def weekly(clock: str, *days: int) -> JobSchedule:
    return JobSchedule(type=ScheduleType.WEEKLY, weekly_time=clock, weekly_days=days)


def cron(text: str) -> JobSchedule:
    return JobSchedule(type=ScheduleType.CRON, cron_expression=text)


def every(minutes: int) -> JobSchedule:
    return JobSchedule(type=ScheduleType.INTERVAL, interval_minutes=minutes)


@pytest.mark.long
class FireTimeSweepTests(SynchronousTestCase):
    """Once each local day, in every zone; C{python -m bench cronzones} takes all of them."""

    @settings(max_examples=example_count(40), deadline=None)
    @given(ZONES, CLOCKS, st.sets(st.integers(0, 6)), st.integers(2026, 2035))
    def test_daily_and_weekly_jobs_fire_once_in_every_zone(
        self, name: str, clock: time, days: set[int], year: int
    ) -> None:
        first, last = FIRST.replace(year=year), LAST.replace(year=year)
        least = 50 * len(days) if days else 365
        self.assertGreaterEqual(check_fires(name, clock, first, last, days), least)

    def test_odd_zones_fire_once_at_their_changes(self) -> None:
        """The minutes around each change of a decade, which a random clock time seldom hits."""
        dice = random.Random(26)
        for name in EDGES:
            spans = zone_stretches(ZoneInfo(name), *_decade())
            hits = {_shown(span.begin, span.ahead) for span in spans[1:]}
            hits |= {_shown(span.end - 60, span.ahead) for span in spans[:-1]}
            for clock in dice.sample(sorted(hits), min(3, len(hits))):
                day = datetime.fromtimestamp(dice.choice(spans[1:]).begin, UTC).date()
                check_fires(name, clock, day - timedelta(days=5), day + timedelta(days=5))

    def test_reference_check_detects_a_gap_and_an_overlap(self) -> None:
        """Else the sweep would compare nothing with nothing."""
        spans = [
            OffsetStretch(0, 7200, 0),
            OffsetStretch(7200, 14400, 3600),
            OffsetStretch(14400, 90000, 0),
        ]
        day = datetime(1970, 1, 1, tzinfo=UTC).date()
        self.assertEqual(7200, expected_fire(spans, day, time(2, 30)))
        self.assertEqual(14400 - 1800, expected_fire(spans, day, time(4, 30)))
        self.assertEqual(18000, expected_fire(spans, day, time(5, 0)))


def _decade() -> tuple[int, int]:
    return ms(2026, 1, 1, zone=ZoneInfo("UTC")) // 1000, ms(
        2036, 1, 1, zone=ZoneInfo("UTC")
    ) // 1000


def _shown(at: int, ahead: int) -> time:
    return datetime.fromtimestamp(at + ahead, UTC).time()


class ClockChangeTests(SynchronousTestCase):
    """The decisions of protocol-cron-times, by example."""

    def test_time_in_a_gap_fires_right_after_it(self) -> None:
        found = find_next_fire(daily("02:30"), ms(2026, 3, 28, 12), BERLIN)
        self.assertEqual(ms(2026, 3, 29, 3, 0), found)

    def test_time_in_an_overlap_fires_in_the_first_pass_only(self) -> None:
        first = find_next_fire(daily("02:30"), ms(2026, 10, 25, 0), BERLIN)
        self.assertEqual(ms(2026, 10, 25, 2, 30, fold=0), first)
        self.assertEqual(
            ms(2026, 10, 26, 2, 30), find_next_fire(daily("02:30"), first or 0, BERLIN)
        )
        between = ms(2026, 10, 25, 2, 10, fold=1)
        self.assertEqual(ms(2026, 10, 26, 2, 30), find_next_fire(daily("02:30"), between, BERLIN))

    def test_gap_before_midnight_fires_at_midnight(self) -> None:
        nuuk = ZoneInfo("America/Nuuk")
        found = list_next_fires(daily("23:30"), ms(2026, 3, 28, 12, zone=nuuk), nuuk, 2)
        want = [ms(2026, 3, 29, 0, 0, zone=nuuk), ms(2026, 3, 29, 23, 30, zone=nuuk)]
        self.assertEqual(want, found)

    def test_day_missing_in_the_zone_has_no_fire(self) -> None:
        apia = ZoneInfo("Pacific/Apia")
        self.assertIsNone(resolve_wall_time(datetime(2011, 12, 30, 9), apia))  # noqa: DTZ001
        found = list_next_fires(daily("09:00"), ms(2011, 12, 29, 0, zone=apia), apia, 2)
        self.assertEqual([ms(2011, 12, 29, 9, zone=apia), ms(2011, 12, 31, 9, zone=apia)], found)

    def test_weekly_job_fires_on_its_days(self) -> None:
        found = list_next_fires(weekly("09:00", 0, 3), ms(2026, 11, 20, 0), BERLIN, 3)
        days = [datetime.fromtimestamp(at / 1000, BERLIN) for at in found]
        self.assertEqual([22, 25, 29], [day.day for day in days])

    @given(ZONES, st.integers(1_700_000_000, 2_100_000_000))
    def test_zone_change_is_found_to_the_second(self, name: str, low: int) -> None:
        zone, high = ZoneInfo(name), low + 200 * 86400
        if utc_offset(low, zone) != utc_offset(high, zone):
            edge = find_offset_change(low, high, zone)
            self.assertNotEqual(utc_offset(edge - 1, zone), utc_offset(edge, zone))


class CronExpressionTests(SynchronousTestCase):
    """Expressions."""

    def test_hours_by_number_fire_like_a_daily_job(self) -> None:
        for start in (ms(2026, 3, 27, 0), ms(2026, 10, 23, 0)):
            want = list_next_fires(daily("02:30"), start, BERLIN, 6)
            self.assertEqual(want, list_next_fires(cron("30 2 * * *"), start, BERLIN, 6))

    def test_hourly_minute_continues_through_the_overlap(self) -> None:
        found = list_next_fires(cron("30 * * * *"), ms(2026, 10, 25, 1, 45), BERLIN, 3)
        want = [ms(2026, 10, 25, 2, 30), ms(2026, 10, 25, 2, 30, fold=1), ms(2026, 10, 25, 3, 30)]
        self.assertEqual(want, found)

    def test_every_half_hour_leaves_the_gap_out(self) -> None:
        found = list_next_fires(cron("*/30 * * * *"), ms(2026, 3, 29, 1, 15), BERLIN, 3)
        want = [ms(2026, 3, 29, 1, 30), ms(2026, 3, 29, 3, 0), ms(2026, 3, 29, 3, 30)]
        self.assertEqual(want, found)

    def test_minutes_in_a_gap_fire_once_after_it(self) -> None:
        found = list_next_fires(cron("*/10 2 * * *"), ms(2026, 3, 29, 1, 15), BERLIN, 2)
        self.assertEqual([ms(2026, 3, 29, 3, 0), ms(2026, 3, 30, 2, 0)], found)

    @settings(max_examples=example_count(60), deadline=None)
    @given(ZONES, st.integers(1_770_000_000, 2_080_000_000), st.integers(0, 59))
    def test_hourly_expression_fires_within_two_hours_over_clock_changes(
        self, name: str, start: int, minute: int
    ) -> None:
        """Whatever the clock does, an hourly job comes within an hour, but for changes of less."""
        zone = ZoneInfo(name)
        found = list_next_fires(cron(f"{minute} * * * *"), start * 1000, zone, 5)
        gaps = [late - early for early, late in itertools.pairwise(found)]
        self.assertTrue(all(0 < gap <= 2 * 3600_000 for gap in gaps), gaps)
        shown = {datetime.fromtimestamp(at / 1000, zone).minute for at in found}
        self.assertEqual({minute}, shown)

    def test_invalid_expressions_are_refused(self) -> None:
        for text, part in (
            ("* * * *", "5 fields"),
            ("* * * * * *", "5 fields"),
            ("0 0 31 2 *", "never fires"),
            ("@daily a b c d", "numbers, names"),
            ("H * * * *", "numbers, names"),
            ("0 0 L * *", "numbers, names"),
            ("0 0 * * foo", "numbers, names"),
        ):
            self.assertIn(part, find_expression_fault(text) or "", text)

    def test_valid_expressions_are_accepted(self) -> None:
        for text in ("0 9 * * mon-fri", "*/15 8-18 1,15 * *", "0 0 29 2 *", "0 0 * * 7"):
            self.assertIsNone(find_expression_fault(text), text)


class IntervalTests(SynchronousTestCase):
    """Counted from the planned time."""

    def test_interval_does_not_drift(self) -> None:
        at = 1_000_000
        for late in (3, 250, 59_000):
            at = find_fire_after_planned(every(1), at, at + late, BERLIN) or 0
        self.assertEqual(1_000_000 + 3 * MINUTE_MS, at)

    def test_missed_intervals_are_skipped(self) -> None:
        found = find_fire_after_planned(every(10), 0, 35 * MINUTE_MS, BERLIN)
        self.assertEqual(40 * MINUTE_MS, found)

    @given(st.integers(1, 525_600), st.integers(0, 10**13), st.integers(0, 10**11))
    def test_next_interval_is_less_than_one_interval_ahead(
        self, minutes: int, planned: int, late: int
    ) -> None:
        found = find_fire_after_planned(every(minutes), planned, planned + late, BERLIN) or 0
        self.assertTrue(planned + late < found <= planned + late + minutes * MINUTE_MS)
        self.assertEqual(0, (found - planned) % (minutes * MINUTE_MS))


class SettledTests(SynchronousTestCase):
    """After the clock was set."""

    def test_due_time_stays_after_a_clock_change(self) -> None:
        self.assertEqual(5, correct_next_fire(daily("09:00"), 5, 0, 10, BERLIN))

    def test_steady_clock_moves_nothing(self) -> None:
        now = ms(2026, 5, 1, 12)
        for schedule in (daily("09:00"), weekly("10:00", 1), cron("*/5 * * * *"), every(7)):
            at = find_next_fire(schedule, now, BERLIN)
            self.assertEqual(
                at, correct_next_fire(schedule, at, now, now + 60_000, BERLIN), schedule
            )

    def test_clock_set_back_an_hour_fires_no_second_time(self) -> None:
        fired = ms(2026, 5, 1, 9)
        tomorrow = find_fire_after_planned(daily("09:00"), fired, fired, BERLIN)
        back = fired - 3_600_000
        self.assertEqual(tomorrow, correct_next_fire(daily("09:00"), tomorrow, fired, back, BERLIN))

    def test_clock_wrong_by_years_is_corrected(self) -> None:
        wrong = ms(2031, 5, 1, 9)
        at = find_fire_after_planned(daily("09:00"), wrong, wrong, BERLIN)
        now = ms(2026, 5, 1, 12)
        self.assertEqual(
            ms(2026, 5, 2, 9), correct_next_fire(daily("09:00"), at, wrong, now, BERLIN)
        )

    def test_interval_waits_at_most_one_interval(self) -> None:
        now = 10 * DAY_MS
        self.assertEqual(
            now + 5 * MINUTE_MS, correct_next_fire(every(5), now + DAY_MS, 0, now, BERLIN)
        )

    def test_one_time_schedule_stays(self) -> None:
        once = JobSchedule(type=ScheduleType.ONCE, run_at=99)
        self.assertEqual(99, correct_next_fire(once, 99, 0, 50, BERLIN))
        self.assertIsNone(find_next_fire(once, 99, BERLIN))
