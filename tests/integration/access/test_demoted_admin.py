"""Rights that end while something is open, on the real daemon."""

from __future__ import annotations

import time
from collections.abc import Mapping
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from tests.integration.harness import PATIENCE, DaemonCase
from tests.unit.http.gate_harness import basic_headers

WORD = "long enough"
ADMIN, MAX = basic_headers("admin", WORD), basic_headers("max", WORD)
SECRET = "zebra of the other"


class DemotedAdminTests(DaemonCase):
    """An admin who watches another's session, and is an admin no more."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=WORD).start()
        body = {"username": "max", "password": WORD, "role": "admin"}
        self.ask("POST", "/api/admin/users", body)
        made = self.ask("POST", "/api/sessions", {"mode": "shell", "start": True})
        self.session = made["session"]["id"]

    def ask(
        self, method: str, path: str, body: Any = None, who: Mapping[str, str] = ADMIN
    ) -> dict[str, Any]:
        found: dict[str, Any] = self.service.request(method, path, body, who).data()
        return found

    def open(self, path: str, headers: Mapping[str, str]) -> HTTPConnection:
        """A request whose answer is not read yet."""
        where = urlsplit(self.service.url)
        connection = HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers=dict(headers))
        return connection

    def until_parked(self, count: int) -> None:
        """Wait until that many waits are held."""
        last = time.monotonic() + PATIENCE
        while time.monotonic() < last:
            text = self.service.request("GET", "/metrics", headers=ADMIN).body.decode()
            if f"parked_waits {count}" in text:
                return
        self.fail(f"not {count} waits are held")

    def test_demoted_admin_receives_nothing_more(self) -> None:
        scopes = ["waits", "events", "sessions:read"]
        made = self.ask("POST", "/api/tokens", {"name": "x", "scopes": scopes}, MAX)
        token = {"Authorization": f"Bearer {made['token']}"}
        path = f"/api/sessions/{self.session}/wait-output?match=zebra&timeout=600000"
        waits = [self.open(path, MAX), self.open(path, token)]
        streams = [self.open("/api/events", headers).getresponse() for headers in (MAX, token)]
        for stream in streams:
            self.assertEqual(200, stream.status)
        self.until_parked(2)

        self.ask("PATCH", "/api/admin/users/max", {"role": "user"})
        answers = [wait.getresponse() for wait in waits]
        self.assertEqual([401, 404], [answer.status for answer in answers])
        typed = {"input": f"echo {SECRET}\r", "useMux": False}
        self.ask("POST", f"/api/sessions/{self.session}/input", typed)
        self.ask("GET", f"/api/sessions/{self.session}/wait-output?match=zebra&from=buffer")
        for answer in (*answers, *streams):
            # They end, and what came of them was from before.
            self.assertNotIn(SECRET.encode(), answer.read())
