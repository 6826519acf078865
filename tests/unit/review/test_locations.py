"""The tests of reviews again, in a location that is reached by a shell.

The shell is one of this machine, which reads its line as one does in a container.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from twisted.internet import reactor

from tests.unit.git.random_repositories import ENVIRON, run_git
from tests.unit.git.real_git import real_service
from tests.unit.review import changes_cases, committing_cases, reverting_cases
from tests.unit.review.review_harness import SESSION_ID, FolderCopies, ReviewTestCase
from tests.unit.review.shell_copies import ShellCopies, ShellMixin
from tservice.core.locations.location import LocationShell
from tservice.git.interfaces import WorkingCopy, WorkingFile
from tservice.git.location_shell import location_copy
from tservice.mux.remote.shell_quoting import HEARING


class ShellChangesTests(ShellMixin, changes_cases.ChangesTests):
    pass


class ShellHostileRepositoryTests(ShellMixin, changes_cases.HostileRepositoryTests):
    pass


class ShellRevertTests(ShellMixin, reverting_cases.RevertTests):
    pass


class ShellCommitTests(ShellMixin, committing_cases.CommitTests):
    pass


class ShellReplacementTests(ShellMixin, reverting_cases.ReplacementTests):
    pass


class LocationCopyTests(ShellMixin, ReviewTestCase):
    """What only a shell can do wrong."""

    async def read(self, *paths: bytes) -> Sequence[WorkingFile]:
        return await (await self.world.copy()).read_files(paths)

    async def test_files_are_described_as_on_this_machine(self) -> None:
        self.write("text", "a\nb")
        self.write("empty", "")
        self.write("binary", b"a\0b\n")
        self.write('d/ö "q\\x', "x\n")
        self.write("new\nline", "x\n")
        self.write("program", "x\n").chmod(0o755)
        (self.folder / "link").symlink_to("d/nothing\nat all")
        (self.folder / "below").symlink_to("d")
        os.mkfifo(self.folder / "pipe")
        paths = [
            b"text", b"empty", b"binary", 'd/ö "q\\x'.encode(), b"new\nline", b"program", b"link",
            b"below/x", b"pipe", b"d", b"gone",
        ]  # fmt: skip
        here = (await self.local_copy()).read_files
        there = (await self.world.copy()).read_files
        for limit in (0, 1000):
            expected = [
                (file.mode, file.hash, file.lines if file.mode != "120000" else 0, file.is_binary)
                for file in await here(paths, limit)
            ]
            found = [
                (file.mode, file.hash, file.lines if file.mode != "120000" else 0, file.is_binary)
                for file in await there(paths, limit)
            ]
            # A line end in a name hides the number of lines, which is counted by git.
            if not limit:
                expected[4] = (*expected[4][:2], *found[4][2:])
            self.assertEqual(expected, found)
        contents = [file.data for file in await there(paths, 1000)]
        self.assertEqual([file.data for file in await here(paths, 1000)], contents)

    async def local_copy(self) -> WorkingCopy:
        git, runner = real_service(reactor, self.folder.parent / "home")
        self.addCleanup(runner.stop)
        (copy,) = await FolderCopies(git, self.folder).open_working_copies(SESSION_ID)
        return copy

    async def test_many_paths_are_read_in_parts(self) -> None:
        names = [f"{'x' * 200}{number}" for number in range(400)]
        for name in names:
            self.write(name, name)
        files = await self.read(*(name.encode() for name in names))
        self.assertEqual(400, len({file.hash for file in files}))

    async def test_paths_stay_in_the_working_tree(self) -> None:
        copy = await self.world.copy()
        for path in (b"../x", b".git/config", b"a//b", b"/etc/passwd"):
            await self.refuse(422, copy.read_files([path]))
            await self.refuse(422, copy.read_files([path], 10))
            await self.refuse(422, copy.replace_file(path, "0" * 40, WorkingFile(mode="100644")))

    async def test_repositories_below_the_workspace_are_found(self) -> None:
        outer = self.folder.parent / "outer"
        for name in ("one", "deep/two", "node_modules/no", ".hidden/no", "far/too/deep"):
            (outer / name).mkdir(parents=True)
            run_git(outer / name, "init", "-q")
        copies = await ShellCopies(outer).open_working_copies(SESSION_ID)
        self.assertEqual({"one", "deep/two"}, {copy.path for copy in copies})

    async def test_repository_around_the_workspace_is_found(self) -> None:
        inner = self.folder / "deep" / "inner"
        inner.mkdir(parents=True)
        copies = ShellCopies(inner, home=self.folder.parent)
        (copy,) = await copies.open_working_copies(SESSION_ID)
        self.assertEqual("../..", copy.path)

    async def test_repository_of_the_home_folder_counts_for_itself_alone(self) -> None:
        """Many keep their settings in one, and no workspace below is part of it."""
        inner = self.folder / "inner"
        inner.mkdir()
        self.assertEqual([], await ShellCopies(inner).open_working_copies(SESSION_ID))

    async def test_location_that_is_out_of_reach_is_said(self) -> None:
        def find_no_shell() -> LocationShell:
            raise OSError(113, "the host is out of reach")

        copies = ShellCopies(self.folder, find_no_shell)
        error = await self.refuse(422, copies.open_working_copies(SESSION_ID))
        self.assertIn("out of reach", error.message)

    async def test_location_without_a_shell_is_said(self) -> None:
        def find_other_program() -> LocationShell:
            return LocationShell(argv=["/bin/echo", "no service here"], env={})

        copies = ShellCopies(self.folder, find_other_program)
        error = await self.refuse(422, copies.open_working_copies(SESSION_ID))
        self.assertIn("no service here", error.message)

    async def test_folder_that_is_gone_is_said(self) -> None:
        copies = ShellCopies(self.folder / "gone")
        error = await self.refuse(422, copies.open_working_copies(SESSION_ID))
        self.assertIn("the workspace cannot be read", error.message)

    async def test_slow_git_is_ended(self) -> None:
        self.patch(location_copy, "SECONDS", 0.2)
        copies = ShellCopies(self.folder)
        folder = self.folder.parent / "programs"
        folder.mkdir()
        (folder / "git").write_text("#!/bin/sh\nexec sleep 600\n")
        (folder / "git").chmod(0o755)
        operations: Any = copies.place.operations
        self.patch(type(operations), "get_search_path", lambda _: f"{folder}:{ENVIRON['PATH']}")
        error = await self.refuse(422, copies.open_working_copies(SESSION_ID))
        self.assertIn("timed out", error.message)
        self.assertEqual(0, copies.shells.running)

    async def test_output_of_the_login_shell_is_dropped(self) -> None:
        def find_loud_shell() -> LocationShell:
            text = f"echo Welcome; echo Beware >&2; {HEARING[-1]}"
            return LocationShell(argv=["/bin/sh", "-c", text], env={"PATH": os.environ["PATH"]})

        self.commit(a="1\n")
        (copy,) = await ShellCopies(self.folder, find_loud_shell).open_working_copies(SESSION_ID)
        output, _ = await copy.run_git(("rev-parse", "--abbrev-ref", "HEAD"), 100)
        self.assertEqual(b"main\n", output)
