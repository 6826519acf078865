"""What ails the service itself: told by the metrics and by the doctor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.core.doors.threads import Door, Doors
from tservice.doctor.model import Row, ailment
from tservice.http.metrics import Metrics, Values
from tservice.store.database import Database


def measure_health(metrics: Metrics, database: Database, doors: Doors) -> None:
    """Add the disk and the doors to the metrics."""
    measure_doors(metrics, doors)
    debts = database.debts
    metrics.count(
        "disk_trouble",
        "Whether the data folder's disk takes nothing.",
        lambda: int(debts.trouble is not None),
    )
    metrics.count("disk_owed", "Changes that wait for the disk.", lambda: len(debts))
    metrics.counter("disk_refusals", "Writes that the disk refused.", lambda: {(): debts.refusals})


def measure_doors(metrics: Metrics, doors: Doors) -> None:
    """Add how each door stands."""

    def gauge(name: str, text: str, value: Callable[[Door], float]) -> None:
        def values() -> Values:
            return {(door.label,): value(door) for door in doors.all}

        metrics.gauge(f"door_{name}", text, values, ["door"])

    gauge("threads", "Threads behind a door.", lambda door: door.state.threads)
    gauge("busy", "Work that threads do.", lambda door: door.state.busy)
    gauge("stuck", "Threads whose work was given up.", lambda door: door.state.stuck)
    gauge("queued", "Work that waits for a thread.", lambda door: door.state.queued)
    gauge("oldest_seconds", "Age of the oldest work.", lambda door: door.state.oldest)

    def refused() -> Values:
        return {(door.label,): door.refused for door in doors.all}

    metrics.counter("door_refusals", "Work refused or given up.", refused, ["door"])


def ailments(database: Database, doors: Doors) -> Sequence[Row]:
    """The doctor's rows; none where all is well."""
    rows = [_stuck(door, door.state.stuck) for door in doors.all if door.state.stuck]
    trouble = database.debts.trouble
    if trouble is not None:
        reason = f"{trouble.reason}: nothing new is kept, terminals go on; make room"
        rows.append(ailment("disk", "Disk of the data folder", reason))
    return rows


def _stuck(door: Door, count: int) -> Row:
    reason = f"{count} threads wait for {door.what}, the oldest for {door.state.oldest:.0f} s"
    return ailment(f"door-{door.label}", f"Door for {door.label}", reason)
