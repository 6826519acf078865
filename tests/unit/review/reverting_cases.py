"""Reverts lose nothing, whoever else writes at the same time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from tests.unit.git.random_repositories import run_git
from tests.unit.review.review_harness import ANN, SESSION_ID, ReviewTestCase
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.git.interfaces import NO_FILE, WorkingFile, hash_blob
from tservice.git.working_copies import working_files
from tservice.git.working_copies.working_files import read_working_file, replace_working_file
from tservice.review.reverting import LineRange, RevertOutcome, RevertRequest
from tservice.review.store import COPY_MS, MAX_COPIES, FileCopy

BASE = "".join(f"line {number}\n" for number in range(1, 41))


class RevertTests(ReviewTestCase):
    """One file with two hunks."""

    def setUp(self) -> None:
        super().setUp()
        self.commit(f=BASE)
        self.changed = BASE.replace("line 5\n", "five\n").replace("line 30\n", "line 30\nmore\n")
        self.write("f", self.changed)

    def read(self, path: str = "f") -> str:
        return (self.folder / path).read_text()

    async def revert(self, path: str = "f", **fields: Any) -> RevertOutcome:
        if "hash" not in fields:
            (file,) = await (await self.world.copy()).read_files([path.encode()])
            fields["hash"] = file.hash
        request = RevertRequest(**{"repo": None, "path": path, "base": None, **fields})
        return await self.world.reverts.revert_file(SESSION_ID, request, ANN)

    async def undo(self, ids: Sequence[str]) -> None:
        for undo_id in reversed(ids):
            await self.world.reverts.undo_revert(SESSION_ID, undo_id, ANN)

    async def test_file_goes_back_and_comes_again(self) -> None:
        done = await self.revert()
        self.assertEqual(BASE, self.read())
        self.assertEqual(hash_blob(BASE.encode()), done.hash)
        await self.undo(done.undo_ids)
        self.assertEqual(self.changed, self.read())
        await self.refuse(404, self.world.reverts.undo_revert(SESSION_ID, "c1", ANN))

    async def test_one_hunk_goes_back(self) -> None:
        hunks = (await self.world.diff("f")).page.hunks
        await self.revert(hunk_ids=frozenset({hunks[1].id}))
        self.assertEqual(BASE.replace("line 5\n", "five\n"), self.read())

    async def test_some_lines_go_back(self) -> None:
        lines = [LineRange(is_old=False, first=5, last=5), LineRange(is_old=True, first=5, last=5)]
        await self.revert(lines=lines)
        self.assertEqual(BASE.replace("line 30\n", "line 30\nmore\n"), self.read())

    async def test_unknown_hunk_is_refused(self) -> None:
        await self.refuse(409, self.revert(hunk_ids=frozenset({"other"})))
        self.assertEqual(self.changed, self.read())

    async def test_file_that_changed_since_is_left_alone(self) -> None:
        (file,) = await (await self.world.copy()).read_files([b"f"])
        self.write("f", "by the agent\n")
        await self.refuse(409, self.revert(hash=file.hash))
        self.assertEqual("by the agent\n", self.read())

    async def test_undo_of_a_file_that_changed_since_is_refused(self) -> None:
        done = await self.revert()
        self.write("f", "by the agent\n")
        await self.refuse(409, self.world.reverts.undo_revert(SESSION_ID, done.undo_ids[0], ANN))
        self.assertEqual("by the agent\n", self.read())
        self.assertIsNotNone(self.world.store.find_copy(SESSION_ID, done.undo_ids[0]))

    async def test_new_file_is_removed_and_comes_again(self) -> None:
        self.write("new", "content\n")
        done = await self.revert("new")
        self.assertFalse((self.folder / "new").exists())
        await self.undo(done.undo_ids)
        self.assertEqual("content\n", self.read("new"))

    async def test_removed_file_comes_back_with_its_mode(self) -> None:
        self.write("run", "#!/bin/sh\n").chmod(0o755)
        self.commit()
        (self.folder / "run").unlink()
        done = await self.revert("run")
        self.assertTrue(os.access(self.folder / "run", os.X_OK))
        await self.undo(done.undo_ids)
        self.assertFalse((self.folder / "run").exists())

    async def test_renamed_file_gets_its_old_name(self) -> None:
        os.rename(self.folder / "f", self.folder / "g")
        run_git(self.folder, "add", "-A")
        done = await self.revert("g")
        self.assertEqual((BASE, False), (self.read(), (self.folder / "g").exists()))
        await self.undo(done.undo_ids)
        self.assertEqual((self.changed, False), (self.read("g"), (self.folder / "f").exists()))

    async def test_link_that_replaced_a_file_goes_back(self) -> None:
        (self.folder / "f").unlink()
        (self.folder / "f").symlink_to("elsewhere")
        done = await self.revert()
        self.assertEqual(BASE, self.read())
        await self.undo(done.undo_ids)
        self.assertEqual("elsewhere", os.readlink(self.folder / "f"))

    async def test_line_ends_of_a_checkout_are_kept(self) -> None:
        self.commit(**{".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\ntwo\n"})
        self.write("a.txt", "one\r\n2\r\nthree\r\n")
        await self.revert("a.txt")
        self.assertEqual(b"one\r\ntwo\r\n", (self.folder / "a.txt").read_bytes())

    async def test_file_with_a_filter_is_refused(self) -> None:
        self.commit(**{".gitattributes": "big filter=lfs\n", "big": "pointer\n"})
        self.write("big", "content\n")
        await self.refuse(422, self.revert("big"))

    async def test_busy_agent_needs_a_second_word(self) -> None:
        self.world.sessions.set_busy()
        error = await self.refuse(409, self.revert())
        self.assertIs(ErrorCode.SESSION_BUSY, error.code)
        await self.revert(even_while_busy=True)
        self.assertEqual(BASE, self.read())

    async def test_configuration_of_an_agent_needs_the_grant(self) -> None:
        self.write("CLAUDE.md", "x\n")
        user = evolve(ANN, admin=False, can_bypass_permissions=False)
        request = RevertRequest(repo=None, path="CLAUDE.md", base=None, hash=NO_FILE)
        await self.refuse(403, self.world.reverts.revert_file(SESSION_ID, request, user))

    async def test_caller_who_may_not_drive_the_session_changes_nothing(self) -> None:
        self.world.sessions.may_drive = False
        await self.refuse(403, self.revert())
        self.assertEqual(self.changed, self.read())

    async def test_copies_are_bounded_and_end(self) -> None:
        for number in range(MAX_COPIES + 3):
            self.world.store.save_copy(self.make_copy(f"k{number}", number + 1))
        self.assertIsNone(self.world.store.find_copy(SESSION_ID, "k2"))
        self.assertIsNotNone(self.world.store.find_copy(SESSION_ID, "k3"))
        self.world.store.delete_old_copies(MAX_COPIES + COPY_MS + 3)
        self.assertIsNone(self.world.store.find_copy(SESSION_ID, "k5"))
        self.assertIsNotNone(self.world.store.find_copy(SESSION_ID, f"k{MAX_COPIES + 2}"))

    async def test_size_of_all_copies_is_bounded(self) -> None:
        big = b"x" * (9 * 1024 * 1024)
        for number in range(9):
            copy = evolve(self.make_copy(f"k{number}", number + 1), content=big)
            self.world.store.save_copy(copy)
        kept = [self.world.store.find_copy(SESSION_ID, f"k{number}") for number in range(9)]
        self.assertEqual([False] * 2 + [True] * 7, [copy is not None for copy in kept])

    def make_copy(self, copy_id: str, at: int) -> FileCopy:
        return FileCopy(
            id=copy_id, session_id=SESSION_ID, repo=".", path=b"f", mode="100644", content=b"x",
            hash=NO_FILE, at=at,
        )  # fmt: skip


class ReplacementTests(ReviewTestCase):
    """Compare and swap of one file."""

    def setUp(self) -> None:
        super().setUp()
        self.root = os.fsencode(self.folder)
        self.path = self.write("f", "one\n")
        self.hash = hash_blob(b"one\n")
        self.new = WorkingFile(mode="100644", data=b"two\n")

    def race(self, write: Any) -> None:
        """Call C{write} just before the files are exchanged."""
        real = working_files._exchange
        calls: list[int] = []

        def exchange(folder: int, first: bytes, second: bytes) -> None:
            if not calls:
                calls.append(1)
                write()
            real(folder, first, second)

        self.patch(working_files, "_exchange", exchange)

    def refuse_swap(self, new: WorkingFile, expected: str | None = None) -> int:
        error = self.assertRaises(
            ServiceError, replace_working_file, self.root, b"f", expected or self.hash, new
        )
        return int(error.status)

    def names(self) -> list[str]:
        return sorted(each.name for each in Path(self.folder).iterdir() if each.name != ".git")

    def test_write_between_look_and_exchange_is_not_lost(self) -> None:
        self.race(lambda: self.path.write_text("by the agent\n"))
        self.assertEqual(409, self.refuse_swap(self.new))
        self.assertEqual(("by the agent\n", ["f"]), (self.path.read_text(), self.names()))

    def test_replacement_between_look_and_exchange_is_not_lost(self) -> None:
        def replace() -> None:
            (self.folder / "other").write_text("atomically\n")
            os.replace(self.folder / "other", self.path)

        self.race(replace)
        self.assertEqual(409, self.refuse_swap(self.new))
        self.assertEqual(("atomically\n", ["f"]), (self.path.read_text(), self.names()))

    def test_removal_between_look_and_exchange_is_kept(self) -> None:
        self.race(self.path.unlink)
        self.assertEqual(409, self.refuse_swap(self.new))
        self.assertEqual([], self.names())

    def test_file_that_appeared_is_not_overwritten(self) -> None:
        self.assertEqual(409, self.refuse_swap(self.new, NO_FILE))
        self.assertEqual("one\n", self.path.read_text())

    def test_permissions_are_kept(self) -> None:
        self.path.chmod(0o640)
        replace_working_file(self.root, b"f", self.hash, self.new)
        self.assertEqual(0o640, self.path.stat().st_mode & 0o777)
        self.assertEqual("two\n", self.path.read_text())

    def test_links_are_not_followed(self) -> None:
        outside = self.folder.parent / "outside"
        outside.mkdir()
        (outside / "f").write_text("secret\n")
        (self.folder / "link").symlink_to(outside)
        self.assertFalse(read_working_file(self.root, b"link/f", 100).exists)
        error = self.assertRaises(
            ServiceError,
            replace_working_file,
            self.root,
            b"link/f",
            hash_blob(b"secret\n"),
            self.new,
        )
        self.assertIn(error.status, (409, 422))
        self.assertEqual("secret\n", (outside / "f").read_text())

    def test_paths_outside_and_in_git_are_refused(self) -> None:
        for path in (b"../x", b".git/config", b"a/../../x", b"", b".git", b"a/.GIT/config"):
            error = self.assertRaises(ServiceError, read_working_file, self.root, path)
            self.assertEqual(422, error.status)

    def test_working_tree_that_a_link_replaced_is_not_entered(self) -> None:
        outside = self.folder.parent / "outside"
        self.folder.rename(outside)
        self.folder.symlink_to(outside)
        self.assertFalse(read_working_file(self.root, b"f", 100).exists)
        above = self.folder.parent / "above"
        above.symlink_to(self.folder.parent)
        self.assertFalse(read_working_file(os.fsencode(above / "outside"), b"f", 100).exists)
        self.assertIn(self.refuse_swap(self.new), (409, 422))
        self.assertEqual("one\n", (outside / "f").read_text())

    def test_fifo_is_never_waited_for(self) -> None:
        os.mkfifo(self.folder / "pipe")
        self.assertFalse(read_working_file(self.root, b"pipe", 100).exists)
