"""The pull request of a session's branch in the page, by a played gh, in a real Chromium."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.axe import faults_in_both
from tests.browser.harness import PHONE, TOO_WIDE, BrowserCase, wait_until_on_page
from tests.integration.harness import DaemonHarness
from tests.unit.git.random_repositories import run_git
from tests.unit.review.forge.played_forge import PlayedForge, make_pull, make_run

WIDE: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
LOG = "2026-01-01T00:00:00.0Z E  assert 1 == 2\n2026-01-01T00:00:01.0Z ##[error]Exit code 1.\n"
POST = "POST repos/ann/clock/pulls"


class PullRequestTests(BrowserCase):
    def setUp(self) -> None:
        super().setUp()
        self.programs = Path(self.mktemp()).absolute()
        self.programs.mkdir(parents=True)
        self.gh = PlayedForge(self.programs, "gh")
        self.service: DaemonHarness = self.daemon(PATH=f"{self.programs}:{os.environ['PATH']}")
        self.root = self.make_branch(self.service.home / "w")
        self.session_id = self.session(self.service, name="fixer", workingDir=str(self.root))

    def make_branch(self, folder: Path) -> Path:
        """A branch with one commit, whose remote is pushed to in a folder."""
        folder.mkdir(parents=True)
        run_git(folder, "init", "-q", "-b", "main")
        (folder / "clock.py").write_text("tick = 1\n")
        run_git(folder, "add", "-A")
        run_git(folder, "commit", "-q", "-m", "first")
        run_git(folder, "checkout", "-q", "-b", "topic")
        (folder / "clock.py").write_text("tick = 2\ntock = 3\n")
        run_git(folder, "commit", "-q", "-a", "-m", "Mend the clock")
        remote = self.service.home / "remote.git"
        run_git(folder, "init", "-q", "--bare", str(remote))
        run_git(folder, "remote", "add", "origin", "https://github.com/ann/clock.git")
        run_git(folder, "remote", "set-url", "--push", "origin", str(remote))
        return folder

    def play_pull_request(self) -> None:
        """A pull request with a failed check, and a comment on the second line."""
        comment = {
            "id": 11, "user": {"login": "bob"}, "body": "Name it after the sound?",
            "path": "clock.py", "line": 2, "side": "RIGHT",
            "html_url": "https://github.com/ann/clock/pull/7#r11",
        }  # fmt: skip
        head = run_git(self.root, "rev-parse", "HEAD").decode().strip()
        run = {**make_run("11", "FAILURE"), "name": "lint"}
        self.gh.play(
            pulls=[make_pull(headRefOid=head, statusCheckRollup=[run, make_run("12", "SUCCESS")])],
            api={
                "repos/ann/clock": {"default_branch": "main"},
                "repos/ann/clock/pulls/7/comments?per_page=100": [comment],
                "repos/ann/clock/actions/jobs/11/logs": LOG,
                POST: {"number": 7},
                f"{POST}/7/requested_reviewers": {"number": 7},
            },
        )

    def review(self, **options: Any) -> Page:
        page = self.page(f"{self.service.url}/?session={self.session_id}&page=review", **options)
        expect(page.get_by_test_id("review-file")).to_have_count(1)
        return page

    def test_pull_request_is_opened_mended_and_shown_on_the_row(self) -> None:
        page = self.review(**WIDE)
        page.get_by_test_id("pull-open").click()
        expect(page.get_by_test_id("pull-title")).to_have_value("Mend the clock")
        page.get_by_test_id("pull-reviewers").fill("@bob, eve")
        self.assertEqual([], faults_in_both(page, "[data-testid=review-page]"))
        self.play_pull_request()
        page.get_by_test_id("pull-create").click()
        expect(page.get_by_test_id("pull-state")).to_contain_text("1 check failed")
        posted = [json.loads(call["stdin"]) for call in self.gh.calls if call["stdin"]]
        self.assertEqual(["bob", "eve"], posted[1]["reviewers"])
        pushed = run_git(self.service.home / "remote.git", "log", "-1", "--format=%s", "topic")
        self.assertEqual(b"Mend the clock\n", pushed)
        page.get_by_test_id("toggle-sidebar").click()
        mark = page.get_by_test_id("side-session").get_by_test_id("pull-mark")
        expect(mark).to_have_text("#7Pull request 7: open, 1 check failed")
        page.get_by_text("End of the log").click()
        expect(page.get_by_test_id("pull-log")).to_have_text(
            "E  assert 1 == 2\n##[error]Exit code 1."
        )
        self.assertEqual([], faults_in_both(page, "[data-testid=review-page]"))
        self.mend(page)
        self.take_over(page)

    def mend(self, page: Page) -> None:
        got = self.service.home / "got"
        body = {"input": "cat > ../got", "useMux": True}
        self.service.request("POST", f"/api/sessions/{self.session_id}/input", body).data()
        page.get_by_test_id("pull-mend").click()
        text = "A check of pull request 7"
        wait_until_on_page(page, text, lambda: got.exists() and text in got.read_text())

    def take_over(self, page: Page) -> None:
        """Make a person's comment one's own, at its line."""
        page.get_by_test_id("review-file").click()
        below = page.locator("tr.review-below").get_by_test_id("pull-comment")
        expect(below).to_contain_text("Name it after the sound?")
        below.get_by_test_id("pull-take").click()
        expect(page.get_by_test_id("review-comment")).to_contain_text("bob: Name it after")
        expect(below).to_have_count(0)
        expect(page.get_by_test_id("review-send")).to_have_text("Send 1 comment")

    def test_panel_fits_a_phone(self) -> None:
        self.play_pull_request()
        page = self.review(**PHONE)
        expect(page.get_by_test_id("pull-state")).to_contain_text("1 check failed")
        page.get_by_text("End of the log").tap()
        expect(page.get_by_test_id("pull-log")).to_have_text(
            "E  assert 1 == 2\n##[error]Exit code 1."
        )
        self.assertEqual(390, page.evaluate("document.documentElement.scrollWidth"))
        self.assertEqual([], page.evaluate(TOO_WIDE))
        self.assertEqual([], faults_in_both(page, "[data-testid=review-page]"))
