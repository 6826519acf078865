"""Web tabs (protocol-webtabs), in a real Chromium: offered, opened, closed."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import BrowserCase
from tests.browser.hostile_targets import TargetServer
from tests.integration.harness import LOOPBACK

DEV_SERVER = """
const headers = { "Content-Type": "application/json", Authorization: "token t" };
const url = new URL("/app", location.origin);
const answer = await fetch(new Request(url, { method: "POST", body: "{}", headers }));
await fetch("/gone", { method: "DELETE" });
const heard = await new Promise((done) => {
  const socket = new WebSocket(`ws://${location.host}/?token=x`);
  socket.onmessage = ({ data }) => done(data);
});
document.head.append(Object.assign(document.createElement("script"), { src: "/part.js" }));
localStorage.setItem("word", "kept");
history.pushState({ to: "moved" }, "", "/elsewhere");
const words = [await answer.text(), heard, document.cookie, localStorage.word, history.state.to];
document.body.append("works: ", words.join(", "));
"""
"""What the scripts of development servers and notebooks do with addresses that they make up."""


class WebTabTests(BrowserCase):
    # A page without an origin that asks for more than it may have is told so.
    expected = (r"origin 'null'", r"net::ERR_FAILED", r"status of 40[034]")

    def shot(self, page: Page, name: str) -> None:
        """For eyes, where a folder for it is named."""
        folder = os.environ.get("SCREENSHOTS")
        if folder is not None:
            page.screenshot(path=f"{folder}/webtabs-{name}.png")

    def open_page(self, page: Page) -> None:
        page.get_by_test_id("open-pages").click()
        page.get_by_role("menuitem", name="Work").click()
        page.get_by_role("menuitem", name="Web tabs").click()

    def judge_asked(self, target: TargetServer) -> None:
        """What its scripts sent came to it, with its own cookie and nothing of the service's."""
        (asked,) = [headers for path, headers in target.seen if path == "/app"]
        self.assertEqual("token t", asked["Authorization"])
        self.assertEqual(target.url.rstrip("/"), asked["Origin"])
        (socket,) = [headers for path, headers in target.seen if path == "/?token=x"]
        self.assertEqual(["evil=1"] * 2, [asked["Cookie"], socket["Cookie"]])

    @pytest.mark.essential
    def test_server_of_a_session_is_a_chip_that_opens_a_web_tab(self) -> None:
        service = self.daemon(SERVICE_WEBVIEW_LISTEN=LOOPBACK)
        (service.home / "made-here.txt").write_text("")
        shell = self.session(service, "dev server", workingDir=str(service.home))
        page = self.terminal(service.url).page
        line = "python3 -m http.server 0 --bind 127.0.0.1\r"
        service.request("POST", f"/api/sessions/{shell}/input", {"input": line}).data()
        chip = page.get_by_test_id("server")
        expect(chip).to_have_count(1)
        expect(page.get_by_test_id("toast")).to_have_count(0)
        port = service.request("GET", f"/api/sessions/{shell}").data()["serverPorts"][0]
        expect(chip).to_have_text(f":{port}")
        chip.click()
        frame = page.frame_locator("[data-testid=webtab-frame]")
        expect(frame.locator("body")).to_contain_text("made-here.txt")
        page.get_by_test_id("webtab-close").click()
        page.keyboard.press("Alt+Shift+F")
        row = page.get_by_test_id("fleet-row")
        expect(row.get_by_test_id("fleet-what")).to_contain_text("python3 ·")
        expect(row.get_by_test_id("server")).to_have_text(f":{port}")
        service.request("POST", f"/api/sessions/{shell}/input", {"input": "\x03", "useMux": False})
        expect(chip).to_have_count(0)

    @pytest.mark.essential
    def test_web_tab_is_opened_and_closed(self) -> None:
        target = TargetServer()
        self.addCleanup(target.close)
        target.pages["/hostile.js"] = DEV_SERVER.encode()
        target.pages["/app"] = b"posted"
        target.pages["/part.js"] = b"document.body.append('part, ')"
        service = self.daemon(SERVICE_WEBVIEW_LISTEN=LOOPBACK)
        self.session(service, "dev server")
        page = self.terminal(service.url).page
        self.open_page(page)
        page.get_by_test_id("webtab-url").fill(target.url)
        page.get_by_test_id("webtab-keep").click()
        frame = page.frame_locator("[data-testid=webtab-frame]")
        expect(frame.locator("body")).to_contain_text("works: posted, hello, evil=1, kept, moved")
        expect(frame.locator("body")).to_contain_text("part")
        self.judge_asked(target)
        expect(page.get_by_test_id("webstrip-tab")).to_have_text(f"127.0.0.1:{target.server_port}")
        self.assertIn(":", str(page.get_by_test_id("webtab-frame").get_attribute("src")))
        self.shot(page, "front")
        page.get_by_test_id("webstrip-tab").click()
        expect(page.get_by_test_id("webtab")).to_be_hidden()
        page.get_by_test_id("webstrip-tab").click()
        expect(page.get_by_test_id("webtab")).to_be_visible()
        page.get_by_test_id("webtab-close").click()
        expect(page.get_by_test_id("webstrip")).to_have_count(0)

        self.open_page(page)
        expect(page.get_by_test_id("webtab-row")).to_have_count(1)
        page.get_by_test_id("webtab-url").fill("http://169.254.169.254/")
        page.get_by_test_id("webtab-keep").click()
        expect(page.get_by_test_id("webtab-refused")).to_contain_text("metadata")
        self.shot(page, "page")
        page.get_by_test_id("webtab-forget").click()
        expect(page.get_by_test_id("webtab-row")).to_have_count(0)
