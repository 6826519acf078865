"""Devices that are signed in, and the QR code that signs another one in, on the real daemon."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.access_harness import PASSWORD, PHONE, PerimeterCase
from tests.browser.harness import wait_until_on_page
from tests.integration.harness import DaemonHarness


class DeviceTests(PerimeterCase):
    def setUp(self) -> None:
        super().setUp()
        self.running = self.people()
        self.root = self.enter(self.running)

    def test_one_device_is_signed_out_and_the_others_together(self) -> None:
        phone = self.enter(self.running, **PHONE)
        third = self.enter(self.running)
        self.open_page(self.root, "Devices and QR code")
        devices = self.root.get_by_test_id("device")
        expect(devices).to_have_count(3)
        expect(devices.first).to_contain_text("this device")
        expect(self.root.get_by_test_id("this-device")).to_have_count(1)
        devices.nth(1).get_by_test_id("device-revoke").click()
        self.root.get_by_test_id("ask-agree").click()
        # The newest of the others.
        expect(third.get_by_test_id("login-note")).to_be_visible()
        expect(devices).to_have_count(2)
        expect(phone.get_by_test_id("empty")).to_be_visible()
        self.root.get_by_test_id("revoke-others").click()
        self.root.get_by_test_id("ask-agree").click()
        expect(phone.get_by_test_id("login-note")).to_be_visible()
        expect(devices).to_have_count(1)
        expect(self.root.get_by_test_id("revoke-others")).to_have_count(0)

    @pytest.mark.essential
    def test_signing_out_this_device_shows_the_login_form(self) -> None:
        self.open_page(self.root, "Devices and QR code")
        self.root.get_by_test_id("device-revoke").click()
        self.root.get_by_test_id("ask-agree").click()
        expect(self.root.get_by_test_id("login")).to_be_visible()


class QrTests(PerimeterCase):
    def start_tunnel(self, page: Page) -> None:
        self.open_page(page, "Devices and QR code")
        page.get_by_test_id("tunnel-start").click()
        expect(page.get_by_test_id("qr-image")).to_be_visible()

    def scan(self, daemon: DaemonHarness, address: str) -> Page:
        """What a phone's camera opens, but for the tunnel between."""
        return self.page(daemon.url + urlsplit(address).path, **PHONE)

    def test_scanned_code_signs_in_is_announced_and_can_be_revoked(self) -> None:
        daemon = self.daemon(
            SERVICE_PASSWORD=PASSWORD, SERVICE_TUNNEL_COMMAND=self.tunnel_program()
        )
        page = self.page(daemon.url)
        self.fill_in(page, "admin", PASSWORD)
        expect(page.get_by_test_id("empty")).to_be_visible()
        self.start_tunnel(page)
        address = page.get_by_test_id("tunnel-url").inner_text()
        self.assertEqual("https://quiet-orchard.trycloudflare.com", address)
        expect(page.get_by_test_id("qr-countdown")).to_contain_text("New code in")
        image = page.get_by_test_id("qr-image")
        wait_until_on_page(
            page, "the code", lambda: image.evaluate("image => image.naturalWidth > 0")
        )

        guest = self.scan(daemon, page.get_by_test_id("qr-url").inner_text())
        expect(guest.get_by_test_id("empty")).to_be_visible()
        toast = page.get_by_test_id("toast")
        expect(toast).to_contain_text("Someone signed in with a QR code")
        expect(toast).to_contain_text("127.0.0.1")
        expect(page.get_by_test_id("device")).to_have_count(2)
        # It has a way out of its own, though it never saw the form.
        wait_until_on_page(guest, "a way out", lambda: "Sign out · admin" in self.entries(guest))

        page.get_by_test_id("toast-action").click()
        expect(guest.get_by_test_id("login")).to_be_visible()
        expect(page.get_by_test_id("device")).to_have_count(1)

    @pytest.mark.essential
    def test_login_code_works_once_and_is_replaced(self) -> None:
        daemon = self.people(SERVICE_TUNNEL_COMMAND=self.tunnel_program())
        page = self.enter(daemon)
        self.start_tunnel(page)
        code = page.get_by_test_id("qr-url")
        first = code.inner_text()
        page.get_by_test_id("qr-renew").click()
        wait_until_on_page(page, "another code", lambda: code.inner_text() != first)
        self.assertEqual(401, daemon.request("GET", urlsplit(first).path).status)
        second = code.inner_text()
        expect(self.scan(daemon, second).get_by_test_id("empty")).to_be_visible()
        wait_until_on_page(page, "another code", lambda: code.inner_text() != second)
        self.assertEqual(401, daemon.request("GET", urlsplit(second).path).status)
        page.get_by_test_id("tunnel-stop").click()
        expect(page.get_by_test_id("tunnel-start")).to_be_visible()
        expect(code).to_have_count(0)

    def test_missing_tunnel_password_and_program_are_explained(self) -> None:
        page = self.page(self.daemon().url)
        expect(page.get_by_test_id("empty")).to_be_visible()
        self.open_page(page, "Devices and QR code")
        page.get_by_test_id("tunnel-start").click()
        expect(page.get_by_test_id("tunnel-problem")).to_contain_text("set SERVICE_PASSWORD")
        expect(page.get_by_text("No password is set, so there are no sign-ins")).to_be_visible()

        daemon = self.people(SERVICE_TUNNEL_COMMAND="/no/such/program")
        root = self.enter(daemon)
        self.open_page(root, "Devices and QR code")
        root.get_by_test_id("tunnel-start").click()
        expect(root.get_by_test_id("tunnel-problem")).to_contain_text("SERVICE_TUNNEL_COMMAND")

    def test_service_without_a_password_shows_no_login_code(self) -> None:
        daemon = self.daemon(
            SERVICE_ALLOW_UNAUTHENTICATED_NETWORK="1", SERVICE_TUNNEL_COMMAND=self.tunnel_program()
        )
        page = self.page(daemon.url)
        expect(page.get_by_test_id("empty")).to_be_visible()
        self.start_tunnel(page)
        expect(page.get_by_test_id("no-password")).to_be_visible()
        expect(page.get_by_test_id("qr-countdown")).to_have_count(0)
