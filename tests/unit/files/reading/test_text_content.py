"""Tests for L{tservice.files.reading.text_content}."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from hypothesis import given, settings
from hypothesis.strategies import integers, lists

from tests.unit.files.harness import WorkspaceCase
from tservice.core.kernel.errors import ServiceError
from tservice.files.model import CONTENT_BYTES, CONTENT_LINES, EDIT_BYTES, TEXT_BYTES
from tservice.files.reading.text_content import (
    _STRIDE,
    TextRequest,
    describe_file,
    detect_line_ends,
    extract_lines,
)


class ShowTests(WorkspaceCase):
    def show(self, path: str, **wanted: Any) -> dict[str, Any]:
        return describe_file(str(self.folder), TextRequest(path=path, **wanted), self.closed)

    def test_text_file_is_shown_with_its_details(self) -> None:
        file = self.put("a.txt", "one\ntwo\nthree")
        os.utime(file, ns=(0, 1_700_000_000_123_000_000))
        self.assertEqual(
            {
                "path": "a.txt",
                "content": "one\ntwo\nthree",
                "size": 13,
                "mtimeMs": 1_700_000_000_123,
                "hash": hashlib.sha256(b"one\ntwo\nthree").hexdigest(),
                "totalLines": 3,
                "from": 1,
                "truncated": False,
                "eol": "lf",
                "editable": True,
            },
            self.show("a.txt"),
        )

    def test_hash_is_of_the_whole_file(self) -> None:
        self.put("a.txt", "one\ntwo\n")
        found = self.show("a.txt", start=2, lines=1)
        self.assertEqual("two\n", found["content"])
        self.assertEqual(hashlib.sha256(b"one\ntwo\n").hexdigest(), found["hash"])

    def test_empty_file_is_shown(self) -> None:
        self.put("a.txt", "")
        found = self.show("a.txt")
        self.assertEqual(
            ("", 0, False), (found["content"], found["totalLines"], found["truncated"])
        )

    def test_other_files_are_shown_by_type_only(self) -> None:
        for name, content, kind, mime in (
            ("a.png", b"\x89PNG\r\n\x1a\n\0", "image", "image/png"),
            ("no-extension", b"GIF89a\0\0", "image", "image/gif"),
            ("a.pdf", b"%PDF-1.4\n", "pdf", "application/pdf"),
            ("a.mp3", b"ID3\0\0\xff", "audio", "audio/mpeg"),
            ("a.mp4", b"\0\0\0\x18ftypmp42\0", "video", "video/mp4"),
            ("a.bin", b"\0\1\2", "binary", "application/octet-stream"),
            ("latin.txt", b"\xe4\xf6\xfc\n", "binary", "text/plain"),
        ):
            self.put(name, content)
            found = self.show(name)
            self.assertEqual((kind, mime), (found["type"], found["mime"]), name)
            self.assertNotIn("content", found)

    def test_readable_text_is_shown_as_text(self) -> None:
        for name in ("a.ts", "a.svg", "a.html", "Makefile", "a.mp3"):
            self.put(name, "const a = 1\n")
            self.assertEqual("const a = 1\n", self.show(name)["content"], name)

    def test_binary_bytes_late_in_the_file_make_it_binary(self) -> None:
        self.put("late", b"a" * 100_000 + b"\xff")
        self.assertEqual("binary", self.show("late")["type"])
        self.put("split", b"a" * 65535 + "ü".encode() * 10)
        self.assertIn("content", self.show("split"))

    def test_too_large_file_is_shown_as_binary(self) -> None:
        with self.put("huge.txt").open("wb") as stream:
            stream.write(b"a\n" * (TEXT_BYTES // 2))
        self.assertNotIn("type", self.show("huge.txt"))
        with (self.folder / "huge.txt").open("ab") as stream:
            stream.write(b"\n")
        found = self.show("huge.txt")
        self.assertEqual(("binary", True), (found["type"], found["tooLarge"]))

    def test_editable_size_is_bounded(self) -> None:
        self.put("a.txt", "a" * EDIT_BYTES)
        self.assertTrue(self.show("a.txt")["editable"])
        self.put("a.txt", "a" * (EDIT_BYTES + 1))
        self.assertFalse(self.show("a.txt")["editable"])

    def test_secret_file_is_shown_only_when_revealed(self) -> None:
        self.put(".env", "KEY=1")
        self.put("server.pem", "key")
        self.link("innocent", ".env")
        self.put("plain.txt")
        self.link("id_rsa", "plain.txt")
        for path in (".env", "server.pem", "innocent", "id_rsa", "data/../.env"):
            self.data.mkdir(exist_ok=True)
            with self.assertRaises(ServiceError) as caught:
                self.show(path)
            self.assertEqual("FORBIDDEN", caught.exception.code.value, path)
        self.assertEqual("KEY=1", self.show(".env", reveal=True)["content"])
        self.assertEqual("KEY=1", self.show("innocent", reveal=True)["content"])
        self.assertRaises(ServiceError, self.show, "server.pem", reveal=True)


class TextLineTests(WorkspaceCase):
    def test_excerpt_contains_the_given_lines(self) -> None:
        text = "a\nb\nc\nd\n"
        for start, lines, content, truncated in (
            (1, 2, "a\nb\n", True),
            (3, 2, "c\nd\n", False),
            (4, 500, "d\n", False),
            (9, 1, "", False),
            (-3, 1, "a\n", True),
            (1, 0, "a\n", True),
        ):
            found = extract_lines(text, start, lines)
            self.assertEqual((content, truncated), (found["content"], found["truncated"]))
            self.assertEqual(4, found["totalLines"])

    @given(lists(integers(0, 3 * _STRIDE), max_size=9), integers(-1, 12), integers(1, 12))
    @settings(max_examples=60)
    def test_excerpt_of_lines_of_any_length_is_exact(
        self, lengths: list[int], start: int, lines: int
    ) -> None:
        text = "\n".join("x" * length for length in lengths)
        found = extract_lines(text, start, lines)["content"]
        begin = max(start, 1) - 1
        wanted = "".join(text.splitlines(keepends=True)[begin : begin + lines])
        self.assertTrue(wanted.startswith(found))
        self.assertTrue(found or not wanted)

    def test_last_of_very_many_lines_are_shown(self) -> None:
        """One by one they took a second, in which nobody else came to their turn."""
        text = "\n" * 9_999_998 + "y\n"
        self.assertEqual("y\n", extract_lines(text, 9_999_999, 5)["content"])
        self.assertEqual("", extract_lines(text, 10_000_001, 5)["content"])

    def test_line_numbers_are_clamped(self) -> None:
        found = extract_lines("\n" * (CONTENT_LINES + 5), 1, 10**9)
        self.assertEqual((CONTENT_LINES, True), (len(found["content"]), found["truncated"]))

    def test_excerpt_size_is_bounded(self) -> None:
        found = extract_lines("x" * 999 + "\n" + "y" * CONTENT_BYTES + "\n", 1, 2)
        self.assertEqual((1000, True), (len(found["content"]), found["truncated"]))
        found = extract_lines("y" * (CONTENT_BYTES + 5), 1, 1)
        self.assertEqual((CONTENT_BYTES, True), (len(found["content"]), found["truncated"]))

    def test_line_ends_are_recognized(self) -> None:
        for content, kind in ((b"", "lf"), (b"a\nb\n", "lf"), (b"a\r\nb\r\n", "crlf"),
                              (b"a\r\nb\n", "mixed")):  # fmt: skip
            self.assertEqual(kind, detect_line_ends(content))
