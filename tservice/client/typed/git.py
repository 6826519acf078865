"""Git: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class CommitAnswer(TypedDict):
    """A commit that was not pushed; C{time} in epoch seconds."""

    hash: str
    author: str
    time: int
    subject: str


class CountsAnswer(TypedDict):
    """Exact, also where a list is cut; C{uncommitted} counts distinct paths."""

    staged: int
    unstaged: int
    untracked: int
    conflicted: int
    uncommitted: int
    stashes: int


class DiffAnswer(TypedDict):
    """A diff; cut short at 400 KB."""

    diff: str
    truncated: bool
    binary: bool


class FaultAnswer(TypedDict):
    """Why a repository has no status."""

    state: Literal["error"]
    error: str
    repoRoot: str
    checkedAt: int


class FileAnswer(TypedDict):
    """A changed file; the letters are those of C{git status --porcelain=v2}."""

    path: str
    origPath: NotRequired[str]
    index: str
    worktree: str
    kind: Literal["conflicted", "staged", "unstaged", "untracked"]


class GitStatusAnswer(TypedDict):
    """What is known of a workspace (protocol-git-status)."""

    state: Literal["ok", "not-a-repo", "unsupported", "error"]
    reason: NotRequired[Literal["remote", "docker"]]
    error: NotRequired[str]
    repos: list[RepositoryAnswer]
    reposTruncated: bool
    repoLimit: NotRequired[int]
    checkedAt: int


class RepositoryAnswer(TypedDict):
    """A repository; C{path} is its root relative to the working directory."""

    name: str
    path: str
    status: StateAnswer | FaultAnswer


class StateAnswer(TypedDict):
    """A repository's status; C{commit} is where HEAD is, null before any commit."""

    state: Literal["ok"]
    branch: str | None
    detached: bool
    commit: str | None
    upstream: str | None
    ahead: int
    behind: int
    hasRemote: bool
    upstreamGone: bool
    counts: CountsAnswer
    files: list[FileAnswer]
    filesTruncated: bool
    unpushedCount: int
    unpushed: list[CommitAnswer]
    repoRoot: str
    checkedAt: int


class Git(Calling):
    """Git."""

    async def get_sessions_id_git_status(
        self,
        id: str,
        *,
        maxRepos: list[str] | None = None,
        timeout: list[str] | None = None,
        fresh: bool | None = None,
    ) -> GitStatusAnswer:
        """Git status of a session's workspace; reads only, and offline."""
        found: GitStatusAnswer = await self.call(
            "GET",
            f"/sessions/{quoted(id)}/git-status",
            query={"maxRepos": maxRepos, "timeout": timeout, "fresh": fresh},
        )
        return found

    async def get_sessions_id_git_diff(
        self,
        id: str,
        *,
        repo: str,
        path: str,
        kind: Literal["conflicted", "staged", "unstaged", "untracked"],
        maxRepos: list[str] | None = None,
        timeout: list[str] | None = None,
        fresh: bool | None = None,
    ) -> DiffAnswer:
        """The diff of one file that the git status lists."""
        found: DiffAnswer = await self.call(
            "GET",
            f"/sessions/{quoted(id)}/git-diff",
            query={
                "maxRepos": maxRepos,
                "timeout": timeout,
                "fresh": fresh,
                "repo": repo,
                "path": path,
                "kind": kind,
            },
        )
        return found

    async def get_cases_name_git_status(
        self,
        name: str,
        *,
        maxRepos: list[str] | None = None,
        timeout: list[str] | None = None,
        fresh: bool | None = None,
    ) -> GitStatusAnswer:
        """Git status of a case's folder; reads only, and offline."""
        found: GitStatusAnswer = await self.call(
            "GET",
            f"/cases/{quoted(name)}/git-status",
            query={"maxRepos": maxRepos, "timeout": timeout, "fresh": fresh},
        )
        return found
