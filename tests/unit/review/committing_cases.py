"""Commits and pushes by the user's own git, with its hooks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet import reactor
from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import places_of
from tests.unit.git.random_repositories import ENVIRON, run_git
from tests.unit.review.review_harness import ANN, SESSION_ID, ReviewTestCase
from tservice.core.locations.location import OWN_LOCATION, Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildRunner, find_child_tools
from tservice.core.workers.thread_runners import make_location_runner
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.changing.user_git import UserGit
from tservice.git.location_shell.shell_runner import LocationShellRunner
from tservice.git.service import GitWorkspace
from tservice.review.committing import (
    LISTED_FILES,
    SUBJECT_LENGTH,
    CommitRequest,
    CommitService,
    PushRequest,
    compose_message,
)
from tservice.review.model import (
    BaseSource,
    ChangedFile,
    ComparisonBase,
    FileStatus,
    RepositoryChanges,
)
from tservice.runtime.local_location_setup import build_own_location


class CommitTests(ReviewTestCase):
    """A repository with one change of each kind."""

    def setUp(self) -> None:
        super().setUp()
        self.commit(a="1\n", b="1\n")
        self.write("a", "2\n")
        self.write("b", "2\n")
        self.write("new", "x\n")
        environ = {**ENVIRON, "HOME": str(self.folder.parent)}
        own = build_own_location(
            self.folder.parent / "data",
            environ,
            self.folder.parent,
            lambda names: Path("/usr/bin/git"),
            uid=os.getuid(),
        )
        children = ChildRunner(reactor, reactor, find_child_tools(os.environ["PATH"]))
        git = UserGit(
            shells=LocationShellRunner(children),
            children=children,
            places=self.make_places(own),
            in_place=make_location_runner(SynchronousThreads()),
            workspace_of=lambda session_id: GitWorkspace(
                folder=str(self.folder), inside=ANYWHERE, place=OWN_LOCATION
            ),
            redactor=SecretRedactor(),
        )
        self.addCleanup(git.stop)
        sessions: Any = self.world.sessions
        self.commits = CommitService(self.world.review, sessions, git)

    def make_places(self, own: Location) -> LocationRegistry:
        """Return the locations of the machine."""
        return places_of(own)

    async def make(self, **fields: Any) -> tuple[str | None, str]:
        request = CommitRequest(**{"repo": None, "message": "Do it\n\nBecause.", **fields})
        return await self.commits.commit(SESSION_ID, request, ANN)

    def log(self, form: str = "%s|%b") -> str:
        return run_git(self.folder, "log", "-1", f"--format={form}").decode().strip()

    def status(self) -> str:
        return run_git(self.folder, "status", "--porcelain").decode()

    async def test_all_changes_are_committed(self) -> None:
        commit, _ = await self.make(takes_all=True)
        self.assertEqual(("Do it|Because.", ""), (self.log(), self.status()))
        self.assertEqual(self.log("%H"), commit)

    async def test_chosen_files_are_committed_alone(self) -> None:
        run_git(self.folder, "add", "b")
        await self.make(paths=["a", "new"])
        self.assertEqual("M  b\n", self.status())

    async def test_names_are_never_patterns_or_options(self) -> None:
        self.write("--help", "x\n")
        self.write("*", "x\n")
        await self.make(paths=["--help", "*"])
        listed = run_git(self.folder, "show", "--format=", "--name-only").decode().split()
        self.assertEqual(["*", "--help"], listed)

    async def test_staged_files_are_committed_by_default(self) -> None:
        run_git(self.folder, "add", "b")
        await self.make(signoff=True)
        self.assertEqual(" M a\n?? new\n", self.status())
        self.assertIn("Signed-off-by: C O Mitter", self.log())

    async def test_last_commit_is_amended(self) -> None:
        before = self.log("%P")
        await self.make(takes_all=True, amend=True)
        self.assertEqual(before, self.log("%P"))

    async def test_hook_runs_and_may_refuse(self) -> None:
        hook = self.write(".git/hooks/pre-commit", "#!/bin/sh\necho the tests fail >&2\nexit 1\n")
        hook.chmod(0o755)
        error = await self.refuse(422, self.make(takes_all=True))
        self.assertIn("the tests fail", error.message)
        hook.write_text("#!/bin/sh\necho all is well\n")
        _, output = await self.make(takes_all=True)
        self.assertIn("all is well", output)

    async def test_unknown_file_is_not_found(self) -> None:
        await self.refuse(404, self.make(paths=["other"]))

    async def test_caller_without_the_grant_is_refused(self) -> None:
        request = CommitRequest(repo=None, message="x", takes_all=True)
        user = evolve(ANN, admin=False, can_bypass_permissions=False)
        await self.refuse(403, self.commits.commit(SESSION_ID, request, user))
        push = PushRequest(repo=None)
        await self.refuse(403, self.commits.push(SESSION_ID, push, user))
        self.world.sessions.may_drive = False
        await self.refuse(403, self.make(takes_all=True))
        self.assertNotEqual("", self.status())

    # -- pushing

    async def push(self, **fields: Any) -> str:
        request = PushRequest(**{"repo": None, **fields})
        return await self.commits.push(SESSION_ID, request, ANN)

    def add_remote(self) -> Path:
        remote = self.folder.parent / "remote.git"
        remote.mkdir()
        run_git(remote, "init", "-q", "--bare")
        run_git(self.folder, "remote", "add", "origin", str(remote))
        return remote

    async def test_branch_is_pushed_with_its_upstream(self) -> None:
        remote = self.add_remote()
        await self.make(takes_all=True)
        await self.push(sets_upstream=True)
        pushed = run_git(remote, "rev-parse", "main").decode().strip()
        self.assertEqual(self.log("%H"), pushed)

    async def test_other_branch_is_pushed(self) -> None:
        remote = self.add_remote()
        await self.push(remote="origin", branch="topic")
        self.assertEqual(self.log("%H"), run_git(remote, "rev-parse", "topic").decode().strip())

    async def test_changed_history_needs_a_lease(self) -> None:
        self.add_remote()
        await self.push(sets_upstream=True)
        await self.make(takes_all=True, amend=True)
        await self.refuse(422, self.push(remote="origin", branch="main"))
        await self.push(remote="origin", branch="main", with_lease=True)

    async def test_odd_names_are_refused(self) -> None:
        for fields in (
            {"remote": "--exec=x"},
            {"remote": "origin", "branch": "a b"},
            {"branch": "x"},
        ):
            await self.refuse(400, self.push(**fields))

    async def test_missing_remote_is_said(self) -> None:
        error = await self.refuse(422, self.push(sets_upstream=True))
        self.assertIn("origin", error.message)


class MessageTests(SynchronousTestCase):
    """A message from what is known without a model."""

    def compose(self, title: str, count: int) -> str:
        files = [
            ChangedFile(path=b"f%d" % number, status=FileStatus.MODIFIED) for number in range(count)
        ]
        base = ComparisonBase(ref=None, commit=None, source=BaseSource.HEAD, tree="t")
        changes = RepositoryChanges(
            path=".",
            name="n",
            base=base,
            branch="main",
            commit=None,
            is_detached=False,
            files=files,
        )
        return compose_message(title, changes)

    def test_title_is_the_subject(self) -> None:
        self.assertEqual("Fix the clock\n\n* f0\n* f1", self.compose(" Fix  the\nclock", 2))

    def test_without_a_title_files_are_named(self) -> None:
        self.assertEqual("Change f0", self.compose("", 1))
        self.assertTrue(self.compose("", 3).startswith("Change 3 files\n"))

    def test_message_is_bounded(self) -> None:
        lines = self.compose("x" * 200, 50).split("\n")
        self.assertEqual((SUBJECT_LENGTH, LISTED_FILES + 3), (len(lines[0]), len(lines)))
        self.assertEqual("* and 40 more", lines[-1])
