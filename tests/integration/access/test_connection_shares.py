"""Connections that one account, or nobody who is known, holds on to (protocol-auth)."""

from __future__ import annotations

import socket
from contextlib import closing
from urllib.parse import urlsplit

from tests.integration.access.harness import ADMIN, BOB, WORD
from tests.integration.harness import DaemonCase, DaemonHarness
from tests.waiting import PATIENCE

ROOM = 60
KEPT = 656
"""Descriptors of the daemon that are kept back for sessions, web tabs and the rest."""
FILES = ROOM + KEPT


class FewFiles(DaemonHarness):
    """A daemon that may have no more descriptors."""

    def wrapped(self, command: list[str]) -> list[str]:
        return ["prlimit", f"--nofile={FILES}:{FILES}", *command]


class ConnectionShareTests(DaemonCase):
    def setUp(self) -> None:
        super().setUp()
        self.service = FewFiles(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=WORD)
        self.addCleanup(self.service.close)
        self.service.start()
        body = {"username": "bob", "password": WORD, "canBypassPermissions": True}
        self.service.request("POST", "/api/admin/users", body, ADMIN).data()

    def send(self, head: str) -> socket.socket:
        where = urlsplit(self.service.url)
        made = socket.create_connection((where.hostname, where.port), timeout=PATIENCE)
        self.addCleanup(made.close)
        made.sendall(f"{head}\r\n\r\n".encode())
        return made

    def assertServed(self, who: dict[str, str]) -> None:
        for _ in range(3):
            self.assertEqual(200, self.service.request("GET", "/api/me", headers=who).status)

    def test_log_warns_of_few_connections(self) -> None:
        self.assertIn(
            f"only {ROOM} connections at a time: ulimit -n allows {FILES} descriptors",
            self.service.log,
        )

    def test_account_with_silent_web_tabs_leaves_room_for_others(self) -> None:
        with closing(socket.create_server(("127.0.0.1", 0), backlog=ROOM)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            tab = {"name": "silent", "url": url}
            made = self.service.request("POST", "/api/webviews", tab, BOB).data()["webview"]
            path = f"/api/webviews/{made['id']}/open"
            opened = self.service.request("POST", path, headers=BOB).data()["embedUrl"]
            asked = [self.send(f"GET {opened} HTTP/1.1\r\nHost: localhost") for _ in range(ROOM)]
            self.assertServed(ADMIN)
            refused = asked[-1].recv(100)
        self.assertTrue(refused.startswith(b"HTTP/1.1 429 "), refused)

    def test_refused_connections_kept_open_leave_room_for_users(self) -> None:
        head = (
            "GET /ws/voice/stream HTTP/1.1\r\nHost: elsewhere\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
        )
        for _ in range(ROOM + 9):
            self.assertTrue(self.send(head).recv(100).startswith(b"HTTP/1.1 101 "))
        self.assertServed(ADMIN)
        self.assertServed(BOB)
