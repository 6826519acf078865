"""Clients that ask for much and read none of it, against a real daemon."""

from __future__ import annotations

import re
import select
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.integration.harness import PATIENCE, ROOT, DaemonCase
from tests.waiting import wait_until
from tservice.http.transfer.large_responses import MAX_UNREAD_PER_ACCOUNT

pytestmark = pytest.mark.extended

LINES, COLUMNS = 60_000, 200
"""Of a history of 12 MB."""
CLIENTS = 2 * MAX_UNREAD_PER_ACCOUNT // (LINES * COLUMNS)
GROWTH = MAX_UNREAD_PER_ACCOUNT + 160 * 1024 * 1024
"""What is held, with what the last of it is made from, and less than all the answers would be."""
ASKING = 150
"""For a megabyte each."""
STATIC = ROOT / "tservice/static"
STATUS = re.compile(rb"HTTP/1.1 ([0-9]{3}) ")


class UnreadCase(DaemonCase):
    def setUp(self) -> None:
        self.one = self.daemon().start()

    def ask(self, path: str) -> socket.socket:
        """A client that has asked, and has room for next to nothing."""
        where = urlsplit(self.one.url)
        client = socket.socket()
        self.addCleanup(client.close)
        client.settimeout(PATIENCE)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.connect((where.hostname, where.port))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
        return client

    def answered(self, clients: list[socket.socket]) -> list[bytes]:
        """The status of each, once all have one."""
        ready = wait_until(
            "an answer for each",
            lambda: len(found := select.select(clients, [], [], 0)[0]) == len(clients) and found,
            patience=3 * PATIENCE,
        )
        heads = [STATUS.match(each.recv(64)) for each in ready or ()]
        return [head[1] for head in heads if head is not None]

    def memory(self) -> int:
        return int(Path(f"/proc/{self.one.pid}/statm").read_text().split()[1]) * 4096


class UnreadPageTests(UnreadCase):
    """What anybody may ask for."""

    def test_unread_pages_are_streamed_without_buffering(self) -> None:
        asset = max((STATIC / "assets").iterdir(), key=lambda path: path.stat().st_size)
        path = f"/assets/{asset.name}"
        headers = {"Accept-Encoding": "identity"}
        self.assertEqual(asset.read_bytes(), self.one.request("GET", path, headers=headers).body)
        before = self.memory()
        clients = [self.ask(path) for _ in range(ASKING)]
        self.assertEqual([b"200"] * ASKING, self.answered(clients))
        self.assertLess(self.memory() - before, ASKING * asset.stat().st_size // 4)


class UnreadHistoryTests(UnreadCase):
    def setUp(self) -> None:
        super().setUp()
        body = {"mode": "shell", "start": True, "cols": COLUMNS, "rows": 24}
        made = self.one.request("POST", "/api/sessions", body)
        self.path = f"/api/sessions/{made.data()['session']['id']}"
        line = f"seq -f '%0{COLUMNS - 1}.0f' 1 {LINES}; echo do''ne\r"
        self.one.request("POST", f"{self.path}/input", {"input": line})
        self.one.request("GET", f"{self.path}/wait-output?match=done&timeout=60000")

    def read(self) -> int:
        return self.one.request("GET", f"{self.path}/terminal?full=1").status

    def test_memory_for_unread_histories_is_bounded(self) -> None:
        self.assertEqual([200] * 3, [self.read() for _ in range(3)])
        before = self.memory()
        clients = [self.ask(f"{self.path}/terminal?full=1") for _ in range(CLIENTS)]
        told = self.answered(clients)
        self.assertLess(self.memory() - before, GROWTH)
        self.assertEqual({b"200", b"429"}, set(told))
        self.assertLessEqual(told.count(b"200"), MAX_UNREAD_PER_ACCOUNT // (LINES * COLUMNS) + 2)
        self.assertEqual(429, self.read())
        screen = self.one.request("GET", f"{self.path}/terminal")
        self.assertEqual(200, screen.status)
        for each in clients:
            each.close()
        wait_until("room again", lambda: self.read() == 200)
        self.assertNotIn("Traceback", self.one.log)
