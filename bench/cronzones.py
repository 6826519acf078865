"""Local time rules over every zone and day, and what one next fire costs.

A daily job must fire once each local day of 2026 to 2035 in every zone of tzdata; the sweep raises
where it does not.  The cost is beside that of one aware C{datetime} made and converted to UTC,
which is the least that any answer takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

from bench.report import Row
from tests.integration.harness import DaemonHarness
from tests.stress.cron_zones import sweep_zones
from tservice.cron.fire_times import find_next_fire
from tservice.cron.model import JobSchedule, ScheduleType

BERLIN = ZoneInfo("Europe/Berlin")
ROUNDS = 2000
START = 1_800_000_000_000


def run(daemon: DaemonHarness) -> list[Row]:
    """Both; the daemon is not needed."""
    figures = sweep_zones(4, 1)
    plain = _each(_convert)
    schedules = {
        "daily": JobSchedule(type=ScheduleType.DAILY, daily_time="02:30"),
        "weekly": JobSchedule(type=ScheduleType.WEEKLY, weekly_time="02:30", weekly_days=(1,)),
        "cron": JobSchedule(type=ScheduleType.CRON, cron_expression="30 2 * * 1-5"),
    }
    rows = [
        Row(
            name=f"{figures['fires']:g} fires in {figures['zones']:g} zones, judged, each",
            ours=figures["seconds"] / figures["fires"] * 1e6,
            peer=plain,
            unit="us",
            against="one conversion",
        )
    ]
    for name, schedule in schedules.items():
        ours = _each(partial(_fire, schedule))
        rows.append(
            Row(
                name=f"next fire, {name}",
                ours=ours,
                peer=plain,
                unit="us",
                against="one conversion",
            )
        )
    return rows


def _fire(schedule: JobSchedule, at: int) -> object:
    return find_next_fire(schedule, at, BERLIN)


def _convert(at: int) -> object:
    return datetime.fromtimestamp(at / 1000, BERLIN).astimezone(UTC)


def _each(work: Callable[[int], object]) -> float:
    """Microseconds of one call."""
    begun = time.perf_counter()
    for number in range(ROUNDS):
        work(START + number * 3_600_000)
    return (time.perf_counter() - begun) / ROUNDS * 1e6
