"""A cookie is worth nothing without the page that got it: two origins, two OS users."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.access_harness import PASSWORD, PHONE, REFUSED, PerimeterCase
from tests.browser.cookie_thief import CookieThief
from tests.browser.harness import LOST, PageTerminal, start_new
from tests.integration.harness import DaemonHarness

KEY = "localStorage.getItem('tservice.key /')"


class OriginCase(PerimeterCase):
    """A service with somebody else's program on another port of its host."""

    whole = True
    expected = (REFUSED, *LOST)

    def setUp(self) -> None:
        super().setUp()
        self.thief = CookieThief()
        self.addCleanup(self.thief.close)

    def alone(self, **environment: str) -> DaemonHarness:
        """A service of one user."""
        return self.daemon(SERVICE_PASSWORD=PASSWORD, **environment)

    def signed_in(self, daemon: DaemonHarness, **options: Any) -> Page:
        return self.enter(daemon, "admin", **options)

    def start_shell(self, page: Page) -> str:
        """A session, started in the page; its id."""
        page.get_by_test_id("empty-new").click()
        start_new(page).run("echo in-$((1 + 0))").wait("in-1")
        return parse_qs(urlsplit(page.url).query)["session"][0]

    def visit_thief(self, page: Page) -> str:
        """Follow a link to its page in the same browser; the cookies that it got."""
        other = page.context.new_page()
        other.goto(self.thief.url)
        self.leave(other)
        return self.thief.loot()


class TossedCookieTests(OriginCase):
    """What another port can do to a page by setting cookies."""

    def setUp(self) -> None:
        super().setUp()
        self.running = self.people()
        bob = {"username": "bob", "password": PASSWORD, "canBypassPermissions": True}
        self.call(self.running, "POST", "/api/admin/users", bob)
        self.root = self.enter(self.running)

    def test_tossed_cookie_signs_out_and_never_switches_the_account(self) -> None:
        """Bob tosses what a login of his gave, and what a program of his was given."""
        word = {"username": "bob", "password": PASSWORD}
        login = self.running.request("POST", "/api/login", word)
        program = self.running.request("GET", "/api/me", headers={"Authorization": basic("bob")})
        for answer in (login, program):
            cookie = answer.headers["set-cookie"].partition(";")[0]
            other = self.root.context.new_page()
            other.goto(self.thief.tossing(cookie))
            self.leave(other)
            self.root.reload()
            expect(self.root.get_by_test_id("login")).to_be_visible()
            # Nor does a link help that brings the key along.
            self.root.goto("about:blank")
            self.root.goto(f"{self.running.url}/#key={login.data()['key']}")
            expect(self.root.get_by_test_id("login")).to_be_visible()
            expect(self.root).to_have_url(f"{self.running.url}/")
            self.fill_in(self.root, "root", PASSWORD)
            expect(self.root.get_by_test_id("empty")).to_be_visible()
            self.assertEqual("root", self.signed_in_as(self.root))

    def test_link_with_a_password_does_not_switch_the_account(self) -> None:
        """A browser keeps the name and password of a link that was followed, and sends them on."""
        other = self.root.context.new_page()
        other.goto(self.thief.url)
        netloc, password = urlsplit(self.running.url).netloc, quote(PASSWORD)
        link = f"http://bob:{password}@{netloc}/api/me"
        other.evaluate("link => { location.href = link }", link)
        expect(other.locator("body")).to_have_text("Unauthorized")
        self.leave(other)
        self.root.reload()
        expect(self.root.get_by_test_id("empty")).to_be_visible()
        self.assertEqual("root", self.signed_in_as(self.root))

    def signed_in_as(self, page: Page) -> str:
        [name] = [entry for entry in self.entries(page) if entry.startswith("Sign out")]
        return name.rpartition(" ")[2]

    def test_link_with_a_key_does_not_sign_out(self) -> None:
        self.root.goto("about:blank")
        self.root.goto(f"{self.running.url}/#key={'0' * 64}")
        expect(self.root.get_by_test_id("empty")).to_be_visible()
        self.root.reload()
        expect(self.root.get_by_test_id("empty")).to_be_visible()


class LostKeyTests(OriginCase):
    """A live cookie, and a page that has no key to it."""

    def test_page_without_its_key_shows_the_login_form_once(self) -> None:
        """After the storage was cleared; also what a cookie of before the keys comes to."""
        daemon = self.alone()
        page = self.signed_in(daemon)
        loads: list[str] = []
        page.on("load", lambda each: loads.append(each.url))
        page.evaluate("localStorage.clear()")
        page.reload()
        expect(page.get_by_test_id("login")).to_be_visible()
        self.assertEqual(1, len(loads))
        self.fill_in(page, "admin", PASSWORD)
        expect(page.get_by_test_id("empty")).to_be_visible()
        self.assertEqual(1, len(loads))

    def test_tabs_share_the_key(self) -> None:
        daemon = self.alone()
        first = self.signed_in(daemon)
        second = self.page(daemon.url, first.context)
        expect(second.get_by_test_id("empty")).to_be_visible()
        # One that is signed in anew takes the others along.
        first.evaluate("localStorage.clear()")
        first.reload()
        self.fill_in(first, "admin", PASSWORD)
        expect(first.get_by_test_id("empty")).to_be_visible()
        second.reload()
        self.start_shell(second)
        first.keyboard.press("Alt+Shift+S")
        # Signed out, the page begins anew.
        with first.expect_event("load"):
            first.get_by_test_id("sign-out").click()
        expect(first.get_by_test_id("login")).to_be_visible()
        expect(second.get_by_test_id("login")).to_be_visible()
        self.assertEqual("", first.evaluate(KEY))

    def test_static_files_of_the_page_are_served_without_the_key(self) -> None:
        """They are asked for without a key: the manifest, icons, the service worker."""
        page = self.signed_in(self.alone())
        script = "async (path) => (await fetch(path)).status"
        for path in ("/", "/manifest.webmanifest", "/sw.js", "/icons/icon.svg"):
            self.assertEqual(200, page.evaluate(script, path), path)
        for path in ("/api/me", "/api/status", "/metrics", "/nothing"):
            self.assertEqual(401, page.evaluate(script, path), path)

    def test_cookie_and_key_work_below_a_base_path(self) -> None:
        daemon = self.alone(SERVICE_BASE_PATH="/deep")
        page = self.signed_in(daemon)
        [cookie] = page.context.cookies()
        self.assertEqual(("/deep", True), (cookie["path"], daemon.url.endswith("/deep")))
        self.start_shell(page)
        page.reload()
        PageTerminal(page).ready()
        self.assertIsNone(page.evaluate(KEY))
        self.assertNotIn("service_session", self.visit_thief(page))

    def test_changed_password_ends_the_login(self) -> None:
        place = self.held()
        daemon = self.daemon_at(place, SERVICE_PASSWORD=PASSWORD)
        page = self.signed_in(daemon)
        daemon.environment["SERVICE_PASSWORD"] = "another word"
        daemon.stop()
        daemon.start(listen=(place,))
        expect(page.get_by_test_id("login-note")).to_be_visible()
        self.fill_in(page, "admin", "another word")
        expect(page.get_by_test_id("empty")).to_be_visible()


class StolenCookieTests(OriginCase):
    """What the cookie of a browser opens for who has nothing else."""

    def assertWorthless(self, daemon: DaemonHarness, session: str, cookie: str) -> None:
        self.assertIn("service_session=", cookie)
        found = self.thief.doors(daemon.url, session, cookie)
        self.assertEqual([], [f"{way}: {status}" for way, status in found.items() if status < 400])

    def test_cookie_thief_runs_as_another_user(self) -> None:
        if os.geteuid() == 0:
            self.assertEqual(65534, Path(f"/proc/{self.thief.pid}").stat().st_uid)

    @pytest.mark.essential
    def test_stolen_cookie_of_the_login_form_is_worthless(self) -> None:
        daemon = self.alone()
        page = self.signed_in(daemon)
        session = self.start_shell(page)
        cookie = self.visit_thief(page)
        self.assertWorthless(daemon, session, cookie)
        # The page itself goes on, also anew.
        page.reload()
        PageTerminal(page).ready().run("echo on-$((1 + 1))").wait("on-2")

    def test_stolen_cookie_of_a_scanned_code_is_worthless(self) -> None:
        daemon = self.alone(SERVICE_TUNNEL_COMMAND=self.tunnel_program())
        page = self.signed_in(daemon)
        session = self.start_shell(page)
        self.open_page(page, "Devices and QR code")
        page.get_by_test_id("tunnel-start").click()
        address = page.get_by_test_id("qr-url").inner_text()
        phone = self.page(daemon.url + urlsplit(address).path, **PHONE)
        PageTerminal(phone).ready()
        self.assertNotIn("key=", phone.url)
        self.assertWorthless(daemon, session, self.visit_thief(phone))
        phone.reload()
        PageTerminal(phone).ready()

    def test_stolen_cookie_of_basic_authentication_is_worthless(self) -> None:
        daemon = self.alone()
        session = self.start_shell(self.signed_in(daemon))
        credentials = {"username": "admin", "password": PASSWORD}
        page = self.page(f"{daemon.url}/api/docs", http_credentials=credentials)
        expect(page.get_by_role("heading", name="Audit")).to_be_visible()
        self.assertWorthless(daemon, session, self.visit_thief(page))
        # From there to the page: the browser itself sends the password along, once.
        page.goto(daemon.url)
        PageTerminal(page).ready()
        self.assertWorthless(daemon, session, self.visit_thief(page))
        page.goto(f"{daemon.url}/api/docs")
        page.goto(daemon.url)
        PageTerminal(page).ready().run("echo on-$((1 + 1))").wait("on-2")

    def test_cookie_of_a_program_works_without_other_headers(self) -> None:
        daemon = self.alone()
        found = self.call_as(daemon, "admin")
        cookie = found["headers"]["Set-Cookie"].partition(";")[0]
        self.assertEqual(200, self.thief.use(daemon.url, "GET", "/api/me", Cookie=cookie)["status"])

    def call_as(self, daemon: DaemonHarness, name: str) -> dict[str, Any]:
        """A program with a password."""
        return self.thief.use(
            daemon.url, "GET", "/api/me", Authorization=basic(name), User_Agent="curl/8"
        )


def basic(name: str) -> str:
    """The header of a password."""
    return "Basic " + base64.b64encode(f"{name}:{PASSWORD}".encode()).decode()
