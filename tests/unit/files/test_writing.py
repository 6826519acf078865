"""Tests for L{tservice.files.writing}."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from unittest import mock

from tests.unit.files.harness import WorkspaceCase, open_descriptors
from tests.waiting import PATIENCE
from tservice.core.kernel.errors import ServiceError
from tservice.files.writing import FileEdit, save_edit


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class SaveTests(WorkspaceCase):
    def save(
        self, path: str, content: bytes, base: bytes | None = None, force: bool = False
    ) -> dict[str, object]:
        base_hash = None if base is None else sha(base)
        edit = FileEdit(path=path, content=content, base_hash=base_hash, force=force)
        return save_edit(str(self.folder), edit, self.closed)

    def refused(self, path: str, base: bytes | None = None, force: bool = False) -> str:
        before = {each.name for each in self.folder.iterdir()}
        with self.assertRaises(ServiceError) as caught:
            self.save(path, b"new", base, force)
        self.assertEqual(before, {each.name for each in self.folder.iterdir()})
        return str(caught.exception.code)

    def test_read_file_is_overwritten(self) -> None:
        file = self.put("a.sh", "old")
        file.chmod(0o751)
        found = self.save("a.sh", b"new", b"old")
        self.assertEqual(("a.sh", 3, sha(b"new")), (found["path"], found["size"], found["hash"]))
        self.assertEqual(b"new", file.read_bytes())
        self.assertEqual(0o751, stat.S_IMODE(file.stat().st_mode))
        self.assertEqual(file.stat().st_mtime_ns // 1_000_000, found["mtimeMs"])
        self.assertEqual(["a.sh"], [each.name for each in self.folder.iterdir()])

    def test_new_file_is_created(self) -> None:
        self.save("new.txt", b"x")
        self.assertEqual(0o644, stat.S_IMODE((self.folder / "new.txt").stat().st_mode))

    def test_changed_file_is_overwritten_only_by_force(self) -> None:
        file = self.put("a.txt", "theirs")
        self.assertEqual("CONFLICT", self.refused("a.txt", b"old"))
        self.assertEqual("CONFLICT", self.refused("a.txt", None))
        self.assertEqual("NOT_FOUND", self.refused("gone.txt", b"old"))
        self.assertEqual("theirs", file.read_text())
        self.save("a.txt", b"mine", b"old", force=True)
        self.save("gone.txt", b"mine", b"old", force=True)
        self.assertEqual("mine", file.read_text())

    def test_save_through_a_link_writes_its_target(self) -> None:
        file = self.put("sub/real.txt", "old")
        self.link("way", "sub/real.txt")
        self.assertEqual("sub/real.txt", self.save("way", b"new", b"old")["path"])
        self.assertTrue((self.folder / "way").is_symlink())
        self.assertEqual("new", file.read_text())

    def test_save_never_writes_outside_the_workspace(self) -> None:
        self.link("out", self.outside / "secret.txt")
        self.link("dangling", self.outside / "new.txt")
        for path in ("out", "dangling", "../outside/new.txt"):
            self.assertEqual("FORBIDDEN", self.refused(path, force=True), path)
        self.assertEqual(["secret.txt"], [each.name for each in self.outside.iterdir()])

    def test_special_files_and_secrets_are_not_written(self) -> None:
        os.mkfifo(self.folder / "fifo")
        (self.folder / "sub").mkdir()
        for path, code in (
            ("fifo", "INVALID_INPUT"),
            ("sub", "INVALID_INPUT"),
            (".", "INVALID_INPUT"),
            (".env", "FORBIDDEN"),
            ("new.pem", "FORBIDDEN"),
        ):
            self.assertEqual(code, self.refused(path, force=True), path)

    def test_failed_write_leaves_the_old_content(self) -> None:
        file = self.put("a.txt", "old")
        with mock.patch("os.fsync", side_effect=OSError(28, "full")):
            self.assertRaises(OSError, self.save, "a.txt", b"new", b"old")
        self.assertEqual("old", file.read_text())
        self.assertEqual(["a.txt"], [each.name for each in self.folder.iterdir()])

    def test_one_of_several_simultaneous_saves_wins(self) -> None:
        self.put("a.txt", "old")
        outcomes: list[str] = []

        def work(content: bytes) -> None:
            try:
                self.save("a.txt", content, b"old")
                outcomes.append("saved")
            except ServiceError as error:
                outcomes.append(error.code.value)

        threads = [threading.Thread(target=work, args=(b"%d" % n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(["CONFLICT"] * 7 + ["saved"], sorted(outcomes))

    def test_save_works_without_hard_links(self) -> None:
        with mock.patch("os.link", side_effect=OSError(1, "no links")):
            self.save("new.txt", b"x")
        self.assertEqual(["new.txt"], [each.name for each in self.folder.iterdir()])

    def test_descriptors_are_closed_after_saving(self) -> None:
        self.put("a.txt", "old")
        before = open_descriptors()
        self.save("a.txt", b"new", b"old")
        self.refused("a.txt", b"old")
        self.assertEqual(before, open_descriptors())
