"""Routes C{/api/sessions/{id}/git-status} and C{/api/sessions/{id}/git-diff}."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_GIT
from tservice.core.values.payload import omit_if_none
from tservice.git.model import ChangeKind, GitOptions
from tservice.git.readers import GitReaderRegistry
from tservice.git.service import GitWorkspace
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryBool, QueryParameters, ResponseModel

_NUMBER = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]+)?\s*")
_REPOS, _SECONDS = (1, 50), (5, 120)
_DEFAULTS = GitOptions()


class GitStatusQuery(QueryParameters):
    """Query for a status. Numbers out of range are clamped; other text gives the default
    (protocol-git-status).
    """

    max_repos: list[str] = Field(
        default=[], description="Maximum number of repositories, 1 to 50; default 12, clamped"
    )
    timeout: list[str] = Field(
        default=[],
        description="Time limit of one git command in seconds, 5 to 120; default 30, clamped",
    )
    fresh: QueryBool = Field(
        default=False,
        description=("Skip the caches, but share the result of a check that is running"),
    )

    def to_options(self) -> GitOptions:
        """Return the options, with numbers clamped to their bounds."""
        return GitOptions(
            max_repos=int(_clamp_number(self.max_repos, *_REPOS, _DEFAULTS.max_repos)),
            timeout=_clamp_number(self.timeout, *_SECONDS, _DEFAULTS.timeout),
            fresh=self.fresh,
        )


def _clamp_number(texts: Sequence[str], least: float, most: float, default: float) -> float:
    """Return the number in C{texts}, clamped to the bounds.

    @return: C{default} if there is not exactly one text, or it is no number.
    """
    if len(texts) != 1 or not _NUMBER.fullmatch(texts[0]):
        return default
    return min(max(float(texts[0].strip()), least), most)


class GitDiffQuery(GitStatusQuery):
    """Query for a diff. C{repo} and C{path} are compared with the status, never used directly."""

    repo: str = Field(description="A repoRoot of the status")
    path: str = Field(description="A path that the status lists for that repository")
    kind: ChangeKind


class ChangeCountsResponse(ResponseModel):
    """Exact counts, even if a list is cut; C{uncommitted} counts distinct paths."""

    staged: int
    unstaged: int
    untracked: int
    conflicted: int
    uncommitted: int
    stashes: int


class ChangedFileResponse(ResponseModel):
    """Changed file; the letters are those of C{git status --porcelain=v2}."""

    path: str
    orig_path: str | None = omit_if_none()
    index: str
    worktree: str
    kind: ChangeKind


class UnpushedCommitResponse(ResponseModel):
    """Commit that was not pushed; C{time} in epoch seconds."""

    hash: str
    author: str
    time: int
    subject: str


class RepositoryStateResponse(ResponseModel):
    """Status of a repository; C{commit} is the commit of HEAD, null before the first commit."""

    state: Literal["ok"]
    branch: str | None
    detached: bool
    commit: str | None
    upstream: str | None
    ahead: int
    behind: int
    has_remote: bool
    upstream_gone: bool
    counts: ChangeCountsResponse
    files: list[ChangedFileResponse]
    files_truncated: bool
    unpushed_count: int
    unpushed: list[UnpushedCommitResponse]
    repo_root: str
    checked_at: int


class RepositoryFaultResponse(ResponseModel):
    """Reason why a repository has no status."""

    state: Literal["error"]
    error: str
    repo_root: str
    checked_at: int


class RepositoryResponse(ResponseModel):
    """Repository; C{path} is its root relative to the working directory."""

    name: str
    path: str
    status: Annotated[
        RepositoryStateResponse | RepositoryFaultResponse, Field(discriminator="state")
    ]


class GitStatusResponse(ResponseModel):
    """Git status of a workspace (protocol-git-status)."""

    state: Literal["ok", "not-a-repo", "unsupported", "error"]
    reason: Literal["remote", "docker"] | None = omit_if_none()
    error: str | None = omit_if_none()
    repos: list[RepositoryResponse]
    repos_truncated: bool
    repo_limit: int | None = omit_if_none()
    checked_at: int


class GitDiffResponse(ResponseModel):
    """Diff, cut at 400 KB."""

    diff: str
    truncated: bool
    binary: bool


_GIT = OperationFields(
    tag="Git",
    access=AccessRule.OWNER,
    scope=Scope.GIT,
    scope_reason=READS_GIT,
)


class GitRoutes:
    """Routes for status and diffs; the rules are in L{tservice.git.service.GitService}.

    @param workspace_of: returns the workspace of the session with a given id; raises a
        C{ServiceError} 404 if there is no such session.
    """

    def __init__(self, git: GitReaderRegistry, workspace_of: Callable[[str], GitWorkspace]) -> None:
        self._git = git
        self._workspace_of = workspace_of

    @operation("GET", "/api/sessions/{id}/git-status", _GIT)
    async def get_status(self, call: OperationCall, query: GitStatusQuery) -> GitStatusResponse:
        """Get the git status of a session's workspace; read-only and offline."""
        found = await self._git.get_status(self._workspace_of(call.id), query.to_options())
        return GitStatusResponse.model_validate(found)

    @operation("GET", "/api/sessions/{id}/git-diff", _GIT, errors=(ErrorCode.OPERATION_FAILED,))
    async def get_diff(self, call: OperationCall, query: GitDiffQuery) -> GitDiffResponse:
        """Get the diff of one file that the git status lists."""
        found = await self._git.get_diff(
            self._workspace_of(call.id), query.repo, query.path, query.kind, query.to_options()
        )
        return GitDiffResponse.model_validate(found)
