"""One test for each class of attack that services like this one have fallen to."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.parse import quote

from attrs import evolve
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from tests.security.attack_harness import AttackCase
from tests.security.harness import CROSS, HOST, PASSWORD, SecurityAnswer, SecurityHarness, cookie_of
from tests.security.matrix_rows import KEYS, PUSH
from tests.unit.http.gate_harness import basic_headers
from tests.unit.http.site_driver import MemoryTransport, SiteConnection
from tservice.access.passwords.failures import CAP
from tservice.core.config.model import Config
from tservice.core.kernel.errors import StartError
from tservice.core.net.endpoints import parse_listen

EVIL = "https://evil.example"


class OpenBindTests(SynchronousTestCase):
    """A service that listens for all the world and asks nobody for anything."""

    def test_open_bind_without_a_password_is_refused(self) -> None:
        for listen in ("tcp:80", "tcp:80:interface=0.0.0.0", "tcp6:80", "unix:/x:mode=666"):
            self.assertRaises(StartError, parse_listen, Config(listen=(listen,)))
            parse_listen(Config(listen=(listen,), password="x"))
            parse_listen(Config(listen=(listen,), multiuser=True))

    def test_default_bind_is_loopback(self) -> None:
        [address] = parse_listen(Config())
        self.assertFalse(address.shared)


class CrossSiteTests(AttackCase):
    """Pages of other sites in the browser of somebody who is signed in."""

    def test_cross_site_websocket_is_refused(self) -> None:
        path = f"/ws/sessions/{self.world.session}/terminal"
        for origin in (
            EVIL,
            "null",
            "http://localhost:1",
            "http://localhost.evil.example",
            "file://",
        ):
            found = self.ask("GET", path, headers=self.cookie(Origin=origin), socket=True)
            self.assertEqual((403, CROSS), (found.status, found.body), origin)
        own = self.cookie(Origin="http://localhost")
        self.assertEqual(101, self.ask("GET", path, headers=own, socket=True).status)

    def test_cross_site_post_as_text_plain_is_refused(self) -> None:
        """A form can send JSON as text/plain, without asking anybody first."""
        path = f"/api/sessions/{self.world.session}/input"
        body = json.dumps({"input": "id\r"}).encode()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            headers = self.cookie(**{"Origin": EVIL, "Content-Type": kind})
            found = self.ask("POST", path, body, headers=headers)
            self.assertEqual((403, CROSS), (found.status, found.body), kind)
            if kind == "text/plain":
                continue  # read as JSON from programs, which send no Origin; a page always does
            headers = self.cookie(**{"Content-Type": kind})
            self.assertIn(self.ask("POST", path, body, headers=headers).status, (400, 415), kind)
        self.assertNoEffect()

    def test_odd_origins_are_refused(self) -> None:
        for origin in (
            "HTTP://LOCALHOST.",
            "http://localhost@evil.example",
            "http://localhost#",
            "http://[::1]:1",
            "x",
        ):
            headers = self.cookie(Origin=origin)
            found = self.ask("DELETE", "/api/sessions", headers=headers)
            if found.status == 200:
                self.assertEqual("HTTP://LOCALHOST.", origin)
                continue
            self.assertEqual((403, CROSS), (found.status, found.body), origin)

    def test_two_origin_headers_are_refused(self) -> None:
        head = (
            f"DELETE /api/sessions HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie()['Cookie']}"
            f"\r\nOrigin: http://localhost\r\nOrigin: {EVIL}\r\n\r\n"
        )
        self.assertIn(b" 403 ", self.raw(head.encode()).partition(b"\r\n")[0])
        self.assertNoEffect()

    def test_every_response_forbids_framing_and_sniffing(self) -> None:
        for path in ("/", "/api/me", "/api/nothing", "/api/docs", "/healthz"):
            found = self.ask("GET", path, headers=self.cookie())
            self.assertEqual("SAMEORIGIN", found.headers["x-frame-options"], path)
            policy = found.headers["content-security-policy"]
            self.assertIn("frame-ancestors 'self'", policy)
            scripts = policy.partition("script-src ")[2].partition(";")[0]
            self.assertEqual("'self'", scripts)

    def test_preflight_allows_nothing(self) -> None:
        headers = {"Origin": EVIL, "Access-Control-Request-Method": "DELETE"}
        found = self.ask("OPTIONS", "/api/sessions", headers=headers)
        self.assertFalse([name for name in found.headers if name.startswith("access-control")])


class RebindingTests(AttackCase):
    """A name of another site that points here."""

    def test_rebound_host_names_are_refused_in_every_spelling(self) -> None:
        for host in (
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "ts.net",
            "evil.example:8770",
            "localhost:x",
            "[::1",
            "",
            "a b",
            "localhost,evil",
        ):
            for path in ("/", "/api/sessions", "/healthz", "/q/abc123", "/webview/x/y"):
                found = self.ask("GET", path, headers=self.cookie(Host=host))
                self.assertEqual((403, HOST), (found.status, found.body), (host, path))

    def test_missing_and_repeated_hosts_are_refused(self) -> None:
        for hosts in (b"", b"Host: localhost\r\nHost: evil.example\r\n"):
            found = self.raw(b"GET /healthz HTTP/1.1\r\n" + hosts + b"\r\n")
            self.assertNotIn(b" 200 ", found.partition(b"\r\n")[0])

    def test_proxy_header_does_not_change_the_host(self) -> None:
        headers = self.cookie(**{"Host": "evil.example", "X-Forwarded-Host": "localhost"})
        self.assertEqual(403, self.ask("GET", "/api/me", headers=headers).status)


class SpoofedProxyTests(AttackCase):
    """What a proxy says, said by somebody who is none."""

    config = {"trusted_proxies": ("192.0.2.1",)}

    def hook(self, address: str, **headers: str) -> SecurityAnswer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("GET", "/api/me", headers=named, address=address)

    def test_spoofed_loopback_address_signs_in_no_user(self) -> None:
        for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Client-IP", "True-Client-IP"):
            for address in ("10.1.1.1", "192.0.2.1", "127.0.0.1"):
                found = self.ask("GET", "/api/me", headers={name: "127.0.0.1"}, address=address)
                self.assertEqual(401, found.status, (name, address))

    def test_spoofed_address_escapes_no_cap(self) -> None:
        for number in range(CAP + 1):
            headers = {**basic_headers(f"u{number}", "x"), "X-Forwarded-For": f"203.0.113.{number}"}
            found = self.ask("GET", "/api/me", headers=headers, address="10.1.1.1")
        self.assertEqual(429, found.status)

    def test_clients_of_a_trusted_proxy_are_distinguished(self) -> None:
        def fail(client: str) -> int:
            headers = {**basic_headers(f"u{secrets.token_hex(4)}", "x"), "X-Forwarded-For": client}
            return self.ask("GET", "/api/me", headers=headers, address="192.0.2.1").status

        self.assertEqual([401] * CAP + [429], [fail("203.0.113.1") for _ in range(CAP + 1)])
        self.assertEqual(401, fail("203.0.113.2"))
        # The client's own words stand before those of the proxy.
        self.assertEqual(429, fail("127.0.0.1, 203.0.113.1"))

    def test_unix_socket_asks_for_credentials_too(self) -> None:
        self.assertEqual(401, self.ask("GET", "/api/me", address="unix").status)


class CredentialTests(AttackCase):
    """Stolen, guessed, planted and default ones."""

    def test_url_parameters_sign_in_no_user(self) -> None:
        word = self.world.token("root", "sessions:read")["Authorization"].split()[1]
        cookie = self.world.cookies["root"].partition("=")[2]
        for name in ("token", "access_token", "service_session", "password", "auth", "key"):
            for value in (word, cookie, PASSWORD):
                found = self.ask("GET", f"/api/sessions?{name}={quote(value)}")
                self.assertEqual(401, found.status, name)

    def test_service_has_no_default_password(self) -> None:
        for name in ("root", "admin", "tservice", "hook"):
            for word in ("", "admin", "password", "root", "changeme", "tservice", "hook"):
                found = self.ask("GET", "/api/me", headers=basic_headers(name, word))
                self.assertIn(found.status, (401, 429), (name, word))

    def test_generated_secrets_differ_between_services(self) -> None:
        other = SecurityHarness()
        self.addCleanup(other.close)
        one, two = (w.folder / "hook-secret" for w in (self.world, other))
        self.assertNotEqual(one.read_bytes(), two.read_bytes())
        self.assertEqual(0o600, one.stat().st_mode & 0o777)

    def test_login_replaces_a_planted_cookie(self) -> None:
        """A cookie that was there before the login is not the one after it."""
        planted = "service_session=" + "ab" * 32
        body = {"username": "ann", "password": PASSWORD}
        found = self.ask("POST", "/api/login", body, headers={"Cookie": planted})
        self.assertNotIn("ab" * 32, found.headers["set-cookie"])
        self.assertEqual(401, self.ask("GET", "/api/me", headers={"Cookie": planted}).status)

    def test_each_login_opens_a_new_session(self) -> None:
        found = [self.world.page("ann") for _ in range(5)]
        for name in ("Cookie", "X-Service-Key"):
            self.assertEqual(5, len({page[name] for page in found}))

    def test_cookie_has_its_security_flags(self) -> None:
        body = {"username": "ann", "password": PASSWORD}
        cookie = self.ask("POST", "/api/login", body).headers["set-cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Lax", cookie)
        self.assertNotIn("Domain", cookie)

    def test_password_change_ends_stolen_sessions(self) -> None:
        stolen = {"Cookie": self.world.sign_in("ann")}
        body = {"currentPassword": PASSWORD, "newPassword": "a better one"}
        answer = self.ask("PUT", "/api/me/password", body, headers=self.cookie("ann"))
        self.assertEqual(200, answer.status)
        self.assertEqual(401, self.ask("GET", "/api/me", headers=stolen).status)
        self.assertEqual(401, self.ask("GET", "/api/me", headers=self.cookie("ann")).status)
        mine = {"Cookie": cookie_of(answer)}
        self.assertEqual(401, self.ask("GET", "/api/me", headers=mine).status)
        mine["X-Service-Key"] = json.loads(answer.body)["data"]["key"]
        self.assertEqual(200, self.ask("GET", "/api/me", headers=mine).status)

    def test_password_guesses_by_a_thief_are_capped(self) -> None:
        for _ in range(CAP):
            body = {"currentPassword": "guess", "newPassword": "a better one"}
            found = self.ask(
                "PUT", "/api/me/password", body, headers=self.cookie("ann"), address="10.1.1.1"
            )
            self.assertEqual((403, "FORBIDDEN"), (found.status, found.error))
        found = self.ask(
            "PUT", "/api/me/password", body, headers=self.cookie("ann"), address="10.1.1.1"
        )
        self.assertEqual(429, found.status)

    def test_lockout_is_logged_audited_and_counted(self) -> None:
        with capturedLogs() as lines:
            for number in range(3 * CAP):
                self.ask(
                    "GET",
                    "/api/me",
                    headers=basic_headers("bob", f"x{number}"),
                    address="192.0.2.9",
                )
        told = [line for line in lines if line.get("event") == "login-locked"]
        self.assertEqual(["192.0.2.9", "bob"], [line["value"] for line in told])
        path = "/api/admin/audit?action=login.locked"
        rows = self.world.good("root", "GET", path)["entries"]
        self.assertEqual(["bob", "192.0.2.9"], [row["target"] for row in rows])
        self.assertEqual({"192.0.2.9"}, {row["address"] for row in rows})
        metrics = self.ask("GET", "/metrics", headers=self.cookie("root")).body
        line = 'tservice_sign_in_lockouts_total{bucket="basic",kind="username"} 1.0'
        self.assertIn(line, metrics)

    def test_known_address_survives_a_restart(self) -> None:
        self.world.sign_in("bob")
        gate: Any = self.world.site.kernel._gate
        known = gate._authenticators[-1]._passwords._known
        log = self.world.good("root", "GET", "/api/admin/audit?action=login&actor=bob")["entries"]
        self.assertTrue(known.has_user_signed_in_from(log[0]["address"], "bob"))

    def test_changed_account_loses_its_open_streams(self) -> None:
        streams = self.world.site.kernel.table
        assert streams.find_operation("GET", "/api/events") is not None
        connection = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(connection.lose)
        head = (
            f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie('bob')['Cookie']}"
        )
        connection.send(f"{head}\r\n\r\n".encode())
        self.assertIn(b"event: init", connection.value())
        self.world.good("root", "PATCH", "/api/admin/users/bob", {"enabled": False})
        self.assertTrue(connection.value().endswith(b"0\r\n\r\n"), connection.value()[-80:])
        self.assertEqual(401, self.ask("GET", "/api/me", headers=self.cookie("bob")).status)

    def test_parked_wait_reveals_nothing_after_a_lost_right(self) -> None:
        connection = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(connection.lose)
        path = f"/api/sessions/{self.world.session}/wait-output?match=zebra"
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {self.cookie('ann')['Cookie']}"
        connection.send(f"{head}\r\n\r\n".encode())
        self.assertEqual(b"", connection.value())
        self.world.good("root", "POST", "/api/admin/users/ann/logout")
        self.world.host[self.world.session].emit_output(b"a zebra\r\n")
        self.world.clock.advance(1)
        self.assertTrue(connection.value().startswith(b"HTTP/1.1 401 "), connection.value())
        self.assertNotIn(b"zebra", connection.value())

    def assert_ends_push(self, method: str, body: dict[str, Any] | None) -> None:
        """Assert that a request of an admin about bob deletes the browsers that he subscribed."""
        wanted = {"endpoint": PUSH, "keys": KEYS}
        self.world.good("bob", "POST", "/api/push/subscriptions", wanted)
        count = "SELECT count(*) FROM push_subscriptions"
        self.assertEqual([1], [*self.world.database.query_rows(count)[0]])
        self.world.good("root", method, "/api/admin/users/bob", body)
        self.assertEqual([0], [*self.world.database.query_rows(count)[0]])

    def test_disabled_account_gets_no_more_push_messages(self) -> None:
        """Nor do messages go to a browser that once asked for them."""
        self.assert_ends_push("PATCH", {"enabled": False})

    def test_removed_account_gets_no_more_push_messages(self) -> None:
        self.assert_ends_push("DELETE", None)


class OtherPortTests(AttackCase):
    """A program on another port of the host: it reads our cookies, and sets others."""

    def who(self, headers: dict[str, str]) -> str | None:
        found = self.ask("GET", "/api/me", headers=headers)
        if found.status == 401:
            return None
        name: str = json.loads(found.body)["data"]["username"]
        return name

    def test_stolen_cookie_opens_no_stream_and_no_socket(self) -> None:
        stolen = {"Cookie": self.world.page("ann")["Cookie"]}
        self.before = self.world.snapshot()
        self.assertEqual(401, self.ask("GET", "/api/events", headers=stolen).status)
        path = f"/ws/sessions/{self.world.session}/terminal"
        for offer in ({}, {"Sec-WebSocket-Protocol": "tservice"}):
            found = self.ask("GET", path, headers={**stolen, **offer}, socket=True)
            self.assertEqual(401, found.status)
        self.assertNoEffect()

    def test_stolen_cookie_is_refused_before_a_large_upload(self) -> None:
        """A large body is judged while it arrives."""
        stolen = {"Cookie": self.world.page("ann")["Cookie"]}
        body = b"x" * 200_000
        self.assertEqual(401, self.ask("POST", "/api/sessions", body, headers=stolen).status)

    def test_tossed_cookie_signs_out_and_does_not_switch_the_account(self) -> None:
        """Bob has a page's cookie and a program's; in ann's page neither makes her bob."""
        ann = self.world.page("ann")
        self.assertEqual("ann", self.who(ann))
        for tossed in (self.world.page("bob")["Cookie"], self.cookie("bob")["Cookie"]):
            self.assertIsNone(self.who({**ann, "Cookie": tossed}))
            self.assertIsNone(self.who({"Cookie": tossed, "X-Service-Key": "none"}))

    def test_link_with_a_page_key_does_not_switch_the_account(self) -> None:
        """A page marks what it finds in its address: it fits codes that were scanned alone."""
        bob = self.world.page("bob")
        led = {**bob, "X-Service-Key": f"qr-{bob['X-Service-Key']}"}
        self.assertIsNone(self.who(led))

    def test_page_key_of_a_signed_out_page_is_void(self) -> None:
        ann = self.world.page("ann")
        self.assertEqual(200, self.ask("POST", "/api/logout", headers=ann).status)
        self.assertIsNone(self.who(ann))


class PasswordEndTests(SynchronousTestCase):
    """A cookie dies with the password that it was made under, changed while nobody was here."""

    def start(self, folder: Path | None, **config: Any) -> SecurityHarness:
        return SecurityHarness(folder, **{"multiuser": False, "username": "admin", **config})

    def lives(self, world: SecurityHarness, pages: Sequence[dict[str, str]]) -> list[int]:
        return [world.ask("GET", "/api/me", headers=page).status for page in pages]

    def restarted(self, world: SecurityHarness, **config: Any) -> SecurityHarness:
        world.stop()
        return self.start(world.folder, **config)

    def test_changed_single_user_password_ends_its_cookies(self) -> None:
        world = self.start(None, password="first word")
        folder = world.folder
        self.addCleanup(rmtree, folder)
        program = world.ask("GET", "/api/me", headers=basic_headers("admin", "first word"))
        pages = [world.page("admin", "first word"), {"Cookie": cookie_of(program)}]
        world = self.restarted(world, password="first word")
        self.assertEqual([200, 200], self.lives(world, pages))
        world = self.restarted(world, password="second word")
        self.assertEqual([401, 401], self.lives(world, pages))
        self.assertEqual([], [*world.database.query_rows("SELECT 1 FROM auth_sessions")])
        # Nor does the old password bring them back.
        world = self.restarted(world, password="first word")
        self.assertEqual([401, 401], self.lives(world, pages))
        world.stop()

    def test_changed_account_password_ends_its_cookies(self) -> None:
        """Its hash was put into the database from outside."""
        world = self.start(None, multiuser=True, password=PASSWORD)
        folder = world.folder
        self.addCleanup(rmtree, folder)
        page = world.page("admin")
        world = self.restarted(world, multiuser=True, password=PASSWORD)
        self.assertEqual([200], self.lives(world, [page]))
        assert world.accounts is not None
        account = world.accounts.get_account("admin")
        world.accounts._store.save(evolve(account, password_hash=account.password_hash + "x"))
        world = self.restarted(world, multiuser=True, password=PASSWORD)
        self.assertEqual([401], self.lives(world, [page]))
        world.stop()


class SmugglingTests(AttackCase):
    """Requests that two readers understand differently."""

    def test_ambiguous_requests_are_refused(self) -> None:
        cookie = self.cookie()["Cookie"].encode()
        start = b"POST /api/logout HTTP/1.1\r\nHost: localhost\r\nCookie: " + cookie + b"\r\n"
        behind = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for extra in (
            b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
            b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            b"Content-Length: +0\r\n\r\n",
            b"Content-Length: -1\r\n\r\n",
            b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: identity\r\n\r\n",
            b"Transfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            b"Bad Name: x\r\nX-Last: y\r\nContent-Length: 0\r\n\r\n",
            b"no colon\r\nX-Last: y\r\nContent-Length: 0\r\n\r\n",
            b"Content-Length: 0\r\nContent-Length: 5\r\nX-Last: y\r\n\r\nhello",
        ):
            found = self.raw(start + extra + behind)
            self.assertTrue(found.startswith(b"HTTP/1.1 400 "), (extra, found))
            self.assertEqual(1, found.count(b"HTTP/1.1 "), (extra, found))
        self.assertNoEffect()

    def test_line_end_in_a_path_or_header_splits_no_request(self) -> None:
        found = self.ask("GET", "/api/x%0d%0aSet-Cookie:%20a=b", headers=self.cookie())
        self.assertNotIn("a=b", found.headers.get("set-cookie", ""))
        self.assertNotIn("\n", found.body)

    def test_header_name_with_an_underscore_is_not_normalized(self) -> None:
        headers = {"X_Forwarded_For": "127.0.0.1", "X_Service_Hook_Secret": "x"}
        self.assertEqual(401, self.ask("GET", "/api/me", headers=headers).status)


class PathSpellingTests(AttackCase):
    """Other spellings of a path reach nothing that the plain one does not."""

    def test_other_spellings_of_admin_routes_are_refused(self) -> None:
        for path in (
            "/api/admin/users",
            "/api//admin/users",
            "/api/./admin/users",
            "//api/admin/users",
            "/api/x/../admin/users",
            "/API/ADMIN/USERS",
            "/api/admin/users/",
            "/api%2fadmin/users",
            "/api/admin%2fusers",
            "/api/%61dmin/users",
            "/api/v1/admin/users",
            "/api/admin/users;x",
            "/api/v1/v1/admin/users",
            "/%2e/api/admin/users",
            "/webview/../api/admin/users",
            "/q/../api/admin/users",
            "/assets/../api/admin/users",
            "/api/admin/users%00",
            "/login/../api/admin/users",
            "http://localhost/api/admin/users",
        ):
            found = self.ask("GET", path, headers=self.cookie("bob"))
            self.assertNotIn("root", found.body.replace(path, ""), path)
            self.assertIn(found.status, (400, 403, 404, 405), path)
            self.assertIn(self.ask("GET", path).status, (400, 401), path)

    def test_other_spellings_of_file_paths_are_refused(self) -> None:
        for path in (
            "/../../etc/passwd",
            "/assets/..%2f..%2fetc%2fpasswd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/..%5c..%5cetc/passwd",
            "/assets/....//etc/passwd",
            "/static/../hook-secret",
            "/.git/config",
            "/tservice.db",
            "/hook-secret",
        ):
            found = self.ask("GET", path, headers=self.cookie())
            self.assertIn(found.status, (400, 404), path)
            self.assertNotIn("root:", found.body)

    def test_other_spellings_of_session_ids_are_not_found(self) -> None:
        mine = self.world.session
        for name in (f"{mine}/", f"x/../{mine}", f"..%2f{mine}", f"{mine}%2f..", f"%20{mine}"):
            found = self.ask("GET", f"/api/sessions/{name}", headers=self.cookie("bob"))
            self.assertEqual(404, found.status, name)
