"""Repositories that would cost their reader time or memory without end."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet import defer, reactor
from twisted.trial.unittest import TestCase

from tests.unit.git.random_repositories import run_git
from tests.unit.git.real_git import own_folder, real_service
from tests.waiting import PATIENCE
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.git.model import ChangeKind, GitOptions
from tservice.git.service import GitWorkspace

BRIEF = GitOptions(fresh=True, timeout=1)
PATIENT = GitOptions(fresh=True, timeout=PATIENCE)
READ_BY_GIT = (
    ".git/HEAD",
    ".git/config",
    ".git/packed-refs",
    ".git/refs/heads/main",
    ".git/info/exclude",
    ".git/objects/info/alternates",
    ".gitattributes",
    ".gitignore",
)
"""Files at which git waits for a writer when they are FIFOs."""
ENTRIES = 100_000


class OversizedTests(TestCase):
    """Each has an answer within its time, and leaves no process behind."""

    timeout = 300

    def setUp(self) -> None:
        self.folder = own_folder(self)
        self.folder.mkdir()
        self.service, self.runner = real_service(reactor, self.folder / "home")
        self.addCleanup(self.runner.stop)

    def make(self, name: str, spoil: Callable[[Path], None]) -> Path:
        """A repository with one changed file, and what C{spoil} does to it."""
        root = self.folder / name
        root.mkdir()
        run_git(root, "init", "-q", "-b", "main", "--template=")
        (root / "a").write_text("1\n")
        run_git(root, "add", "a")
        run_git(root, "commit", "-q", "-m", "x")
        # Of the same size: only its content tells, and that asks for attributes.
        (root / "a").write_text("2\n")
        spoil(root)
        return root

    async def status(self, root: Path, options: GitOptions) -> dict[str, Any]:
        answer = await self.service.get_status(
            GitWorkspace(inside=ANYWHERE, folder=str(root)), options
        )
        self.assertEqual(0, self.runner.running)
        return answer

    async def test_fifos_instead_of_files_of_git_are_errors(self) -> None:
        def spoil(path: str) -> Callable[[Path], None]:
            def put(root: Path) -> None:
                place = root / path
                place.unlink(missing_ok=True)
                place.parent.mkdir(exist_ok=True)
                os.mkfifo(place)

            return put

        roots = [self.make(f"f{n}", spoil(path)) for n, path in enumerate(READ_BY_GIT)]
        workspaces = [GitWorkspace(inside=ANYWHERE, folder=str(root)) for root in roots]
        answers = await defer.gatherResults(
            [
                defer.Deferred.fromCoroutine(self.service.get_status(workspace, BRIEF))
                for workspace in workspaces
            ]
        )
        for path, answer in zip(READ_BY_GIT, answers, strict=True):
            self.assertEqual(
                ("error", "git timed out after 1 s"), (answer["state"], answer.get("error")), path
            )
        self.assertEqual(0, self.runner.running)

    async def test_index_of_eight_gigabytes_gives_an_error(self) -> None:
        def spoil(root: Path) -> None:
            with open(root / ".git" / "index", "wb") as file:
                file.write(b"DIRC" + struct.pack(">II", 2, 1))
                file.truncate(8 << 30)

        answer = await self.status(self.make("sparse", spoil), PATIENT)
        self.assertEqual("error", answer["state"])

    async def test_index_claiming_four_billion_entries_gives_an_error(self) -> None:
        def spoil(root: Path) -> None:
            with open(root / ".git" / "index", "wb") as file:
                file.write(b"DIRC" + struct.pack(">II", 2, 2**32 - 1))
                file.truncate(1 << 20)

        answer = await self.status(self.make("claims", spoil), BRIEF)
        self.assertEqual("error", answer["state"])
        self.assertLessEqual(len(answer["error"]), 300)

    async def test_index_of_missing_files_is_counted_exactly_and_truncated(self) -> None:
        """Counts are exact, lists are cut."""

        def spoil(root: Path) -> None:
            name = run_git(root, "rev-parse", "HEAD:a").decode().strip()
            lines = (f"100644 {name} 0\td{n // 1000}/f{n}\n" for n in range(ENTRIES))
            run_git(root, "update-index", "--index-info", stdin="".join(lines).encode())

        answer = await self.status(self.make("full", spoil), PATIENT)
        status = answer["repos"][0]["status"]
        self.assertEqual(
            (ENTRIES, ENTRIES + 1, 300, True),
            (status["counts"]["staged"], status["counts"]["unstaged"], len(status["files"]),
             status["filesTruncated"]),
        )  # fmt: skip

    async def test_diff_of_a_huge_changed_file_times_out(self) -> None:
        """Its diff ends with its time."""

        def spoil(root: Path) -> None:
            with open(root / "a", "wb") as file:
                file.truncate(64 << 30)

        root = self.make("large", spoil)
        status = await self.status(root, PATIENT)
        self.assertEqual(1, status["repos"][0]["status"]["counts"]["unstaged"])
        asked = self.service.get_diff(
            GitWorkspace(inside=ANYWHERE, folder=str(root)),
            str(root),
            "a",
            ChangeKind.UNSTAGED,
            BRIEF,
        )
        error = await self.assertFailure(defer.Deferred.fromCoroutine(asked), Exception)
        self.assertIn("git timed out after 1 s", str(error))
        self.assertEqual(0, self.runner.running)

    async def test_configuration_that_includes_itself_is_an_error(self) -> None:
        def spoil(root: Path) -> None:
            with (root / ".git" / "config").open("a") as file:
                file.write("[include]\n\tpath = config\n")

        answer = await self.status(self.make("loop", spoil), PATIENT)
        self.assertEqual("error", answer["state"])
        self.assertIn("include depth", answer["error"])
