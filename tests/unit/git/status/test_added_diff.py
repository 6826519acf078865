"""Diffs of untracked files, against git's own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.git.random_repositories import ENVIRON
from tservice.git.model import DIFF_LIMIT
from tservice.git.status.added_diff import FileContent, format_added_diff, read_content
from tservice.git.status.inspector import parse_tracked_diff

SAMPLES: dict[bytes, bytes] = {
    b"plain": b"one\ntwo\n",
    b"single": b"one\n",
    b"open end": b"one\ntwo",
    b"empty": b"",
    b"blank lines": b"\n\n",
    b"crlf": b"a\r\nb\r\n",
    b"nul": b"a\0b",
    b"late nul": b"a\n" * 5000 + b"\0",
    b"tab\tname": b"x\n",
    b'quote"and\\': b"x\n",
    "d\u00fc/n\u00e9".encode(): b"x\n",
    b"in/side": b"x\n",
}


class AddedDiffTests(SynchronousTestCase):
    """The text is the one that git would make."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp()).resolve()
        self.root.mkdir()

    def write(self, name: bytes, data: bytes) -> None:
        path = os.path.join(os.fsencode(self.root), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def read(self, name: bytes) -> FileContent:
        content = read_content(os.fsencode(self.root), name)
        assert content is not None
        return content

    def by_git(self, name: bytes) -> bytes:
        quiet = ["-c", "core.quotePath=false", "diff", "--no-index", "--", "/dev/null"]
        words: list[str | bytes] = ["git", *quiet, name]
        done = subprocess.run(words, cwd=self.root, env=ENVIRON, capture_output=True, check=False)
        return re.sub(rb"^index .*\n", b"", done.stdout, flags=re.MULTILINE)

    def test_diff_of_an_added_file_equals_that_of_git(self) -> None:
        for name, data in SAMPLES.items():
            self.write(name, data)
            diff = format_added_diff(name, self.read(name))
            self.assertEqual(self.by_git(name).decode(), diff.diff, name)
            self.assertEqual((b"\0" in data[:8000], False), (diff.binary, diff.truncated), name)

    def test_executables_and_symlinks_have_their_mode(self) -> None:
        self.write(b"run", b"x\n")
        (self.root / "run").chmod(0o755)
        (self.root / "link").symlink_to("/etc/passwd")
        for name in (b"run", b"link"):
            self.assertEqual(
                self.by_git(name).decode(), format_added_diff(name, self.read(name)).diff
            )
        self.assertEqual(b"/etc/passwd", self.read(b"link").data)

    def test_file_reached_through_a_symlink_is_not_read(self) -> None:
        (self.root / "folder").symlink_to("/etc")
        self.assertRaises(OSError, read_content, os.fsencode(self.root), b"folder/passwd")
        self.assertRaises(OSError, read_content, os.fsencode(self.root), b"absent")

    def test_only_regular_files_are_read(self) -> None:
        os.mkfifo(self.root / "pipe")
        self.assertIsNone(read_content(os.fsencode(self.root), b"pipe"))

    @settings(deadline=None)
    @given(st.integers(DIFF_LIMIT - 50, DIFF_LIMIT + 50), st.integers(1, 500))
    def test_long_diff_is_truncated_at_a_line(self, size: int, width: int) -> None:
        data = ((b"x" * (width - 1) + b"\n") * (size // width + 1))[:size]
        content = FileContent(mode="100644", data=data[:DIFF_LIMIT], whole=size <= DIFF_LIMIT)
        diff = format_added_diff(b"f", content)
        body = diff.diff.partition("@@\n")[2]
        self.assertLessEqual(len(diff.diff), DIFF_LIMIT)
        if diff.truncated:
            self.assertTrue(body.endswith("\n"))
            self.assertGreater(len(diff.diff), DIFF_LIMIT - width - 40)
        lines = body.count("\n") - body.count("\\ No newline")
        self.assertIn(f"+1,{lines} @@" if lines != 1 else "+1 @@", diff.diff)

    def test_single_endless_line_is_truncated(self) -> None:
        content = FileContent(mode="100644", data=b"x" * DIFF_LIMIT, whole=False)
        diff = format_added_diff(b"f", content)
        self.assertTrue(diff.truncated)
        self.assertTrue(DIFF_LIMIT - 100 < len(diff.diff) <= DIFF_LIMIT)

    def test_long_name_counts_towards_the_limit(self) -> None:
        content = FileContent(mode="100644", data=b"x\n" * (DIFF_LIMIT // 3 - 100))
        self.assertFalse(format_added_diff(b"f", content).truncated)
        diff = format_added_diff(b"folder/" * 50 + "n\u00e9".encode(), content)
        self.assertTrue(diff.truncated)
        self.assertLessEqual(len(diff.diff.encode()), DIFF_LIMIT)


class TrackedDiffTests(SynchronousTestCase):
    """What is made of git's own diff."""

    def test_binary_file_is_recognized_by_the_diff_header(self) -> None:
        head = b"diff --git a/x b/x\nindex 1..2 100644\n"
        self.assertTrue(
            parse_tracked_diff(head + b"Binary files a/x and b/x differ\n", truncated=False).binary
        )
        text = head + b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\nBinary files a and b differ\n"
        self.assertFalse(parse_tracked_diff(text, truncated=False).binary)

    def test_tracked_diff_is_cut_between_lines(self) -> None:
        self.assertEqual("a\n", parse_tracked_diff(b"a\nb", truncated=True).diff)
        self.assertEqual("ab", parse_tracked_diff(b"ab", truncated=True).diff)
