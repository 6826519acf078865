"""Assembly of the doctor feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.clis.interfaces import ICliRegistry
from tservice.containers.bridge_probe import BridgeProbe, BridgeProbeResult
from tservice.core.workers.worker_pool import WorkerPool, WorkerPools
from tservice.doctor.model import ReportRow, ToolCategory, ToolStatus, make_fault_row
from tservice.doctor.registry_entries import select_enabled
from tservice.doctor.routes import DoctorRoutes
from tservice.doctor.service import DoctorService
from tservice.http.metrics import MetricSource, Values, make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.store.database import Database


def build_doctor(
    ground: Runtime, *, clis: ICliRegistry, reach: BridgeProbe
) -> FeatureRegistration[DoctorService]:
    """Build the doctor feature, which also adds metrics on the disk and the worker pools.

    The feature needs no start.  Stopping it kills its child processes.
    """

    async def list_own_rows() -> Sequence[ReportRow]:
        return [
            *make_service_fault_rows(ground.database, ground.worker_pools),
            *make_bridge_rows(await reach.probe_bridges()),
        ]

    async def read_login_path() -> str:
        await ground.login_path.wait_known()
        return ground.programs.login_path

    service = DoctorService(
        children=ground.make_child_runner(),
        environ=ground.environ,
        home=ground.home,
        clis=lambda: select_enabled(clis.list_entries()),
        own=list_own_rows,
        login=read_login_path,
    )
    children = make_gauge(
        "doctor_processes", "Running child processes of the doctor.", lambda: service.running
    )
    return FeatureRegistration(
        name="doctor",
        service=service,
        operations=collect_operations(DoctorRoutes(service)),
        measures=[
            children,
            *make_disk_metrics(ground.database),
            *make_pool_metrics(ground.worker_pools),
        ],
        close=service.stop,
    )


def make_disk_metrics(database: Database) -> list[MetricSource]:
    """Return metrics on the disk that holds the data folder."""
    debts = database.deferred_writes
    trouble = "1 while the disk of the data folder rejects writes."
    refused = "Writes rejected by the disk."
    return [
        make_gauge("disk_trouble", trouble, lambda: int(debts.disk_trouble is not None)),
        make_gauge("disk_owed", "Writes deferred until the disk has room.", lambda: len(debts)),
        MetricSource("disk_refusals", refused, lambda: {(): debts.refusals}, grows=True),
    ]


def make_pool_metrics(doors: WorkerPools) -> list[MetricSource]:
    """Return metrics on each worker pool."""

    def read_pool_values(value: Callable[[WorkerPool], float]) -> Callable[[], Values]:
        return lambda: {(door.label,): value(door) for door in doors.all_pools}

    def make_pool_gauge(name: str, text: str, value: Callable[[WorkerPool], float]) -> MetricSource:
        return MetricSource(f"door_{name}", text, read_pool_values(value), ("door",))

    refused = read_pool_values(lambda door: door.refused)
    return [
        make_pool_gauge("threads", "Threads of the worker pool.", lambda door: door.usage.threads),
        make_pool_gauge("busy", "Busy threads.", lambda door: door.usage.busy),
        make_pool_gauge("stuck", "Threads whose work timed out.", lambda door: door.usage.stuck),
        make_pool_gauge("queued", "Jobs waiting for a thread.", lambda door: door.usage.queued),
        make_pool_gauge("oldest_seconds", "Age of the oldest job.", lambda door: door.usage.oldest),
        MetricSource("door_refusals", "Jobs refused or timed out.", refused, ("door",), grows=True),
    ]


def make_service_fault_rows(database: Database, doors: WorkerPools) -> Sequence[ReportRow]:
    """Return rows on faults of the service itself; empty if it has none."""
    rows = [_make_stuck_row(door, door.usage.stuck) for door in doors.all_pools if door.usage.stuck]
    trouble = database.deferred_writes.disk_trouble
    if trouble is not None:
        reason = f"{trouble.reason}: changes are not saved, terminals continue; free some space"
        rows.append(make_fault_row("disk", "Disk of the data folder", reason))
    return rows


def make_bridge_rows(tried: Sequence[BridgeProbeResult]) -> Sequence[ReportRow]:
    """Return one row for each engine, which says if its containers reach the hook listener."""
    return [_bridge_row(each) for each in tried]


def _bridge_row(tried: BridgeProbeResult) -> ReportRow:
    status, reason = ToolStatus.OK, tried.fault
    if reason is not None:
        status = ToolStatus.ERROR
        reason = reason if tried.container is None else f"from {tried.container}: {reason}"
    elif tried.container is None:
        status, reason = ToolStatus.SKIPPED, "it listens; no running container can test it"
    engine = tried.state.engine.value
    return ReportRow(
        id=f"bridge-{engine}",
        label=f"Hooks from containers of {engine}",
        category=ToolCategory.CORE,
        required=False,
        status=status,
        path=tried.state.url,
        reason=reason,
    )


def _make_stuck_row(door: WorkerPool, count: int) -> ReportRow:
    reason = f"{count} threads wait for {door.what}, the oldest for {door.usage.oldest:.0f} s"
    return make_fault_row(f"door-{door.label}", f"Worker pool for {door.label}", reason)
