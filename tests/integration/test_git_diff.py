"""Diffs of real files, and the states that the generated repositories leave out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.trial.unittest import TestCase

from tests.unit.git.random_repositories import blob_name, run_git
from tests.unit.git.real_git import folder_fingerprint, own_folder, real_service
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.git.model import DIFF_LIMIT, ChangeKind, GitOptions
from tservice.git.routes import GitStatusResponse
from tservice.git.service import GitWorkspace

FRESH = GitOptions(fresh=True)
ODD = b'odd \xe9\n"name'


class DiffTests(TestCase):
    """One repository with a file of every kind."""

    timeout = 120

    def setUp(self) -> None:
        self.folder = own_folder(self)
        self.root = self.folder / "repo"
        self.root.mkdir(parents=True)
        self.service, runner = real_service(reactor, self.folder / "home")
        self.addCleanup(runner.stop)
        run_git(self.root, "init", "-q", "-b", "main", "--template=")
        for name in (b"old", b"changed", b"big", b"both", ODD, b"*glob", b"globbed"):
            self.write(name, name + b"\n" * 20)
        self.write(b"binary", b"\0\1")
        run_git(self.root, "add", "-A")
        run_git(self.root, "commit", "-qm", "first")

    def write(self, name: bytes, data: bytes) -> None:
        with open(os.path.join(os.fsencode(self.root), name), "wb") as file:
            file.write(data)

    async def diff(self, path: str, kind: ChangeKind) -> dict[str, Any]:
        workspace = GitWorkspace(inside=ANYWHERE, folder=str(self.root))
        return await self.service.get_diff(workspace, str(self.root), path, kind, FRESH)

    async def status(self, folder: Path | None = None) -> dict[str, Any]:
        return await self.service.get_status(
            GitWorkspace(inside=ANYWHERE, folder=str(folder or self.root)), FRESH
        )

    async def test_diff_of_every_change_kind(self) -> None:
        (self.root / "old").rename(self.root / "new")
        run_git(self.root, "add", "-A")
        self.write(b"changed", b"other\n")
        self.write(b"binary", b"\0\2")
        self.write(b"untracked", b"fresh\n")
        self.write(b"both", b"staged\n")
        run_git(self.root, "add", "both")
        self.write(b"both", b"later\n")
        before = folder_fingerprint(self.root)
        GitStatusResponse.model_validate(await self.status())
        renamed = await self.diff("new", ChangeKind.STAGED)
        self.assertIn("rename from old\nrename to new\n", renamed["diff"])
        changed = await self.diff("changed", ChangeKind.UNSTAGED)
        self.assertIn("+other\n", changed["diff"])
        self.assertEqual((False, False), (changed["truncated"], changed["binary"]))
        self.assertTrue((await self.diff("binary", ChangeKind.UNSTAGED))["binary"])
        self.assertIn("+fresh\n", (await self.diff("untracked", ChangeKind.UNTRACKED))["diff"])
        self.assertIn("+staged\n", (await self.diff("both", ChangeKind.STAGED))["diff"])
        self.assertIn("-staged\n+later\n", (await self.diff("both", ChangeKind.UNSTAGED))["diff"])
        self.assertEqual(before, folder_fingerprint(self.root))

    async def test_diff_of_files_with_odd_names_works(self) -> None:
        self.write(ODD, b"other\n")
        self.write(b"*glob", b"star\n")
        self.write(b"globbed", b"plain\n")
        [row] = [
            row
            for row in (await self.status())["repos"][0]["status"]["files"]
            if row["path"].startswith("odd")
        ]
        self.assertEqual('odd \\xe9\n"name', row["path"])
        self.assertIn("+other\n", (await self.diff(row["path"], ChangeKind.UNSTAGED))["diff"])
        star = (await self.diff("*glob", ChangeKind.UNSTAGED))["diff"]
        self.assertIn("+star\n", star)
        self.assertNotIn("+plain\n", star)

    async def test_long_diff_is_truncated_at_a_line(self) -> None:
        self.write(b"big", b"a line of text\n" * 100_000)
        answer = await self.diff("big", ChangeKind.UNSTAGED)
        self.assertTrue(answer["truncated"])
        self.assertTrue(DIFF_LIMIT - 100 < len(answer["diff"]) <= DIFF_LIMIT)
        self.assertTrue(answer["diff"].endswith("\n"))

    async def test_conflicted_file_gives_a_combined_diff(self) -> None:
        stages = b"".join(
            b"100644 %s %d\tboth\0" % (blob_name(name + b"\n" * 20).encode(), stage)
            for stage, name in ((1, b"both"), (2, b"old"), (3, b"big"))
        )
        zero = b"0 %s\tboth\0" % (b"0" * 40)
        run_git(self.root, "update-index", "-z", "--index-info", stdin=zero + stages)
        self.write(b"both", b"<<<<<<<\n")
        answer = await self.diff("both", ChangeKind.CONFLICTED)
        self.assertIn("diff --cc both", answer["diff"])

    async def test_diff_of_an_unlisted_path_is_not_found(self) -> None:
        for path in ("changed", "../repo/changed", ".git/config", ":/", "-h"):
            with self.assertRaises(ServiceError) as caught:
                await self.diff(path, ChangeKind.UNSTAGED)
            self.assertEqual(404, caught.exception.status)

    async def test_unborn_branch_with_upstream_has_a_status(self) -> None:
        empty = self.folder / "empty"
        run_git(self.folder, "init", "-q", "-b", "main", "--template=", "empty")
        config = empty / ".git" / "config"
        config.write_text(
            config.read_text()
            + '[remote "origin"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
            '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n'
        )
        status = (await self.status(empty))["repos"][0]["status"]
        self.assertEqual(("origin/main", True), (status["upstream"], status["upstreamGone"]))
        reference = empty / ".git" / "refs" / "remotes" / "origin"
        reference.mkdir(parents=True)
        (reference / "main").write_text("0" * 39 + "1\n")
        status = (await self.status(empty))["repos"][0]["status"]
        self.assertFalse(status["upstreamGone"])

    async def test_ignore_file_of_the_user_is_honoured(self) -> None:
        home = self.folder / "home"
        (home / ".config" / "git").mkdir(parents=True)
        (home / ".config" / "git" / "ignore").write_text("*.mine\n")
        self.write(b"x.mine", b"")
        status = (await self.status())["repos"][0]["status"]
        self.assertEqual(0, status["counts"]["untracked"])

    async def test_many_untracked_files_are_counted_and_truncated(self) -> None:
        for number in range(400):
            self.write(b"u%03d" % number, b"")
        status = (await self.status())["repos"][0]["status"]
        self.assertEqual((300, True), (len(status["files"]), status["filesTruncated"]))
        self.assertEqual(400, status["counts"]["untracked"])

    async def test_moved_repository_is_refused_before_git_runs(self) -> None:
        """What was found a moment ago is looked for again before git is let near it."""
        workspace = GitWorkspace(inside=ANYWHERE, folder=str(self.folder))
        diff = (workspace, str(self.root), "changed", ChangeKind.UNSTAGED)
        self.write(b"changed", b"other\n")
        await self.service.get_diff(*diff, FRESH)
        self.root.rename(self.folder / "other")
        self.root.symlink_to(self.folder / "other")
        with self.assertRaises(ServiceError) as caught:
            await self.service.get_diff(*diff, GitOptions())
        self.assertEqual("the repository was moved or replaced", caught.exception.message)

    async def test_missing_git_is_an_error(self) -> None:
        service, _ = real_service(reactor, self.folder, environ={"PATH": "/absent"})
        answer = await service.get_status(
            GitWorkspace(inside=ANYWHERE, folder=str(self.root)), FRESH
        )
        self.assertEqual(("error", "git is not installed"), (answer["state"], answer["error"]))
