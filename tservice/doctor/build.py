"""Assembly of the doctor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.clis.interfaces import ICliRegistry
from tservice.containers.bridge_probe import BridgeProbe, BridgeProbeResult
from tservice.core.doors.worker_pool import WorkerPool, WorkerPools
from tservice.doctor.model import Category, Row, ToolStatus, ailment
from tservice.doctor.registered import registered
from tservice.doctor.routes import DoctorRoutes
from tservice.doctor.service import DoctorService
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.metrics import MetricSource, Values, make_gauge
from tservice.store.database import Database


def build_doctor(
    ground: Ground, *, clis: ICliRegistry, reach: BridgeProbe
) -> Feature[DoctorService]:
    """Build the doctor; it needs no start, and its stop kills its child processes.

    The metrics also report the disk and the worker pools.
    """

    async def own() -> Sequence[Row]:
        return [*ailments(ground.database, ground.doors), *bridge_rows(await reach.probe_bridges())]

    async def login() -> str:
        await ground.login.wait_known()
        return ground.programs.login_path

    service = DoctorService(
        clock=ground.reactor,
        processes=ground.reactor,
        environ=ground.environ,
        home=ground.home,
        clis=lambda: registered(clis.list_entries()),
        own=own,
        login=login,
    )
    children = make_gauge("doctor_processes", "Doctor's children running.", lambda: service.running)
    return Feature(
        name="doctor",
        service=service,
        operations=DoctorRoutes(service).operations(),
        measures=[children, *disk_measures(ground.database), *door_measures(ground.doors)],
        close=service.stop,
    )


def disk_measures(database: Database) -> list[MetricSource]:
    """Return the metrics of the data folder's disk."""
    debts = database.deferred_writes
    trouble = "1 while the data folder's disk refuses writes."
    refused = "Writes that the disk refused."
    return [
        make_gauge("disk_trouble", trouble, lambda: int(debts.disk_trouble is not None)),
        make_gauge("disk_owed", "Writes deferred until the disk has room.", lambda: len(debts)),
        MetricSource("disk_refusals", refused, lambda: {(): debts.refusals}, grows=True),
    ]


def door_measures(doors: WorkerPools) -> list[MetricSource]:
    """Return the metrics of each worker pool."""

    def of_each(value: Callable[[WorkerPool], float]) -> Callable[[], Values]:
        return lambda: {(door.label,): value(door) for door in doors.all_pools}

    def gauge(name: str, text: str, value: Callable[[WorkerPool], float]) -> MetricSource:
        return MetricSource(f"door_{name}", text, of_each(value), ("door",))

    refused = of_each(lambda door: door.refused)
    return [
        gauge("threads", "Threads of the worker pool.", lambda door: door.usage.threads),
        gauge("busy", "Threads that are working.", lambda door: door.usage.busy),
        gauge("stuck", "Threads whose work timed out.", lambda door: door.usage.stuck),
        gauge("queued", "Jobs that wait for a thread.", lambda door: door.usage.queued),
        gauge("oldest_seconds", "Age of the oldest job.", lambda door: door.usage.oldest),
        MetricSource("door_refusals", "Jobs refused or timed out.", refused, ("door",), grows=True),
    ]


def ailments(database: Database, doors: WorkerPools) -> Sequence[Row]:
    """Return the report's rows on faults of the service itself; none if it is healthy."""
    rows = [_stuck(door, door.usage.stuck) for door in doors.all_pools if door.usage.stuck]
    trouble = database.deferred_writes.disk_trouble
    if trouble is not None:
        reason = f"{trouble.reason}: changes are not saved, terminals continue; free some space"
        rows.append(ailment("disk", "Disk of the data folder", reason))
    return rows


def bridge_rows(tried: Sequence[BridgeProbeResult]) -> Sequence[Row]:
    """Return rows that say, by engine, if containers reach the listener for their hooks."""
    return [_bridge_row(each) for each in tried]


def _bridge_row(tried: BridgeProbeResult) -> Row:
    status, reason = ToolStatus.OK, tried.fault
    if reason is not None:
        status = ToolStatus.ERROR
        reason = reason if tried.container is None else f"from {tried.container}: {reason}"
    elif tried.container is None:
        status, reason = ToolStatus.SKIPPED, "it listens; no running container can test it"
    engine = tried.state.engine.value
    return Row(
        id=f"bridge-{engine}",
        label=f"Hooks from containers of {engine}",
        category=Category.CORE,
        required=False,
        status=status,
        path=tried.state.url,
        reason=reason,
    )


def _stuck(door: WorkerPool, count: int) -> Row:
    reason = f"{count} threads wait for {door.what}, the oldest for {door.usage.oldest:.0f} s"
    return ailment(f"door-{door.label}", f"Worker pool for {door.label}", reason)
