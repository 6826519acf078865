"""Bytes in a header that are no UTF-8, against every header that is read: refused, no fault."""

from __future__ import annotations

from pathlib import Path

from tests.security.attack_harness import AttackCase
from tests.security.harness import CROSS, HOST, SecurityAnswer
from tests.unit.http.gate_harness import SECRET, basic_headers
from tests.unit.http.websockets.ws_frames import UPGRADE
from tservice.access.hook_secret import HEADER
from tservice.access.passwords.failures import CAP

BAD = "\udce9"
"""The byte 0xE9 alone, as L{tests.unit.http.site_driver.head} takes it."""

PROXY = "192.0.2.1"

VALUES = {
    "Host": f"localhost{BAD}",
    "Origin": f"http://localhost{BAD}",
    "Sec-Fetch-Site": BAD,
    "Sec-Fetch-Mode": BAD,
    "Upgrade": f"websocket{BAD}",
    "Connection": f"Upgrade, {BAD}",
    "Authorization": f"Bearer {BAD}",
    HEADER: SECRET + BAD,
    "X-Service-Key": BAD,
    "Cookie": f"service_session={BAD}; {BAD}={BAD}",
    "User-Agent": BAD,
    "Accept": f"text/html;q={BAD}",
    "Accept-Encoding": f"gzip;q={BAD}",
    "If-None-Match": f'"{BAD}"',
    "Content-Type": f"application/json;{BAD}",
    "Last-Event-ID": BAD,
    "Access-Control-Request-Method": BAD,
    "X-Forwarded-For": BAD,
    "X-Forwarded-Proto": BAD,
    "X-Forwarded-Host": BAD,
    "X-Service-Agent-Origin": BAD,
    "X-Service-Parent-Session": BAD,
    "Sec-WebSocket-Key": BAD,
    "Sec-WebSocket-Version": BAD,
    "Sec-WebSocket-Protocol": BAD,
    "Sec-WebSocket-Extensions": BAD,
    "X-Nobody-Reads-This": f"{BAD}\udc85Host: x",
}
ROUTES = (
    ("GET", "/healthz", None),
    ("GET", "/", None),
    ("GET", "/login", None),
    ("GET", "/api/me", None),
    ("GET", "/api/nothing", None),
    ("OPTIONS", "/api/me", None),
    ("GET", "/api/events", None),
    ("GET", "/q/abc123", None),
    ("POST", "/api/login", {"username": "nobody", "password": "x"}),
    ("POST", "/api/hook-event", {"event": "stop", "sessionId": "none"}),
    ("POST", "/api/quick-start", {"mode": "shell"}),
    ("POST", "/api/push/subscriptions", {"endpoint": "https://p.example/x", "keys": {}}),
    ("PUT", "/api/me/password", {"currentPassword": "wrong", "newPassword": "another one"}),
)


class BadBytesTests(AttackCase):
    """Each header, on routes that read it and on others."""

    config = {"trusted_proxies": (PROXY,)}

    def assertAnswered(self, what: object, found: SecurityAnswer) -> None:
        self.assertGreater(found.status, 0, what)
        self.assertLess(found.status, 500, (what, found))
        self.assertNotIn("Processing Failed", found.body, what)
        if found.status >= 400 and found.headers["content-type"].startswith("application/json"):
            self.assertIsNotNone(found.error, what)
        self.assertEqual([], self.flushLoggedErrors(), what)

    def test_bad_bytes_in_every_header_are_no_server_error(self) -> None:
        for name, value in VALUES.items():
            for method, path, body in ROUTES:
                for who in ({}, basic_headers("root", "wrong"), self.cookie("root")):
                    for address in (None, "127.0.0.1", PROXY):
                        found = self.ask(
                            method, path, body, headers={**who, name: value}, address=address
                        )
                        self.assertAnswered((name, method, path, tuple(who), address), found)

    def test_bad_bytes_in_upgrade_headers_are_no_server_error(self) -> None:
        path = f"/ws/sessions/{self.world.session}/terminal"
        for name, value in VALUES.items():
            for who in ({}, self.cookie("ann")):
                found = self.ask("GET", path, headers={**UPGRADE, **who, name: value})
                self.assertAnswered((name, tuple(who)), found)
        for name in ("User-Agent", "X-Nobody-Reads-This", "Sec-WebSocket-Protocol"):
            found = self.ask("GET", path, headers=self.cookie("ann", **UPGRADE, **{name: BAD}))
            self.assertEqual((101, None), (found.status, found.code), name)

    def test_bad_bytes_in_the_host_are_a_foreign_host(self) -> None:
        for method, path, body in ROUTES:
            found = self.ask(method, path, body, headers=self.cookie(Host=VALUES["Host"]))
            self.assertEqual((403, HOST), (found.status, found.body), path)

    def test_bad_bytes_in_the_origin_are_a_foreign_origin(self) -> None:
        for origin in (VALUES["Origin"], BAD):
            found = self.ask("DELETE", "/api/sessions", headers=self.cookie(Origin=origin))
            self.assertEqual((403, CROSS), (found.status, found.body), origin)
        self.assertNoEffect()

    def test_bad_bytes_in_credentials_count_as_a_failure(self) -> None:
        for path, method, headers in (
            ("/api/me", "GET", {"Authorization": f"Bearer {BAD}"}),
            ("/api/hook-event", "POST", {HEADER: BAD}),
        ):
            seen = [
                self.ask(method, path, {}, headers=headers, address="127.0.0.1").status
                for _ in range(CAP + 1)
            ]
            self.assertEqual([401] * CAP + [429], seen)

    def test_headers_are_read_in_one_module(self) -> None:
        """Twisted decodes a header strictly when it is asked for by a C{str}."""
        folder = Path(__file__).parents[2] / "tservice"
        readers = [
            str(path.relative_to(folder))
            for path in folder.rglob("*.py")
            if "requestHeaders" in path.read_text()
        ]
        # The relay of web tabs hands all of them on as bytes, whatever they are.
        relay = ["webviews/routes/relay.py", "webviews/routes/websocket_relay.py"]
        self.assertEqual(["http/request.py", *relay], sorted(readers))
