"""SSH hosts, containers, and sessions on them (protocol-remote, protocol-containers)."""

from __future__ import annotations

import os
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import faults_in_both
from tests.browser.harness import LOST, PHONE, BrowserCase, PageTerminal, wait_until_on_page
from tests.browser.mock_service import MockService
from tests.sshd import SshServer

FINGER = 44
"""CSS pixels that a finger meets (on a phone)."""


def low(buttons: Locator) -> list[str]:
    """Those that a finger would miss."""
    boxes = [
        (each.inner_text(), each.bounding_box()) for each in buttons.all() if each.is_visible()
    ]
    return [text for text, box in boxes if box is not None and box["height"] < FINGER]


class SshTests(BrowserCase):
    # The service refuses what the form is given first, and a host that is in use.
    expected = (*LOST, r"status of 4(00|22)")

    def test_ssh_host_is_added_used_and_removed(self) -> None:
        service = self.daemon()
        sshd = SshServer(service.folder / "far")
        self.addCleanup(sshd.close)
        (sshd.home / ".bash_profile").write_text("PS1='there '\n")
        page = self.page(f"{service.url}/?page=hosts")
        self.add(page, sshd)
        self.trust(page)
        self.start(page, service.url)
        self.another_key(page, service.url, sshd)

    def add(self, page: Page, sshd: SshServer) -> None:
        """What is wrong is said at its field, by the page and by the service."""
        page.get_by_test_id("host-new").click()
        page.get_by_test_id("host-save").click()
        expect(page.get_by_test_id("wrong-username")).to_be_visible()
        page.get_by_test_id("host-label").fill("build box")
        page.get_by_test_id("host-host").fill("no such host")
        page.get_by_test_id("host-username").fill(os.environ.get("USER", "root"))
        page.get_by_test_id("host-port").fill(str(sshd.port))
        page.get_by_test_id("host-identityFile").fill(str(sshd.key))
        page.get_by_test_id("host-save").click()
        expect(page.get_by_test_id("wrong-host")).to_have_text("must be a name or an address")
        expect(page.get_by_test_id("host-host")).to_have_attribute("aria-invalid", "true")
        page.get_by_test_id("host-host").fill("127.0.0.1")
        page.get_by_test_id("host-save").click()

    def trust(self, page: Page) -> None:
        """A key that nobody knows is shown and asked for; then the host can be used."""
        expect(page.get_by_test_id("key-unknown")).to_contain_text("SHA256:")
        expect(page.get_by_test_id("host-state")).to_have_text("key not trusted")
        page.get_by_test_id("key-trust").click()
        expect(page.get_by_test_id("host-found")).to_contain_text("Ready to use")
        expect(page.get_by_test_id("host-state")).to_have_text("reachable")

    def start(self, page: Page, url: str) -> None:
        """A case there, and a session in it, from the dialog of a new session."""
        page.goto(url)
        page.get_by_test_id("new-session-button").click()
        page.get_by_test_id("mode-shell").click()
        page.get_by_test_id("new-place").click()
        page.get_by_test_id("way-elsewhere").click()
        page.get_by_test_id("case-host-path").fill("~/")
        page.get_by_test_id("case-host-name").fill("engine")
        page.get_by_test_id("case-host-create").click()
        expect(page.get_by_test_id("place").filter(has_text="engine")).to_have_attribute(
            "aria-pressed", "true"
        )
        expect(page.get_by_test_id("new-session")).to_contain_text("on build-box")
        page.get_by_test_id("new-start").click()
        PageTerminal(page).ready().wait("there")
        mark = page.get_by_test_id("tab").get_by_test_id("place-mark")
        expect(mark).to_contain_text("on the remote host build-box")

    def another_key(self, page: Page, url: str, sshd: SshServer) -> None:
        """A changed key: the session is away, both keys are shown, and one press trusts none."""
        sshd.stop()
        sshd.make_key("host")
        sshd.start()
        notice = page.get_by_test_id("unreachable-notice")
        expect(notice).to_contain_text("build-box is unreachable")
        expect(page.get_by_test_id("state")).to_contain_text("last known: ready")
        page.goto(f"{url}/?page=hosts")
        page.get_by_test_id("host-check").click()
        changed = page.get_by_test_id("key-changed")
        expect(changed.locator(".host-key")).to_have_count(2)
        trust = page.get_by_test_id("key-trust")
        expect(trust).to_be_disabled()
        shown = changed.locator(".host-key code").last.inner_text()
        page.get_by_test_id("key-typed").fill(shown[-8:])
        trust.click()
        expect(page.get_by_test_id("host-found")).to_contain_text("Ready to use")
        page.get_by_test_id("host-remove").click()
        expect(page.get_by_test_id("ask")).to_contain_text("Nothing changes on the host")
        page.get_by_test_id("ask-agree").click()
        expect(page.get_by_test_id("hosts-problem")).to_contain_text("remove its workspaces first")


class PlayedTests(BrowserCase):
    """States that are hard to make for real, played by the page's stand-in service."""

    expected = (*LOST, r"status of 404")
    mock: MockService

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.mock = MockService()
        cls.addClassCleanup(cls.mock.close)

    def sound(self, page: Page, within: str) -> None:
        """Nothing that axe finds, in either theme."""
        self.assertEqual([], faults_in_both(page, within))

    @pytest.mark.essential
    def test_page_shows_a_host_asleep_and_back_again(self) -> None:
        session = self.mock.session("build")
        self.mock.do("way", id=session, seconds=90)
        page = self.page(f"{self.mock.url}/?session={session}")
        terminal = PageTerminal(page).ready()
        notice = page.get_by_test_id("unreachable-notice")
        expect(notice).to_contain_text("build-box is unreachable")
        expect(page.get_by_test_id("unreachable-countdown")).to_have_text(re.compile(r"in \d+\s"))
        expect(page.get_by_test_id("state")).to_contain_text("last known")
        terminal.focus().type("echo kept")
        expect(page.get_by_test_id("unreachable-queued")).to_contain_text("9 keystrokes")
        self.sound(page, ".unreachable")
        page.get_by_test_id("unreachable-try").click()
        expect(notice).to_contain_text("Waking build-box")
        self.mock.do("way", id=session, up=1)
        expect(notice).to_have_count(0)
        terminal.wait(r".*echo kept")
        self.mock.do("way", id=session)
        expect(page.get_by_test_id("unreachable-countdown")).to_have_text("No automatic retry.")
        self.mock.do("way", id=session, up=1)
        expect(notice).to_have_count(0)

    def test_attached_session_of_another_user_is_closed_and_keeps_running(self) -> None:
        self.mock.do("way", id=self.mock.session("build"), seconds=90)
        page = self.page(f"{self.mock.url}/?page=hosts", **PHONE)
        # Nothing of ours is there that it could be woken for.
        page.get_by_test_id("host-wake").click()
        expect(page.get_by_test_id("host-woken")).to_have_text("The host is awake.")
        expect(page.get_by_test_id("host-state").first).to_have_text("reachable")
        expect(page.get_by_test_id("host-wake")).to_have_count(0)
        page.get_by_test_id("tmux-sessions").first.click()
        page.get_by_test_id("host-check").last.click()
        expect(page.get_by_test_id("key-changed")).to_be_visible()
        self.sound(page, ".host-page")
        row = page.get_by_test_id("tmux-session").filter(has_text="irc & mail")
        expect(row).to_contain_text("2 clients · 3 windows · 80×24")
        self.assertEqual([], low(page.locator(".host-page .button")))
        row.get_by_test_id("tmux-attach").click()
        page.get_by_test_id("current").filter(has_text="irc & mail").click()
        chosen = page.get_by_test_id("drawer").locator(".row[data-active=true]")
        expect(chosen.get_by_test_id("place-mark")).to_contain_text("a tmux session")
        chosen.get_by_role("button", name="Actions for irc & mail").click()
        page.get_by_role("menuitem", name="Close").click()
        expect(page.get_by_test_id("ask")).to_contain_text("keeps running")
        page.get_by_test_id("ask-agree").click()
        expect(page.get_by_test_id("ask")).to_have_count(0)

    def test_container_page_builds_an_image_and_lists_its_containers(self) -> None:
        mock = self.mock
        page = self.page(f"{mock.url}/?page=containers")
        page.get_by_test_id("build-start").click()
        page.get_by_test_id("build-progress").wait_for()
        mock.do("build", percent=50)
        expect(page.get_by_test_id("build-progress")).to_contain_text("50 %")
        page.get_by_test_id("build-log-open").click()
        expect(page.get_by_test_id("build-log")).to_contain_text("STEP 5/10")
        page.get_by_test_id("build-cancel").click()
        expect(page.get_by_test_id("build-end")).to_have_text("it was cancelled")
        mock.do("build", percent=0)
        mock.do("build", percent=100)
        expect(page.get_by_test_id("build-end")).to_have_text("Image built.")

        running, hungry = (page.locator(f"[data-case={name}]") for name in ("fenced", "hungry"))
        expect(running).to_contain_text("3.5 GiB of 4 GiB")
        expect(running.get_by_test_id("container-warning")).to_contain_text("cannot be read inside")
        self.sound(page, ".host-page")
        expect(hungry).to_contain_text("memory limit of 512 MiB")
        hungry.get_by_test_id("container-recreate").click()
        expect(page.get_by_test_id("ask")).to_contain_text("home folder stay")
        page.get_by_test_id("ask-agree").click()
        expect(hungry.get_by_test_id("container-state")).to_have_text("running")

        page.goto(f"{mock.url}/?page=cases")
        page.locator("[data-testid=case][data-case=engine]").click()
        expect(page.get_by_test_id("case-view")).to_contain_text("on build-box")
        page.get_by_test_id("case-host-open").click()
        page.get_by_test_id("case-host-where").select_option("container default")
        page.get_by_test_id("way-new").click()
        page.get_by_test_id("case-host-name").fill("engine")
        expect(page.get_by_test_id("case-host-problem")).to_contain_text("workspace with this name")
        wait_until_on_page(
            page, "no case", lambda: page.get_by_test_id("case-host-create").is_disabled()
        )
