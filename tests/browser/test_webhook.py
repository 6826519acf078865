"""The webhook's card: its secret, its fields and its test, in a real Chromium."""

from __future__ import annotations

import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import BrowserCase, is_uncovered, wait_until_on_page
from tests.integration.harness import DaemonHarness

SECRET = "hook-7d1f3c"
PASSWORD = "correct horse"


class _WebhookReceiver(ThreadingHTTPServer):
    """Takes messages; answers C{status} to each."""

    daemon_threads = True

    def __init__(self) -> None:
        self.status = 200
        self.got: list[tuple[str, dict[str, str], str]] = []
        super().__init__(("127.0.0.1", 0), _WebhookHandler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _WebhookHandler(BaseHTTPRequestHandler):
    server: _WebhookReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.got.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """The tests say what they saw."""


def basic(name: str, password: str) -> dict[str, str]:
    """The header of Basic authentication."""
    return {"Authorization": "Basic " + b64encode(f"{name}:{password}".encode()).decode()}


class WebhookPageTests(BrowserCase):
    expected = (r"responded with a status of (400|403)",)

    def setUp(self) -> None:
        super().setUp()
        self.receiver = _WebhookReceiver()
        self.addCleanup(self.receiver.close)

    def card(self, daemon: DaemonHarness, **options: Any) -> Page:
        page = self.page(f"{daemon.url}/?page=settings", **options)
        expect(page.get_by_test_id("webhook-url")).to_be_visible()
        return page

    def test_messages_never_cover_a_control(self) -> None:
        daemon = self.daemon()
        for size, touch in (((1280, 800), False), ((390, 844), True)):
            viewport = dict(zip(("width", "height"), size, strict=True))
            page = self.card(daemon, viewport=viewport, has_touch=touch, is_mobile=touch)
            page.get_by_test_id("webhook-url").fill(f"{self.receiver.url}/{size[0]}")
            page.get_by_test_id("webhook-save").click()
            expect(page.get_by_test_id("toast")).to_contain_text("Saved")
            # The form has grown by what can be done with a saved one.
            expect(page.get_by_test_id("webhook-test")).to_be_enabled()
            dialog = page.get_by_role("dialog", name="Settings")
            for part in (
                page.get_by_test_id("webhook-save"),
                page.get_by_test_id("webhook-test"),
                dialog.get_by_role("heading", level=2),
                dialog.get_by_role("button", name="Close"),
            ):
                part.scroll_into_view_if_needed()
                self.assertTrue(is_uncovered(part), f"{part} {size}")

    def test_only_the_content_of_the_webhook_dialog_scrolls(self) -> None:
        """Its title and its close button stay, whatever field comes into view."""
        page = self.card(self.daemon(), viewport={"width": 390, "height": 844})
        dialog = page.get_by_role("dialog", name="Settings")
        self.assertEqual(0, dialog.evaluate("each => each.scrollHeight - each.clientHeight"))
        page.get_by_test_id("webhook-scope-all").focus()
        self.assertTrue(is_uncovered(dialog.get_by_role("heading", level=2)))

    @pytest.mark.essential
    def test_webhook_is_saved_tested_and_deleted_and_its_url_never_shown(self) -> None:
        daemon = self.daemon()
        page = self.card(daemon)
        url, save = page.get_by_test_id("webhook-url"), page.get_by_test_id("webhook-save")
        expect(save).to_be_disabled()
        expect(page.get_by_test_id("webhook-test")).to_have_count(0)
        url.fill(f"{self.receiver.url}/{SECRET}")
        page.get_by_test_id("webhook-kind").select_option("chat_a")
        page.locator("label:has([data-testid=webhook-scope-all])").click()
        expect(page.get_by_test_id("webhook-scope-all")).to_be_checked()
        page.get_by_role("switch", name="Send messages").check()
        save.click()
        expect(url).to_have_value("")
        expect(url).to_have_attribute("placeholder", f"{self.receiver.url}/…")
        found = daemon.request("GET", "/api/webhook").data()
        self.assertEqual(
            (True, "chat_a", "all"), tuple(found[x] for x in ("enabled", "kind", "scope"))
        )

        page.get_by_test_id("webhook-test").click()
        result = page.get_by_test_id("webhook-result")
        expect(result).to_contain_text("Accepted (HTTP 200)")
        self.assertEqual(f"/{SECRET}", self.receiver.got[0][0])
        self.assertIn("The webhook works.", self.receiver.got[0][2])
        self.receiver.status = 500
        page.get_by_test_id("webhook-test").click()
        expect(result).to_contain_text("HTTP 500")

        daemon.request("PUT", "/api/webhook", {"kind": "chat_b"}).data()
        expect(page.get_by_test_id("webhook-kind")).to_have_value("chat_b")

        page.reload()
        expect(result).to_contain_text("HTTP 500")
        self.assertNotIn(SECRET, page.content())
        values = page.evaluate("[...document.querySelectorAll('input')].map((one) => one.value)")
        self.assertNotIn(SECRET, str(values))

        page.get_by_test_id("webhook-clear").click()
        page.get_by_test_id("ask-agree").click()
        expect(page.get_by_test_id("webhook-clear")).to_have_count(0)
        expect(page.get_by_role("switch", name="Send messages")).not_to_be_checked()
        self.assertFalse(daemon.request("GET", "/api/webhook").data()["hasUrl"])

    def test_refusal_of_a_webhook_appears_at_its_field(self) -> None:
        daemon = self.daemon()
        page = self.card(daemon)
        url, save = page.get_by_test_id("webhook-url"), page.get_by_test_id("webhook-save")
        for wrong in ("ftp://x/y", "http://user:pass@host/", "http://169.254.169.254/latest"):
            url.fill(wrong)
            save.click()
            problem = page.get_by_test_id("webhook-problem-url")
            expect(problem).to_be_visible()
            expect(url).to_have_attribute("aria-invalid", "true")
            expect(url).to_have_accessible_description(problem.inner_text().strip())
            expect(url).to_have_value(wrong)
        url.fill("")
        page.get_by_role("switch", name="Send messages").check()
        save.click()
        expect(page.get_by_test_id("webhook-problem-enabled")).to_contain_text("Needs a url.")
        self.assertFalse(daemon.request("GET", "/api/webhook").data()["enabled"])

    def test_webhook_form_works_by_keyboard_on_a_phone_without_sideways_scrolling(self) -> None:
        daemon = self.daemon()
        page = self.card(daemon, viewport={"width": 390, "height": 844})
        page.get_by_test_id("webhook-url").focus()
        page.keyboard.type(f"{self.receiver.url}/x")
        page.keyboard.press("Enter")
        button = page.get_by_test_id("webhook-test")
        expect(button).to_be_enabled()
        button.focus()
        page.keyboard.press("Enter")
        wait_until_on_page(page, "a message", lambda: self.receiver.got)
        content = page.locator(".dialog-content")
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))

    def test_users_without_admin_rights_see_why_the_page_is_refused(self) -> None:
        daemon = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=PASSWORD)
        made = {"username": "eve", "password": PASSWORD}
        daemon.request("POST", "/api/admin/users", made, basic("admin", PASSWORD)).data()
        self.expected = (r"responded with a status of 40[13]",)
        page = self.page(daemon.url)
        page.get_by_label("User name").fill("eve")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_test_id("login-submit").click()
        page.get_by_test_id("empty").wait_for()
        page.goto(f"{daemon.url}/?page=settings")
        expect(page.get_by_test_id("webhook-refused")).to_contain_text("Only admins")
        expect(page.get_by_test_id("webhook-url")).to_have_count(0)
        page.goto(f"{daemon.url}/?page=doctor")
        expect(page.get_by_test_id("doctor-refused")).to_contain_text("Admins only")
