"""Attacks on the setup of the first password, by which a stranger could take the service over."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.security.harness import SecurityAnswer, SecurityHarness, cookie_of
from tests.unit.http.gate_harness import basic_headers
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tservice.core.kernel.errors import StartError

PATH = "/api/auth/password"
WORD = "battery staple"
HERE = "127.0.0.1"


class FirstPasswordCase(SynchronousTestCase):
    """A single-user service without a password."""

    config: dict[str, Any] = {}

    def setUp(self) -> None:
        self.world = self.start(None, **self.config)
        self.folder = self.world.folder
        self.addCleanup(rmtree, self.folder)
        self.addCleanup(lambda: self.world.stop())
        self.file = self.folder / "password-hash"

    def start(self, folder: Path | None, **config: Any) -> SecurityHarness:
        given = {"multiuser": False, "password": None, "username": "admin", **config}
        return SecurityHarness(folder, **given)

    def restart(self, **config: Any) -> None:
        self.world.stop()
        self.world = self.start(self.folder, **config)

    def set_password(
        self, headers: Mapping[str, str] | None = None, address: str = HERE, word: str = WORD
    ) -> SecurityAnswer:
        body, named = {"password": word}, dict(headers or {})
        return self.world.ask("POST", PATH, body, named, address)

    def status(self, headers: Mapping[str, str] | None = None, path: str = "/api/me") -> int:
        return self.world.ask("GET", path, headers=headers, address=HERE).status

    def me(self, headers: Mapping[str, str] | None = None, address: str = HERE) -> Any:
        return json.loads(self.world.ask("GET", "/api/me", None, headers, address).body)["data"]


class SetupTests(FirstPasswordCase):
    """A person at the machine sets it."""

    def test_password_is_required_at_once_and_after_a_restart(self) -> None:
        self.assertEqual(200, self.status())
        self.assertEqual((False, True), (self.me()["signedIn"], self.me()["canSetPassword"]))
        answer = self.set_password({"Origin": "http://localhost"})
        self.assertEqual(200, answer.status, answer.body)
        found = json.loads(answer.body)["data"]
        page = {"Cookie": cookie_of(answer), "X-Service-Key": found["key"]}
        self.assertEqual((True, False), (found["signedIn"], found["canSetPassword"]))
        self.assertEqual([401, 200], [self.status(), self.status(page)])
        self.assertEqual(401, self.status(basic_headers("admin", "wrong word")))
        self.assertEqual(200, self.status(basic_headers("admin", WORD)))
        self.restart(has_stored_password=True)
        self.assertEqual([401, 200], [self.status(), self.status(page)])
        self.assertEqual(200, self.status(basic_headers("admin", WORD)))

    def test_file_holds_a_private_hash_and_not_the_password(self) -> None:
        self.set_password()
        text = self.file.read_text()
        self.assertTrue(text.startswith("$argon2id$"), text)
        self.assertNotIn(WORD, text)
        self.assertEqual(0o600, stat.S_IMODE(self.file.stat().st_mode))

    def test_configured_password_wins(self) -> None:
        self.set_password()
        self.restart(has_stored_password=True, password="from the operator")
        self.assertEqual(401, self.status(basic_headers("admin", WORD)))
        self.assertEqual(200, self.status(basic_headers("admin", "from the operator")))
        self.assertEqual(409, self.set_password(basic_headers("admin", "from the operator")).status)

    def test_damaged_or_open_file_prevents_the_start(self) -> None:
        for text, mode in (("", 0o600), ("not a hash", 0o600), ("$argon2id$x", 0o644)):
            self.file.write_text(text)
            self.file.chmod(mode)
            config = {"has_stored_password": True}
            error = self.assertRaises(StartError, self.start, self.folder, **config)
            self.assertIn("password-hash", str(error))

    def test_short_password_is_refused(self) -> None:
        self.assertEqual(400, self.set_password(word="short").status)
        self.assertEqual(200, self.status())
        self.assertFalse(self.file.exists())

    def test_open_stream_ends(self) -> None:
        connection = SiteConnection(self.world.site, MemoryTransport(HERE))
        connection.send(request_head("GET", "/api/events", {}))
        self.assertIn(b"200 OK", connection.value())
        self.assertFalse(connection.value().endswith(b"0\r\n\r\n"))
        self.set_password()
        self.assertTrue(connection.value().endswith(b"0\r\n\r\n"), connection.value()[-80:])

    def test_file_capability_of_an_open_page_ends(self) -> None:
        word = self.world.capabilities.create_token("web", "tab", "admin")
        self.set_password()
        self.assertIsNone(self.world.capabilities.find_grant("web", word))

    def test_second_caller_is_refused(self) -> None:
        self.assertEqual(200, self.set_password().status)
        page = basic_headers("admin", WORD)
        self.assertEqual(401, self.set_password(word="of somebody else").status)
        self.assertEqual(409, self.set_password(page, word="of somebody else").status)
        self.assertEqual(200, self.status(page))


class TakeoverTests(FirstPasswordCase):
    """Who is not a browser on this machine cannot set it."""

    config = {"trusted_proxies": ("127.0.0.1",), "allowed_origins": ("http://localhost:5173",)}

    def assertRefused(self, headers: Mapping[str, str], address: str = HERE) -> None:
        answer = self.set_password(headers, address)
        self.assertEqual(403, answer.status, (headers, answer.body))
        self.assertFalse(self.file.exists())
        self.assertEqual(200, self.status(), "still open")

    def test_rebound_names_and_other_addresses_are_refused(self) -> None:
        for host in (
            "evil.example", "0.0.0.0", "192.168.1.5", "[::]", "box.ts.net",
            "localhost.evil.example", "x.trycloudflare.com", "[::ffff:10.0.0.1]",
        ):  # fmt: skip
            self.assertRefused({"Host": host})
            self.assertRefused({"Host": host, "Origin": f"http://{host}"})

    def test_loopback_spellings_are_accepted(self) -> None:
        for host in ("localhost:8770", "127.0.0.1:8770", "[::1]:8770", "127.0.0.2"):
            self.assertTrue(self.me({"Host": host})["canSetPassword"], host)

    def test_other_origins_are_refused(self) -> None:
        for origin in (
            "http://evil.example", "null", "http://localhost:3000", "http://localhost:5173",
            "http://127.0.0.1",
        ):  # fmt: skip
            self.assertRefused({"Origin": origin})
        for site in ("cross-site", "same-site"):
            self.assertRefused({"Sec-Fetch-Site": site})

    def test_other_machines_are_refused(self) -> None:
        self.assertRefused({}, "192.0.2.7")
        self.assertFalse(self.me({}, "192.0.2.7")["canSetPassword"])

    def test_forwarded_requests_are_refused(self) -> None:
        """A proxy on this machine connects from loopback, and may replace the Host header."""
        for name, value in (
            ("X-Forwarded-For", "127.0.0.1"),
            ("X-Forwarded-For", "192.0.2.7"),
            ("X-Forwarded-Host", "localhost"),
            ("X-Real-IP", "192.0.2.7"),
            ("Forwarded", "for=192.0.2.7"),
            ("Via", "1.1 proxy"),
            ("CF-Connecting-IP", "192.0.2.7"),
            ("Tailscale-User-Login", "ann@example.org"),
        ):
            self.assertRefused({name: value})

    def test_token_cannot_set_it(self) -> None:
        wanted = {"name": "t", "scopes": ["admin"]}
        made = self.world.ask("POST", "/api/tokens", wanted, address=HERE)
        token = json.loads(made.body)["data"]["token"]
        self.assertRefused({"Authorization": f"Bearer {token}"})


class ChosenOpenTests(FirstPasswordCase):
    """The operator chose that there is no password: a proxy may ask for one."""

    config = {"allow_unauthenticated_network": True}

    def test_it_cannot_be_set_from_the_page(self) -> None:
        self.assertEqual(403, self.set_password().status)
        self.assertFalse(self.me()["canSetPassword"])
