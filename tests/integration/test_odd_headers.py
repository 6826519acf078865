"""Bytes in a header that are no UTF-8, sent to the real daemon."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from tests.integration.harness import PATIENCE, DaemonCase
from tests.unit.http.websockets.ws_frames import UPGRADE


class OddHeaderTests(DaemonCase):
    """Over a plain socket: clients' libraries do not send such things."""

    def setUp(self) -> None:
        self.running = self.daemon().start()
        where = urlsplit(self.running.url)
        self.address = (str(where.hostname), where.port)

    def ask(self, method: str, path: str, **headers: bytes) -> bytes:
        """The head of the answer, and the body of one that ends by itself."""
        named = {b"Host": b"localhost", b"Content-Length": b"0"}
        named |= {name.replace("_", "-").encode(): value for name, value in headers.items()}
        lines = [b"%b: %b" % pair for pair in named.items()]
        start = f"{method} {path} HTTP/1.1".encode()
        with socket.create_connection(self.address, PATIENCE) as client:
            client.sendall(b"\r\n".join([start, *lines, b"", b""]))
            found = b""
            while b"\r\n\r\n" not in found:
                part = client.recv(65536)
                self.assertNotEqual(b"", part, found)
                found += part
            return found

    def status(self, method: str, path: str, **headers: bytes) -> int:
        return int(self.ask(method, path, **headers).split(b" ", 2)[1])

    def test_odd_headers_are_answered_like_any_other(self) -> None:
        self.assertEqual(403, self.status("GET", "/healthz", Host=b"localhost\xe9"))
        self.assertEqual(403, self.status("DELETE", "/api/sessions", Origin=b"\xe9"))
        secret = {"X_Service_Hook_Secret": b"\xe9"}
        self.assertEqual(401, self.status("POST", "/api/hook-event", **secret))
        for name in ("Sec_Fetch_Site", "Upgrade", "Authorization", "User_Agent", "Accept", "Cookie",
                     "Accept_Encoding", "If_None_Match", "X_Service_Agent_Origin"):  # fmt: skip
            for path in ("/healthz", "/", "/api/me"):
                # No credential can be right where there is no password.
                refused = name == "Authorization" and path != "/healthz"
                status = self.status("GET", path, **{name: b"\xe9"})
                self.assertEqual(401 if refused else 200, status, (name, path))
        self.assertNotIn("Traceback", self.running.log)

    def test_odd_headers_of_a_websocket_upgrade_are_refused(self) -> None:
        made = self.running.request("POST", "/api/sessions", {"mode": "shell", "start": True})
        path = f"/ws/sessions/{made.data()['session']['id']}/terminal"
        good = {name.replace("-", "_"): value.encode() for name, value in UPGRADE.items()}
        for name in ("User_Agent", "Cookie", "Sec_WebSocket_Protocol", "X_Other"):
            self.assertEqual(101, self.status("GET", path, **good, **{name: b"\xe9"}), name)
        for name in ("Sec_WebSocket_Key", "Sec_WebSocket_Version", "Connection", "Upgrade"):
            self.assertEqual(426, self.status("GET", path, **{**good, name: b"\xe9"}), name)
        self.assertEqual(403, self.status("GET", path, **good, Origin=b"http://localhost\xe9"))
        self.assertNotIn("Traceback", self.running.log)
