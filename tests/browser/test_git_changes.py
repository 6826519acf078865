"""The page of changes: files, commits, several repositories, diffs, in a real Chromium."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Route, expect

from tests.browser import git_repositories
from tests.browser.git_harness import BrowserGitCase
from tests.browser.harness import (
    expect_focus,
    has_focus,
    listen_for_words,
    read_clipboard,
    wait_for_words,
    wait_until_on_page,
)
from tests.unit.git.random_repositories import run_git


class ChangesTests(BrowserGitCase):
    @pytest.mark.essential
    def test_changes_page_shows_files_commits_stashes_and_a_diff(self) -> None:
        page = self.changes(self.at(git_repositories.make_busy_repository(self.service.home / "w")))
        panel = page.get_by_test_id("git-panel")
        expect(page.get_by_test_id("git-branch")).to_have_text("main")
        expect(page.get_by_test_id("git-stashes")).to_have_text("1 stash")
        expect(page.get_by_test_id("git-unpushed")).to_contain_text("A commit that is not pushed")
        expect(self.file(page, "staged", "new.txt")).to_contain_text("from old.txt")
        untracked = page.get_by_test_id("git-untracked")
        expect(untracked).to_contain_text("folder/")
        expect(untracked.get_by_test_id("git-file")).to_have_count(1)
        self.file(page, "unstaged", "walk.py").click()
        expect(page.get_by_test_id("diff-sums")).to_have_text("+6−6")
        expect(page.get_by_role("table", name="Diff of src/walk.py")).to_be_visible()
        removed = page.locator(".diff-row[data-kind=del]").first
        expect(removed).to_have_text("6−removed: src/walk.py line 6")
        added = page.locator(".diff-row[data-kind=add]").first
        expect(added).to_have_text("6+added: changed 5")
        expect(panel.locator(".diff-row[data-kind=hunk]")).to_have_count(6)

    def test_diff_copy_button_gives_the_whole_diff(self) -> None:
        root = git_repositories.make_busy_repository(self.service.home / "w")
        rights = ["clipboard-read", "clipboard-write"]
        page = self.changes(self.at(root), permissions=rights)
        self.file(page, "unstaged", "walk.py").click()
        listen_for_words(page)
        page.get_by_test_id("diff-copy").click()
        wait_for_words(page, "Copied")
        copied = wait_until_on_page(page, "a copy", lambda: read_clipboard(page))
        self.assertEqual(run_git(root, "diff", "src/walk.py").decode(), copied)

    def test_changes_are_read_by_keyboard_alone(self) -> None:
        session = self.at(git_repositories.make_busy_repository(self.service.home / "w"))
        wide = {"width": 1040, "height": 800}
        page = self.terminal(f"{self.service.url}/?session={session}", viewport=wide).page
        page.keyboard.press("Alt+Shift+G")
        first = page.get_by_test_id("git-file").first
        first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        shown = self.file(page, "unstaged", "walk.py")
        expect(shown).to_have_attribute("aria-current", "true")
        expect_focus(shown)
        # Its buttons are there once it was read: Tab has nothing to reach before.
        following = page.get_by_test_id("diff-next")
        expect(following).to_be_visible()
        for _ in range(12):
            page.keyboard.press("Tab")
            if has_focus(following):
                break
        expect_focus(following)
        page.keyboard.press("Enter")
        box = page.get_by_test_id("diff-box")
        wait_until_on_page(
            page, "the next change", lambda: box.evaluate("box => box.scrollTop") > 0
        )
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("git-panel")).to_have_count(0)

    def test_changed_file_is_read_again(self) -> None:
        root = git_repositories.make_busy_repository(self.service.home / "w")
        page = self.changes(self.at(root))
        self.file(page, "untracked", "fresh.txt").click()
        expect(page.locator(".diff-row[data-kind=add]")).to_have_count(1)
        (root / "fresh.txt").write_text("one\ntwo\nthree\n")
        page.get_by_test_id("git-refresh").click()
        expect(page.locator(".diff-row[data-kind=add]")).to_have_count(3)
        (root / "fresh.txt").unlink()
        page.get_by_test_id("git-refresh").click()
        expect(page.get_by_test_id("diff-box")).to_have_count(0)

    def test_changes_page_shows_several_repositories_and_an_unreadable_one(self) -> None:
        folder = self.service.home / "all"
        for name in ("clean", "other"):
            git_repositories.make_repository(folder / name)
        (folder / "other/new").write_text("new\n")
        broken = git_repositories.make_repository(folder / "broken")
        kept = (broken / ".git/config").read_text()
        (broken / ".git/config").write_text("[core\n")
        page = self.changes(self.at(folder))
        expect(page.get_by_test_id("git-repo")).to_have_count(3)
        trouble = page.get_by_test_id("git-trouble")
        expect(trouble).to_contain_text("bad config")
        expect(self.file(page, "untracked", "new")).to_be_visible()
        (broken / ".git/config").write_text(kept)
        trouble.get_by_role("button", name="Try again").click()
        expect(trouble).to_have_count(0)

    def test_diff_writes_out_hidden_characters(self) -> None:
        root = git_repositories.make_repository(self.service.home / "w")
        (root / "sly").write_text("if (admin) { /* \u202e */\n")
        page = self.changes(self.at(root))
        self.file(page, "untracked", "sly").click()
        expect(page.locator(".diff-row[data-kind=add]")).to_contain_text("/* ‹202E› */")

    def test_slow_git_status_can_be_retried_with_more_time(self) -> None:
        root = git_repositories.make_busy_repository(self.service.home / "w")
        session = self.at(root)
        late = {"state": "error", "error": "git timed out after 30 s", "repos": []}
        body = json.dumps({"success": True, "data": {**late, "reposTruncated": False}})

        def answer(route: Route) -> None:
            if "timeout=120" in route.request.url:
                route.continue_()
            else:
                route.fulfill(content_type="application/json", body=body)

        context = self.context()
        context.route("**/git-status*", answer)
        page = self.page(f"{self.service.url}/?session={session}&page=git", context)
        trouble = page.get_by_test_id("git-trouble")
        expect(trouble).to_contain_text("git timed out after 30 s")
        trouble.get_by_role("button", name="Try again with more time").click()
        expect(page.get_by_test_id("git-branch")).to_have_text("main")
