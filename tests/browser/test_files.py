"""The page of files: tree, previews, edits, logs, uploads, downloads, in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser import git_repositories
from tests.browser.harness import PHONE, BrowserCase, wait_until_on_page
from tests.browser.pdf_files import make_pdf
from tests.browser.picture_files import bring_file, make_picture
from tests.integration.harness import DaemonHarness

INKED = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, at) => at % 4 === 0 && value < 64);
}"""
"""Whether something dark is drawn."""


class FilesPageTests(BrowserCase):
    expected: tuple[str, ...] = (r"the server responded with a status of 40[039]",)
    service: DaemonHarness
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = DaemonHarness()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()
        cls.folder = git_repositories.make_busy_repository(cls.service.home / "w")
        (cls.folder / "picture.png").write_bytes(make_picture())
        (cls.folder / "page.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
        (cls.folder / "paper.pdf").write_bytes(make_pdf(12, wide=3))
        (cls.folder / "data.bin").write_bytes(bytes(range(256)))
        (cls.folder / ".env").write_text("KEY=s3cr3t\n")

    def setUp(self) -> None:
        super().setUp()
        self.made = self.session(self.service, workingDir=str(self.folder))

    def tearDown(self) -> None:
        self.service.request("DELETE", f"/api/sessions/{self.made}").data()
        super().tearDown()

    def open(self, **options: Any) -> Page:
        # Not beside the terminal: the tree stays beside the file.
        options = {"viewport": {"width": 1040, "height": 800}, **options}
        page = self.page(f"{self.service.url}/?session={self.made}&page=files", **options)
        self.file(page, "README").wait_for()
        return page

    def file(self, page: Page, path: str) -> Locator:
        return page.locator(f"[data-testid=file][data-path='{path}']")

    def text(self, page: Page) -> Locator:
        return page.get_by_test_id("text").locator(".cm-content")

    def test_file_tree_shows_git_states_and_filters(self) -> None:
        page = self.open()
        self.file(page, "src").click()
        mark = self.file(page, "src/walk.py").get_by_test_id("file-mark")
        expect(mark).to_contain_text("modified")
        expect(self.file(page, "src").get_by_test_id("file-mark")).to_contain_text("changes inside")
        expect(self.file(page, "fresh.txt")).to_contain_text("untracked")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(self.text(page)).to_contain_text("src/walk.py line 1")
        expect(self.file(page, ".env")).to_have_count(0)
        page.get_by_test_id("files-filter").fill("walk")
        expect(page.get_by_test_id("file")).to_have_count(1)
        page.get_by_test_id("files-filter").fill("")
        page.get_by_test_id("files-hidden").click()
        self.file(page, ".env").click()
        expect(page.get_by_test_id("file-refused")).to_be_visible()
        page.get_by_test_id("file-reveal").click()
        expect(self.text(page)).to_contain_text("s3cr3t")

    def test_removed_folder_is_reported_and_no_longer_read(self) -> None:
        """Is told; nothing goes on reading."""
        self.expected = (*self.expected, "the server responded with a status of 404")
        gone = self.service.home / "gone"
        gone.mkdir()
        session = self.session(self.service, workingDir=str(gone))
        gone.rmdir()
        page = self.page(f"{self.service.url}/?session={session}&page=files")
        expect(page.get_by_test_id("files-problem")).not_to_be_empty()
        expect(page.get_by_text("Loading…")).to_have_count(0)
        self.service.request("DELETE", f"/api/sessions/{session}").data()

    def test_binary_files_are_previewed_or_downloaded(self) -> None:
        page = self.open()
        self.file(page, "picture.png").click()
        image = page.get_by_test_id("media-image")
        wait_until_on_page(
            page, "the picture", lambda: image.evaluate("each => each.naturalWidth") == 4
        )
        self.file(page, "data.bin").click()
        expect(page.get_by_test_id("hex")).to_contain_text("000040  40 41 42")
        self.file(page, "page.pdf").click()
        expect(page.get_by_test_id("pdf-problem")).to_contain_text("This file is damaged")
        with page.expect_download() as download:
            page.get_by_test_id("file-download").click()
        self.assertEqual(b"%PDF-1.4\n%%EOF\n", Path(download.value.path()).read_bytes())

    def sheet(self, page: Page, number: int) -> Locator:
        """A page of a PDF that is drawn."""
        return page.locator(f"[data-page='{number}'] [data-testid=pdf-sheet][data-drawn]")

    def test_pdf_is_read_page_by_page(self) -> None:
        page = self.open()
        self.file(page, "paper.pdf").click()
        expect(self.sheet(page, 1)).to_contain_text("Page 1")
        self.assertTrue(self.sheet(page, 1).locator("canvas").evaluate(INKED))
        expect(page.get_by_test_id("pdf-pages")).to_have_text("of 12")
        pages = page.get_by_test_id("media-pdf")
        fits = "each => each.scrollWidth <= each.clientWidth"
        wait_until_on_page(page, "as wide as its place", lambda: pages.evaluate(fits))

        field = page.get_by_test_id("pdf-page")
        field.fill("12")
        field.press("Enter")
        expect(self.sheet(page, 12)).to_contain_text("Page 12")
        expect(self.sheet(page, 1)).to_have_count(0)
        wait_until_on_page(page, "a few drawn", lambda: pages.locator("canvas").count() <= 6)

        before = page.get_by_test_id("pdf-fit").inner_text()
        pages.press("+")
        expect(page.get_by_test_id("pdf-fit")).not_to_have_text(before)
        page.get_by_test_id("pdf-larger").click()
        wait_until_on_page(page, "a larger page", lambda: not pages.evaluate(fits))
        pages.press("0")
        expect(page.get_by_test_id("pdf-fit")).to_have_text(before)
        expect(self.sheet(page, 12)).to_contain_text("Page 12")

        # The old picture stays until the new one is there, and takes its selection along.
        wait_until_on_page(
            page, "selected text", lambda: self.selected(page, "Page 12") == "Page 12"
        )

    def selected(self, page: Page, text: str) -> str:
        """What a triple click on a text selects."""
        self.sheet(page, 12).get_by_text(text).click(click_count=3)
        found: str = page.evaluate("getSelection().toString()")
        return found.strip()

    @pytest.mark.essential
    def test_edited_file_is_saved_and_a_conflict_is_shown(self) -> None:
        notes = self.folder / "notes.md"
        notes.write_text("# one\n\ntwo\n")
        page = self.open()
        self.file(page, "notes.md").click()
        page.get_by_test_id("file-preview").click()
        self.text(page).click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("mine ")
        expect(page.get_by_test_id("file-state")).to_have_text("Unsaved changes")
        page.keyboard.press("Control+s")
        expect(page.get_by_test_id("file-state")).to_have_text("Saved")
        self.assertEqual("mine # one\n\ntwo\n", notes.read_text())

        notes.write_text("theirs\n\ntwo\n")
        page.keyboard.type("again ")
        page.get_by_test_id("file-save").click()
        expect(page.get_by_test_id("conflict")).to_be_visible()
        expect(page.get_by_test_id("text")).to_contain_text("theirs")
        self.assertEqual("theirs\n\ntwo\n", notes.read_text())
        page.get_by_test_id("conflict-save").click()
        expect(page.get_by_test_id("conflict")).to_have_count(0)
        self.assertEqual("mine again # one\n\ntwo\n", notes.read_text())

    def test_log_file_is_followed_in_the_page(self) -> None:
        log = self.folder / "server.log"
        log.write_text("first\n")
        page = self.open()
        self.file(page, "server.log").click()
        page.get_by_test_id("file-follow").click()
        expect(page.get_by_test_id("follow")).to_have_text("first\n")
        expect(page.get_by_test_id("follow-state")).to_have_text("Following")
        with log.open("a") as file:
            file.write("second\n")
        expect(page.get_by_test_id("follow")).to_contain_text("second")

    def test_pdf_is_shown_within_the_width_of_a_phone(self) -> None:
        page = self.open(**PHONE)
        self.file(page, "paper.pdf").click()
        expect(self.sheet(page, 1)).to_contain_text("Page 1")
        pages = page.get_by_test_id("media-pdf")
        fits = "each => each.scrollWidth <= each.clientWidth"
        wait_until_on_page(page, "as wide as its place", lambda: pages.evaluate(fits))
        page.get_by_role("button", name="Next page").tap()
        expect(page.get_by_test_id("pdf-page")).to_have_value("2")
        page.get_by_test_id("file-back").tap()
        expect(pages).to_have_count(0)

    def test_files_are_uploaded_from_a_phone(self) -> None:
        page = self.open(**PHONE)
        name = "pic one.png"
        upload: FilePayload = {"name": name, "mimeType": "image/png", "buffer": make_picture()}
        page.get_by_test_id("upload-input").set_input_files([upload])
        done = page.locator("[data-testid=upload][data-state=done]")
        expect(done).to_contain_text(name)
        (kept,) = (self.folder / ".service-uploads").glob("upload-*")
        self.assertEqual(make_picture(), kept.read_bytes())
        bring_file(page.get_by_test_id("uploads"), "drop", "fake.png", b"no picture")
        expect(page.locator("[data-testid=upload][data-state=failed]")).to_contain_text("image")
        self.file(page, "README").click()
        expect(self.text(page)).to_contain_text("README line 1")
        content = page.locator(".dialog-content")
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))
        page.get_by_test_id("file-back").click()
        expect(self.file(page, "README")).to_be_visible()
