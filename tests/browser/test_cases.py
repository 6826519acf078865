"""Where a session works: chosen, browsed to, made or cloned, in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser import git_repositories
from tests.browser.harness import PHONE, BrowserCase, PageTerminal, wait_until_on_page
from tests.integration.harness import DaemonHarness
from tests.unit.git.random_repositories import run_git


class PickerTests(BrowserCase):
    """No path is typed in any of these."""

    expected = (r"the server responded with a status of 422",)
    service: DaemonHarness
    source: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = DaemonHarness()
        cls.addClassCleanup(cls.service.close)
        (cls.service.home / ".bash_profile").write_text("PS1='$ '\n")
        cls.service.start()
        cls.source = git_repositories.make_repository(cls.service.home / "source")
        (cls.service.home / "plain" / "deep").mkdir(parents=True)

    def tearDown(self) -> None:
        for each in self.service.request("GET", "/api/sessions").data():
            self.service.request("DELETE", f"/api/sessions/{each['id']}").data()
        super().tearDown()

    def open(self, **options: Any) -> Page:
        page = self.page(self.service.url, **options)
        page.get_by_test_id("empty-new").click()
        page.get_by_test_id("mode-shell").click()
        page.get_by_test_id("new-place").click()
        page.get_by_test_id("picker").wait_for()
        return page

    def place(self, page: Page, name: str) -> Locator:
        return page.get_by_test_id("place").filter(has_text=name)

    def works_in(self, page: Page, folder: Path) -> None:
        page.get_by_test_id("new-start").click()
        PageTerminal(page).ready()
        (session,) = self.service.request("GET", "/api/sessions").data()
        self.assertEqual(str(folder), session["workingDir"])

    def test_folder_picker_offers_a_repository_of_the_home_folder(self) -> None:
        page = self.open()
        self.place(page, "source").click()
        expect(page.get_by_test_id("new-folder")).to_have_value(str(self.source))
        self.works_in(page, self.source)

    def test_browsing_selects_the_entered_folder(self) -> None:
        page = self.open(**PHONE)
        page.get_by_test_id("way-browse").click()
        page.get_by_test_id("browse-folder").filter(has_text="plain").click()
        page.get_by_test_id("browse-folder").filter(has_text="deep").click()
        expect(page.get_by_text("No folders here.")).to_be_visible()
        page.get_by_test_id("browse-up").click()
        folder = self.service.home / "plain"
        expect(page.get_by_test_id("new-folder")).to_have_value(str(folder))
        page.get_by_test_id("browse-new").click()
        page.get_by_test_id("inline-field").fill("made-here")
        page.get_by_test_id("inline-submit").click()
        expect(self.place(page, "made-here")).to_have_attribute("aria-pressed", "true")
        content = page.locator(".new-session .dialog-content")
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))
        self.works_in(page, folder / "made-here")

    def test_new_folder_is_created_in_the_folder_entered_last(self) -> None:
        page = self.open()
        page.get_by_test_id("way-browse").click()
        page.get_by_test_id("browse-folder").filter(has_text="plain").click()
        page.get_by_test_id("browse-folder").filter(has_text="deep").click()
        expect(page.get_by_text("No folders here.")).to_be_visible()
        unanswered: list[Route] = []
        page.route("**/api/cases/browse*", lambda route: unanswered.append(route))
        page.get_by_test_id("browse-up").click()
        page.get_by_test_id("browse-new").click()
        page.get_by_test_id("inline-field").fill("made-early")
        page.get_by_test_id("inline-submit").click()
        expect(self.place(page, "made-early")).to_have_attribute("aria-pressed", "true")
        self.assertTrue(unanswered)
        for each in unanswered:
            each.continue_()
        self.works_in(page, self.service.home / "plain" / "made-early")

    @pytest.mark.essential
    def test_case_is_created_and_a_taken_name_is_refused(self) -> None:
        page = self.open()
        page.get_by_test_id("way-make").click()
        field = page.get_by_test_id("inline-field")
        field.fill("two words")
        field.press("Enter")
        expect(page.get_by_test_id("picker")).to_contain_text("letters, digits")
        field.fill("notes")
        field.press("Enter")
        expect(self.place(page, "notes")).to_have_attribute("aria-pressed", "true")
        made = self.service.request("GET", "/api/cases/notes").data()
        self.works_in(page, Path(made["path"]))

    def test_clone_and_a_worktree_of_the_clone_are_created(self) -> None:
        page = self.open()
        page.get_by_test_id("way-clone").click()
        page.get_by_test_id("clone-repository").fill(str(self.source / "missing"))
        page.get_by_test_id("clone-start").click()
        expect(page.get_by_test_id("clone-problem")).not_to_be_empty()
        page.get_by_test_id("clone-repository").fill(str(self.source))
        expect(page.get_by_test_id("clone-name")).to_have_value("source")
        page.get_by_test_id("clone-name").fill("cloned")
        page.get_by_test_id("clone-start").click()
        expect(self.place(page, "cloned")).to_have_attribute("aria-pressed", "true")
        page.get_by_test_id("worktree").click()
        page.get_by_test_id("worktree-branch").fill("fix/login")
        cloned = Path(self.service.request("GET", "/api/cases/cloned").data()["path"])
        self.works_in(page, cloned.with_name("cloned-fix-login"))
        branch = run_git(cloned.with_name("cloned-fix-login"), "branch", "--show-current")
        self.assertEqual(b"fix/login", branch.strip())

    def test_worktree_without_its_submodule_offers_to_fetch_it(self) -> None:
        """Of a branch that no ASCII name can say."""
        config = self.service.home / ".gitconfig"
        config.write_text('[protocol "file"]\n\tallow = always\n')
        self.addCleanup(config.unlink)
        main = git_repositories.make_repository(self.service.home / "with-library")
        allowed = ("-c", "protocol.file.allow=always")
        run_git(main, *allowed, "submodule", "add", "-q", str(self.source), "lib")
        run_git(main, "commit", "-q", "-m", "library")
        self.service.request("POST", "/api/cases/link", {"name": "lib", "path": str(main)}).data()
        page = self.open()
        self.place(page, "lib").click()
        page.get_by_test_id("worktree").click()
        page.get_by_test_id("worktree-branch").fill("修复登录")
        tree = main.with_name("lib-修复登录")
        self.works_in(page, tree)
        toast = page.get_by_test_id("toast").filter(has_text="lib-修复登录 is incomplete")
        expect(toast).to_contain_text("Submodules were not cloned.")
        toast.get_by_test_id("toast-action").click()
        wait_until_on_page(page, "the submodule is there", lambda: any((tree / "lib").iterdir()))
        names = [each["name"] for each in self.service.request("GET", "/api/sessions").data()]
        self.assertIn("prepare lib-修复登录", names)
