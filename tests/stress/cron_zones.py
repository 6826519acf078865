"""Every zone of tzdata, every day of 2026 to 2035: a daily job fires once a day, a weekly likewise.

C{python -m tests.stress.cron_zones --times 4 --seed 1}; also C{python -m bench cronzones}.  The
times of day are midnight, one that Europe's clock change skips, and random ones beside; for each
zone the times that its own changes skip and repeat are added.
"""

from __future__ import annotations

import itertools
import random
import sys
import time as clock
from datetime import UTC, datetime, time
from importlib.resources import files
from zoneinfo import ZoneInfo

from tests.stress.command import report
from tests.unit.cron.zone_judge import (
    FIRST,
    LAST,
    OffsetStretch,
    check_fires,
    every_zone,
    span_of,
    zone_stretches,
)

ALWAYS = (time(0, 0), time(2, 30))


def distinct_zones() -> list[str]:
    """One name of each set of rules: many names are links."""
    seen: dict[bytes, str] = {}
    for name in every_zone():
        rules = files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
        seen.setdefault(rules, name)
    return sorted(seen.values())


def own_times(spans: list[OffsetStretch], dice: random.Random) -> set[time]:
    """Two times of day that changes of these stretches skip or repeat."""
    changed = sorted(
        datetime.fromtimestamp(at + ahead + 900, UTC).time().replace(second=0)
        for before, after in itertools.pairwise(spans)
        for at, ahead in ((after.begin, min(before.ahead, after.ahead)),)
    )
    return set(dice.sample(changed, min(2, len(changed))))


def sweep_zones(times: int, seed: int) -> dict[str, float]:
    """Look at everything; the figures.

    @raise AssertionError: a local day had no fire, two, or one at another time than decided.
    """
    dice = random.Random(seed)
    begun = clock.perf_counter()
    zones, fires, jobs = distinct_zones(), 0, 0
    for name in zones:
        spans = zone_stretches(ZoneInfo(name), *span_of(FIRST, LAST))
        wanted = {*ALWAYS[:times], *own_times(spans, dice)}
        while len(wanted) < times:
            wanted.add(time(dice.randrange(24), dice.randrange(60)))
        for one in sorted(wanted):
            fires += check_fires(name, one, spans=spans)
            days = dice.sample(range(7), dice.randint(1, 6))
            fires += check_fires(name, one, weekdays=days, spans=spans)
            jobs += 2
    took = clock.perf_counter() - begun
    return {"zones": len(zones), "jobs": jobs, "fires": fires, "seconds": round(took, 1)}


if __name__ == "__main__":
    sys.exit(report(__doc__, sweep_zones, "times", 4))
