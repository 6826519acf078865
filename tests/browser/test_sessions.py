"""Making, naming, marking, ordering and ending sessions."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import git_repositories
from tests.browser.harness import (
    DELETED,
    LOST,
    BrowserCase,
    PageTerminal,
    expect_focus,
    is_uncovered,
    start_new,
    wait_until_on_page,
)
from tests.browser.session_menus import choose, tab
from tests.integration.harness import DaemonHarness


def order(page: Page) -> list[str]:
    tabs = page.get_by_test_id("tab")
    found: list[str] = tabs.evaluate_all("tabs => tabs.map((each) => each.dataset.session)")
    return found


class NewSessionTests(BrowserCase):
    # What a folder brings is asked for while it is typed.
    expected = (r"the server responded with a status of 40[04]",)

    def open(self, daemon: DaemonHarness) -> Page:
        page = self.page(daemon.url)
        page.get_by_test_id("empty-new").click()
        page.get_by_test_id("new-session").wait_for()
        page.get_by_test_id("new-place").click()
        page.get_by_test_id("new-more").click()
        return page

    @pytest.mark.essential
    def test_first_shell_is_started_from_an_empty_page(self) -> None:
        daemon = self.daemon()
        page = self.open(daemon)
        page.get_by_test_id("new-folder").fill(str(daemon.home))
        page.get_by_test_id("new-name").fill("my shell")
        terminal = start_new(page)
        terminal.run("pwd").wait(str(daemon.home))
        expect(page.locator(".tab-name")).to_have_text("my shell")
        expect(page).to_have_title("my shell · tservice")

    def test_agent_starts_on_its_own_worktree_from_the_keyboard(self) -> None:
        """From the first key to a running agent: open the form, write, start."""
        daemon = self.daemon()
        body = {"id": "echo", "label": "Echo", "shortBadge": "EC", "binaries": ["cat"]}
        changes = {"cliManagementEnabled": True, "defaultMode": "echo"}
        source = git_repositories.make_repository(daemon.home / "source")
        daemon.request("PUT", "/api/settings", {**changes, "defaultWorkingDir": str(source)}).data()
        daemon.request("POST", "/api/clis", {**body, "argv": ["cat"]}).data()
        page = self.page(daemon.url)
        page.get_by_test_id("empty-new").wait_for()
        page.keyboard.press("Alt+Shift+N")
        expect_focus(page.get_by_test_id("new-prompt"))
        page.keyboard.type("Mend the parser")
        page.get_by_test_id("worktree").click()
        expect(page.get_by_test_id("worktree-branch")).to_have_value("mend-the-parser")
        page.keyboard.press("Control+Enter")
        PageTerminal(page).ready().wait("Mend the parser")
        (session,) = daemon.request("GET", "/api/sessions").data()
        self.assertEqual(str(source.with_name("source-mend-the-parser")), session["workingDir"])

    def test_missing_agent_shows_how_to_install_it(self) -> None:
        daemon = self.daemon(PATH="/usr/bin:/bin")
        page = self.open(daemon)
        missing = [
            entry
            for entry in daemon.request("GET", "/api/clis").data()
            if not entry["installed"] and entry.get("installCommand")
        ]
        self.assertTrue(missing)
        page.get_by_test_id("modes-missing").click()
        for entry in missing:
            choice = page.get_by_test_id(f"mode-{entry['id']}")
            self.assertEqual("false", choice.get_attribute("data-ready"))
            self.assertIn(entry["installCommand"], choice.inner_text())
            self.assertTrue(choice.get_by_role("radio").is_disabled())
        self.assertEqual("true", page.get_by_test_id("mode-shell").get_attribute("data-ready"))

    def test_new_agent_session_starts_with_its_first_prompt(self) -> None:
        daemon = self.daemon()
        body = {"id": "echo", "label": "Echo", "shortBadge": "EC", "binaries": ["cat"]}
        daemon.request("PUT", "/api/settings", {"cliManagementEnabled": True}).data()
        daemon.request("POST", "/api/clis", {**body, "argv": ["cat"]}).data()
        page = self.open(daemon)
        page.get_by_test_id("mode-shell").locator("label").click()
        expect(page.get_by_test_id("new-prompt")).to_have_count(0)
        page.get_by_test_id("mode-echo").locator("label").click()
        page.get_by_test_id("new-prompt").fill("say it again")
        page.get_by_test_id("new-start").click()
        PageTerminal(page).ready().wait("say it again")

    def test_a_folder_that_brings_commands_waits_for_an_answer(self) -> None:
        daemon = self.daemon()
        body = {"id": "echo", "label": "Echo", "shortBadge": "EC", "binaries": ["cat"]}
        daemon.request("PUT", "/api/settings", {"cliManagementEnabled": True}).data()
        daemon.request("POST", "/api/clis", {**body, "argv": ["cat"]}).data()
        folder = daemon.home / "cloned"
        folder.mkdir()
        (folder / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "./evil"}}}')
        page = self.open(daemon)
        note = page.get_by_test_id("new-folder-trust")
        page.get_by_test_id("mode-echo").locator("label").click()
        page.get_by_test_id("new-folder").fill(str(folder))
        expect(note).to_contain_text("asked about in the inbox")
        expect(note).to_contain_text(".mcp.json")
        note.locator("summary").click()
        expect(note.locator("pre")).to_contain_text("./evil")
        page.get_by_test_id("new-start").click()
        page.get_by_test_id("approvals-bell").click()
        card = page.get_by_test_id("approval")
        expect(card).to_contain_text("./evil")
        card.get_by_test_id("approval-option-1").click()
        expect(card).to_have_count(0)
        wait_until_on_page(
            page,
            "its process",
            lambda: daemon.request("GET", "/api/sessions").data()[0]["pid"] is not None,
        )

    def test_wrong_folder_shows_the_error_of_the_service(self) -> None:
        daemon = self.daemon()
        page = self.open(daemon)
        body = {"mode": "shell", "workingDir": "/no/such/folder"}
        words = daemon.request("POST", "/api/sessions", body).json()["error"]
        page.get_by_test_id("new-folder").fill("/no/such/folder")
        page.get_by_test_id("new-start").click()
        problem = page.get_by_test_id("new-problem")
        problem.wait_for()
        self.assertEqual(f"workingDir: {problem.inner_text().strip().split(': ', 1)[1]}", words)
        self.assertTrue(problem.inner_text().strip().startswith("Folder: "), "a field of the wire")
        page.get_by_test_id("new-folder").fill(str(daemon.home))
        expect(problem).to_be_hidden()
        page.get_by_test_id("new-start").click()
        PageTerminal(page).ready()

    def test_refusal_of_a_new_session_is_visible_in_a_scrolling_form(self) -> None:
        """With the list of CLIs so long that the form scrolls."""
        daemon = self.daemon(PATH="/usr/bin:/bin")
        page = self.open(daemon)
        problem = page.get_by_test_id("new-problem")
        for width, height in ((1280, 800), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            expect(page.locator("dialog:modal")).to_have_count(int(width < 700))
            if not page.get_by_test_id("new-folder").is_visible():
                page.get_by_test_id("new-place").click()
            page.get_by_test_id("new-folder").fill(f"/no/such/{width}")
            page.get_by_test_id("new-start").click()
            problem.wait_for()
            both = (problem, page.get_by_test_id("new-start"))
            wait_until_on_page(
                page,
                "both in sight",
                lambda both=both: all(map(is_uncovered, both)),  # type: ignore[misc]
            )


class SessionChangeTests(BrowserCase):
    expected = (DELETED,)

    def test_renamed_session_shows_its_new_name(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        page = self.terminal(daemon.url).page
        page.get_by_role("tab").dblclick()
        page.get_by_test_id("rename").fill("other <b>name</b>")
        page.keyboard.press("Enter")
        wait_until_on_page(
            page, "it", lambda: self.record(daemon, session)["name"] == "other <b>name</b>"
        )
        name = page.locator(".tab-name")
        wait_until_on_page(page, "the name", lambda: name.inner_text() == "other <b>name</b>")

    def test_session_is_pinned_and_coloured(self) -> None:
        daemon = self.daemon()
        first, second = self.session(daemon, "one"), self.session(daemon, "two")
        page = self.terminal(daemon.url).page
        choose(page, second, "Pin")
        wait_until_on_page(page, "the pin", lambda: order(page) == [second, first])
        choose(page, second, "Colour", "Purple")
        wait_until_on_page(
            page, "the colour", lambda: self.record(daemon, second)["color"] == "purple"
        )
        self.assertTrue(self.record(daemon, second)["pinned"])
        colour = tab(page, second)
        wait_until_on_page(page, "it shown", lambda: colour.get_attribute("data-color") == "purple")
        page.reload()
        PageTerminal(page).ready()
        self.assertEqual([second, first], order(page))

    def test_sessions_are_reordered_by_mouse_and_keys(self) -> None:
        daemon = self.daemon()
        one, two, three = (self.session(daemon, name) for name in ("one", "two", "three"))
        page = self.terminal(daemon.url).page
        self.assertEqual([one, two, three], order(page))
        tab(page, three).drag_to(tab(page, one), target_position={"x": 4, "y": 10})
        wait_until_on_page(page, "the first place", lambda: order(page) == [three, one, two])
        page.locator(f"#tab-{one}").focus()
        page.keyboard.press("Control+Shift+ArrowRight")
        wait_until_on_page(page, "the last place", lambda: order(page) == [three, two, one])
        # Nothing else tells when the service has answered; a reload shows what it has.
        kept = [three, two, one]
        wait_until_on_page(page, "the order kept", lambda: self.listed(daemon) == kept)
        page.reload()
        PageTerminal(page).ready()
        self.assertEqual(kept, order(page))

    def listed(self, daemon: DaemonHarness) -> list[str]:
        return [each["id"] for each in daemon.request("GET", "/api/sessions").data()]

    def test_session_name_uses_the_space_of_hidden_buttons(self) -> None:
        """And nothing moves when the pointer brings the button back."""
        daemon = self.daemon()
        for label in ("one", "two", "three", "four", "api docs", "six"):
            self.session(daemon, label)
        page = self.terminal(daemon.url, viewport={"width": 800, "height": 600}).page
        page.keyboard.press("Alt+Shift+B")
        page.get_by_test_id("tab").nth(5).wait_for()
        # A font that arrives makes names wider.
        page.evaluate("document.fonts.ready.then(() => true)")
        tabs, boxes = page.get_by_test_id("tab"), "tabs => tabs.map((each) => each.offsetLeft)"
        name = tabs.nth(4).locator(".tab-name")
        place = "each => [each.offsetLeft, each.clientWidth, each.scrollWidth]"
        _, shown, whole = name.evaluate(place)
        self.assertEqual(whole, shown)
        before = tabs.evaluate_all(boxes), name.evaluate(place)
        tabs.nth(4).hover()
        self.assertTrue(is_uncovered(tabs.nth(4).get_by_test_id("tab-close")))
        self.assertEqual(before, (tabs.evaluate_all(boxes), name.evaluate(place)))

    @pytest.mark.essential
    def test_closing_a_session_asks_and_ends_its_program(self) -> None:
        daemon = self.daemon()
        one, two = self.session(daemon, "one"), self.session(daemon, "two")
        terminal = self.terminal(daemon.url)
        page = terminal.page
        tab(page, one).get_by_test_id("tab-close").click()
        page.get_by_test_id("ask").get_by_role("button", name="Cancel").click()
        terminal.run("echo still-$((1 + 0))").wait("still-1")
        tab(page, one).get_by_test_id("tab-close").click()
        page.get_by_test_id("ask-agree").click()
        wait_until_on_page(page, "one tab", lambda: order(page) == [two])
        self.assertEqual(two, PageTerminal(page).ready().attribute("session"))
        self.assertEqual(404, daemon.request("GET", f"/api/sessions/{one}").status)
        wait_until_on_page(
            page, "no socket", lambda: not (daemon.data / "mux" / f"{one}.sock").exists()
        )

    def test_detach_keeps_the_program_and_attach_finds_it(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        terminal = self.terminal(daemon.url)
        page = terminal.page
        terminal.run("echo before-$((1 + 0))").wait("before-1")
        pid = self.record(daemon, session)["pid"]
        choose(page, session, "Detach")
        start = page.get_by_test_id("start")
        start.wait_for()
        self.assertEqual("Attach", start.inner_text().strip())
        start.click()
        wait_until_on_page(page, "it again", start.is_hidden)
        terminal.ready().focus().run("echo after-$((1 + 1))").wait("after-2")
        terminal.wait("before-1")
        self.assertEqual(pid, self.record(daemon, session)["pid"])

    def test_another_window_follows_rename_and_removal(self) -> None:
        daemon = self.daemon()
        one = self.session(daemon, "one")
        page = self.terminal(daemon.url).page
        daemon.request("PUT", f"/api/sessions/{one}/name", {"name": "<i>renamed</i>"}).data()
        name = page.locator(".tab-name")
        wait_until_on_page(page, "the name", lambda: name.inner_text() == "<i>renamed</i>")
        daemon.request("DELETE", f"/api/sessions/{one}").data()
        page.get_by_test_id("empty").wait_for()


class ServiceStopTests(BrowserCase):
    expected = (*LOST, r"responded with a status of 50\d")

    def test_stopped_service_is_shown_and_its_return_is_noticed(self) -> None:
        place = self.held()
        daemon = self.daemon_at(place)
        self.session(daemon)
        page = self.terminal(daemon.url).page
        daemon.stop()
        banner = page.locator(".banner")
        expect(banner).to_contain_text("Your sessions keep running")
        daemon.start(listen=(place,))
        wait_until_on_page(page, "no banner", lambda: banner.count() == 0)
        PageTerminal(page).ready().focus().run("echo back-$((1 + 0))").wait("back-1")
