"""Tests for L{tservice.http.gate} and L{tservice.access.routes}: roles, signing out, proxies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import ISSLTransport
from zope.interface import directlyProvides

from tests.unit.http.gate_harness import SECRET, GateCase, basic_headers
from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import (
    MemoryTransport,
    ParsedAnswer,
    parse_http_answer,
    request_head,
)
from tests.unit.http.websockets.ws_frames import UPGRADE
from tservice.core.config.model import Config
from tservice.core.kernel.errors import StartError
from tservice.http.gate import make_gate_rules
from tservice.http.operations import AccessRule, Operation, OperationCall, ResponseStyle


class AgainTests(GateCase):
    """A right that changes while its answer is under way."""

    def setUp(self) -> None:
        super().setUp()
        self.late: Deferred[object] = Deferred()

    async def hold(self, call: OperationCall) -> object:
        return await self.late

    def table(self) -> list[Operation]:
        path = "/api/sessions/{id}/slow"
        return [
            *super().table(),
            sample_operation("GET", "/api/slow", self.hold),
            sample_operation("GET", path, self.hold, access=AccessRule.OWNER),
            sample_operation("GET", "/api/public", self.hold, access=AccessRule.PUBLIC),
            sample_operation("GET", "/api/hook", self.hold, access=AccessRule.HOOK),
            sample_operation("GET", "/ws/{id}/slow", self.hold, style=ResponseStyle.WEBSOCKET),
        ]

    def answered(self, path: str, change: Callable[[], None], **headers: str) -> ParsedAnswer:
        """What comes back when C{change} happens before there is an answer."""
        connection = self.api.connect()
        connection.send(request_head("GET", path, headers or {"X-User": "ann"}))
        self.assertEqual(b"", connection.value())
        change()
        late, self.late = self.late, Deferred()
        late.callback({"told": "x"})
        answer = parse_http_answer(connection.value())
        connection.lose()
        return answer

    def become(self, **fields: Any) -> None:
        self.named.changed = lambda identity: evolve(identity, **fields)

    def vanish(self) -> None:
        self.named.changed = lambda identity: None

    def test_unchanged_right_keeps_the_answer(self) -> None:
        for path in ("/api/slow", "/api/sessions/mine/slow"):
            self.assertEqual(200, self.answered(path, lambda: None).status)

    def test_session_moved_to_another_account_drops_the_answer(self) -> None:
        def hand_over() -> None:
            self.owners["mine"] = "bob"

        found = self.answered("/api/sessions/mine/slow", hand_over)
        self.assertEqual((404, "NOT_FOUND"), found.error[:2])

    def test_answer_about_a_deleted_session_is_kept(self) -> None:
        found = self.answered("/api/sessions/mine/slow", self.owners.clear)
        self.assertEqual(200, found.status)

    def test_each_lost_right_drops_the_answer(self) -> None:
        for lost in (
            {"can_bypass_permissions": False},
            {"must_change_password": True},
            {"os_user": "somebody"},
            {"username": "bob"},
            {"scopes": frozenset[str]()},
            {"sessions": frozenset({"theirs"})},
        ):
            found = self.answered("/api/slow", partial(self.become, **lost))
            self.assertEqual((403, "FORBIDDEN"), found.error[:2], lost)

    def test_demoted_admin_sees_no_session_of_others(self) -> None:
        demote = partial(self.become, admin=False)
        found = self.answered("/api/sessions/theirs/slow", demote, **{"X-User": "root"})
        self.assertEqual((404, "NOT_FOUND"), found.error[:2])

    def test_added_right_keeps_the_answer(self) -> None:
        self.assertEqual(200, self.answered("/api/slow", partial(self.become, admin=True)).status)

    def test_removed_account_gets_a_401(self) -> None:
        found = self.answered("/api/slow", self.vanish)
        self.assertEqual((401, b"Unauthorized"), (found.status, found.content))
        self.assertIn("www-authenticate", found.headers)
        script = {"X-User": "ann", "Sec-Fetch-Mode": "cors"}
        self.named.changed = lambda identity: identity
        found = self.answered("/api/slow", self.vanish, **script)
        self.assertNotIn("www-authenticate", found.headers)

    def test_websocket_of_a_removed_account_is_closed(self) -> None:
        found = self.answered("/ws/mine/slow", self.vanish, **UPGRADE, **{"X-User": "ann"})
        self.assertEqual(401, found.status)
        demote = partial(self.become, can_bypass_permissions=False)
        connection = self.api.connect()
        self.named.changed = lambda identity: identity
        connection.send(request_head("GET", "/ws/mine/slow", {**UPGRADE, "X-User": "ann"}))
        demote()
        self.late.callback(None)
        _, _, frame = connection.value().partition(b"\r\n\r\n")
        self.assertEqual(4003, int.from_bytes(frame[2:4], "big"))
        connection.lose()

    def test_public_and_hook_answers_need_no_right(self) -> None:
        self.assertEqual(200, self.answered("/api/public", self.vanish).status)
        secret = {"X-Service-Hook-Secret": SECRET}
        self.assertEqual(200, self.answered("/api/hook", self.vanish, **secret).status)


class RoleTests(GateCase):
    """Admins, owners, and accounts that must change their password."""

    def as_user(self, name: str, path: str) -> ParsedAnswer:
        return self.ask({"X-User": name}, path)

    def test_admin_routes_are_for_admins_only(self) -> None:
        self.assertEqual(200, self.as_user("root", "/api/admin").status)
        self.assertEqual((403, "FORBIDDEN"), self.as_user("ann", "/api/admin").error[:2])

    def test_session_of_another_account_is_not_found(self) -> None:
        self.assertEqual(200, self.as_user("ann", "/api/sessions/mine").status)
        self.assertEqual(200, self.as_user("root", "/api/sessions/theirs").status)
        self.assertEqual(
            [(404, "NOT_FOUND", f"Session {name} not found") for name in ("theirs", "none")],
            [self.as_user("ann", f"/api/sessions/{name}").error for name in ("theirs", "none")],
        )

    def test_websocket_credentials_are_checked_before_the_upgrade_and_ownership_after(self) -> None:
        """Credentials are judged in HTTP, ownership after the upgrade (protocol-gate)."""
        self.assertEqual(401, self.ask(UPGRADE, "/ws/mine").status)
        connection = self.api.connect()
        connection.send(request_head("GET", "/ws/theirs", {**UPGRADE, "X-User": "ann"}))
        answer, _, frame = connection.value().partition(b"\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 101 "), answer)
        self.assertEqual(4003, int.from_bytes(frame[2:4], "big"))
        connection.lose()

    def test_account_that_must_change_its_password_is_refused(self) -> None:
        self.named.flagged = True
        refused = (403, "PASSWORD_CHANGE_REQUIRED")
        self.assertEqual(refused, self.as_user("ann", "/api/who").error[:2])
        self.assertEqual(refused, self.as_user("root", "/api/admin").error[:2])
        self.assertTrue(self.as_user("ann", "/api/me").data["mustChangePassword"])
        self.assertEqual(200, self.as_user("ann", "/").status)

    def test_unknown_paths_for_an_account_that_must_change_its_password(self) -> None:
        self.named.flagged = True
        for method, path in (
            ("GET", "/api/nothing"),
            ("GET", "/api"),
            ("PUT", "/api/who"),
            ("OPTIONS", "/api/who"),
            ("GET", "/ws/mine"),
            ("GET", "/ws/nothing/here"),
        ):
            answer = self.ask({"X-User": "ann"}, path, method)
            self.assertEqual((403, "PASSWORD_CHANGE_REQUIRED"), answer.error[:2], (method, path))
        for method, path, status in (
            ("GET", "/nothing", 404),
            ("GET", "/%ff", 404),
            ("DELETE", "/api/me", 405),
            ("GET", "/healthz", 200),
        ):
            self.assertEqual(status, self.ask({"X-User": "ann"}, path, method).status, path)


class SignOutTests(GateCase):
    """The routes of access."""

    def test_me_route_describes_the_caller(self) -> None:
        self.assertEqual(
            {
                "username": "admin",
                "role": "admin",
                "mustChangePassword": False,
                "multiUser": False,
                "signedIn": True,
                "canSetPassword": False,
            },
            self.ask(basic_headers(), "/api/me").data,
        )

    def test_wrong_login_is_refused(self) -> None:
        answer = self.login("wrong")
        self.assertBare(401, "Unauthorized", answer)
        self.assertNotIn("www-authenticate", answer.headers)
        self.assertNotIn("set-cookie", answer.headers)
        self.assertEqual(400, self.ask({}, "/api/login", "POST", {"username": "a"}).status)

    def test_every_login_opens_a_session(self) -> None:
        self.assertNotEqual(self.page(self.login()), self.page(self.login()))

    def test_logout_ends_its_own_session(self) -> None:
        cookie, other = self.page(self.login()), self.page(self.login())
        answer = self.ask(cookie, "/api/logout", "POST")
        want = "service_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"
        self.assertEqual((200, want), (answer.status, answer.headers["set-cookie"]))
        self.assertEqual(401, self.ask(cookie).status)
        self.assertEqual(200, self.ask(other).status)
        self.assertEqual([1], [len(ids) for ids in self.revoked])

    def test_revoke_all_ends_every_session(self) -> None:
        cookie = self.page(self.login())
        self.login()
        answer = self.ask(cookie, "/api/auth/revoke", "POST")
        self.assertEqual({"revoked": 2}, answer.data)
        self.assertIn("Max-Age=0", answer.headers["set-cookie"])
        self.assertEqual(401, self.ask(cookie).status)

    def test_revoke_one_ends_the_named_session(self) -> None:
        mine, other = self.page(self.login()), self.page(self.login())
        known: Any = self.cookies.list_sessions()[1].id
        answer = self.ask(mine, "/api/auth/revoke", "POST", {"sessionId": known})
        self.assertEqual({"revoked": 1}, answer.data)
        self.assertNotIn("Max-Age=0", answer.headers["set-cookie"])
        self.assertEqual((200, 401), (self.ask(mine).status, self.ask(other).status))
        again = self.ask(mine, "/api/auth/revoke", "POST", {"sessionId": known})
        self.assertEqual(f"Auth session {known} not found", again.error[2])


class HandshakenTransport(MemoryTransport):
    """As after a handshake."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        directlyProvides(self, ISSLTransport)

    def setTcpNoDelay(self, enabled: bool) -> None:
        """There is nothing to be set."""


class TLSTests(GateCase):
    """A connection that is TLS itself, on the default port, where no Host names a port."""

    def test_http_origin_of_the_same_host_is_another_site(self) -> None:
        for scheme, status in (("https", 200), ("http", 403)):
            connection = self.api.connect(transport=HandshakenTransport(self.address))
            headers = {
                "Host": "box.example",
                "Origin": f"{scheme}://box.example",
                **basic_headers(),
            }
            connection.send(request_head("POST", "/api/who", {**headers, "Content-Length": "0"}))
            self.assertEqual(status, parse_http_answer(connection.value()).status, scheme)


class HeaderTests(GateCase):
    """What every answer carries."""

    def test_security_headers_are_in_every_answer(self) -> None:
        for headers, path, status in (
            (basic_headers(), "/api/who", 200),
            ({}, "/api/who", 401),
            ({"Host": "evil"}, "/", 403),
            (basic_headers(), "/api/nope", 404),
        ):
            answer = self.ask(headers, path)
            self.assertEqual(status, answer.status)
            csp = answer.headers["content-security-policy"]
            self.assertIn("script-src 'self';", csp)
            self.assertNotIn("unsafe-eval", csp)
            self.assertEqual("nosniff", answer.headers["x-content-type-options"])
            self.assertEqual("SAMEORIGIN", answer.headers["x-frame-options"])
            self.assertEqual("same-origin", answer.headers["referrer-policy"])
            self.assertEqual("no-store", answer.headers["cache-control"])
            # Not even as the picture or script of a page that may not read it.
            self.assertEqual("same-origin", answer.headers["cross-origin-resource-policy"])

    def test_policy_allows_websockets_of_the_own_host_only(self) -> None:
        csp = self.ask({"Host": "localhost:8770"}).headers["content-security-policy"]
        self.assertIn("connect-src 'self' ws://localhost:8770 wss://localhost:8770;", csp)


class GateProxyTests(GateCase):
    """Behind a trusted reverse proxy, with an allowed origin."""

    config = Config(
        password="right",
        trusted_proxies=("127.0.0.1",),
        allowed_origins=("http://localhost:5173",),
    )
    FORWARDED = {
        "X-Forwarded-For": "1.2.3.4",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "a.ts.net",
        "Host": "127.0.0.1:8770",
    }

    def test_forwarded_headers_of_a_trusted_proxy_count(self) -> None:
        answer = self.ask({**self.FORWARDED, **basic_headers()})
        self.assertTrue(answer.headers["set-cookie"].endswith("; Secure"))
        self.assertIn("max-age=", answer.headers["strict-transport-security"])
        self.assertEqual("1.2.3.4", self.cookies.list_sessions()[0].address)

    def test_origin_scheme_behind_a_proxy_is_checked(self) -> None:
        for scheme, status in (("https", 200), ("http", 403)):
            headers = {**self.FORWARDED, "Origin": f"{scheme}://a.ts.net", **basic_headers()}
            self.assertEqual(status, self.ask(headers, method="POST").status)

    def test_hooks_through_a_proxy_are_not_local(self) -> None:
        headers = {**self.FORWARDED, "X-Service-Hook-Secret": SECRET}
        self.assertBare(401, "Unauthorized", self.ask(headers, "/api/hook-event", "POST"))

    def test_host_and_forwarded_host_are_checked(self) -> None:
        """A rebound page can send X-Forwarded-Host, and a proxy may hand it on as it came."""
        self.assertEqual(403, self.ask({"Host": "inner", **basic_headers()}).status)
        for host, forwarded in (("evil.example", "a.ts.net"), ("a.ts.net", "evil.example")):
            names = {"Host": host, "X-Forwarded-Host": forwarded}
            found = self.ask({**self.FORWARDED, **names, **basic_headers()})
            self.assertBare(403, "Forbidden: host not allowed", found)

    def test_cors_headers_are_sent_for_the_allowed_origin(self) -> None:
        origin = {"Origin": "http://localhost:5173"}
        answer = self.ask({**origin, **basic_headers()}, method="POST")
        self.assertEqual(200, answer.status)
        self.assertEqual("http://localhost:5173", answer.headers["access-control-allow-origin"])
        self.assertEqual("Origin", answer.headers["vary"])
        read = {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "cors",
            **origin,
            **basic_headers(),
        }
        self.assertEqual(200, self.ask(read).status)
        asked = {**origin, "Access-Control-Request-Method": "POST"}
        answer = self.ask(asked, method="OPTIONS")
        self.assertEqual(204, answer.status)
        self.assertIn("POST", answer.headers["access-control-allow-methods"])
        self.assertEqual(401, self.ask(origin, method="OPTIONS").status)

    def test_bad_proxy_rules_stop_the_start(self) -> None:
        for config in (
            Config(allowed_origins=("https://evil.example",)),
            Config(trusted_proxies=("somebody",)),
        ):
            self.assertRaises(StartError, make_gate_rules, config, [])
