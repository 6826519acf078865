"""Answers for a workspace, with repositories that a test reads by hand."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.git.random_repositories import make_bare_minimum
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.git.model import (
    ChangeCounts,
    ChangeKind,
    FileChange,
    FileDiff,
    GitOptions,
    GitRepository,
    RepositoryStatus,
    UnpushedCommits,
    WorkTree,
)
from tservice.git.process.runner import GitError, GitMissingError
from tservice.git.service import MAX_CONCURRENT_READS, GitService, GitWorkspace
from tservice.git.status.inspector import RepositoryInspector

_T = TypeVar("_T")

FILES = (
    FileChange(path=b"a", kind=ChangeKind.STAGED, index="M", worktree="M"),
    FileChange(path=b"a", kind=ChangeKind.UNSTAGED, index="M", worktree="M"),
    FileChange(path=b"ud/", kind=ChangeKind.UNTRACKED, index="?", worktree="?"),
    FileChange(path=b"l\xe9", kind=ChangeKind.UNTRACKED, index="?", worktree="?"),
)


def at_once(work: Callable[[], _T], at: str, /) -> Awaitable[_T]:
    return succeed(work())


class FakeInspector:
    """Readings that wait until a test ends them."""

    def __init__(self) -> None:
        self.reading: list[tuple[GitRepository, Deferred[None]]] = []
        self.diffs: list[FileChange] = []
        self.error: GitError | None = None

    async def read_status(self, repository: GitRepository, timeout: float) -> RepositoryStatus:
        wait: Deferred[None] = Deferred()
        self.reading.append((repository, wait))
        await wait
        if self.error is not None:
            raise self.error
        tree = WorkTree(counts=ChangeCounts(staged=1), files=FILES)
        return RepositoryStatus(
            tree=tree,
            has_remote=False,
            upstream_gone=False,
            unpushed=UnpushedCommits(),
            repo_root=repository.wire_root,
            checked_at=5,
        )

    async def read_diff(
        self, repository: GitRepository, change: FileChange, timeout: float
    ) -> FileDiff:
        if self.error is not None:
            raise self.error
        self.diffs.append(change)
        return FileDiff(diff="text")

    def finish(self) -> None:
        """End every reading, those that begin meanwhile too."""
        while self.reading:
            self.reading.pop(0)[1].callback(None)


class GitServiceTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.top = Path(self.mktemp()).resolve()
        self.top.mkdir()
        self.clock = Clock()
        self.inspector = FakeInspector()
        self.containers: list[str] = []
        self.service = GitService(
            clock=self.clock,
            inspector=cast(RepositoryInspector, self.inspector),
            in_thread=at_once,
            home=self.top / "home",
            containers=lambda: self.containers,
        )
        self.workspace = GitWorkspace(inside=ANYWHERE, folder=str(self.top))

    def ask(self, **options: Any) -> Deferred[dict[str, Any]]:
        return Deferred.fromCoroutine(
            self.service.get_status(self.workspace, GitOptions(**options))
        )

    def status(self, **options: Any) -> dict[str, Any]:
        asked = self.ask(**options)
        self.inspector.finish()
        return self.successResultOf(asked)

    def diff(
        self, path: str, kind: ChangeKind, repo: str | None = None
    ) -> Deferred[dict[str, Any]]:
        repo = str(self.top) if repo is None else repo
        asked = Deferred.fromCoroutine(
            self.service.get_diff(self.workspace, repo, path, kind, GitOptions())
        )
        self.inspector.finish()
        return asked

    def refused(self, asked: Deferred[dict[str, Any]]) -> int:
        return cast(ServiceError, self.failureResultOf(asked, ServiceError).value).status

    def test_workspace_without_a_repository_says_so(self) -> None:
        wanted = {"state": "not-a-repo", "repos": [], "reposTruncated": False, "checkedAt": 0}
        self.assertEqual(wanted, self.status())

    def test_unsupported_location_gives_its_reason(self) -> None:
        answer = self.service.make_unsupported_response("docker")
        self.assertEqual(("unsupported", "docker"), (answer["state"], answer["reason"]))

    def test_missing_folder_is_an_error(self) -> None:
        self.workspace = GitWorkspace(inside=ANYWHERE, folder=str(self.top / "absent"))
        answer = self.status()
        self.assertEqual("error", answer["state"])
        self.assertIn("No such file", answer["error"])
        self.assertEqual(404, self.refused(self.diff("a", ChangeKind.STAGED)))

    def test_path_into_the_kernel_folders_is_refused(self) -> None:
        """Whose end is a repository: where this process works."""
        make_bare_minimum(self.top)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.top)
        self.assertEqual("ok", self.status()["state"])
        way = self.top / "way"
        way.symlink_to("/proc/self/cwd")
        for folder in ("/proc/self/cwd", str(way), f"{way}/."):
            self.workspace = GitWorkspace(inside=ANYWHERE, folder=folder)
            answer = self.status(fresh=True)
            self.assertEqual("error", answer["state"], folder)
            self.assertIn("symbolic links", answer["error"])
            self.assertEqual(404, self.refused(self.diff("a", ChangeKind.STAGED)))

    def test_single_repository_is_described(self) -> None:
        make_bare_minimum(self.top)
        answer = self.status()
        self.assertEqual(("ok", False), (answer["state"], answer["reposTruncated"]))
        self.assertNotIn("repoLimit", answer)
        [repo] = answer["repos"]
        self.assertEqual((self.top.name, "."), (repo["name"], repo["path"]))
        self.assertEqual(r"l\xe9", repo["status"]["files"][3]["path"])

    def test_folder_of_projects_lists_every_repository(self) -> None:
        for number in range(3):
            make_bare_minimum(self.top / str(number))
        answer = self.status(max_repos=2)
        self.assertEqual(["0", "1"], [repo["name"] for repo in answer["repos"]])
        self.assertEqual((True, 2), (answer["reposTruncated"], answer["repoLimit"]))
        self.assertEqual(3, len(self.status(max_repos=3)["repos"]))
        self.assertFalse(self.status(max_repos=3)["reposTruncated"])

    def test_error_of_one_among_many_repositories_is_its_own(self) -> None:
        make_bare_minimum(self.top / "a")
        self.inspector.error = GitError("fatal: no")
        answer = self.status()
        self.assertEqual("ok", answer["state"])
        status = answer["repos"][0]["status"]
        self.assertEqual(("error", "fatal: no"), (status["state"], status["error"]))
        self.assertEqual(422, self.refused(self.diff("a", ChangeKind.STAGED, str(self.top / "a"))))

    def test_error_of_the_only_repository_is_the_answer(self) -> None:
        make_bare_minimum(self.top)
        self.inspector.error = GitError("x" * 999)
        answer = self.status()
        self.assertEqual(("error", "x" * 300), (answer["state"], answer["error"]))
        self.assertEqual("error", answer["repos"][0]["status"]["state"])

    def test_missing_git_is_an_error(self) -> None:
        make_bare_minimum(self.top / "a")
        self.inspector.error = GitMissingError("git is not installed")
        answer = self.status()
        self.assertEqual(("error", []), (answer["state"], answer["repos"]))
        self.assertEqual("git is not installed", answer["error"])

    def test_four_repositories_are_read_at_a_time(self) -> None:
        for number in range(6):
            make_bare_minimum(self.top / str(number))
        asked = self.ask()
        self.assertEqual(MAX_CONCURRENT_READS, len(self.inspector.reading))
        self.inspector.reading.pop(0)[1].callback(None)
        self.assertEqual(MAX_CONCURRENT_READS, len(self.inspector.reading))
        self.inspector.finish()
        self.assertEqual(6, len(self.successResultOf(asked)["repos"]))

    def test_status_is_cached_for_four_seconds(self) -> None:
        make_bare_minimum(self.top)
        self.status()
        self.clock.advance(3.9)
        self.successResultOf(self.ask())
        self.clock.advance(0.2)
        self.assertNoResult(self.ask())

    def test_repository_list_is_cached_for_thirty_seconds(self) -> None:
        make_bare_minimum(self.top / "a")
        self.status()
        make_bare_minimum(self.top / "b")
        self.clock.advance(29)
        self.assertEqual(1, len(self.status()["repos"]))
        self.assertEqual(2, len(self.status(fresh=True)["repos"]))
        make_bare_minimum(self.top / "c")
        self.clock.advance(31)
        self.assertEqual(3, len(self.status()["repos"]))

    def test_fresh_request_joins_a_running_one(self) -> None:
        make_bare_minimum(self.top)
        first, second = self.ask(), self.ask(fresh=True)
        self.assertEqual(1, len(self.inspector.reading))
        self.inspector.finish()
        self.assertEqual(self.successResultOf(first), self.successResultOf(second))
        third = self.ask(fresh=True)
        self.assertEqual(1, len(self.inspector.reading))
        self.inspector.finish()
        self.successResultOf(third)

    def test_new_container_workspace_is_excluded_immediately(self) -> None:
        make_bare_minimum(self.top / "a")
        self.assertEqual("ok", self.status()["state"])
        self.containers.append(str(self.top / "a"))
        self.assertEqual("not-a-repo", self.status()["state"])
        self.assertEqual(404, self.refused(self.diff("a", ChangeKind.STAGED, str(self.top / "a"))))

    def test_diff_of_a_listed_file_is_returned(self) -> None:
        make_bare_minimum(self.top)
        answer = self.successResultOf(self.diff("a", ChangeKind.UNSTAGED))
        self.assertEqual({"diff": "text", "truncated": False, "binary": False}, answer)
        self.successResultOf(self.diff(r"l\xe9", ChangeKind.UNTRACKED))
        self.assertEqual([b"a", b"l\xe9"], [change.path for change in self.inspector.diffs])

    def test_diff_of_an_unlisted_file_is_not_found(self) -> None:
        make_bare_minimum(self.top)
        for path, kind in (
            ("a", ChangeKind.CONFLICTED),
            ("b", ChangeKind.STAGED),
            ("ud/", ChangeKind.UNTRACKED),
            ("./a", ChangeKind.STAGED),
            ("../x", ChangeKind.STAGED),
            ("", ChangeKind.STAGED),
        ):
            self.assertEqual(404, self.refused(self.diff(path, kind)), path)
        for repo in ("", ".", str(self.top) + "/", os.path.dirname(self.top)):
            self.assertEqual(404, self.refused(self.diff("a", ChangeKind.STAGED, repo)), repo)
        self.assertEqual([], self.inspector.diffs)

    def test_failed_diff_is_an_error(self) -> None:
        make_bare_minimum(self.top)
        self.successResultOf(self.diff("a", ChangeKind.STAGED))
        self.inspector.error = GitError("fatal: bad object")
        self.assertEqual(422, self.refused(self.diff("a", ChangeKind.STAGED)))
