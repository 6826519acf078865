"""Several windows on one session: both see, one has the size, a copy takes over."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import PHONE, BrowserCase, PageTerminal, expect_same, wait_until_on_page

SMALL = {"width": 900, "height": 500}
SECOND = """url => new Promise((resolve) => {
  const socket = new WebSocket(url);
  socket.onmessage = () => { window.second = socket; resolve(true); };
})"""


class ViewerTests(BrowserCase):
    @pytest.mark.essential
    def test_two_viewers_see_what_either_types(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        one = self.terminal(daemon.url).run("echo first-$((1 + 0))").wait("first-1")
        two = self.terminal(daemon.url, viewport=SMALL).wait("first-1")
        two.run("echo second-$((1 + 1))")
        for terminal in (one, two):
            terminal.wait("second-2")
        wait_until_on_page(
            one.page, "one size", lambda: one.read()["rows"] == two.read()["rows"] or None
        )
        for terminal in (one, two):
            expect_same(daemon, session, terminal)

    def test_size_follows_the_viewer_that_is_used(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        one = self.terminal(daemon.url)
        wide = one.read()["cols"]
        two = self.terminal(daemon.url, viewport=SMALL)
        wait_until_on_page(two.page, "the size of the smaller", lambda: two.read()["cols"] < wide)
        wait_until_on_page(two.page, "it settled", lambda: two.attribute("foreign") is None)
        narrow = two.read()["cols"]
        pill = one.page.get_by_test_id("foreign-size")
        wait_until_on_page(one.page, "the other's size", pill.is_visible)
        expect(pill).to_contain_text(f"{narrow}×")
        self.assertEqual(narrow, one.read()["cols"])
        pill.click()
        wait_until_on_page(one.page, "the own size", lambda: one.read()["cols"] == wide)
        wait_until_on_page(
            two.page, "the other's size", lambda: two.attribute("foreign") is not None
        )
        wait_until_on_page(
            one.page, "its record", lambda: self.record(daemon, session)["cols"] == wide
        )

    def test_closing_a_window_gives_the_size_back(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        one = self.terminal(daemon.url)
        wide = one.read()["cols"]
        two = self.terminal(daemon.url, viewport=SMALL)
        wait_until_on_page(one.page, "the other's size", lambda: one.read()["cols"] < wide)
        self.leave(two.page)
        wait_until_on_page(one.page, "the own size", lambda: one.read()["cols"] == wide)
        wait_until_on_page(
            one.page, "its record", lambda: self.record(daemon, session)["cols"] == wide
        )
        wait_until_on_page(one.page, "its own", lambda: one.attribute("foreign") is None)

    def test_phone_takes_the_size_once_the_desktop_is_closed(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        desk = self.terminal(daemon.url)
        wide = desk.read()["cols"]
        phone = self.terminal(daemon.url, **PHONE)
        self.assertEqual(wide, phone.read()["cols"])
        self.leave(desk.page)
        wait_until_on_page(phone.page, "the phone's size", lambda: phone.read()["cols"] < wide)
        wait_until_on_page(
            phone.page, "its record", lambda: self.record(daemon, session)["cols"] < wide
        )

    def test_window_with_the_same_client_id_replaces_the_first(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        page = self.page("about:blank")
        sockets: list[str] = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        page.goto(daemon.url)
        terminal = PageTerminal(page).ready()
        page.evaluate(SECOND, sockets[0])
        notice = page.get_by_test_id("link-notice")
        wait_until_on_page(page, "the notice", notice.is_visible)
        expect(notice).to_have_attribute("data-state", "replaced")
        wait_until_on_page(page, "the link", lambda: terminal.attribute("link") == "replaced")
        notice.get_by_role("button", name="Take over here").click()
        terminal.ready().focus().run("echo mine-$((1 + 0))").wait("mine-1")

    def test_duplicated_tab_gets_its_own_client_id(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        one = self.terminal(daemon.url)
        with one.page.expect_popup() as opened:
            # A window that a page opens gets a copy of its session storage, as a duplicate does.
            one.page.evaluate("() => { window.open(location.href); }")
        two = PageTerminal(self.watched(opened.value)).ready()
        two.run("echo both-$((1 + 1))").wait("both-2")
        one.wait("both-2")
        self.assertEqual(["open", "open"], [each.attribute("link") for each in (one, two)])

    def watched(self, page: Page) -> Page:
        self.watch(page)
        return page

    def test_sixth_window_of_a_session_is_refused(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        context = self.context(viewport=SMALL)
        for _ in range(5):
            self.terminal(daemon.url, context)
        page = self.page(daemon.url, context)
        notice = page.get_by_test_id("link-notice")
        wait_until_on_page(page, "the notice", notice.is_visible)
        expect(notice).to_have_attribute("data-state", "crowded")
