"""Tests for L{tservice.http.gate}: who passes, and what the others hear."""

from __future__ import annotations

from tests.non_empty import require_items
from tests.unit.http.gate_harness import SECRET, TOO_MANY, GateCase, basic_headers
from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import ApiHarness, ParsedAnswer
from tservice.access.passwords.failures import CAP, NETWORK_CAP, WINDOW_SECONDS
from tservice.core.config.model import Config
from tservice.http.gate import prefers_page


class GateOrderTests(GateCase):
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

    def test_host_is_checked_first(self) -> None:
        for method, path in require_items(self.PATHS):
            for host in ("evil.example", ""):
                headers = {"Host": host, "Origin": "http://evil.example"}
                answer = self.ask(headers, path, method)
                if method != "HEAD":
                    self.assertBare(403, "Forbidden: host not allowed", answer)

    def test_origin_is_checked_second(self) -> None:
        for path in ("/api/who", "/nope", "/api/login", "/q/x", "/api/hook-event", "/%ff"):
            for origin in ("http://evil.example", "null", "http://localhost:3000"):
                answer = self.ask({"Origin": origin, **basic_headers()}, path, "POST")
                self.assertBare(403, "Forbidden: cross-site request blocked", answer)

    def test_authentication_is_checked_third(self) -> None:
        for method, path in require_items(self.PATHS):
            answer = self.ask({}, path, method)
            public = path in ("/healthz", "/q/abc", "/assets/x-1234.js", "/api/login")
            self.assertEqual(not public, answer.status == 401, (method, path))

    def test_allowed_hosts_pass(self) -> None:
        for host in ("box.example", "bound.example:1", "tunnel.example", "10.1.2.3", "a.ts.net"):
            self.assertEqual(200, self.ask({"Host": host, **basic_headers()}).status, host)

    def test_two_host_headers_are_refused(self) -> None:
        for hosts in (b"Host: localhost", b"Host:"), (b"Host:", b"Host: localhost"):
            self.refused(b"\r\n".join([*hosts, b"", b""]))
        self.refused(b"Host: localhost\r\nHost: localhost\r\n\r\n")

    def refused(self, headers: bytes) -> None:
        connection = self.api.connect()
        connection.send(b"GET /healthz HTTP/1.1\r\n" + headers)
        self.assertTrue(connection.value().startswith(b"HTTP/1.1 403 "), headers)

    def test_missing_host_is_refused(self) -> None:
        connection = self.api.connect()
        connection.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        self.assertTrue(connection.value().startswith(b"HTTP/1.0 403 "))

    def test_request_from_the_own_origin_passes(self) -> None:
        headers = {"Host": "localhost:8770", "Origin": "http://localhost:8770", **basic_headers()}
        self.assertEqual(200, self.ask(headers, method="POST").status)

    def test_cross_site_read_is_answered_without_cors_headers(self) -> None:
        answer = self.ask({"Origin": "http://evil.example", **basic_headers()})
        self.assertEqual(200, answer.status)
        self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_cross_site_request_without_an_origin_changes_nothing(self) -> None:
        """A navigation of its form, by a browser that sends no Origin with it."""
        for mode in ("navigate", "no-cors", "cors", "websocket"):
            for site in ("cross-site", "same-site"):
                browser = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, **basic_headers()}
                for method in ("POST", "PUT", "PATCH", "DELETE"):
                    for path in ("/api/who", "/api/login", "/nope", "/q/x"):
                        answer = self.ask(browser, path, method)
                        self.assertBare(403, "Forbidden: cross-site request blocked", answer)
                upgrade = self.ask({**browser, "Upgrade": "websocket"}, "/api/who")
                self.assertBare(403, "Forbidden: cross-site request blocked", upgrade)
        for site in ("same-origin", "none"):
            browser = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", **basic_headers()}
            self.assertEqual(200, self.ask(browser, method="POST").status)

    def test_cross_site_request_uses_no_password_and_gets_no_challenge(self) -> None:
        """A link may hold a name and password, which the browser then sends with all it asks."""
        for site in ("cross-site", "same-site"):
            link = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
            for shown in ({}, basic_headers(), *[basic_headers(password="wrong")] * CAP):
                for path in ("/api/who", "/nope"):
                    answer = self.ask({**link, **shown}, path)
                    self.assertBare(401, "Unauthorized", answer)
                    self.assertNotIn("www-authenticate", answer.headers)
        typed = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
        self.assertIn("www-authenticate", self.ask(typed).headers)
        self.assertEqual(200, self.ask({**typed, **basic_headers()}).status)

    def test_cross_site_request_starts_no_costly_reading(self) -> None:
        """It could not see the answer, but would cost us a child, a stream, or a held wait."""
        for site in ("cross-site", "same-site"):
            browser = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", **basic_headers()}
            self.assertBare(403, "Forbidden: cross-site request blocked", self.ask(browser))
            followed = {**browser, "Sec-Fetch-Mode": "navigate"}
            self.assertBare(401, "Unauthorized", self.ask(followed))
            self.assertBare(401, "Unauthorized", self.ask(browser, "/"))
            for name, value in (
                ("Sec-Fetch-Dest", "iframe"),
                ("Sec-Fetch-Dest", "object"),
                ("Sec-Purpose", "prefetch;prerender"),
            ):
                held = {**browser, "Sec-Fetch-Mode": "navigate", name: value}
                self.assertBare(403, "Forbidden: cross-site request blocked", self.ask(held))
            link = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
            self.assertBare(401, "Unauthorized", self.ask({**browser, **link}))
        for site in ("same-origin", "none"):
            browser = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "cors", **basic_headers()}
            self.assertEqual(200, self.ask(browser).status)

    def test_cross_site_upgrade_is_refused(self) -> None:
        headers = {"Origin": "http://evil.example", "Upgrade": "websocket", **basic_headers()}
        self.assertBare(403, "Forbidden: cross-site request blocked", self.ask(headers, "/ws/mine"))


class AuthenticationTests(GateCase):
    """Basic, cookies and failures in single-user mode."""

    def test_missing_credentials_get_a_bare_401(self) -> None:
        answer = self.ask()
        self.assertBare(401, "Unauthorized", answer)
        self.assertEqual('Basic realm="Service"', answer.headers["www-authenticate"])

    def test_basic_login_opens_one_session_and_reuses_it(self) -> None:
        first, second = self.ask(basic_headers()), self.ask(basic_headers())
        self.assertEqual({"user": "admin", "by": "basic"}, first.data)
        cookie = first.headers["set-cookie"]
        token = "0" * 63 + "1"
        want = f"service_session={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400"
        self.assertEqual(want, cookie)
        self.assertEqual(cookie, second.headers["set-cookie"])
        self.assertEqual(1, len(self.cookies.list_sessions()))
        self.ask({**basic_headers(), "User-Agent": "other"})
        self.assertEqual(2, len(self.cookies.list_sessions()))

    def test_wrong_passwords_are_refused(self) -> None:
        for headers in (
            basic_headers(password="wrong"),
            basic_headers(username="root"),
            basic_headers(password=""),
            basic_headers(password="right\0"),
            basic_headers(password="räight"),
        ):
            self.assertBare(401, "Unauthorized", self.ask(headers))

    def test_malformed_credentials_do_not_count_as_failed_logins(self) -> None:
        for value in ("Basic", "Basic !!", "Basic YQ==", "Bearer x", "Basic /w=="):
            for _ in range(CAP):
                self.assertEqual(401, self.ask({"Authorization": value}).status)

    def test_failed_logins_are_capped(self) -> None:
        for _ in range(CAP):
            self.assertEqual(401, self.ask(basic_headers(password="wrong")).status)
        self.clock.advance(10.5)
        self.assertEqual(401, self.ask(basic_headers(password="wrong")).status)
        answer = self.ask(basic_headers(password="wrong"))
        self.assertEqual((429, TOO_MANY), (answer.status, answer.content))
        self.assertEqual("5", answer.headers["retry-after"])
        self.assertEqual(401, self.ask().status)
        self.assertEqual(429, self.login("wrong").status)
        self.assertEqual(401, self.ask({"Accept": "text/html", **basic_headers()}, "/").status)

    def test_passwords_are_capped_where_none_is_needed(self) -> None:
        self.assertEqual({"user": None}, self.ask({}, "/tab/x").json()["data"])
        self.assertEqual({"user": "admin"}, self.ask(basic_headers(), "/tab/x").json()["data"])
        self.address = "203.0.113.7"
        answers = [self.ask(basic_headers(password="wrong"), "/tab/x").status for _ in range(11)]
        self.assertEqual([401] * 10 + [429], answers)

    def test_cookie_passes_over_the_cap(self) -> None:
        cookie = {"Cookie": self.ask(basic_headers()).headers["set-cookie"].partition(";")[0]}
        for _ in range(CAP):
            self.ask(basic_headers(password="wrong"))
        self.assertEqual(200, self.ask(cookie).status)

    def test_cap_ends_with_its_window(self) -> None:
        for _ in range(CAP + 5):
            self.ask(basic_headers(password="wrong"))
        self.clock.advance(WINDOW_SECONDS)
        self.assertEqual(401, self.ask(basic_headers(password="wrong")).status)

    def test_addresses_have_separate_caps(self) -> None:
        for _ in range(CAP + 1):
            self.ask(basic_headers(password="wrong"))
        self.address = "10.0.0.9"
        self.assertEqual(401, self.ask(basic_headers("other", "wrong")).status)

    def test_name_has_its_own_cap(self) -> None:
        """Also where there is only one: many addresses have ten tries of it together."""
        for number in range(CAP):
            self.address = f"10.0.{number}.1"
            self.assertEqual(401, self.ask(basic_headers(password="wrong")).status)
        self.address = "10.9.0.1"
        self.assertEqual(429, self.ask(basic_headers(password="wrong")).status)
        self.assertEqual(429, self.login("wrong").status)
        self.assertEqual(429, self.ask(basic_headers()).status)

    def test_networks_of_one_customer_share_a_cap(self) -> None:
        for number in range(NETWORK_CAP):
            self.address = f"2001:db8:7:{number:x}::1"
            self.assertEqual(401, self.ask(basic_headers(f"name{number}", "wrong")).status)
        self.address = "2001:db8:7:ffff::1"
        self.assertEqual(429, self.ask(basic_headers("another", "wrong")).status)
        self.assertEqual(429, self.ask(basic_headers()).status)

    def test_cookie_authenticates_exactly(self) -> None:
        page = self.page(self.login())
        cookie = page["Cookie"]
        answer = self.ask({**page, "Cookie": f"a=b; {cookie}; c"})
        self.assertEqual({"user": "admin", "by": "cookie"}, answer.data)
        self.assertTrue(answer.headers["set-cookie"].startswith(cookie))
        for text in ("service_session=", "service_session=x", "service_session=\xff", cookie[:-1]):
            self.assertEqual(401, self.ask({**page, "Cookie": text}).status)

    def test_old_cookie_with_the_right_password_is_accepted(self) -> None:
        answer = self.ask({"Cookie": "service_session=old", **basic_headers()})
        self.assertEqual("basic", answer.data["by"])

    def test_cookie_is_secure_only_for_a_trusted_tls_proxy(self) -> None:
        answer = self.ask({"X-Forwarded-Proto": "https", **basic_headers()})
        self.assertNotIn("Secure", answer.headers["set-cookie"])
        self.assertNotIn("strict-transport-security", answer.headers)

    def test_browser_without_credentials_gets_the_login_page(self) -> None:
        browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        for path in ("/", "/login", "/nope"):
            answer = self.ask(browser, path)
            self.assertEqual((401, b"<form>"), (answer.status, answer.content))
            self.assertNotIn("www-authenticate", answer.headers)
        self.assertEqual(b"", self.ask(browser, "/", "HEAD").content)
        for path in ("/api/who", "/ws/x", "/webview/x/y"):
            self.assertBare(401, "Unauthorized", self.ask(browser, path))

    def test_fetch_requests_get_no_basic_challenge(self) -> None:
        answer = self.ask({"Sec-Fetch-Mode": "cors"})
        self.assertBare(401, "Unauthorized", answer)
        self.assertNotIn("www-authenticate", answer.headers)
        self.assertIn("www-authenticate", self.ask({"Sec-Fetch-Mode": "navigate"}).headers)

    def test_assets_are_public(self) -> None:
        self.assertEqual(200, self.ask(path="/assets/x-1234.js").status)

    def test_accept_header_decides_on_the_login_page(self) -> None:
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

    def test_large_unauthenticated_upload_is_refused_early(self) -> None:
        self.api = ApiHarness(
            [sample_operation("POST", "/api/up", self.who, body_limit=8 << 20)],
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


class GateHookTests(GateCase):
    """Hooks of this machine (protocol-hook-secret)."""

    def hook(self, secret: str | None = None, **headers: str) -> ParsedAnswer:
        named = dict(headers)
        if secret is not None:
            named["X-Service-Hook-Secret"] = secret
        return self.ask(named, "/api/hook-event", "POST", {})

    def test_right_hook_secret_is_accepted(self) -> None:
        self.assertEqual({"user": "hook", "by": "hook"}, self.hook(SECRET).data)
        self.address = "::ffff:127.0.0.1"
        self.assertEqual(200, self.hook(SECRET).status)

    def test_wrong_hook_secret_is_refused(self) -> None:
        for secret in (None, "", "x", SECRET.upper() + "0", "\xff"):
            answer = self.hook(secret, **basic_headers())
            self.assertBare(401, "Unauthorized: hook secret required", answer)
            self.assertNotIn("www-authenticate", answer.headers)

    def test_hook_and_password_caps_are_separate(self) -> None:
        for _ in range(CAP):
            self.assertEqual(401, self.hook("x").status)
        self.assertEqual(429, self.hook("x").status)
        self.assertEqual(200, self.hook(SECRET).status)
        self.assertEqual(401, self.ask(basic_headers(password="wrong")).status)

    def test_hook_path_from_another_machine_needs_a_login(self) -> None:
        self.address = "10.0.0.9"
        self.assertBare(401, "Unauthorized", self.hook(SECRET))
        self.assertEqual("basic", self.hook(None, **basic_headers()).data["by"])


class OpenGateTests(GateCase):
    """Single-user without a password (protocol-auth)."""

    config = Config()

    def test_every_visitor_is_the_user(self) -> None:
        self.assertEqual({"user": "admin", "by": "none"}, self.ask().data)
        self.assertEqual(200, self.ask(path="/api/admin").status)
        self.assertNotIn("set-cookie", self.ask().headers)

    def test_hooks_still_need_the_secret(self) -> None:
        self.assertEqual(401, self.ask(path="/api/hook-event", method="POST").status)

    def test_credential_that_cannot_be_right_is_not_served_as_admin(self) -> None:
        for shown in ("Basic YWRtaW46eA==", "Basic x", "Bearer", "Digest a", "nonsense"):
            answer = self.ask({"Authorization": shown})
            self.assertEqual(401, answer.status, shown)
            self.assertNotIn("www-authenticate", answer.headers)
        self.assertIn("send no Authorization header", answer.content.decode())

    def test_login_has_no_effect(self) -> None:
        answer = self.login("anything")
        self.assertEqual((200, "admin"), (answer.status, answer.data["username"]))
        self.assertNotIn("set-cookie", answer.headers)
