"""The page of cases: what works in each, its changes and files, and its removal, in Chromium."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import git_repositories
from tests.browser.harness import PHONE, BrowserCase
from tests.integration.harness import DaemonHarness


class CasePageTests(BrowserCase):
    expected = (r"the server responded with a status of 40[49]",)
    service: DaemonHarness

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = DaemonHarness()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()

    def made(self, name: str) -> Path:
        answer = self.service.request("POST", "/api/cases", {"name": name}).data()
        return Path(answer["case"]["path"])

    def test_case_page_shows_sessions_changes_and_files(self) -> None:
        folder = self.made("shop")
        git_repositories.make_repository(folder / "src")
        (folder / "src" / "new").write_text("new\n")
        session = self.session(self.service, "till", workingDir=str(folder / "src"))
        page = self.page(f"{self.service.url}/?session={session}&page=cases")
        view = page.get_by_test_id("case-view")
        expect(view).to_contain_text(str(folder))
        expect(view.get_by_test_id("case-session")).to_contain_text("till")
        expect(page.get_by_test_id("case-git")).to_contain_text("Git: main, 1 untracked")
        expect(page.get_by_test_id("case-remove")).to_be_disabled()
        expect(view).to_contain_text("Close its session first.")
        page.get_by_test_id("case-files").click()
        expect(page.locator("[data-testid=file][data-path=new]")).to_be_visible()

    def test_goals_of_a_case_are_edited(self) -> None:
        folder = self.made("aims")
        session = self.session(self.service, "aiming", workingDir=str(folder))
        page = self.page(f"{self.service.url}/?session={session}&page=cases")
        text = page.get_by_test_id("goals-text")
        expect(text).to_have_value("")
        expect(page.get_by_test_id("goals-save")).to_be_disabled()
        expect(page.get_by_test_id("goals-forget")).to_have_count(0)
        text.fill("Version 2\nout by Friday")
        page.get_by_test_id("goals-save").click()
        expect(page.get_by_test_id("goals-forget")).to_be_visible()
        path = f"/api/sessions/{session}/intent"
        kept = self.service.request("GET", path).data()["intent"]
        self.assertEqual("Version 2\nout by Friday", kept["goals"])
        page.reload()
        expect(text).to_have_value("Version 2\nout by Friday")
        shots = os.environ.get("SCREENSHOTS")
        if shots is not None:
            page.screenshot(path=f"{shots}/goals.png")
        page.get_by_test_id("goals-forget").click()
        page.get_by_test_id("ask-agree").click()
        expect(text).to_have_value("")
        self.assertIsNone(self.service.request("GET", path).data()["intent"])

    def test_case_removal_shows_its_consequences_on_a_phone(self) -> None:
        folder = self.made("gone")
        git_repositories.make_repository(folder / "work")
        (folder / "work" / "unsaved").write_text("mine\n")
        page = self.page(f"{self.service.url}/?page=cases", **PHONE)
        case = page.locator("[data-case=gone]")
        case.tap()
        expect(page.get_by_test_id("case-view")).to_contain_text("move it back by hand for 7 days")
        page.get_by_test_id("case-remove").tap()
        page.get_by_test_id("ask-agree").tap()
        ask = page.get_by_test_id("ask")
        expect(ask).to_contain_text("has unsaved work")
        self.assertTrue(folder.exists())
        page.get_by_test_id("ask-agree").tap()
        expect(case).to_have_count(0)
        self.assertFalse(folder.exists())

    def test_session_is_started_in_the_case(self) -> None:
        folder = self.made("fresh")
        (folder / ".git").mkdir()
        page = self.page(f"{self.service.url}/?page=cases")
        page.locator("[data-case=fresh]").click()
        page.get_by_test_id("case-start").click()
        page.get_by_test_id("new-place").click()
        expect(page.get_by_test_id("new-folder")).to_have_value(str(folder))
        expect(page.get_by_test_id("worktree")).to_be_visible()

    @pytest.mark.essential
    def test_linked_case_shows_the_changes_of_its_folder(self) -> None:
        folder = git_repositories.make_busy_repository(self.service.home / "elsewhere")
        page = self.page(f"{self.service.url}/?page=cases")
        page.get_by_test_id("link-open").click()
        page.get_by_test_id("link-path").fill(str(folder))
        expect(page.get_by_test_id("link-name")).to_have_value("elsewhere")
        page.get_by_test_id("link-submit").click()
        case = page.locator("[data-case=elsewhere]")
        expect(case).to_contain_text("linked")
        expect(page.get_by_test_id("case-git")).to_contain_text("Git: main, 1 ahead, 1 staged")
        expect(page.get_by_test_id("case-view")).to_contain_text("only the name")
        page.get_by_test_id("case-remove").click()
        page.get_by_test_id("ask-agree").click()
        expect(case).to_have_count(0)
        self.assertTrue((folder / "README").exists())
