"""A cookie is worth nothing without the page that got it: two origins, two OS users."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.harness import LOST, Terminal
from tests.browser.perimeter import PASSWORD, PHONE, REFUSED, PerimeterCase
from tests.browser.thief import Thief
from tests.integration.harness import Daemon

KEY = "localStorage.getItem('tservice.key /')"


class OriginCase(PerimeterCase):
    """A service with somebody else's program on another port of its host."""

    expected = (REFUSED, *LOST)

    def setUp(self) -> None:
        super().setUp()
        self.thief = Thief()
        self.addCleanup(self.thief.close)

    def alone(self, **environment: str) -> Daemon:
        """A service of one user."""
        return self.daemon(SERVICE_PASSWORD=PASSWORD, **environment)

    def signed_in(self, daemon: Daemon, **options: Any) -> Page:
        return self.enter(daemon, "admin", **options)

    def start_shell(self, page: Page) -> str:
        """A session, started in the page; its id."""
        page.get_by_test_id("empty-new").click()
        page.get_by_test_id("new-start").click()
        Terminal(page).ready().run("echo in-$((1 + 0))").wait("in-1")
        return parse_qs(urlsplit(page.url).query)["session"][0]

    def visit_thief(self, page: Page) -> str:
        """Follow a link to its page in the same browser; the cookies that it got."""
        other = page.context.new_page()
        other.goto(self.thief.url)
        other.close()
        return self.thief.loot()


class StolenCookieTests(OriginCase):
    """What the cookie of a browser opens for who has nothing else."""

    def assertWorthless(self, daemon: Daemon, session: str, cookie: str) -> None:
        self.assertIn("service_session=", cookie)
        found = self.thief.doors(daemon.url, session, cookie)
        self.assertEqual([], [f"{way}: {status}" for way, status in found.items() if status < 400])

    def test_the_thief_is_another_user(self) -> None:
        if os.geteuid() == 0:
            self.assertEqual(65534, Path(f"/proc/{self.thief.pid}").stat().st_uid)

    def test_of_the_login_form(self) -> None:
        daemon = self.alone()
        page = self.signed_in(daemon)
        session = self.start_shell(page)
        cookie = self.visit_thief(page)
        self.assertWorthless(daemon, session, cookie)
        # The page itself goes on, also anew.
        page.reload()
        Terminal(page).ready().run("echo on-$((1 + 1))").wait("on-2")

    def test_of_a_scanned_code(self) -> None:
        daemon = self.alone(SERVICE_TUNNEL_COMMAND=self.tunnel_program())
        page = self.signed_in(daemon)
        session = self.start_shell(page)
        self.open_page(page, "Devices and QR code")
        page.get_by_test_id("tunnel-start").click()
        address = page.get_by_test_id("qr-url").inner_text()
        phone = self.page(daemon.url + urlsplit(address).path, **PHONE)
        Terminal(phone).ready()
        self.assertNotIn("key=", phone.url)
        self.assertWorthless(daemon, session, self.visit_thief(phone))
        phone.reload()
        Terminal(phone).ready()

    def test_of_basic_in_a_browser(self) -> None:
        daemon = self.alone()
        session = self.start_shell(self.signed_in(daemon))
        credentials = {"username": "admin", "password": PASSWORD}
        page = self.page(f"{daemon.url}/api/docs", http_credentials=credentials)
        expect(page.get_by_role("heading", name="Audit")).to_be_visible()
        self.assertWorthless(daemon, session, self.visit_thief(page))
        # From there to the page: the browser itself sends the password along, once.
        page.goto(daemon.url)
        Terminal(page).ready()
        self.assertWorthless(daemon, session, self.visit_thief(page))
        page.goto(f"{daemon.url}/api/docs")
        page.goto(daemon.url)
        Terminal(page).ready().run("echo on-$((1 + 1))").wait("on-2")

    def test_a_program_s_cookie_works_alone(self) -> None:
        daemon = self.alone()
        found = self.call_as(daemon, "admin")
        cookie = found["headers"]["Set-Cookie"].partition(";")[0]
        self.assertEqual(200, self.thief.use(daemon.url, "GET", "/api/me", Cookie=cookie)["status"])

    def call_as(self, daemon: Daemon, name: str) -> dict[str, Any]:
        """A program with a password."""
        return self.thief.use(
            daemon.url, "GET", "/api/me", Authorization=basic(name), User_Agent="curl/8"
        )


def basic(name: str) -> str:
    """The header of a password."""
    return "Basic " + base64.b64encode(f"{name}:{PASSWORD}".encode()).decode()
