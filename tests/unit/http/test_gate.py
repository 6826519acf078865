"""Tests for L{tservice.http.gate} with the real authenticators behind it."""

from __future__ import annotations

import base64
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.unit.http.driver import Answer, Api
from tests.unit.http.test_site import operation
from tservice.access.authenticators import (
    BasicAuthenticator,
    CookieAuthenticator,
    Everybody,
    HookAuthenticator,
)
from tservice.access.cookies import CookieSessions
from tservice.access.cookiestore import MemoryCookieStore
from tservice.access.failures import CAP, WINDOW_SECONDS, Failures
from tservice.access.interfaces import IAccounts
from tservice.access.passwords import SingleAccount
from tservice.access.routes import AccessRoutes
from tservice.core.authentication import IAuthenticator, Pass, Verdict, Visit
from tservice.core.config import Config
from tservice.core.errors import StartError
from tservice.core.identity import Identity
from tservice.http.envelope import Response
from tservice.http.gate import Gate, prefers_page, rules_of
from tservice.http.kernel import IPages
from tservice.http.operations import Access, Call, Operation, Style
from tservice.http.websocket import WebSockets

SECRET = "5" * 64
PAGE = Response(status=200, content=b"<form>", content_type="text/html; charset=utf-8")
TOO_MANY = "Too Many Requests — try again later".encode()


def basic(username: str = "admin", password: str = "right") -> dict[str, str]:
    word = base64.b64encode(f"{username}:{password}".encode()).decode()
    return {"Authorization": f"Basic {word}"}


@implementer(IPages)
class Pages:
    """One public asset, one page."""

    def find(self, path: str, visit: Visit) -> Response | None:
        if path == "/assets/x-1234.js":
            return Response(status=200, content=b"js", content_type="text/javascript", public=True)
        return PAGE if path in ("/", "/login") else None


@implementer(IAuthenticator)
class Named:
    """Believes the X-User header: stands for accounts, tokens and what else may come."""

    flagged = False

    async def authenticate(self, visit: Visit) -> Verdict:
        name = visit.header("x-user")
        if name is None:
            return None
        return Pass(
            identity=Identity(
                username=name, admin=name == "root", must_change_password=self.flagged
            )
        )


class GateCase(SynchronousTestCase):
    """A site behind a real gate."""

    config = Config(password="right", allowed_hosts=("box.example",))
    address = "127.0.0.1"

    def setUp(self) -> None:
        self.clock = Clock()
        self.numbers = 0
        self.named = Named()
        self.failures = Failures(self.clock)
        self.store = MemoryCookieStore()
        self.revoked: list[frozenset[str]] = []
        self.cookies = CookieSessions(self.store, self.clock, self.random, self.revoked.append)
        account = None
        if self.config.password is not None:
            account = SingleAccount(self.config.username, self.config.password)
        routes = AccessRoutes(self.cookies, account, self.failures, self.config.username, False)
        gate = Gate(
            rules_of(self.config, ["bound.example"], lambda: ["tunnel.example"]),
            self.authenticators(account),
            HookAuthenticator(SECRET),
            self.failures,
            {"mine": "ann", "theirs": "bob"}.get,
            lambda: PAGE,
        )
        table = routes.operations() + self.table()
        self.api = Api(table, gate, Pages(), WebSockets(self.clock), clock=self.clock)

    def authenticators(self, account: IAccounts | None) -> list[IAuthenticator]:
        if account is None:
            return [Everybody(self.config.username)]
        return [
            CookieAuthenticator(self.cookies, account),
            BasicAuthenticator(self.cookies, account),
            self.named,
        ]

    def random(self, size: int) -> bytes:
        self.numbers += 1
        return self.numbers.to_bytes(size, "big")

    async def who(self, call: Call) -> object:
        return {"user": call.identity.username, "by": call.identity.method}

    def table(self) -> list[Operation]:
        return [
            operation("GET", "/api/who", self.who),
            operation("POST", "/api/who", self.who),
            operation("GET", "/healthz", self.who, access=Access.PUBLIC, style=Style.RAW),
            operation("POST", "/api/hook-event", self.who, access=Access.HOOK),
            operation("GET", "/api/admin", self.who, access=Access.ADMIN),
            operation("GET", "/api/sessions/{id}", self.who, access=Access.OWNER),
            operation("GET", "/q/{code}", self.who, access=Access.CAPABILITY),
            operation("GET", "/ws/{id}", self.who, access=Access.OWNER, style=Style.WEBSOCKET),
        ]

    def ask(
        self,
        headers: dict[str, str] | None = None,
        path: str = "/api/who",
        method: str = "GET",
        body: object = None,
    ) -> Answer:
        return self.api.request(method, path, body, headers, host=self.address)

    def assertBare(self, status: int, text: str, answer: Answer) -> None:
        self.assertEqual((status, text), (answer.status, answer.content.decode()))
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))

    def login(self, password: str = "right", **headers: str) -> Answer:
        body = {"username": "admin", "password": password}
        return self.ask(headers, "/api/login", "POST", body)


class OrderTests(GateCase):
    """Host, then Origin, then authentication, on every path."""

    PATHS = (
        ("GET", "/api/who"),
        ("POST", "/api/who"),
        ("GET", "/"),
        ("GET", "/nope"),
        ("GET", "/api/nope"),
        ("PUT", "/api/who"),
        ("OPTIONS", "/api/who"),
        ("GET", "/q/abc"),
        ("GET", "/healthz"),
        ("GET", "/assets/x-1234.js"),
        ("POST", "/api/login"),
        ("GET", "/%ff"),
        ("POST", "/webview/x/"),
    )

    def test_host_first(self) -> None:
        for method, path in self.PATHS:
            for host in ("evil.example", ""):
                headers = {"Host": host, "Origin": "http://evil.example"}
                answer = self.ask(headers, path, method)
                if method != "HEAD":
                    self.assertBare(403, "Forbidden: host not allowed", answer)

    def test_origin_second(self) -> None:
        for path in ("/api/who", "/nope", "/api/login", "/q/x", "/api/hook-event", "/%ff"):
            for origin in ("http://evil.example", "null", "http://localhost:3000"):
                answer = self.ask({"Origin": origin, **basic()}, path, "POST")
                self.assertBare(403, "Forbidden: cross-site request blocked", answer)

    def test_authentication_third(self) -> None:
        for method, path in self.PATHS:
            answer = self.ask({}, path, method)
            public = path in ("/healthz", "/q/abc", "/assets/x-1234.js", "/api/login")
            self.assertEqual(not public, answer.status == 401, (method, path))

    def test_hosts_that_pass(self) -> None:
        for host in ("box.example", "bound.example:1", "tunnel.example", "10.1.2.3", "a.ts.net"):
            self.assertEqual(200, self.ask({"Host": host, **basic()}).status, host)

    def test_two_hosts_are_none(self) -> None:
        connection = self.api.connect()
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n")
        self.assertTrue(connection.value().startswith(b"HTTP/1.1 403 "))

    def test_no_host(self) -> None:
        connection = self.api.connect()
        connection.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        self.assertTrue(connection.value().startswith(b"HTTP/1.0 403 "))

    def test_own_origin_passes(self) -> None:
        headers = {"Host": "localhost:8770", "Origin": "http://localhost:8770", **basic()}
        self.assertEqual(200, self.ask(headers, method="POST").status)

    def test_reading_across_sites_is_the_browser_s_business(self) -> None:
        answer = self.ask({"Origin": "http://evil.example", **basic()})
        self.assertEqual(200, answer.status)
        self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_upgrade_across_sites(self) -> None:
        headers = {"Origin": "http://evil.example", "Upgrade": "websocket", **basic()}
        self.assertBare(403, "Forbidden: cross-site request blocked", self.ask(headers, "/ws/mine"))


class AuthenticationTests(GateCase):
    """Basic, cookies and failures in single-user mode."""

    def test_bare_401(self) -> None:
        answer = self.ask()
        self.assertBare(401, "Unauthorized", answer)
        self.assertEqual('Basic realm="Service"', answer.headers["www-authenticate"])

    def test_basic_opens_one_session_and_reuses_it(self) -> None:
        first, second = self.ask(basic()), self.ask(basic())
        self.assertEqual({"user": "admin", "by": "basic"}, first.data)
        cookie = first.headers["set-cookie"]
        token = "0" * 63 + "1"
        want = f"service_session={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400"
        self.assertEqual(want, cookie)
        self.assertEqual(cookie, second.headers["set-cookie"])
        self.assertEqual(1, len(self.cookies.sessions()))
        self.ask({**basic(), "User-Agent": "other"})
        self.assertEqual(2, len(self.cookies.sessions()))

    def test_wrong_passwords(self) -> None:
        for headers in (
            basic(password="wrong"),
            basic(username="root"),
            basic(password=""),
            basic(password="right\0"),
            basic(password="räight"),
        ):
            self.assertBare(401, "Unauthorized", self.ask(headers))

    def test_headers_that_are_no_basic_are_no_failures(self) -> None:
        for value in ("Basic", "Basic !!", "Basic YQ==", "Bearer x", "Basic /w=="):
            for _ in range(CAP):
                self.assertEqual(401, self.ask({"Authorization": value}).status)

    def test_cap(self) -> None:
        for _ in range(CAP):
            self.assertEqual(401, self.ask(basic(password="wrong")).status)
        self.clock.advance(10.5)
        answer = self.ask(basic(password="wrong"))
        self.assertEqual((429, TOO_MANY), (answer.status, answer.content))
        self.assertEqual(str(WINDOW_SECONDS - 10), answer.headers["retry-after"])
        self.assertEqual(429, self.ask().status)
        self.assertEqual(429, self.login("wrong").status)
        self.assertEqual(401, self.ask({"Accept": "text/html"}, "/").status)

    def test_the_right_one_always_passes(self) -> None:
        cookie = {"Cookie": self.ask(basic()).headers["set-cookie"].partition(";")[0]}
        for _ in range(CAP + 1):
            self.ask(basic(password="wrong"))
        self.assertEqual(200, self.ask(basic()).status)
        self.assertEqual(200, self.ask(cookie).status)
        self.assertEqual(200, self.login().status)
        self.assertEqual(429, self.ask(basic(password="wrong")).status)

    def test_the_window_ends(self) -> None:
        for _ in range(CAP + 5):
            self.ask(basic(password="wrong"))
        self.clock.advance(WINDOW_SECONDS)
        self.assertEqual(401, self.ask(basic(password="wrong")).status)

    def test_addresses_are_counted_apart(self) -> None:
        for _ in range(CAP + 1):
            self.ask(basic(password="wrong"))
        self.address = "10.0.0.9"
        self.assertEqual(401, self.ask(basic(password="wrong")).status)

    def test_cookie(self) -> None:
        cookie = self.login().headers["set-cookie"].partition(";")[0]
        answer = self.ask({"Cookie": f"a=b; {cookie}; c"})
        self.assertEqual({"user": "admin", "by": "cookie"}, answer.data)
        self.assertTrue(answer.headers["set-cookie"].startswith(cookie))
        for text in ("service_session=", "service_session=x", "service_session=\xff", cookie[:-1]):
            self.assertEqual(401, self.ask({"Cookie": text}).status)

    def test_an_old_cookie_and_the_right_password(self) -> None:
        answer = self.ask({"Cookie": "service_session=old", **basic()})
        self.assertEqual("basic", answer.data["by"])

    def test_secure_behind_a_tls_proxy_only_when_it_is_trusted(self) -> None:
        answer = self.ask({"X-Forwarded-Proto": "https", **basic()})
        self.assertNotIn("Secure", answer.headers["set-cookie"])
        self.assertNotIn("strict-transport-security", answer.headers)

    def test_login_page(self) -> None:
        browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        for path in ("/", "/login", "/nope"):
            answer = self.ask(browser, path)
            self.assertEqual((401, b"<form>"), (answer.status, answer.content))
            self.assertNotIn("www-authenticate", answer.headers)
        self.assertEqual(b"", self.ask(browser, "/", "HEAD").content)
        for path in ("/api/who", "/ws/x", "/webview/x/y"):
            self.assertBare(401, "Unauthorized", self.ask(browser, path))

    def test_scripts_of_a_page_get_no_challenge(self) -> None:
        answer = self.ask({"Sec-Fetch-Mode": "cors"})
        self.assertBare(401, "Unauthorized", answer)
        self.assertNotIn("www-authenticate", answer.headers)
        self.assertIn("www-authenticate", self.ask({"Sec-Fetch-Mode": "navigate"}).headers)

    def test_public_asset(self) -> None:
        self.assertEqual(200, self.ask(path="/assets/x-1234.js").status)

    def test_accept(self) -> None:
        for accept, want in (
            ("text/html", True),
            ("text/html;q=0.5, application/json;q=0.4", True),
            ("text/html, application/json", False),
            ("*/*", False),
            ("", False),
            ("text/html;q=x", False),
            ("text/html;q=0", False),
        ):
            self.assertEqual(want, prefers_page(accept), accept)

    def test_a_large_upload_of_a_stranger_is_refused_early(self) -> None:
        self.api = Api(
            [operation("POST", "/api/up", self.who, body_limit=8 << 20)],
            self.api.kernel._gate,
            clock=self.clock,
        )
        connection = self.api.connect()
        connection.send(
            b"POST /api/up HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n"
        )
        connection.send(b"x" * (1 << 20))
        self.assertEqual(b"", connection.value())
        connection.send(b"x")
        self.assertTrue(connection.value().startswith(b"HTTP/1.1 401 "))


class HookTests(GateCase):
    """Hooks of this machine (interface.md Authentication 5)."""

    def hook(self, secret: str | None = None, **headers: str) -> Answer:
        named = dict(headers)
        if secret is not None:
            named["X-Service-Hook-Secret"] = secret
        return self.ask(named, "/api/hook-event", "POST", {})

    def test_right(self) -> None:
        self.assertEqual({"user": "hook", "by": "hook"}, self.hook(SECRET).data)
        self.address = "::ffff:127.0.0.1"
        self.assertEqual(200, self.hook(SECRET).status)

    def test_wrong(self) -> None:
        for secret in (None, "", "x", SECRET.upper() + "0", "\xff"):
            answer = self.hook(secret, **basic())
            self.assertBare(401, "Unauthorized: hook secret required", answer)
            self.assertNotIn("www-authenticate", answer.headers)

    def test_buckets_are_apart(self) -> None:
        for _ in range(CAP):
            self.assertEqual(401, self.hook("x").status)
        self.assertEqual(429, self.hook("x").status)
        self.assertEqual(200, self.hook(SECRET).status)
        self.assertEqual(401, self.ask(basic(password="wrong")).status)

    def test_from_elsewhere_it_is_like_any_other(self) -> None:
        self.address = "10.0.0.9"
        self.assertBare(401, "Unauthorized", self.hook(SECRET))
        self.assertEqual("basic", self.hook(None, **basic()).data["by"])


class OpenTests(GateCase):
    """Single-user without a password (interface.md Authentication 1)."""

    config = Config()

    def test_everybody_is_the_user(self) -> None:
        self.assertEqual({"user": "admin", "by": "none"}, self.ask().data)
        self.assertEqual(200, self.ask(path="/api/admin").status)
        self.assertNotIn("set-cookie", self.ask().headers)

    def test_hooks_need_the_secret_all_the_same(self) -> None:
        self.assertEqual(401, self.ask(path="/api/hook-event", method="POST").status)

    def test_login_has_nothing_to_do(self) -> None:
        answer = self.login("anything")
        self.assertEqual((200, "admin"), (answer.status, answer.data["username"]))
        self.assertNotIn("set-cookie", answer.headers)


class RoleTests(GateCase):
    """Admins, owners, and accounts that must change their password."""

    def as_user(self, name: str, path: str) -> Answer:
        return self.ask({"X-User": name}, path)

    def test_admin(self) -> None:
        self.assertEqual(200, self.as_user("root", "/api/admin").status)
        self.assertEqual((403, "FORBIDDEN"), self.as_user("ann", "/api/admin").error[:2])

    def test_a_foreign_session_is_an_unknown_one(self) -> None:
        self.assertEqual(200, self.as_user("ann", "/api/sessions/mine").status)
        self.assertEqual(200, self.as_user("root", "/api/sessions/theirs").status)
        self.assertEqual(
            [(404, "NOT_FOUND", f"Session {name} not found") for name in ("theirs", "none")],
            [self.as_user("ann", f"/api/sessions/{name}").error for name in ("theirs", "none")],
        )

    def test_must_change_password(self) -> None:
        self.named.flagged = True
        refused = (403, "PASSWORD_CHANGE_REQUIRED")
        self.assertEqual(refused, self.as_user("ann", "/api/who").error[:2])
        self.assertEqual(refused, self.as_user("root", "/api/admin").error[:2])
        self.assertTrue(self.as_user("ann", "/api/me").data["mustChangePassword"])
        self.assertEqual(200, self.as_user("ann", "/").status)


class SignOutTests(GateCase):
    """The routes of access."""

    def cookie(self, answer: Answer) -> dict[str, str]:
        return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}

    def test_me(self) -> None:
        self.assertEqual(
            {"username": "admin", "role": "admin", "mustChangePassword": False, "multiUser": False},
            self.ask(basic(), "/api/me").data,
        )

    def test_wrong_login(self) -> None:
        answer = self.login("wrong")
        self.assertBare(401, "Unauthorized", answer)
        self.assertNotIn("www-authenticate", answer.headers)
        self.assertNotIn("set-cookie", answer.headers)
        self.assertEqual(400, self.ask({}, "/api/login", "POST", {"username": "a"}).status)

    def test_every_login_is_a_session(self) -> None:
        self.assertNotEqual(self.cookie(self.login()), self.cookie(self.login()))

    def test_logout(self) -> None:
        cookie, other = self.cookie(self.login()), self.cookie(self.login())
        answer = self.ask(cookie, "/api/logout", "POST")
        want = "service_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"
        self.assertEqual((200, want), (answer.status, answer.headers["set-cookie"]))
        self.assertEqual(401, self.ask(cookie).status)
        self.assertEqual(200, self.ask(other).status)
        self.assertEqual([1], [len(ids) for ids in self.revoked])

    def test_revoke_all(self) -> None:
        cookie = self.cookie(self.login())
        self.login()
        answer = self.ask(cookie, "/api/auth/revoke", "POST")
        self.assertEqual({"revoked": 2}, answer.data)
        self.assertIn("Max-Age=0", answer.headers["set-cookie"])
        self.assertEqual(401, self.ask(cookie).status)

    def test_revoke_one(self) -> None:
        mine, other = self.cookie(self.login()), self.cookie(self.login())
        known: Any = self.cookies.sessions()[1].id
        answer = self.ask(mine, "/api/auth/revoke", "POST", {"sessionId": known})
        self.assertEqual({"revoked": 1}, answer.data)
        self.assertNotIn("Max-Age=0", answer.headers["set-cookie"])
        self.assertEqual((200, 401), (self.ask(mine).status, self.ask(other).status))
        again = self.ask(mine, "/api/auth/revoke", "POST", {"sessionId": known})
        self.assertEqual(f"Auth session {known} not found", again.error[2])


class HeaderTests(GateCase):
    """What every answer carries."""

    def test_security_headers_everywhere(self) -> None:
        for headers, path, status in (
            (basic(), "/api/who", 200),
            ({}, "/api/who", 401),
            ({"Host": "evil"}, "/", 403),
            (basic(), "/api/nope", 404),
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

    def test_sockets_of_the_own_host_only(self) -> None:
        csp = self.ask({"Host": "localhost:8770"}).headers["content-security-policy"]
        self.assertIn("connect-src 'self' ws://localhost:8770 wss://localhost:8770;", csp)


class ProxyTests(GateCase):
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
        "Host": "inner",
    }

    def test_its_word_counts(self) -> None:
        answer = self.ask({**self.FORWARDED, **basic()})
        self.assertTrue(answer.headers["set-cookie"].endswith("; Secure"))
        self.assertIn("max-age=", answer.headers["strict-transport-security"])
        self.assertEqual("1.2.3.4", self.cookies.sessions()[0].address)

    def test_the_scheme_of_the_origin_counts(self) -> None:
        for scheme, status in (("https", 200), ("http", 403)):
            headers = {**self.FORWARDED, "Origin": f"{scheme}://a.ts.net", **basic()}
            self.assertEqual(status, self.ask(headers, method="POST").status)

    def test_hooks_through_a_proxy_are_no_local_ones(self) -> None:
        headers = {**self.FORWARDED, "X-Service-Hook-Secret": SECRET}
        self.assertBare(401, "Unauthorized", self.ask(headers, "/api/hook-event", "POST"))

    def test_its_own_name_is_judged_when_it_gives_none(self) -> None:
        self.assertEqual(403, self.ask({"Host": "inner", **basic()}).status)

    def test_cors(self) -> None:
        origin = {"Origin": "http://localhost:5173"}
        answer = self.ask({**origin, **basic()}, method="POST")
        self.assertEqual(200, answer.status)
        self.assertEqual("http://localhost:5173", answer.headers["access-control-allow-origin"])
        self.assertEqual("Origin", answer.headers["vary"])
        asked = {**origin, "Access-Control-Request-Method": "POST"}
        answer = self.ask(asked, method="OPTIONS")
        self.assertEqual(204, answer.status)
        self.assertIn("POST", answer.headers["access-control-allow-methods"])
        self.assertEqual(401, self.ask(origin, method="OPTIONS").status)

    def test_bad_rules_stop_the_start(self) -> None:
        for config in (
            Config(allowed_origins=("https://evil.example",)),
            Config(trusted_proxies=("somebody",)),
        ):
            self.assertRaises(StartError, rules_of, config, [])
