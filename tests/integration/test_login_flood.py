"""A flood of wrong passwords for a known name, in multi-user mode, against a real daemon."""

from __future__ import annotations

import json
import threading
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.integration.harness import DaemonCase
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.extended

PASSWORD = "correct-horse-battery"
FLOODERS = 24
LOGINS = 5
GROWTH = 128 * 1024 * 1024


class LoginFloodTests(DaemonCase):
    """Each flooder has an address of its own on loopback, and so has the user."""

    def setUp(self) -> None:
        self.one = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=PASSWORD).start()
        self.over = threading.Event()
        self.tried = [0] * FLOODERS
        self.addCleanup(self.over.set)

    def ask(self, address: str, method: str, path: str, body: object = None) -> int:
        where = urlsplit(self.one.url)
        client = HTTPConnection(
            str(where.hostname), where.port, timeout=PATIENCE, source_address=(address, 0)
        )
        try:
            client.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            return client.getresponse().status
        finally:
            client.close()

    def login(self, address: str, password: str) -> int:
        body = {"username": "admin", "password": password}
        return self.ask(address, "POST", "/api/login", body)

    def flood(self, number: int) -> None:
        while not self.over.is_set():
            try:
                self.login(f"127.0.1.{number + 1}", f"wrong{self.tried[number]}")
            except OSError:
                continue
            self.tried[number] += 1

    def memory(self) -> int:
        return int(Path(f"/proc/{self.one.pid}/statm").read_text().split()[1]) * 4096

    def test_known_address_can_log_in_during_a_flood(self) -> None:
        for number in range(LOGINS):
            self.assertEqual(200, self.login(f"127.0.2.{number + 1}", PASSWORD))
        before = self.memory()
        flooders = [
            threading.Thread(target=self.flood, args=(n,), daemon=True) for n in range(FLOODERS)
        ]
        for each in flooders:
            each.start()
        for number in range(LOGINS):
            self.assertEqual(200, self.login(f"127.0.2.{number + 1}", PASSWORD))
            self.assertEqual(200, self.ask("127.0.2.1", "GET", "/healthz"))
        self.assertEqual(429, self.login("127.0.3.1", PASSWORD))
        # However fast the user came in, it was beside a flood.
        wait_until("the flood", lambda: sum(self.tried) > FLOODERS)
        self.over.set()
        for each in flooders:
            each.join(PATIENCE)
            self.assertFalse(each.is_alive())
        self.assertLess(self.memory() - before, GROWTH)
        self.assertNotIn("Traceback", self.one.log)
