"""Pictures and files for a prompt or a terminal, on the real daemon, in Chromium."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, Position, expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.harness import PHONE, BrowserCase, PageTerminal, is_uncovered, wait_until_on_page
from tests.browser.picture_files import bring_file, make_picture
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness


class PromptAttachmentTests(BrowserCase):
    expected = (r"the server responded with a status of 400",)
    service: DaemonHarness

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = played_daemon()
        cls.addClassCleanup(cls.service.close)
        (cls.service.home / ".bash_profile").write_text("PS1='$ '\n")
        cls.service.start()

    def agent(self) -> PlayedSession:
        found = PlayedSession(self.service, "primary", MockScenario(trust=False))
        self.addCleanup(found.end)
        return found

    def shown(self, session: str, **options: Any) -> Page:
        return self.terminal(f"{self.service.url}/?session={session}", **options).page

    @pytest.mark.essential
    def test_pasted_picture_is_attached_to_the_prompt(self) -> None:
        agent = self.agent()
        page = self.shown(agent.id)
        field = page.get_by_test_id("prompt-field")
        bring_file(field, "paste", "shot.png", make_picture())
        chip = page.get_by_test_id("attached")
        expect(chip).to_have_attribute("data-state", "ready")
        image = chip.locator("img")
        wait_until_on_page(
            page, "a thumbnail", lambda: image.evaluate("each => each.naturalWidth") == 4
        )
        field.fill("what is this")
        field.press("Enter")
        expect(page.get_by_test_id("prompt-outcome")).to_contain_text("Delivered")
        expect(chip).to_have_count(0)
        (turn,) = agent.until("the turn", agent.turns)
        name, _, text = turn.prompt.partition(" ")
        self.assertEqual("what is this", text)
        self.assertEqual(make_picture(), Path(name.removeprefix("@")).read_bytes())

    def test_dropped_file_name_is_typed_into_a_shell(self) -> None:
        session = self.session(self.service)
        page = self.shown(session)
        bring_file(page.locator(".holder"), "drop", "data.csv", b"a,b\n")
        chip = page.get_by_test_id("attached")
        expect(chip).to_have_attribute("data-state", "ready")
        wait_until_on_page(page, "it in sight", lambda: is_uncovered(chip))
        terminal = PageTerminal(page)
        terminal.type("cat ")
        page.get_by_test_id("attached-type").click()
        expect(chip).to_have_count(0)
        page.keyboard.press("Enter")
        terminal.wait("a,b")

    def test_attached_file_is_chosen_and_removed_on_a_phone(self) -> None:
        agent = self.agent()
        page = self.shown(agent.id, **PHONE)
        with page.expect_file_chooser() as chooser:
            page.get_by_test_id("prompt-attach").tap()
        files: list[FilePayload] = [
            {"name": "one.png", "mimeType": "image/png", "buffer": make_picture()},
            {"name": "two.png", "mimeType": "image/png", "buffer": b"no picture"},
        ]
        chooser.value.set_files(files)
        chips = page.get_by_test_id("attached")
        expect(chips.first).to_have_attribute("data-state", "ready")
        expect(chips.last).to_have_attribute("data-state", "failed")
        page.get_by_test_id("prompt-send").tap()
        expect(page.get_by_test_id("prompt-outcome")).to_contain_text("failed to upload")
        wait_until_on_page(page, "it in sight", lambda: is_uncovered(chips.last))
        for left in (1, 0):
            page.get_by_test_id("attached-out").last.tap()
            expect(chips).to_have_count(left)
        self.assertEqual([], agent.turns())

    def test_words_typed_behind_a_chosen_file_go_with_it(self) -> None:
        agent = self.agent()
        page = self.shown(agent.id)
        with page.expect_file_chooser() as chooser:
            page.get_by_test_id("prompt-attach").click()
        chooser.value.set_files(
            {"name": "one.png", "mimeType": "image/png", "buffer": make_picture()}
        )
        expect(page.get_by_test_id("attached")).to_have_attribute("data-state", "ready")
        page.keyboard.type(" SAY: seen")
        expect(page.get_by_test_id("prompt-field")).to_have_value(" SAY: seen")

    def test_file_is_attached_by_an_at_sign(self) -> None:
        agent = self.agent()
        folder = Path(agent.record()["workingDir"])
        (folder / "src").mkdir()
        for name in ("src/walk.py", "src/walker.py", "notes"):
            (folder / name).write_text("x\n")
        page = self.shown(agent.id)
        field = page.get_by_test_id("prompt-field")
        field.click()
        page.keyboard.type("see @wal")
        offered = page.get_by_test_id("mention")
        expect(offered).to_have_text(["src/walk.py", "src/walker.py"])
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(field).to_have_value("see @src/walker.py ")
        expect(offered).to_have_count(0)
        page.keyboard.type("and @no")
        offered.filter(has_text="notes").click()
        expect(field).to_have_value("see @src/walker.py and @notes ")
        page.keyboard.type("me@example")
        expect(offered).to_have_count(0)
        self.assertEqual([], agent.turns())

    def test_path_in_the_terminal_opens_the_file_at_its_line(self) -> None:
        (self.service.home / "lines.txt").write_text("".join(f"no {n}\n" for n in range(1, 400)))
        session = self.session(self.service)
        terminal = self.terminal(f"{self.service.url}/?session={session}")
        page = terminal.focus().page
        terminal.run("clear; echo ./lines.txt:30''0:4").wait(r"\./lines\.txt:300:4")
        row = terminal.screen().index("./lines.txt:300:4")
        screen = terminal.element.locator(".xterm-screen")
        box = screen.bounding_box()
        assert box is not None
        rows, cols = terminal.read()["rows"], terminal.read()["cols"]
        across, down = box["width"] / cols, box["height"] / rows * (row + 0.5)
        # The pointer has to move for the page to look what is below it.
        places = cycle(Position(x=across * column, y=down) for column in (5.2, 4.8))

        def told() -> int:
            screen.hover(position=next(places))
            return terminal.element.locator("[title*='line 300']").count()

        wait_until_on_page(page, "a link", told)
        screen.click(position=next(places), modifiers=["Control"])
        line = page.get_by_test_id("text").locator(".cm-activeLine")
        expect(line).to_have_text("no 300")
