"""Waking a host by request, with and without a session on it (protocol-wake)."""

from __future__ import annotations

from typing import Any

from attrs import evolve, frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.hosts.fakes import FakeMaster
from tests.unit.http.site_driver import ApiHarness, parse_http_answer, request_head
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.locations.location import LocationId, LocationKind
from tservice.hosts.connection import HostConnection
from tservice.hosts.model import RemoteHost
from tservice.hosts.routes import HostRoutes
from tservice.hosts.wake_signals import WakeError
from tservice.hosts.waking import HostWakeService
from tservice.http.operation_decorator import collect_operations

HOST = RemoteHost(id="h", label="H", host="h.lan", username="me", wake_command="/bin/wake")


@frozen
class FakeLink:
    """The way to a host, of its real parts."""

    host: RemoteHost
    connection: HostConnection
    waker: HostWakeService


class FakeHosts:
    """One host; stands for the service, its book and its links.

    @ivar ringing: what wakes it is done when the test says so.
    """

    def __init__(self, clock: Clock, host: RemoteHost) -> None:
        self.registry = self.links = self
        self.host, self.master, self.ringing = host, FakeMaster(), Deferred[None]()
        way = HostConnection(clock, "there", lambda: self.master, lambda: False)
        self.link = FakeLink(host, way, HostWakeService(clock, host, way, self, self.answers, self))

    def get_host(self, host_id: str) -> RemoteHost:
        if host_id != self.host.id:
            raise make_not_found_error(f"Remote host {host_id}")
        return self.host

    def find_or_create_link(self, host_id: str) -> FakeLink | None:
        return self.link if host_id == self.host.id else None

    async def send_wake(self, host: RemoteHost) -> None:
        await self.ringing

    async def answers(self, host: RemoteHost) -> bool:
        return True

    def host_waking(self, method: str) -> None:
        """It is told of by events."""

    def host_wake_failed(self, reason: str) -> None:
        """It is told of by events."""


class WakeTests(SynchronousTestCase):
    """C{POST} wake, of a session's host and of a host itself."""

    def serve(self, host: RemoteHost = HOST) -> None:
        clock = Clock()
        self.hosts = FakeHosts(clock, host)
        service: Any = self.hosts
        routes = HostRoutes(service, lambda _: LocationId(kind=LocationKind.REMOTE, name="h"))
        self.api = ApiHarness(collect_operations(routes), clock=clock)
        self.addCleanup(self.api.close)

    def wake(self, path: str) -> Any:
        connection = self.api.connect()
        connection.send(request_head("POST", path, {}))
        return connection

    def test_host_is_woken_and_reached(self) -> None:
        for path in ("/api/remote-hosts/h/wake", "/api/sessions/s/wake"):
            self.serve()
            asked = self.wake(path)
            self.hosts.ringing.callback(None)
            self.assertEqual(b"", asked.value(), "it is not reached yet")
            self.hosts.master.opening.callback(None)
            self.assertEqual(
                {"woke": True, "reachable": True, "wakeConfigured": "command"},
                parse_http_answer(asked.value()).data,
            )

    def test_failed_wake_gives_its_reason(self) -> None:
        self.serve()
        asked = self.wake("/api/remote-hosts/h/wake")
        self.hosts.ringing.errback(WakeError("wakeCommand ended with status 1"))
        self.assertEqual(
            {"woke": False, "reachable": False, "wakeConfigured": "command",
             "error": "wakeCommand ended with status 1"},
            parse_http_answer(asked.value()).data,
        )  # fmt: skip

    def test_host_without_wake_settings_is_refused(self) -> None:
        self.serve(evolve(HOST, wake_command=None))
        for path, status, said in (
            ("/api/remote-hosts/none/wake", 404, "Remote host none"),
            ("/api/remote-hosts/h/wake", 400, "id: no wake method is configured for this host"),
            ("/api/sessions/s/wake", 400, "id: no wake method is configured for the host of"),
        ):
            found, _, text = parse_http_answer(self.wake(path).value()).error
            self.assertEqual(status, found, path)
            self.assertIn(said, text)
