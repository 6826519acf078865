"""Attacks on the way in from the internet: the tunnel and the codes that sign in over it."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

from twisted.internet.task import Clock
from twisted.logger import ILogObserver, LogEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.security.attack_harness import AttackCase
from tests.security.harness import PASSWORD, SecurityHarness
from tests.security.matrix_rows import SESSION
from tests.security.tunnel_harness import HOST, URL, SecurityTunnelCase, scanned_page
from tests.unit.http.site_driver import MemoryTransport, SiteConnection
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.cookie_store import MemoryCookieStore
from tservice.access.model import hash_cookie
from tservice.access.passwords.failures import CAP
from tservice.core.callers.identity import Identity
from tservice.core.logs.redact import MARK, SecretRedactor
from tservice.tunnel.build import make_sign_in
from tservice.tunnel.guess_limit import MAX_GUESSES
from tservice.tunnel.model import GRACE_SECONDS, ROTATION_SECONDS


class LoginCodeTests(SecurityTunnelCase):
    """A code opens one session of one admin, once, and not for long."""

    def test_scanned_code_signs_its_admin_in(self) -> None:
        entered = self.enter(self.code())
        self.assertRegex(entered.headers["location"], r"^/#key=[0-9a-f]{64}$")
        self.assertEqual("root", self.who(entered))

    def test_cookie_of_a_scanned_code_alone_is_refused(self) -> None:
        page = scanned_page(self.enter(self.code()))
        key = page["X-Service-Key"]
        for shown in ({}, {"X-Service-Key": "none"}, {"X-Service-Key": key.removeprefix("qr-")}):
            found = self.ask("GET", "/api/me", headers={"Cookie": page["Cookie"], **shown})
            self.assertEqual(401, found.status, shown)

    def test_code_guessing_from_one_address_is_capped(self) -> None:
        for number in range(CAP):
            self.refused(self.enter(f"wrong{number}", "10.7.7.7"))
        code = self.code()
        found = self.enter(code, "10.7.7.7")
        self.assertEqual((429, "900"), (found.status, found.headers["retry-after"]))
        self.assertEqual("root", self.who(self.enter(code)))

    def test_code_guessing_from_many_addresses_is_capped(self) -> None:
        for number in range(MAX_GUESSES):
            self.refused(self.enter(f"wrng{number:02}"))
        found = self.enter(self.code())
        self.assertEqual((429, "60"), (found.status, found.headers["retry-after"]))
        self.world.clock.advance(60)
        self.assertEqual("root", self.who(self.enter(self.code())))

    def test_code_guessing_does_not_lock_out_logins(self) -> None:
        for _ in range(CAP + 1):
            self.enter("wrong1", "10.7.7.7")
        body = {"username": "ann", "password": "wrong word"}
        self.assertEqual(401, self.ask("POST", "/api/login", body, address="10.7.7.7").status)

    def test_code_works_once(self) -> None:
        code = self.code()
        self.assertEqual("root", self.who(self.enter(code)))
        self.refused(self.enter(code))

    def test_head_request_does_not_use_up_the_code(self) -> None:
        code = self.code()
        for word in (code, "wrong1"):
            found = self.ask("HEAD", f"/q/{word}", headers={"Host": HOST})
            self.assertEqual(302, found.status)
            self.assertNotIn("set-cookie", found.headers)
        self.assertEqual("root", self.who(self.enter(code)))

    def test_rotated_code_is_refused_after_its_grace(self) -> None:
        first = self.code()
        self.world.clock.advance(ROTATION_SECONDS)
        second = self.code()
        self.assertNotEqual(first, second)
        self.assertEqual("root", self.who(self.enter(first)))
        self.world.clock.pump([ROTATION_SECONDS, GRACE_SECONDS])
        self.refused(self.enter(second))

    def test_regenerated_code_voids_earlier_codes(self) -> None:
        code = self.code()
        self.world.good("root", "POST", "/api/tunnel/qr/regenerate")
        self.refused(self.enter(code))

    def test_stopped_tunnel_voids_its_codes(self) -> None:
        code = self.code()
        self.world.good("root", "POST", "/api/tunnel/stop")
        self.refused(self.ask("GET", f"/q/{code}"))

    def test_other_spellings_of_a_code_are_refused(self) -> None:
        code = self.code()
        for word in (f"{code}%00", f"{code}%20", f"%20{code}", f"{code};x", f"{code}0"):
            self.assertIn(self.enter(word).status, (400, 401, 404), word)
        self.refused(self.enter("%C3%A4bc123"))
        self.assertEqual("root", self.who(self.enter(code)))

    def test_revoking_all_sessions_voids_the_codes(self) -> None:
        code = self.code()
        self.world.good("root", "POST", "/api/auth/revoke", {})
        self.refused(self.enter(code))

    def test_revoked_device_is_signed_out(self) -> None:
        entered = self.enter(self.code())
        seen = self.code()
        device_page = scanned_page(entered)
        self.assertEqual(200, self.ask("GET", "/api/me", headers=device_page).status)
        shown = self.world.good("root", "GET", "/api/tunnel/status")["authSessions"]
        [device] = [session["id"] for session in shown if session["method"] == "qr"]
        self.world.good("root", "POST", "/api/auth/revoke", {"sessionId": device})
        self.assertEqual(401, self.ask("GET", "/api/me", headers=device_page).status)
        self.refused(self.enter(seen))  # by which it could come in again

    def test_session_of_the_caller_is_marked(self) -> None:
        shown = self.world.good("root", "GET", "/api/tunnel/status")["authSessions"]
        [own] = [session for session in shown if session["current"]]
        self.assertEqual(("root", "basic"), (own["username"], own["method"]))
        self.world.good("root", "POST", "/api/auth/revoke", {"sessionId": own["id"]})
        self.assertEqual(401, self.ask("GET", "/api/me", headers=self.cookie()).status)

    def test_cookie_of_a_scanned_code_is_not_revealed(self) -> None:
        entered = self.enter(self.code())
        value = entered.headers["set-cookie"].partition(";")[0].partition("=")[2]
        shown = self.ask("GET", "/api/tunnel/status", headers=self.cookie()).body
        self.assertNotIn(value, shown)
        self.assertNotIn(entered.headers["location"].partition("=")[2], shown)
        for session in json.loads(shown)["data"]["authSessions"]:
            names = {"id", "username", "ip", "ua", "createdAt", "method", "current"}
            self.assertEqual(names, set(session))
            mine = {"Cookie": f"service_session={session['id']}"}
            self.assertEqual(401, self.ask("GET", "/api/me", headers=mine).status)


class LoginCodeOwnerTests(SecurityTunnelCase):
    """A code is its admin's alone, as long as that is one."""

    def setUp(self) -> None:
        super().setUp()
        body = {"username": "cleo", "password": PASSWORD, "role": "admin"}
        self.world.good("root", "POST", "/api/admin/users", body)
        self.world.cookies["cleo"] = self.world.sign_in("cleo")

    def test_each_admin_has_another_code(self) -> None:
        root, cleo = self.code("root"), self.code("cleo")
        self.assertEqual("cleo", self.who(self.enter(cleo)))
        self.assertEqual("root", self.who(self.enter(root)))

    def test_every_account_change_voids_its_code(self) -> None:
        for change in ({"role": "user"}, {"enabled": False}, {"password": "another one"}):
            code = self.code("cleo")
            self.world.good("root", "PATCH", "/api/admin/users/cleo", change)
            self.refused(self.enter(code))
            good = {"role": "admin", "enabled": True, "password": PASSWORD}
            self.world.good("root", "PATCH", "/api/admin/users/cleo", good)
            self.world.cookies["cleo"] = self.world.sign_in("cleo")

    def stream(self, name: str) -> SiteConnection:
        connection = SiteConnection(self.world.site, MemoryTransport("10.6.6.6"))
        self.addCleanup(connection.lose)
        cookie = self.world.cookies[name]
        head = f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
        connection.send(head.encode())
        return connection

    def test_code_is_shown_only_to_its_admin(self) -> None:
        self.code("root")
        streams = {name: self.stream(name) for name in ("root", "cleo", "bob")}
        self.world.clock.advance(ROTATION_SECONDS)
        seen = {name: b"qrRotated" in stream.value() for name, stream in streams.items()}
        self.assertEqual({"root": True, "cleo": False, "bob": False}, seen)

    def test_use_of_a_code_is_announced_to_every_admin(self) -> None:
        streams = {name: self.stream(name) for name in ("root", "cleo", "bob")}
        self.enter(self.code("root"))
        self.world.clock.advance(1)
        seen = {name: b"qrAuthUsed" in stream.value() for name, stream in streams.items()}
        self.assertEqual({"root": True, "cleo": True, "bob": False}, seen)

    def test_tunnel_address_is_shown_to_admins_only(self) -> None:
        for name, want in (("root", URL), ("bob", None)):
            self.assertEqual(want, self.world.good(name, "GET", "/api/status")["tunnel"]["url"])


class LoginCodeSignInTests(SynchronousTestCase):
    """Whom a code signs in, should it ever outlive what its owner was."""

    def test_only_an_admin_is_signed_in_by_a_code(self) -> None:
        cookies = CookieSessionRegistry(MemoryCookieStore(), Clock(), os.urandom)
        known: dict[str, Identity] = {
            "root": Identity(username="root", admin=True),
            "bob": Identity(username="bob", admin=False),
        }
        accounts: Any = SimpleNamespace(find_identity=known.get)
        sign_in = make_sign_in(cookies, accounts)
        for name in ("bob", "nobody"):
            self.assertIsNone(sign_in(name, "10.1.1.1", "phone"))
        self.assertEqual((), tuple(cookies.list_sessions()))
        opened = sign_in("root", "10.1.1.1", "phone")
        assert opened is not None
        token, key = opened
        found = cookies.find_session(token)
        assert found is not None
        self.assertEqual(("root", "qr"), (found.username, found.method))
        self.assertEqual(hash_cookie(f"qr-{key}"), found.key_hash)


class LeakTests(SecurityTunnelCase):
    """A code in an address is to be found nowhere afterwards."""

    def test_code_response_has_no_referrer_and_no_caching(self) -> None:
        code = self.code()
        answers = [self.enter(code), self.enter(code)]
        answers += [self.enter("wrong1", "10.7.7.7") for _ in range(CAP + 1)]
        self.assertEqual({302, 401, 429}, {found.status for found in answers})
        for found in answers:
            self.assertEqual("no-referrer", found.headers["referrer-policy"])
            self.assertEqual("no-store", found.headers["cache-control"])
            self.assertNotIn(code, found.body + str(found.headers))
        for path in ("/api/tunnel/qr", "/api/tunnel/status"):
            found = self.ask("GET", path, headers=self.cookie())
            self.assertEqual("no-store", found.headers["cache-control"])

    def test_login_code_is_in_no_log_and_no_audit_entry(self) -> None:
        logged: list[str] = []

        @implementer(ILogObserver)
        def observe(event: LogEvent) -> None:
            logged.append(repr(event))

        globalLogPublisher.addObserver(observe)
        self.addCleanup(globalLogPublisher.removeObserver, observe)
        code = self.code()
        self.enter(code)
        self.enter(code)
        self.world.clock.advance(ROTATION_SECONDS)
        self.world.good("root", "POST", "/api/tunnel/stop")
        self.world.clock.advance(1000)  # what the audit log adds up is written
        self.assertNotIn(code, "".join(logged))
        rows = [dict(row) for row in self.world.database.query_rows("SELECT * FROM audit_log")]
        self.assertIn("login.failed", {row["action"] for row in rows})
        self.assertIn("qr", {row["method"] for row in rows})
        self.assertNotIn(code, str(rows))
        self.assertEqual(f"GET /q/{MARK}", SecretRedactor().redact_text(f"GET /q/{code}"))

    def test_metrics_count_the_login_route_without_the_code(self) -> None:
        code = self.code()
        self.enter(code)
        found = self.ask("GET", "/metrics", headers=self.cookie()).body
        self.assertIn('route="/q/{code}"', found)
        self.assertNotIn(code, found)
        self.assertIn("tservice_tunnel_up 1.0", found)


class WayInTests(SecurityTunnelCase):
    """What comes through the tunnel, and what pretends to."""

    def test_tunnel_host_is_accepted_while_the_tunnel_runs(self) -> None:
        headers = {"Host": HOST}
        self.assertEqual(200, self.ask("GET", "/healthz", headers=headers).status)
        self.world.good("root", "POST", "/api/tunnel/stop")
        self.assertEqual(403, self.ask("GET", "/healthz", headers=headers).status)
        self.assertEqual(403, self.ask("GET", "/q/abc123", headers=headers).status)

    def test_tunnel_host_is_refused_while_the_tunnel_restarts(self) -> None:
        self.programs[-1].finish(1)
        self.assertEqual(403, self.ask("GET", "/healthz", headers={"Host": HOST}).status)

    def came_from(self, peer: str, **headers: str) -> tuple[str, bool]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        entered = self.enter(self.code(), peer, **named)
        shown = self.world.good("root", "GET", "/api/tunnel/status")["authSessions"]
        newest = max(shown, key=lambda session: (session["createdAt"], session["method"] == "qr"))
        self.world.clock.advance(1)
        return newest["ip"], entered.headers["set-cookie"].endswith("Secure")

    def test_client_address_is_the_last_in_the_forwarded_chain(self) -> None:
        chain = {"X_Forwarded_For": "127.0.0.1, 203.0.113.9", "X_Forwarded_Proto": "https"}
        self.assertEqual(("203.0.113.9", True), self.came_from("127.0.0.1", **chain))

    def test_forwarded_headers_from_elsewhere_are_ignored(self) -> None:
        chain = {"X_Forwarded_For": "203.0.113.9", "X_Forwarded_Proto": "https"}
        self.assertEqual(("10.1.2.3", False), self.came_from("10.1.2.3", **chain))

    def test_forwarded_headers_for_another_host_are_ignored(self) -> None:
        for host in ("localhost", "127.0.0.1", "x.trycloudflare.com"):
            chain = {"X_Forwarded_For": "203.0.113.9", "Host": host}
            self.assertEqual(("127.0.0.1", False), self.came_from("127.0.0.1", **chain))

    def test_forwarded_host_through_the_tunnel_is_ignored(self) -> None:
        headers = {
            "Host": HOST,
            "X-Forwarded-Host": "evil.example",
            "Origin": "https://evil.example",
        }
        found = self.ask("POST", "/api/logout", headers=headers, address="127.0.0.1")
        self.assertEqual(403, found.status)

    def test_page_through_the_tunnel_has_the_same_origin(self) -> None:
        headers = {"Host": HOST, "Origin": URL, "X-Forwarded-Proto": "https", **self.cookie()}
        path = "/api/tunnel/qr/regenerate"
        self.assertEqual(200, self.ask("POST", path, headers=headers, address="127.0.0.1").status)
        headers["Origin"] = f"http://{HOST}"
        self.assertEqual(403, self.ask("POST", path, headers=headers, address="127.0.0.1").status)

    def test_hook_through_the_tunnel_is_not_local(self) -> None:
        body = {"event": "stop", "sessionId": self.world.session}
        headers = {"Host": HOST, "X-Forwarded-For": "203.0.113.9"}
        found = self.ask("POST", "/api/hook-event", body, headers=headers, address="127.0.0.1")
        self.assertEqual((401, "Unauthorized"), (found.status, found.body))


class OpenTunnelTests(AttackCase):
    """A tunnel that anybody could come through."""

    config = {"multiuser": False, "password": None}

    def populate(self) -> None:
        """Nobody signs in here."""

    def test_open_tunnel_is_refused_without_a_password(self) -> None:
        found = self.ask("POST", "/api/tunnel/start")
        self.assertEqual((403, "FORBIDDEN"), (found.status, found.error))
        found = self.ask("PUT", "/api/settings", {"tunnelEnabled": True})
        self.assertEqual((403, "FORBIDDEN"), (found.status, found.error))
        self.assertEqual(404, self.ask("GET", "/api/tunnel/qr").status)
        self.assertNoEffect()


class TunnelCapabilityTests(AttackCase):
    """Words in a path."""

    def mint(self, name: str) -> str:
        return self.world.capabilities.create_token("webview", SESSION, name)

    def opens(self, word: str, name: str) -> bool:
        return self.world.capabilities.find_grant("webview", word, name) is not None

    def test_capability_of_another_user_is_refused(self) -> None:
        word = self.mint("ann")
        self.assertEqual([False, True], [self.opens(word, name) for name in ("bob", "ann")])

    def test_changed_account_loses_its_capabilities(self) -> None:
        ann, bob = self.mint("ann"), self.mint("bob")
        self.world.good("root", "PATCH", "/api/admin/users/ann", {"enabled": False})
        self.assertEqual([False, True], [self.opens(ann, "ann"), self.opens(bob, "bob")])

    def test_revoked_session_loses_its_capabilities(self) -> None:
        shown = self.world.good("root", "GET", "/api/tunnel/status")["authSessions"]
        word = self.world.capabilities.create_token("webview", "tab", "ann", shown[-1]["id"])
        self.world.good("root", "POST", "/api/auth/revoke", {"sessionId": shown[-1]["id"]})
        self.assertFalse(self.opens(word, "ann"))

    def test_capabilities_do_not_survive_a_restart(self) -> None:
        word = self.mint("ann")
        other = SecurityHarness()
        self.addCleanup(other.close)
        self.assertIsNone(other.capabilities.find_grant("webview", word))
