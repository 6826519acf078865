"""Putting the feature together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess, IReactorTime

from tservice.clis.interfaces import ICliRegistry
from tservice.doctor.model import Row
from tservice.doctor.registered import registered
from tservice.doctor.routes import DoctorRoutes
from tservice.doctor.service import DoctorService

if TYPE_CHECKING:
    from tservice.http.operations import Operation


@frozen(kw_only=True)
class Doctor:
    """The parts; C{stop} belongs to the end of the program."""

    service: DoctorService
    routes: DoctorRoutes

    def operations(self) -> list[Operation]:
        """The routes, for the table."""
        return self.routes.operations()

    def stop(self) -> Deferred[list[None]]:
        """End what is under way."""
        return self.service.stop()


def build_doctor(
    *,
    clock: IReactorTime,
    processes: IReactorProcess,
    environ: Mapping[str, str],
    home: Path,
    clis: ICliRegistry,
    own: Callable[[], Sequence[Row]] = tuple,
) -> Doctor:
    """Make the feature; it needs no start.

    @param environ: the service's own; C{PATH} says where tools are.
    @param own: see L{DoctorService}.
    """
    service = DoctorService(
        clock=clock,
        processes=processes,
        environ=environ,
        home=home,
        clis=lambda: registered(clis.entries()),
        own=own,
    )
    return Doctor(service=service, routes=DoctorRoutes(service))
