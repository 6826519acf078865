"""A password: the page's own form, never the browser's pop-up."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Response

from tests.browser.harness import BrowserCase, start_new, wait_until_on_page

SHARED = "caches.has('tservice-shared /')"
PASSWORD = "correct horse"


class LoginPageTests(BrowserCase):
    expected = (r"responded with a status of 401",)

    def setUp(self) -> None:
        super().setUp()
        self.asked: list[str] = []

    def seen(self, response: Response) -> None:
        if "www-authenticate" in response.headers:
            self.asked.append(response.url)

    def form(self, url: str) -> Page:
        page = self.page("about:blank")
        page.on("response", self.seen)
        page.goto(url)
        page.get_by_test_id("login").wait_for()
        return page

    def sign_in(self, page: Page, password: str) -> None:
        page.get_by_label("User name").fill("admin")
        page.get_by_label("Password", exact=True).fill(password)
        page.get_by_test_id("login-submit").click()

    @pytest.mark.essential
    def test_wrong_password_right_password_and_sign_out(self) -> None:
        daemon = self.daemon(SERVICE_PASSWORD=PASSWORD)
        page = self.form(daemon.url)
        self.sign_in(page, "wrong")
        problem = page.get_by_test_id("login-problem")
        wait_until_on_page(page, "a problem", problem.is_visible)
        self.assertEqual("Wrong user name or password.", problem.inner_text().strip())
        self.sign_in(page, PASSWORD)
        page.get_by_test_id("empty-new").click()
        start_new(page).run("echo in-$((1 + 0))").wait("in-1")
        page.evaluate("caches.open('tservice-shared /')")
        page.keyboard.press("Alt+Shift+S")
        # Signed out, the page begins anew.
        with page.expect_event("load"):
            page.get_by_test_id("sign-out").click()
        page.get_by_test_id("login").wait_for()
        self.assertEqual(0, page.get_by_test_id("terminal").count())
        wait_until_on_page(page, "what was shared gone", lambda: page.evaluate(SHARED) is False)
        page.reload()
        page.get_by_test_id("login").wait_for()
        self.assertEqual([], self.asked)

    def test_reload_stays_signed_in(self) -> None:
        daemon = self.daemon(SERVICE_PASSWORD=PASSWORD)
        page = self.form(daemon.url)
        self.sign_in(page, PASSWORD)
        page.get_by_test_id("empty").wait_for()
        page.reload()
        page.get_by_test_id("empty").wait_for()
        self.assertEqual([], self.asked)

    def test_login_page_shows_no_content_before_signing_in(self) -> None:
        daemon = self.daemon(SERVICE_PASSWORD=PASSWORD)
        page = self.form(daemon.url)
        self.assertEqual(0, page.get_by_test_id("new-session-button").count())
        wait_until_on_page(
            page, "focus", lambda: page.evaluate("document.activeElement.name") == "username"
        )
