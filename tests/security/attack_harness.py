"""A service with people in it, for tests of attacks."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.security.harness import SecurityAnswer, SecurityHarness
from tests.unit.http.site_driver import MemoryTransport, SiteConnection


class AttackCase(SynchronousTestCase):
    """A multi-user service with people in it."""

    config: dict[str, Any] = {}

    def setUp(self) -> None:
        self.world = SecurityHarness(**self.config)
        self.addCleanup(self.world.close)
        self.populate()
        self.before = self.world.snapshot()

    def populate(self) -> None:
        self.world.populate()

    def cookie(self, name: str = "root", **headers: str) -> dict[str, str]:
        return {"Cookie": self.world.cookies[name], **headers}

    def ask(self, method: str, path: str, body: object = None, **rest: Any) -> SecurityAnswer:
        return self.world.ask(method, path, body, **rest)

    def raw(self, data: bytes, address: str = "10.9.9.9") -> bytes:
        """What comes back for exactly these bytes."""
        connection = SiteConnection(self.world.site, MemoryTransport(address))
        self.addCleanup(connection.lose)
        connection.send(data)
        return connection.value()

    def assertNoEffect(self) -> None:
        self.assertEqual(self.before, self.world.snapshot())
