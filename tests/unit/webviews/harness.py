"""Web tabs in a whole service, with targets that a test plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.security.harness import SecurityHarness
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tests.unit.http.websockets.ws_frames import UPGRADE
from tservice.webviews.routes.upstream import TargetConnector


class TabCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.world = SecurityHarness()
        self.addCleanup(self.world.close)
        # Nothing can be connected to from here.
        self.world.clock.nameResolver = None  # type: ignore[attr-defined]
        self.world.populate()
        self.targets: list[Any] = []

    def connected(self) -> None:
        """Have targets that can be connected to: they say what a test has them say."""

        async def connect(
            upstream: TargetConnector, target: object, protocol: Callable[[], Any], *rest: object
        ) -> Any:
            made = protocol()
            made.makeConnection(MemoryTransport())
            self.targets.append(made)
            return made

        self.patch(TargetConnector, "connect", connect)

    def call(self, method: str, path: str = "", body: Any = None, name: str = "ann") -> Any:
        return self.world.good(name, method, f"/api/webviews{path}", body)

    def make(self, **more: Any) -> dict[str, Any]:
        body = {"name": "app", "url": "http://127.0.0.1:5173/x", **more}
        found: dict[str, Any] = self.call("POST", "", body)["webview"]
        return found

    def status(self, method: str, path: str, body: Any = None, name: str = "ann") -> int:
        cookie = {"Cookie": self.world.cookies[name]}
        return self.world.ask(method, path, body, cookie).status

    def call_logout(self) -> None:
        cookie = {"Cookie": self.world.cookies["ann"]}
        self.assertEqual(200, self.world.ask("POST", "/api/logout", None, cookie).status)

    def socket(self, path: str) -> SiteConnection:
        """A WebSocket of the tab's page that its target took."""
        opened = self.request(path, **UPGRADE, Origin="http://localhost")
        accept = b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        self.targets[-1].dataReceived(b"HTTP/1.1 101 Yes\r\n%b\r\n\r\n" % accept)
        self.assertTrue(opened.value().startswith(b"HTTP/1.1 101 "), opened.value())
        return opened

    def request(self, path: str, **headers: str) -> SiteConnection:
        """One whose target was asked, and says nothing yet."""
        connection = SiteConnection(self.world.site, MemoryTransport())
        self.addCleanup(connection.lose)
        connection.send(request_head("GET", path, headers))
        self.assertIn(b"GET /x HTTP/1.1", self.targets[-1].transport.value())
        return connection

    def opened(self) -> SiteConnection:
        """A request of a tab whose target was asked."""
        self.connected()
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        return self.request(path)
