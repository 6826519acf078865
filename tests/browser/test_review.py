"""The review of a session's changes, at a desk and on a phone, in a real Chromium."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.axe import faults_in_both
from tests.browser.harness import PHONE, BrowserCase, wait_until_on_page
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness
from tests.run_figures import report_figure
from tests.unit.git.random_repositories import run_git

DESK: dict[str, Any] = {"viewport": {"width": 1090, "height": 900}}
BESIDE: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
"""Wide enough for the review beside the conversation."""
HUNKS = 5
"""Hunks in each of the two files."""


def make_reviewed_repository(folder: Path) -> Path:
    """Two files with five hunks each, a new one, and a lock file."""
    folder.mkdir(parents=True)
    run_git(folder, "init", "-q", "-b", "main")
    for name in ("src/engine.py", "src/gears.py"):
        _write_module(folder / name, "value")
    (folder / "package-lock.json").write_text("{}\n")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "first")
    for name in ("src/engine.py", "src/gears.py"):
        _write_module(folder / name, "amount")
    (folder / "package-lock.json").write_text('{"lockfileVersion": 3}\n')
    (folder / "notes.md").write_text("# Notes\n\nA new file.\n")
    return folder


def _write_module(path: Path, word: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(HUNKS):
        lines += [f"def step_{number}({word}):", f'    """Do step {number}."""']
        lines += [f"    line_{number}_{each} = {each}" for each in range(12)]
        lines += ["", ""]
    path.write_text("\n".join(lines))


class ReviewCase(BrowserCase):
    def setUp(self) -> None:
        super().setUp()
        self.service: DaemonHarness = self.daemon()
        self.root = make_reviewed_repository(self.service.home / "w")
        self.session_id = self.session(self.service, workingDir=str(self.root))

    def review(self, **options: Any) -> Page:
        page = self.page(f"{self.service.url}/?session={self.session_id}&page=review", **options)
        expect(page.get_by_test_id("review-file")).to_have_count(4)
        return page

    def comment(self, page: Page, text: str) -> None:
        """Write the comment whose field is open."""
        page.get_by_test_id("review-text").fill(text)
        page.get_by_test_id("review-save").click()
        expect(page.get_by_test_id("review-comment").filter(has_text=text)).to_be_visible()

    def receive_prompt(self) -> None:
        """A program in the terminal that keeps what it is given."""
        body = {"input": "cat > ../got", "useMux": True}
        self.service.request("POST", f"/api/sessions/{self.session_id}/input", body).data()

    def got(self, page: Page, text: str) -> None:
        file = self.service.home / "got"
        wait_until_on_page(page, text, lambda: file.exists() and text in file.read_text())


class DeskReviewTests(ReviewCase):
    def test_review_at_a_desk_by_pointer_and_keys(self) -> None:
        page = self.review(**DESK)
        self.receive_prompt()
        expect(page.get_by_test_id("review-progress")).to_have_text("0 of 4 files seen")
        page.get_by_test_id("review-file").filter(has_text="engine.py").click()
        hunks = page.get_by_test_id("review-hunk")
        expect(hunks).to_have_count(HUNKS)
        expect(hunks.nth(0).locator(".syn-string").first).to_have_text('"""Do step 0."""')
        # Drag over two line numbers.
        numbers = page.locator(".review-number[data-side=new]")
        first, last = numbers.nth(1), numbers.nth(2)
        start, end = first.bounding_box(), last.bounding_box()
        assert start is not None
        assert end is not None
        page.mouse.move(start["x"] + 20, start["y"] + 10)
        page.mouse.down()
        page.mouse.move(end["x"] + 20, end["y"] + 10, steps=4)
        page.mouse.up()
        expect(page.get_by_text("Lines 2 to 3")).to_be_visible()
        self.comment(page, "Say what the step does")
        # By keys: the next change, a comment on it, seen, the next file that was not.
        hunks.nth(1).focus()
        page.keyboard.press("n")
        page.keyboard.press("c")
        self.comment(page, "Name it total")
        expect(page.get_by_test_id("review-send")).to_have_text("Send 2 comments")
        hunks.nth(1).focus()
        page.keyboard.press("v")
        expect(page.get_by_test_id("review-progress")).to_have_text("1 of 4 files seen")
        page.keyboard.press("e")
        expect(page.locator(".review-head h3")).not_to_contain_text("engine.py")
        page.get_by_test_id("review-send").click()
        expect(page.get_by_test_id("review-tray")).to_be_hidden()
        self.got(page, "Name it total")
        self.got(page, "> def step_2(amount):")

    def test_comment_follows_its_line_while_the_file_changes(self) -> None:
        page = self.review(**DESK)
        page.get_by_test_id("review-file").filter(has_text="engine.py").click()
        page.get_by_test_id("review-hunk").nth(2).focus()
        page.keyboard.press("c")
        self.comment(page, "Follow me")
        file = self.root / "src/engine.py"
        file.write_text("# one\n# two\n# three\n" + file.read_text())
        row = page.locator("tr:has([data-testid=review-comment])")
        line = row.locator("xpath=preceding-sibling::tr[1]").locator("[data-side=new]").first
        # Step 2 began at line 33.
        expect(line).to_have_attribute("data-line", "36", timeout=30_000)

    def test_change_is_put_back_and_comes_again(self) -> None:
        page = self.review(**DESK)
        page.get_by_test_id("review-file").filter(has_text="engine.py").click()
        hunks = page.get_by_test_id("review-hunk")
        hunks.nth(0).get_by_test_id("review-revert").click()
        page.get_by_test_id("ask-agree").click()
        expect(hunks).to_have_count(HUNKS - 1)
        self.assertIn("def step_0(value):", (self.root / "src/engine.py").read_text())
        page.get_by_role("button", name="Undo").click()
        expect(hunks).to_have_count(HUNKS)
        self.assertNotIn("value", (self.root / "src/engine.py").read_text())

    def test_all_changes_are_committed_from_the_page(self) -> None:
        for name in ("user.name", "user.email"):
            run_git(self.root, "config", name, "ann@example.org")
        page = self.review(**DESK)
        page.get_by_test_id("review-commit").click()
        page.get_by_test_id("ask").locator("textarea").fill("Name amounts")
        page.get_by_test_id("ask-agree").click()
        expect(page.get_by_test_id("review-commit")).to_have_count(0)
        subject = run_git(self.root, "log", "-1", "--format=%s").decode().strip()
        self.assertEqual(("Name amounts", b""), (subject, run_git(self.root, "status", "-s")))
        expect(page.get_by_test_id("review-file")).to_have_count(4)
        # Since the last commit there is nothing.
        page.get_by_test_id("review-base").select_option("HEAD")
        expect(page.get_by_test_id("review-file")).to_have_count(0)
        page.get_by_test_id("review-base").select_option("start")
        expect(page.get_by_test_id("review-file")).to_have_count(4)

    def test_review_page_has_no_accessibility_fault(self) -> None:
        page = self.review(viewport={"width": 1040, "height": 800})
        page.get_by_test_id("review-file").filter(has_text="engine.py").click()
        page.get_by_test_id("review-hunk").first.focus()
        page.keyboard.press("c")
        self.comment(page, "Look here")
        self.assertEqual([], faults_in_both(page, "[data-testid=review-page]"))
        page.get_by_test_id("review-split").click()
        page.get_by_test_id("review-spaces").click()
        expect(page.locator(".review-space").first).to_be_visible()
        if folder := os.environ.get("TSERVICE_TEST_PICTURES"):
            page.screenshot(path=f"{folder}/review-spaces.png")
        self.assertEqual([], faults_in_both(page, "[data-testid=review-page]"))


class TurnReviewTests(BrowserCase):
    def begin(self) -> tuple[DaemonHarness, Path, PlayedSession]:
        service = played_daemon()
        self.addCleanup(service.close)
        root = make_reviewed_repository(service.folder / "work")
        # The files of the played agent are not part of it.
        (root / ".git" / "info" / "exclude").write_text("*\n")
        service.start()
        return service, root, PlayedSession(service, "primary", MockScenario())

    def edit(self, session: PlayedSession, count: int, file: Path, value: int) -> None:
        """Let the agent edit a file in a turn, until that many turns are recorded."""
        line = "line_0_1 = "
        given = {"file_path": str(file), "old_string": f"{line}1", "new_string": f"{line}{value}"}
        session.prompt(f"TOOL: Edit {json.dumps(given)}", wait="blocked")
        session.press("Enter")
        session.until("the turn is recorded", lambda: len(session.list_turns()) == count)

    def test_turn_of_the_conversation_is_compared_alone(self) -> None:
        service, root, session = self.begin()
        session.end_recorded_turn(1)
        engine, gears = root / "src/engine.py", root / "src/gears.py"
        self.edit(session, 2, engine, 100)
        self.edit(session, 3, gears, 200)
        page = self.page(f"{service.url}/?session={session.id}", **BESIDE)
        page.get_by_test_id("view-switch").click()
        page.get_by_test_id("menu").get_by_text("Conversation", exact=True).click()
        links = page.get_by_test_id("conversation-turn-review")
        expect(links).to_have_count(2)
        links.first.click()
        files = page.get_by_test_id("review-file")
        expect(files).to_have_count(1)
        expect(files).to_contain_text("engine.py")
        expect(page.get_by_test_id("review-target")).not_to_have_value("")
        hunk = page.get_by_test_id("review-hunk")
        expect(hunk).to_have_count(1)
        expect(hunk).to_contain_text("line_0_1 = 100")
        expect(page.get_by_test_id("review-seen")).to_have_count(0)
        expect(page.get_by_test_id("review-revert")).to_have_count(0)
        hunk.focus()
        page.keyboard.press("c")
        if folder := os.environ.get("TSERVICE_TEST_PICTURES"):
            page.screenshot(path=f"{folder}/review-turn.png")
        self.assertEqual([], faults_in_both(page, "[data-testid=review-page]"))
        links.nth(1).click()
        expect(files).to_contain_text("gears.py")
        expect(page.get_by_test_id("review-target")).to_have_value("")
        links.first.click()
        expect(files).to_contain_text("engine.py")
        hunk.focus()
        page.keyboard.press("c")
        page.get_by_test_id("review-no-comment").get_by_role("button").click()
        expect(page.get_by_test_id("review-target")).to_have_value("")
        expect(files).to_have_count(1)
        expect(page.get_by_test_id("review-text")).to_be_visible()

    def test_only_what_is_new_since_the_end_of_a_turn_is_shown(self) -> None:
        service, root, session = self.begin()
        at = session.end_recorded_turn(1)
        page = self.page(f"{service.url}/?session={session.id}&page=review", **DESK)
        files = page.get_by_test_id("review-file")
        expect(files).to_have_count(3)
        page.get_by_test_id("review-base").select_option(f"turn:{at}")
        expect(files).to_have_count(0)
        engine = root / "src/engine.py"
        engine.write_text(engine.read_text() + "LAST = 1\n")
        expect(files).to_have_count(1)
        files.click()
        expect(page.get_by_test_id("review-hunk")).to_contain_text("LAST = 1")
        expect(page.get_by_test_id("review-revert")).to_have_count(0)
        page.get_by_test_id("review-base").select_option("HEAD")
        expect(files).to_have_count(3)


class PhoneReviewTests(ReviewCase):
    fingers: CDPSession | None = None

    def test_ten_hunks_are_reviewed_and_two_comments_sent_on_a_phone(self) -> None:
        page = self.review(**PHONE)
        self.receive_prompt()
        begun = time.monotonic()
        page.get_by_test_id("review-file").filter(has_text="engine.py").tap()
        self.hold_line(page, 3, "Shorter, please")
        page.get_by_test_id("review-seen").tap()
        self.swipe(page)
        expect(page.locator(".review-head h3")).to_contain_text("gears.py")
        expect(page.get_by_test_id("review-hunk")).to_have_count(HUNKS)
        self.hold_line(page, 2, "And here")
        page.get_by_test_id("review-seen").tap()
        self.assertEqual(390, page.evaluate("document.documentElement.scrollWidth"))
        page.get_by_test_id("review-send").tap()
        self.got(page, "Shorter, please")
        self.got(page, "And here")
        report_figure(f"ten hunks and two comments in {time.monotonic() - begun:.0f} s")
        page.get_by_test_id("review-back").tap()
        expect(page.get_by_test_id("review-progress")).to_have_text("2 of 4 files seen")

    def hold_line(self, page: Page, row: int, text: str) -> None:
        box = page.locator(".review-line").nth(row).bounding_box()
        assert box is not None
        place = {"x": box["x"] + 100, "y": box["y"] + 10}
        self.touch(page, "touchStart", place)
        expect(page.get_by_test_id("review-text")).to_be_visible()
        self.touch(page, "touchEnd")
        self.comment(page, text)

    def swipe(self, page: Page) -> None:
        box = page.get_by_test_id("review-body").bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        self.touch(page, "touchStart", {"x": 320, "y": y})
        for x in (260, 200, 140):
            self.touch(page, "touchMove", {"x": x, "y": y})
        self.touch(page, "touchEnd")

    def touch(self, page: Page, kind: str, place: dict[str, float] | None = None) -> None:
        if self.fingers is None:
            self.fingers = page.context.new_cdp_session(page)
        points = [] if place is None else [place]
        self.fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
