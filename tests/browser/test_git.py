"""Git at a glance: the badge, the page of changes, diffs, in a real Chromium."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser import git_repositories
from tests.browser.git_harness import BrowserGitCase
from tests.browser.harness import expect_focus, wait_until_on_page
from tests.unit.git.random_repositories import run_git

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
MOST_ROWS = 200
"""Rows of a diff in the page at once, however long it is."""


class BadgeTests(BrowserGitCase):
    def test_git_badge_follows_commands_in_the_terminal(self) -> None:
        root = git_repositories.make_busy_repository(self.service.home / "w")
        session = self.at(root)
        terminal = self.terminal(f"{self.service.url}/?session={session}")
        chip = terminal.page.get_by_test_id("git-chip")
        expect(chip).to_have_accessible_description(
            "Git: main, 1 ahead, 1 staged, 1 changed, 2 untracked, 1 stash. Show changes"
        )
        mark = terminal.page.locator("[data-testid=tab] [data-testid=git-mark]")
        expect(mark).to_contain_text("±4")
        terminal.focus().run("git checkout -q --detach && rm fresh.txt && echo do''ne")
        terminal.wait("done")
        commit = run_git(root, "rev-parse", "--short=7", "HEAD").decode().strip()
        # A look that came before it was done is made good by the next one, half a minute later.
        expect(chip).to_contain_text(commit)
        expect(mark).to_contain_text("±3")

    def test_only_visible_repositories_are_read(self) -> None:
        root = git_repositories.make_repository(self.service.home / "w")
        (root / "more").write_text("more\n")
        sessions = [self.at(root, f"s{number}") for number in range(8)]
        asked: list[str] = []
        page = self.page("about:blank")
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{self.service.url}/?session={sessions[0]}")
        expect(page.get_by_test_id("git-chip")).to_be_visible()
        statuses = [url for url in asked if "git-status" in url]
        self.assertEqual(1, len(statuses))
        self.assertIn(sessions[0], statuses[0])
        page.locator(f"[data-testid=side-session][data-session='{sessions[5]}']").click()
        expect(page.locator("[data-testid=sidebar] [data-testid=git-mark]")).to_have_count(2)

    def test_folder_without_a_repository_has_no_badge(self) -> None:
        page = self.changes(self.at(self.service.home))
        expect(page.get_by_test_id("git-none")).to_contain_text("not a git repository")
        expect(page.get_by_text("Choose a file to see")).to_be_hidden()
        expect(page.get_by_test_id("git-chip")).to_have_count(0)


class LargeTests(BrowserGitCase):
    def test_git_page_shows_three_hundred_files_and_the_longest_diff(self) -> None:
        page = self.changes(
            self.at(git_repositories.make_large_repository(self.service.home / "w"))
        )
        expect(page.get_by_test_id("git-file")).to_have_count(300)
        expect(page.locator("[data-testid=tab] [data-testid=git-mark]")).to_contain_text("±99+")
        self.file(page, "untracked", "zz-long").click()
        expect(page.get_by_test_id("diff-truncated")).to_be_visible()
        box = page.get_by_test_id("diff-box")
        count = int(box.get_by_role("table").get_attribute("aria-rowcount") or 0)
        self.assertGreater(count, 100_000)
        self.assertLess(box.get_by_role("row").count(), MOST_ROWS)
        box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
        expect(box.get_by_role("row").last).to_have_attribute("aria-rowindex", str(count))
        self.assertLess(box.get_by_role("row").count(), MOST_ROWS)


class PhoneGitTests(BrowserGitCase):
    def test_file_list_and_diff_replace_each_other_on_a_phone(self) -> None:
        page = self.changes(
            self.at(git_repositories.make_busy_repository(self.service.home / "w")), **PHONE
        )
        row = self.file(page, "unstaged", "walk.py")
        box = row.bounding_box()
        assert box is not None
        self.assertGreaterEqual(box["height"], 44)
        row.tap()
        diff = page.get_by_test_id("diff-box")
        place = "each => [each.getBoundingClientRect().x, each.getBoundingClientRect().width]"
        wait_until_on_page(
            page, "it as wide as the screen", lambda: diff.evaluate(place) == [0, 390]
        )
        expect(row).to_be_hidden()
        expect_focus(page.locator(".diff-title"))
        # Also on a machine that comes to no frame for a while.
        page.evaluate("window.requestAnimationFrame = () => 0")
        page.get_by_test_id("diff-back").tap()
        expect_focus(row)
        self.assertEqual(390, page.evaluate("document.documentElement.scrollWidth"))
