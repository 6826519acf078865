"""What ails the host and the service, put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.clis.interfaces import ICliRegistry
from tservice.containers.reach import Reach, Tried
from tservice.core.doors.threads import Door, Doors
from tservice.doctor.model import Category, Row, ToolStatus, ailment
from tservice.doctor.registered import registered
from tservice.doctor.routes import DoctorRoutes
from tservice.doctor.service import DoctorService
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.metrics import Measure, Values, number
from tservice.store.database import Database


def build_doctor(ground: Ground, *, clis: ICliRegistry, reach: Reach) -> Feature[DoctorService]:
    """The doctor; it needs no start, and a stop ends its children.

    The disk and the doors are told of by the metrics, too.
    """

    async def own() -> Sequence[Row]:
        return [*ailments(ground.database, ground.doors), *bridge_rows(await reach.look())]

    async def login() -> str:
        await ground.login.read()
        return ground.programs.login_path

    service = DoctorService(
        clock=ground.reactor,
        processes=ground.reactor,
        environ=ground.environ,
        home=ground.home,
        clis=lambda: registered(clis.entries()),
        own=own,
        login=login,
    )
    children = number("doctor_processes", "Doctor's children running.", lambda: service.running)
    return Feature(
        name="doctor",
        service=service,
        operations=DoctorRoutes(service).operations(),
        measures=[children, *disk_measures(ground.database), *door_measures(ground.doors)],
        close=service.stop,
    )


def disk_measures(database: Database) -> list[Measure]:
    """How the disk of the data folder stands."""
    debts = database.debts
    trouble = "Whether the data folder's disk takes nothing."
    refused = "Writes that the disk refused."
    return [
        number("disk_trouble", trouble, lambda: int(debts.trouble is not None)),
        number("disk_owed", "Changes that wait for the disk.", lambda: len(debts)),
        Measure("disk_refusals", refused, lambda: {(): debts.refusals}, grows=True),
    ]


def door_measures(doors: Doors) -> list[Measure]:
    """How each door stands."""

    def of_each(value: Callable[[Door], float]) -> Callable[[], Values]:
        return lambda: {(door.label,): value(door) for door in doors.all}

    def gauge(name: str, text: str, value: Callable[[Door], float]) -> Measure:
        return Measure(f"door_{name}", text, of_each(value), ("door",))

    refused = of_each(lambda door: door.refused)
    return [
        gauge("threads", "Threads behind a door.", lambda door: door.state.threads),
        gauge("busy", "Work that threads do.", lambda door: door.state.busy),
        gauge("stuck", "Threads whose work was given up.", lambda door: door.state.stuck),
        gauge("queued", "Work that waits for a thread.", lambda door: door.state.queued),
        gauge("oldest_seconds", "Age of the oldest work.", lambda door: door.state.oldest),
        Measure("door_refusals", "Work refused or given up.", refused, ("door",), grows=True),
    ]


def ailments(database: Database, doors: Doors) -> Sequence[Row]:
    """The doctor's rows on the service itself; none where all is well."""
    rows = [_stuck(door, door.state.stuck) for door in doors.all if door.state.stuck]
    trouble = database.debts.trouble
    if trouble is not None:
        reason = f"{trouble.reason}: nothing new is kept, terminals go on; make room"
        rows.append(ailment("disk", "Disk of the data folder", reason))
    return rows


def bridge_rows(tried: Sequence[Tried]) -> Sequence[Row]:
    """Whether containers reach the listener for their hooks, by engine."""
    return [_bridge_row(each) for each in tried]


def _bridge_row(tried: Tried) -> Row:
    status, reason = ToolStatus.OK, tried.fault
    if reason is not None:
        status = ToolStatus.ERROR
        reason = reason if tried.container is None else f"from {tried.container}: {reason}"
    elif tried.container is None:
        status, reason = ToolStatus.SKIPPED, "it listens; no container runs that could try it"
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


def _stuck(door: Door, count: int) -> Row:
    reason = f"{count} threads wait for {door.what}, the oldest for {door.state.oldest:.0f} s"
    return ailment(f"door-{door.label}", f"Door for {door.label}", reason)
