"""A world with a tunnel that is up."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.fakes.child_processes import FakeTransport
from tests.security.attack_harness import AttackCase
from tests.security.harness import SecurityAnswer, SecurityHarness, cookie_of
from tests.unit.http.site_driver import MemoryTransport, SiteConnection
from tservice.core.net.listening import PortListener

URL = "https://tunnel.example.org"


HOST = "tunnel.example.org"


NO_PROCESS = 2**30
"""A process id that no kernel gives out: what is sent to its group reaches nobody."""


WRONG = "Unauthorized: this code is used or expired; scan the current one"


class TunnelProgram(FakeTransport):
    """The tunnel's program: ends when it is told to."""

    def __init__(self, protocol: Any, world: SecurityHarness) -> None:
        super().__init__(protocol, NO_PROCESS)
        self._clock = world.clock

    def signalProcess(self, number: int) -> None:
        super().signalProcess(number)
        self._clock.callLater(0, self.finish, None, number)


def scanned_page(entered: SecurityAnswer) -> dict[str, str]:
    """What the page shows that a scanned code leads to."""
    key = entered.headers["location"].partition("#key=")[2]
    return {"Cookie": cookie_of(entered), "X-Service-Key": f"qr-{key}"}


class SecurityTunnelCase(AttackCase):
    """A tunnel that is up."""

    config: dict[str, Any] = {"tunnel_command": sys.executable}

    def populate(self) -> None:
        super().populate()
        self.programs: list[TunnelProgram] = []
        self.patch(self.world.clock, "spawnProcess", self.spawn)
        self.patch(PortListener, "get_local_url", lambda *_: "http://127.0.0.1:8770")
        self.up()

    def spawn(self, protocol: Any, *args: Any, **rest: Any) -> TunnelProgram:
        program = TunnelProgram(protocol, self.world)
        self.programs.append(program)
        protocol.makeConnection(program)
        return program

    def up(self) -> None:
        """Start it through the front door."""
        connection = SiteConnection(self.world.site, MemoryTransport("10.8.8.8"))
        self.addCleanup(connection.lose)
        cookie = self.world.cookies["root"]
        head = f"POST /api/tunnel/start HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
        connection.send(head.encode())
        protocol: Any = self.programs[-1].protocol
        protocol.outReceived(f"{URL}\n".encode())
        self.assertIn(b"200 OK", connection.value())

    def code(self, name: str = "root") -> str:
        shown = self.world.good(name, "GET", "/api/tunnel/qr")
        self.assertTrue(shown["url"].startswith(f"{URL}/q/"))
        return str(shown["url"].rpartition("/")[2])

    def enter(self, word: str, address: str | None = None, **headers: str) -> SecurityAnswer:
        return self.ask("GET", f"/q/{word}", headers={"Host": HOST, **headers}, address=address)

    def who(self, entered: SecurityAnswer) -> str:
        self.assertEqual(302, entered.status, entered)
        found = self.ask("GET", "/api/me", headers=scanned_page(entered))
        return str(json.loads(found.body)["data"]["username"])

    def refused(self, entered: SecurityAnswer) -> None:
        self.assertEqual((401, WRONG), (entered.status, entered.body))
        self.assertNotIn("set-cookie", entered.headers)
        self.assertNotIn("www-authenticate", entered.headers)
