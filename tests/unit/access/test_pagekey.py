"""The key without which a browser's cookie opens nothing, at the gate."""

from __future__ import annotations

from attrs import evolve

from tests.unit.http.gate_harness import GateCase, basic_headers
from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import ParsedAnswer
from tests.unit.http.websockets.ws_frames import UPGRADE
from tservice.access.model import TTL_SECONDS
from tservice.core.config.model import Config
from tservice.http.operations import Operation, OperationCall, ResponseStyle
from tservice.http.websockets.upgrade import CloseSocket

BROWSERS = (
    {"Origin": "http://localhost"},
    {"Referer": "http://localhost/"},
    {"Accept-Language": "de"},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Mode": "navigate"},
    {"Sec-Fetch-Dest": ""},
    {"Sec-CH-UA": '"Chromium"'},
    {"Upgrade-Insecure-Requests": "1"},
    {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"},
    {"Accept": "text/html,*/*;q=0.8"},
)
"""What one of them alone tells of a browser; a request has several."""

PROGRAMS: tuple[dict[str, str], ...] = (
    {},
    {"User-Agent": "curl/8.5.0", "Accept": "*/*"},
    {"User-Agent": "python-requests/2.32", "Accept-Encoding": "gzip", "Accept": "*/*"},
)


def cookie(answer: ParsedAnswer) -> dict[str, str]:
    """The cookie of an answer, alone."""
    return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


class PageKeyTests(GateCase):
    """Who shows a cookie, and what beside it."""

    def test_cookie_of_the_login_form_alone_is_refused(self) -> None:
        stolen = cookie(self.login())
        for headers in (*PROGRAMS, *BROWSERS):
            self.assertEqual(401, self.ask({**stolen, **headers}).status, headers)

    def test_cookie_with_another_key_is_refused(self) -> None:
        mine, other = self.page(self.login()), self.page(self.login())
        for key in (
            "",
            "none",
            other["X-Service-Key"],
            mine["X-Service-Key"][:-1],
            "\xff",
            "0" * 64,
        ):
            self.assertEqual(401, self.ask({**mine, "X-Service-Key": key}).status, key)
        self.assertEqual(200, self.ask(mine).status)

    def test_cookie_among_others_of_its_name_is_found(self) -> None:
        """What another program set for a longer path, or the service before it had a base path."""
        page = self.page(self.login())
        dead = "service_session=" + "0" * 64
        for more in (f"{dead}; {page['Cookie']}", f"{page['Cookie']}; {dead}; service_session"):
            self.assertEqual(200, self.ask({**page, "Cookie": more}).status, more)
        flood = "; ".join([dead] * 8)
        self.assertEqual(401, self.ask({**page, "Cookie": f"{flood}; {page['Cookie']}"}).status)

    def test_refused_cookie_is_not_extended(self) -> None:
        page = self.page(self.login())
        self.clock.advance(TTL_SECONDS - 1)
        self.ask({"Cookie": page["Cookie"]})
        self.ask({"Cookie": page["Cookie"]}, "/")
        self.clock.advance(1)
        self.assertEqual(401, self.ask(page).status)

    def test_key_alone_is_refused(self) -> None:
        key = self.page(self.login())["X-Service-Key"]
        self.assertEqual(401, self.ask({"X-Service-Key": key}).status)

    def test_missing_key_counts_as_no_failure(self) -> None:
        """Else a page whose key is gone could lock its own address out."""
        stolen = cookie(self.login())
        for _ in range(20):
            self.assertEqual(401, self.ask(stolen).status)

    def test_page_files_need_only_the_cookie(self) -> None:
        """A browser asks for them before the page can show anything; they hold nothing."""
        signed_in = cookie(self.login())
        found = self.ask(signed_in, "/")
        self.assertEqual(200, found.status)
        self.assertNotIn("set-cookie", found.headers)
        for path in ("/nothing", "/api", "/api/nothing", "/healthz/x"):
            self.assertEqual(401, self.ask(signed_in, path).status, path)
        self.assertEqual(401, self.ask({}, "/").status)

    def test_page_gets_no_basic_challenge(self) -> None:
        self.assertNotIn("www-authenticate", self.ask({"X-Service-Key": "none"}).headers)


class PageKeyUpgradeTests(GateCase):
    """Upgrades, which carry no header of a page's."""

    async def close(self, call: OperationCall) -> object:
        raise CloseSocket(4004)

    def table(self) -> list[Operation]:
        return [sample_operation("GET", "/ws/{id}", self.close, style=ResponseStyle.WEBSOCKET)]

    def upgrade(self, offer: str | None, **headers: str) -> ParsedAnswer:
        more = {} if offer is None else {"Sec-WebSocket-Protocol": offer}
        return self.ask({**UPGRADE, **headers, **more}, "/ws/x")

    def test_upgrade_carries_the_key_as_a_subprotocol(self) -> None:
        page = self.page(self.login())
        key, signed_in = page["X-Service-Key"], page["Cookie"]
        for offer in (None, "tservice", f"tservice, key.{key[:-1]}", "key.", key):
            self.assertEqual(401, self.upgrade(offer, Cookie=signed_in).status, offer)
        found = self.upgrade(f"tservice, key.{key}", Cookie=signed_in)
        # The key itself is never sent back.
        self.assertEqual((101, "tservice"), (found.status, found.headers["sec-websocket-protocol"]))

    def test_upgrade_accepts_the_key_in_a_header(self) -> None:
        found = self.upgrade(None, **self.page(self.login()))
        self.assertEqual(101, found.status)
        self.assertNotIn("sec-websocket-protocol", found.headers)

    def test_subprotocol_key_is_accepted_only_for_upgrades(self) -> None:
        page = self.page(self.login())
        offer = {"Sec-WebSocket-Protocol": f"tservice, key.{page['X-Service-Key']}"}
        self.assertEqual(401, self.ask({"Cookie": page["Cookie"], **offer}, "/api/me").status)


class BasicTests(GateCase):
    """Which cookie a password in the header gives."""

    def test_cookie_of_a_program_works_alone(self) -> None:
        for headers in PROGRAMS:
            found = self.ask({**basic_headers(), **headers})
            self.assertEqual(200, self.ask(cookie(found)).status, headers)

    def test_cookie_of_a_browser_does_not_work_alone(self) -> None:
        for headers in (*BROWSERS, {"X-Service-Key": "none"}):
            found = self.ask({**basic_headers(), **headers})
            self.assertEqual(401, self.ask(cookie(found)).status, headers)

    def test_programs_and_browsers_never_share_a_cookie(self) -> None:
        """The same address and user agent: a user agent can be anything."""
        program = cookie(self.ask(basic_headers()))
        browser = cookie(self.ask({**basic_headers(), "Accept-Language": "de"}))
        self.assertNotEqual(program, browser)
        self.assertEqual(program, cookie(self.ask(basic_headers())))

    def test_program_cookie_sent_by_a_page_is_refused(self) -> None:
        tossed = cookie(self.ask(basic_headers()))
        for headers in ({"X-Service-Key": "none"}, {"X-Service-Key": "0" * 64},
                        {"Sec-Fetch-Site": "same-origin"}, {"Accept-Language": ""},
                        {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"}):  # fmt: skip
            self.assertEqual(401, self.ask({**tossed, **headers}).status, headers)

    def test_cookie_of_a_page_stays(self) -> None:
        """The browser may send the password along beside an open page."""
        page = self.page(self.login())
        found = self.ask({**basic_headers(), "Cookie": page["Cookie"], "Accept-Language": "de"})
        self.assertEqual("basic", found.data["by"])
        self.assertNotIn("set-cookie", found.headers)
        self.assertEqual(1, len(self.cookies.list_sessions()))
        self.assertEqual(200, self.ask(page).status)

    def test_page_without_a_key_learns_that_it_needs_one(self) -> None:
        """Its upgrades and other paths come without the password."""
        page = self.page(self.login())
        wrong = {**page, "X-Service-Key": "0" * 64}
        for shown in ({"X-Service-Key": "none"}, wrong):
            found = self.ask({**basic_headers(), **shown})
            self.assertEqual((200, "wanted"), (found.status, found.headers["x-service-key"]))
        for other in ({}, {"Accept-Language": "de"}, page):
            self.assertNotIn("x-service-key", self.ask({**basic_headers(), **other}).headers)

    def test_stored_browser_credentials_do_not_switch_the_account(self) -> None:
        """It keeps the name and password of any link, and the cookie may be another's by now."""
        bob = self.cookies.open_session("bob", "login", "127.0.0.1", "")
        tossed = cookie(self.ask({**basic_headers(), "Accept-Language": "de"}))
        key = {"X-Service-Key": str(bob.key)}
        for shown in (key, {**key, **tossed}, {**key, "Cookie": f"service_session={bob.token}"}):
            self.assertBare(401, "Unauthorized", self.ask({**shown, **basic_headers()}))
            answer = self.ask({**shown, **basic_headers()}, "/api/login", "POST")
            self.assertBare(401, "Unauthorized", answer)
        form = {"username": "admin", "password": "right"}
        self.assertEqual(
            200, self.ask({**key, **basic_headers()}, "/api/login", "POST", form).status
        )
        # The key of a session that is over stands for nobody.
        self.cookies.revoke_sessions(lambda session: session.id == bob.id)
        self.assertEqual(200, self.ask({**key, **basic_headers()}).status)

    def test_login_with_basic_credentials_opens_a_session(self) -> None:
        found = self.ask(basic_headers(), "/api/login", "POST")
        self.assertEqual(200, self.ask(self.page(found)).status)
        self.assertEqual(401, self.ask(cookie(found)).status)
        [session] = self.cookies.list_sessions()
        self.assertEqual("basic", session.method)
        again = self.ask(basic_headers(), "/api/login", "POST")
        self.assertNotEqual(cookie(found), cookie(again))

    def test_login_without_credentials_is_refused(self) -> None:
        answer = self.ask(basic_headers(password="wrong"), "/api/login", "POST")
        self.assertBare(401, "Unauthorized", answer)
        self.assertNotIn("www-authenticate", answer.headers)
        for headers in ({}, {"Authorization": "Bearer x"}):
            answer = self.ask(headers, "/api/login", "POST")
            self.assertEqual("body: is required", answer.error[2])
        for body, text in (
            ({}, "username: is required"),
            ({"username": "admin"}, "password: is required"),
            ({"username": None, "password": "right"}, "username: is required"),
        ):
            self.assertEqual(text, self.ask(basic_headers(), "/api/login", "POST", body).error[2])

    def test_wrong_basic_password_at_login_is_counted(self) -> None:
        found = [
            self.ask(basic_headers(password="wrong"), "/api/login", "POST").status
            for _ in range(11)
        ]
        self.assertEqual([401] * 10 + [429], found)


class BasePathTests(GateCase):
    """Where the browser sends the cookie."""

    config = Config(password="right", base_path="/deep")

    def paths(self, answer: ParsedAnswer) -> list[str]:
        return [
            part for part in answer.headers["set-cookie"].split("; ") if part.startswith("Path=")
        ]

    def test_cookie_path_is_the_base_path(self) -> None:
        for answer in (self.login(), self.ask(basic_headers())):
            self.assertEqual(["Path=/deep"], self.paths(answer))
        out = self.ask(self.page(self.login()), "/api/logout", "POST")
        self.assertEqual(["Path=/deep"], self.paths(out))

    def test_cookie_through_a_tunnel_has_the_root_path(self) -> None:
        self.assertEqual(["Path=/"], self.paths(self.login(Host="tunnel.example")))


class OpenPageKeyTests(GateCase):
    """Nobody has to sign in."""

    config = evolve(Config(), password=None)

    def test_open_service_needs_no_key(self) -> None:
        found = self.ask({}, "/api/login", "POST")
        self.assertIsNone(found.data["key"])
        self.assertNotIn("set-cookie", found.headers)
        self.assertEqual(200, self.ask({"X-Service-Key": "none"}).status)
