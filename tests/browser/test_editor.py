"""The editor of files changes what is edited and nothing else, in a real Chromium."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import BrowserCase, put_into_clipboard
from tests.integration.harness import DaemonHarness

LONG = b"y" * 200_000
BOM = b"\xef\xbb\xbf"

TEXTS: dict[str, bytes] = {
    "mixed": b"one\r\ntwo\nthree\r\nfour\n",
    "mixed-first-lf": b"one\ntwo\r\nthree\nfour\r\n",
    "crlf-without-last": b"one\r\ntwo\r\nthree",
    "cr-only": b"one\rtwo\rthree\r",
    "cr-within": b"one\rx\r\ntwo\r\r\nthree\n",
    "bom": BOM + b"one\ntwo\n",
    "bom-crlf": BOM + b"one\r\ntwo\nthree",
    "nul": b"one\ntwo\n" + b"x" * 70_000 + b"\n\0a\0\r\n",
    "long": b"one\r\n" + LONG + b"\nend\r\n" + LONG,
    "odd-spaces": "one\u2028a\u0085b\x0b\x0c\r\ntwo\u00a0\t \nthree\u200b \r\n".encode(),
    "letters": "öne 🙂 e\u0301\r\nzwei 漢字 \U0001f469\u200d\U0001f4bb\n".encode(),
    "without-last": b"one",
    "blank-lines": b"\n\r\n\n\r\n",
}

READ_ONLY: dict[str, tuple[bytes, str]] = {
    "utf-16": ("one\r\ntwo\n".encode("utf-16"), "UTF-16"),
    "latin-1": (b"caf\xe9\r\n", "byte 4 is 0xE9"),
    "nuls": (b"a\0b\n", "NUL"),
    "half-pair": (b"a\xed\xa0\x80\n", "byte 2 is 0xED"),
    "large": ((b"a" * 99 + b"\r\n") * 6_000, "512 KiB"),
    "many-lines": (b"a\r\n" * 10_001, "Showing the first 10,000 lines of 10,001"),
}


def at_line_end(content: bytes, line: int, letter: bytes) -> bytes:
    """C{content} with a letter behind a line, before whatever ends it."""
    lines = content.split(b"\n")
    text = lines[line]
    is_ended = line < len(lines) - 1
    cut = len(text) - (is_ended and text.endswith(b"\r"))
    lines[line] = text[:cut] + letter + text[cut:]
    return b"\n".join(lines)


def at_start(content: bytes, letter: bytes) -> bytes:
    """C{content} with a letter before its first, which a byte order mark is not."""
    mark = BOM if content.startswith(BOM) else b""
    return mark + letter + content.removeprefix(mark)


class EditorTests(BrowserCase):
    service: DaemonHarness
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = DaemonHarness()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()
        cls.folder = cls.service.home / "w"
        cls.folder.mkdir()

    def setUp(self) -> None:
        super().setUp()
        contents = {**TEXTS, **{name: content for name, (content, _) in READ_ONLY.items()}}
        for name, content in contents.items():
            self.path(name).write_bytes(content)
        self.made = self.session(self.service, workingDir=str(self.folder))
        size = {"width": 1040, "height": 900}
        self.shown = self.page(
            f"{self.service.url}/?session={self.made}&page=files",
            viewport=size,
            permissions=["clipboard-read", "clipboard-write"],
        )

    def tearDown(self) -> None:
        self.service.request("DELETE", f"/api/sessions/{self.made}").data()
        super().tearDown()

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.txt"

    def open(self, name: str) -> Locator:
        self.shown.locator(f"[data-testid=file][data-path='{name}.txt']").click()
        expect(self.shown.locator(".file-title")).to_contain_text(f"{name}.txt")
        return self.shown.get_by_test_id("text").locator(".cm-content")

    def edit(self, name: str) -> Page:
        """The page, with the caret at the start of the file."""
        self.open(name).click()
        self.shown.keyboard.press("Control+Home")
        return self.shown

    def saved(self, name: str) -> bytes:
        state = self.shown.get_by_test_id("file-state")
        expect(state).to_have_text("Unsaved changes")
        self.shown.keyboard.press("Control+s")
        expect(state).to_have_text("Saved")
        return self.path(name).read_bytes()

    def check(self, name: str, wanted: bytes) -> None:
        found = self.saved(name)
        self.assertTrue(wanted == found, (name, wanted[:80], found[:80], len(wanted), len(found)))

    def test_typed_letter_changes_one_line_of_the_saved_file(self) -> None:
        """At the start of the file, at the end of a line, and undone again."""
        for name, content in TEXTS.items():
            page = self.edit(name)
            page.keyboard.type("Z")
            self.check(name, at_start(content, b"Z"))
            page.keyboard.press("End")
            page.keyboard.type("Q")
            self.check(name, at_line_end(at_start(content, b"Z"), 0, b"Q"))
            page.keyboard.press("Control+z")
            page.keyboard.press("Control+z")
            self.check(name, content)
            page.keyboard.press("Control+End")
            page.keyboard.type("E")
            self.check(name, content + b"E")

    def test_inserted_and_removed_lines_keep_the_other_line_ends(self) -> None:
        page = self.edit("mixed")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.keyboard.type("new")
        self.check("mixed", b"one\r\nnew\r\ntwo\nthree\r\nfour\n")
        for key in ("Home", "Shift+ArrowDown", "Delete"):
            page.keyboard.press(key)
        self.check("mixed", b"one\r\ntwo\nthree\r\nfour\n")
        for key in ("End", "Delete"):
            page.keyboard.press(key)
        self.check("mixed", b"one\r\ntwothree\r\nfour\n")
        page.keyboard.press("Control+z")
        self.check("mixed", b"one\r\ntwo\nthree\r\nfour\n")

    def test_pasted_text_takes_the_line_ends_around_it(self) -> None:
        put_into_clipboard(self.shown, "a\r\nb\nc")
        for name, wanted in (
            ("crlf-without-last", b"a\r\nb\r\ncone\r\ntwo\r\nthree"),
            ("mixed-first-lf", b"a\nb\ncone\ntwo\r\nthree\nfour\r\n"),
        ):
            self.edit(name).keyboard.press("Control+v")
            self.check(name, wanted)

    def test_read_only_file_shows_the_reason(self) -> None:
        for name, (content, why) in READ_ONLY.items():
            text = self.open(name)
            expect(self.shown.locator("body")).to_contain_text(why)
            expect(self.shown.get_by_test_id("file-save")).to_have_count(0)
            if text.count():
                text.click()
                self.shown.keyboard.type("Z")
                expect(text).not_to_contain_text("Z")
            self.assertEqual(content, self.path(name).read_bytes(), name)

    def test_file_that_grew_too_long_is_not_truncated_by_a_save(self) -> None:
        self.expected = ("the server responded with a status of 409",)
        page = self.edit("mixed")
        page.keyboard.type("Z")
        longer = b"theirs\r\n" * 10_001
        self.path("mixed").write_bytes(longer)
        page.keyboard.press("Control+s")
        expect(page.get_by_test_id("file-state")).to_contain_text("is no longer editable")
        expect(page.get_by_test_id("conflict")).to_have_count(0)
        self.assertEqual(longer, self.path("mixed").read_bytes())

    def test_conflicting_text_is_taken_over_unchanged(self) -> None:
        self.expected = ("the server responded with a status of 409",)
        page = self.edit("mixed")
        page.keyboard.type("Z")
        theirs = BOM + b"theirs\ntwo\r\nthree"
        self.path("mixed").write_bytes(theirs)
        page.keyboard.press("Control+s")
        page.get_by_test_id("conflict-theirs").click()
        page.get_by_test_id("text").locator(".cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.type("E")
        self.check("mixed", theirs + b"E")
