"""Private files: whole or not at all, never through a link, never open to others."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.core.disk import files
from tservice.core.disk.files import (
    VALUES_LIMIT,
    FileError,
    UnparsableFile,
    UnsafeFile,
    read_json,
    read_text,
    remove_temporary_files,
    replace_atomically,
    write_private_file,
)


class FilesCase(SynchronousTestCase):
    """A folder, and a file in it."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        self.path = self.folder / "a.json"

    def names(self) -> set[str]:
        return {entry.name for entry in self.folder.iterdir()}


class PrivateWriteTests(FilesCase):
    """L{write_private_file}."""

    def test_file_mode_ignores_umask_and_the_old_file(self) -> None:
        for mask in (0, 0o077, 0o777):
            old = os.umask(mask)
            try:
                write_private_file(self.path, "text")
            finally:
                os.umask(old)
            self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))
            self.path.chmod(0o644)
        write_private_file(self.path, b"\xff")
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))
        self.assertEqual(b"\xff", self.path.read_bytes())
        self.assertEqual({"a.json"}, self.names())

    def test_file_is_synced_before_the_rename_and_the_folder_after(self) -> None:
        steps: list[tuple[str, str]] = []
        real_sync, real_replace = files.sync_path, Path.replace

        def sync(path: Path) -> None:
            steps.append(("sync", path.name))
            real_sync(path)

        def replace(path: Path, target: Path) -> Path:
            steps.append(("replace", target.name))
            return real_replace(path, target)

        self.patch(files, "sync_path", sync)
        self.patch(Path, "replace", replace)
        write_private_file(self.path, "text")
        self.assertEqual(["sync", "replace", "sync"], [step for step, _ in steps])
        self.assertTrue(steps[0][1].endswith(".tmp"))
        self.assertEqual([("replace", "a.json"), ("sync", self.folder.name)], steps[1:])

    def test_failed_write_keeps_the_old_content_and_leaves_nothing(self) -> None:
        write_private_file(self.path, "old")

        def full(path: Path) -> None:
            raise OSError(28, "No space left on device")

        self.patch(files, "sync_path", full)
        self.assertRaises(OSError, write_private_file, self.path, "new")
        self.assertEqual("old", self.path.read_text())
        self.assertEqual({"a.json"}, self.names())

    def test_private_files_are_not_written_through_links_unless_followed(self) -> None:
        target = self.folder / "target"
        target.write_text("old")
        self.path.symlink_to("target")
        self.assertRaises(UnsafeFile, write_private_file, self.path, "new")
        self.assertEqual("old", target.read_text())
        write_private_file(self.path, "new", follow=True)
        self.assertEqual(("new", True), (target.read_text(), self.path.is_symlink()))

    def test_dangling_links_are_refused(self) -> None:
        self.path.symlink_to("gone")
        loop = self.folder / "loop"
        loop.symlink_to("loop")
        for path in (self.path, loop):
            for follow in (False, True):
                self.assertRaises(UnsafeFile, write_private_file, path, "x", follow=follow)
        self.assertRaises(UnsafeFile, read_text, self.path)
        self.assertRaises(FileNotFoundError, read_text, self.folder / "none")
        self.assertEqual({"a.json", "loop"}, self.names())

    def test_private_files_replace_only_regular_files(self) -> None:
        self.path.mkdir()
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for path in (self.path, fifo):
            self.assertRaises(UnsafeFile, write_private_file, path, "x")

    def test_only_leftovers_of_this_file_are_removed(self) -> None:
        for name in (".a.json.x1.tmp", ".b.json.x1.tmp", "a.json"):
            (self.folder / name).touch()
        remove_temporary_files(self.path)
        self.assertEqual({"a.json", ".b.json.x1.tmp"}, self.names())

    def test_abandoned_replacement_leaves_nothing(self) -> None:
        def give_up() -> None:
            with replace_atomically(self.path) as temporary:
                temporary.write_text("half")
                raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, give_up)
        self.assertEqual(set(), self.names())


class PrivateReadTests(FilesCase):
    """L{read_text} and L{read_json}."""

    def refusal(self, kind: type[FileError], private: bool = False) -> str:
        error = self.assertRaises(kind, read_json, self.path, private=private, limit=1000)
        self.assertTrue(str(error).startswith("a.json: "), str(error))
        self.assertNotIn("s3cret", str(error))
        return str(error)

    def test_missing_file_is_an_error(self) -> None:
        self.assertRaises(FileNotFoundError, read_json, self.path)

    def test_error_names_rule_and_position(self) -> None:
        self.path.write_text('{\n "s3cret": s3cret}')
        self.assertIn("not valid JSON (line 2, column 12)", self.refusal(UnparsableFile))
        self.path.write_bytes(b'"s3cret \xff"')
        self.assertIn("not UTF-8 (byte 8)", self.refusal(UnparsableFile))
        for content in ("", "NaN", "[Infinity]", "9" * 900, "[" * 999, "{'a': 1}"):
            self.path.write_text(content)
            if content != "9" * 900:
                self.refusal(UnparsableFile)

    def test_file_size_is_bounded(self) -> None:
        self.path.write_text(" " * 998 + "{}")
        self.assertEqual({}, read_json(self.path, limit=1000))
        self.path.write_text(" " * 999 + "{}")
        self.assertIn("larger than 1000 bytes", self.refusal(UnparsableFile))

    def test_file_with_too_many_values_is_refused(self) -> None:
        """Of a file that anybody may have made; the service's own hold what it put there."""
        self.path.write_text("[" + "0," * VALUES_LIMIT + "0]")
        self.assertRaises(UnparsableFile, read_json, self.path)
        self.path.chmod(0o600)
        self.assertEqual(VALUES_LIMIT + 1, len(read_json(self.path, private=True)))

    def test_file_readable_by_others_is_refused_on_request(self) -> None:
        self.path.write_text("{}")
        for mode in (0o640, 0o604, 0o660, 0o601):
            self.path.chmod(mode)
            self.assertIn("0600", self.refusal(UnsafeFile, private=True))
            self.assertEqual({}, read_json(self.path))
        self.path.chmod(0o600)
        self.assertEqual({}, read_json(self.path, private=True))

    def test_special_file_is_refused(self) -> None:
        os.mkfifo(self.path)
        self.refusal(UnsafeFile)
        self.path.unlink()
        self.path.mkdir()
        self.refusal(UnsafeFile)

    @settings(max_examples=example_count(200), deadline=None)
    @given(st.binary(max_size=200))
    def test_private_file_of_any_content_is_read_or_refused(self, content: bytes) -> None:
        path = Path("any.json").absolute()
        path.write_bytes(content)
        try:
            read_json(path)
        except UnparsableFile as error:
            self.assertTrue(str(error).startswith("any.json: "))

    @settings(max_examples=example_count(200), deadline=None)
    @given(st.text())
    def test_written_text_is_read_unchanged(self, text: str) -> None:
        path = Path("any.txt").absolute()
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return
        write_private_file(path, data)
        self.assertEqual(text, read_text(path))
