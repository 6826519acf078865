"""A shell on a host that is there or not, for what is typed meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred

from tests.unit.sessions.harness import SessionCase, SessionHarness
from tservice.core.kernel.errors import make_failure_error
from tservice.core.kernel.event_payloads import OccurrencePayload
from tservice.core.kernel.events import Event, EventName
from tservice.core.locations.local_locations import OwnLocationProvider
from tservice.core.locations.location import OWN_LOCATION, LocationId, LocationKind, LocationOutage
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import InputDelivery
from tservice.sessions.record.model import RemoteTarget, SessionLocationKind

KEPT = InputDelivery(delivered=False, buffered=True)


class OfflineHost:
    """A host, which is there or not.

    @ivar wishes: how often somebody wanted it.
    @ivar waking: fires or fails when the test says so.
    """

    def __init__(self) -> None:
        self.there = True
        self.wishes = 0
        self.waking: Deferred[None] | None = None

    def find_outage(self, known: LocationId) -> LocationOutage | None:
        return None if self.there else LocationOutage(title="Far")

    def request_connection(self, known: LocationId) -> None:
        self.wishes += 1


@frozen
class FarPlaces(OwnLocationProvider):
    """Places behind it."""

    far: OfflineHost

    async def refresh_if_reachable(self, known: LocationId) -> None:
        if not self.far.there:
            raise make_failure_error("Far is out of reach")

    async def prepare_location(self, known: LocationId) -> None:
        if not self.far.there:
            self.far.waking = Deferred()
            await self.far.waking


class OfflineHostHarness(SessionHarness):
    """With a host behind it."""

    def __init__(self, *arguments: Any) -> None:
        self.far = OfflineHost()
        super().__init__(*arguments)

    def ground(self, **given: Any) -> Runtime:
        ground = super().ground(**given)
        places = FarPlaces(ground.locations.find_earlier_location(OWN_LOCATION), self.far)
        ground.locations.register_provider(LocationKind.REMOTE, places, way=self.far)
        return ground


class OfflineHostCase(SessionCase):
    """A shell on a host that is away."""

    machine: OfflineHostHarness

    def setUp(self) -> None:
        self.machine = OfflineHostHarness(Path(self.mktemp()).absolute(), self.program)
        self.clock, self.host = self.machine.clock, self.machine.host
        self.run_now(self.sessions.load_and_adopt_sessions())
        self.far = self.machine.far
        self.session = self.shell()
        remote = RemoteTarget(host_id="h", name="", owned=True)
        self.sessions.update_record(
            self.session.id, location=SessionLocationKind.REMOTE, remote=remote
        )
        self.far.there = False

    def send(self, text: str, seq: int | None = None, **more: Any) -> InputDelivery:
        fields = {"client_id": "c", "seq": seq, "may_wait": True, "use_mux": False, **more}
        return self.successResultOf(self.type(self.session, text, **fields))

    def back(self) -> None:
        """The host is there again, and its way tells of it."""
        self.far.there = True
        told = OccurrencePayload(id=self.session.id, at=1)
        name = EventName.REMOTE_SESSION_RECONNECTED
        self.machine.hub.publish(Event(name=name, payload=told, session_id=self.session.id))

    @property
    def typed(self) -> bytes:
        return bytes(self.pane(self.session).typed)
