"""Who may come in: what the tests of users, tokens, devices and the audit log share."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.harness import LOST, BrowserCase, expect_focus
from tests.integration.harness import DaemonHarness

PASSWORD = "correct horse battery"
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
AREAS = {
    "Devices and QR code": "Access",
    "Tokens": "Access",
    "Users": "Access",
    "Audit log": "Access",
}
"""Where pages are that the menu does not show itself."""

REFUSED = r"responded with a status of 4\d\d"

TUNNEL = """#!/bin/sh
# What cloudflared prints, and then its patience.
echo 'INF +  https://quiet-orchard.trycloudflare.com  +' >&2
exec sleep 1000
"""


class PerimeterCase(BrowserCase):
    """A daemon with accounts; C{self.root} is the admin's page once L{enter} was called."""

    expected = (REFUSED, *LOST)

    def people(self, **environment: str) -> DaemonHarness:
        """A daemon in multi-user mode, whose admin has L{PASSWORD}."""
        words = {"SERVICE_MULTIUSER": "1", "SERVICE_USERNAME": "root", "SERVICE_PASSWORD": PASSWORD}
        return self.daemon(**{**words, **environment})

    def tunnel_program(self) -> str:
        """The path of a program that behaves as a tunnel's does."""
        path = Path(self.mktemp()).absolute()
        path.write_text(TUNNEL)
        path.chmod(0o755)
        return str(path)

    def call(
        self,
        daemon: DaemonHarness,
        method: str,
        path: str,
        body: Any = None,
        password: str = PASSWORD,
    ) -> Any:
        """What a script of the admin's gets."""
        word = base64.b64encode(f"root:{password}".encode()).decode()
        return daemon.request(method, path, body, {"Authorization": f"Basic {word}"}).data()

    def shell(self, daemon: DaemonHarness, name: str, password: str = PASSWORD) -> str:
        """The id of a new shell of the admin's."""
        body = {"mode": "shell", "start": True, "workingDir": str(daemon.home), "name": name}
        made = self.call(daemon, "POST", "/api/sessions", body, password)
        return str(made["session"]["id"])

    def fill_in(self, page: Page, username: str, password: str) -> None:
        """Send the sign-in form."""
        page.get_by_label("User name").fill(username)
        page.locator("[name=password]").fill(password)
        page.get_by_test_id("login-submit").click()

    def enter(
        self,
        daemon: DaemonHarness,
        username: str = "root",
        password: str = PASSWORD,
        **options: Any,
    ) -> Page:
        """Another person's window, signed in."""
        page = self.page(daemon.url, **options)
        self.fill_in(page, username, password)
        expect(page.get_by_test_id("empty")).to_be_visible()
        return page

    def entries(self, page: Page) -> list[str]:
        """The labels of the page menu and of its areas' menus, which are closed again."""
        self.open_menu(page)
        areas = page.locator("[role=menuitem][aria-haspopup=menu]").all_inner_texts()
        found = [label for label in self.labels(page) if label not in areas]
        self.close_menu(page)
        for area in areas:
            self.open_menu(page)
            page.get_by_role("menuitem", name=area).click()
            expect(page.get_by_role("menu", name=area)).to_be_visible()
            found += self.labels(page)
            self.close_menu(page)
        return found

    def close_menu(self, page: Page) -> None:
        """Close the menu, and the list of sessions below it."""
        page.keyboard.press("Escape")
        expect(page.get_by_role("menuitem")).to_have_count(0)
        if page.get_by_test_id("drawer").is_visible():
            page.keyboard.press("Escape")
            expect(page.get_by_test_id("drawer")).to_have_count(0)

    def labels(self, page: Page) -> list[str]:
        """The labels of the open menu's items, without their keys."""
        items = page.get_by_role("menuitem")
        expect(items.first).to_be_visible()
        return [label.split("\n")[0] for label in items.all_inner_texts()]

    def open_menu(self, page: Page) -> None:
        """The menu of pages, which a phone has below the name of the session in front."""
        if not page.get_by_test_id("open-pages").is_visible():
            page.get_by_test_id("current").click()
            page.get_by_test_id("drawer-pages").click()
        else:
            page.get_by_test_id("open-pages").click()

    def open_page(self, page: Page, title: str) -> None:
        """A page of the menu, or of the menu of its area."""
        self.open_menu(page)
        area = AREAS.get(title)
        if area is not None:
            page.get_by_role("menuitem", name=area).click()
        page.get_by_role("menuitem", name=re.compile(f"^{title}")).click()
        expect(page.get_by_role("dialog", name=title)).to_be_visible()

    def close_page(self, page: Page) -> None:
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)

    def shown_once(self, page: Page) -> str:
        """A secret that is on the page now, and put away."""
        secret = page.get_by_test_id("secret-text").inner_text()
        page.get_by_test_id("secret-done").click()
        expect(page.get_by_test_id("secret")).to_have_count(0)
        return secret

    def create_user(self, page: Page, name: str) -> str:
        """Fill in the form of a new user on the open users page: the one-time password."""
        page.get_by_test_id("new-user").click()
        expect_focus(page.get_by_test_id("new-user-name"))
        page.keyboard.type(name)
        page.get_by_test_id("new-user-create").click()
        expect_focus(page.get_by_test_id("secret"))
        return self.shown_once(page)

    def deed(self, page: Page, name: str, label: str) -> None:
        """Do something with an account by its menu."""
        page.get_by_test_id(f"user-actions-{name}").click()
        page.get_by_role("menuitem", name=label).click()
        page.get_by_test_id("ask-agree").click()

    def choose_password(self, page: Page, password: str) -> None:
        """Pass the page that asks for one's first own password."""
        expect(page.get_by_test_id("first-password")).to_be_visible()
        page.get_by_label("New password at least 8 characters").fill(password)
        page.get_by_label("Repeat new password").fill(password)
        page.get_by_test_id("password-submit").click()
        expect(page.get_by_test_id("empty")).to_be_visible()
