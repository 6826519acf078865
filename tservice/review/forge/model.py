"""Records of pull requests, and the interface of the programs that know them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from attrs import field, frozen

MAX_COMMENTS = 100
"""Maximum number of review comments of a pull request that are read."""
MAX_FAILED_CHECKS = 20
"""Maximum number of failed checks that are named."""
LOG_BYTES = 16 * 1024 * 1024
"""Maximum bytes of the log of a failed check."""
TEXT_LENGTH = 8000
"""Maximum characters of a review comment; the rest is cut."""


class PullRequestState(StrEnum):
    """State of a pull request."""

    OPEN = "open"
    DRAFT = "draft"
    MERGED = "merged"
    CLOSED = "closed"


class ChecksState(StrEnum):
    """State of all checks of a pull request together."""

    NONE = "none"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


class ReviewDecision(StrEnum):
    """Decision of the reviewers."""

    NONE = "none"
    REQUIRED = "required"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes-requested"


class UnavailableReason(StrEnum):
    """Reason why the state of a branch's pull request is unknown."""

    NO_BRANCH = "no-branch"
    """No branch is checked out."""
    NO_REMOTE = "no-remote"
    """No remote of the repository has an address on a forge."""
    NO_GRANT = "no-grant"
    """The caller may not use the sign-in of the session's user."""
    NOT_INSTALLED = "not-installed"
    NOT_SIGNED_IN = "not-signed-in"
    FAILED = "failed"


@frozen(kw_only=True)
class ForgeBranch:
    """Branch on a forge, and the project that gets its pull request.

    @ivar host: host name of the forge.
    @ivar project: path of the project that gets the pull request, such as C{owner/name}.
    @ivar source: path of the project that has the branch; the same unless it is a fork.
    @ivar branch: name of the branch in C{source}.
    """

    host: str
    project: str
    source: str
    branch: str


@frozen(kw_only=True)
class FailedCheck:
    """Check that failed; C{url} leads to its log and may be empty.

    @ivar job: the forge's number of the job whose log can be read; empty if there is none.
    """

    name: str
    url: str
    job: str = ""


@frozen(kw_only=True)
class ChecksSummary:
    """Numbers of checks, and the failed ones by name."""

    passed: int = 0
    running: int = 0
    failed: int = 0
    failures: Sequence[FailedCheck] = ()

    @property
    def state(self) -> ChecksState:
        """State of all checks together."""
        if self.failed:
            return ChecksState.FAILED
        if self.running:
            return ChecksState.RUNNING
        return ChecksState.PASSED if self.passed else ChecksState.NONE


@frozen(kw_only=True)
class ForgeComment:
    """Comment of a person on lines of a pull request.

    @ivar line: last line of the comment; C{None} if the lines are no longer there.
    @ivar is_old_side: true if the line is one of the base.
    """

    id: str
    author: str
    text: str
    path: str
    line: int | None
    is_old_side: bool
    url: str


@frozen(kw_only=True)
class PullRequest:
    """Pull request of a branch.

    @ivar commit: the last commit of the branch at the forge, to which the lines of the comments
        belong.
    """

    number: int
    title: str
    url: str
    state: PullRequestState
    base: str
    commit: str
    checks: ChecksSummary = field(factory=ChecksSummary)
    review: ReviewDecision = ReviewDecision.NONE
    comments: Sequence[ForgeComment] = ()
    has_more_comments: bool = False


@frozen(kw_only=True)
class PullRequestDraft:
    """Pull request to create.

    @ivar base: the branch to merge into; C{None} for the project's default branch.
    @ivar reviewers: names at the forge; on GitHub a team is C{ORGANIZATION/TEAM}.
    """

    title: str
    body: str
    is_draft: bool
    base: str | None
    reviewers: Sequence[str] = ()


class ForgeUnavailableError(Exception):
    """A program of the forge could not answer.

    @ivar reason: the reason for clients.
    @ivar message: the program's error text; empty if the reason says everything.
    """

    def __init__(self, reason: UnavailableReason, message: str = "") -> None:
        super().__init__(reason, message)
        self.reason, self.message = reason, message


@frozen(kw_only=True)
class ForgeCommand:
    """Command of a forge's program.

    @ivar output_limit: maximum bytes of its output.
    """

    words: Sequence[str]
    stdin: bytes = field(default=b"", repr=False)
    env: Mapping[str, str] = field(factory=dict)
    output_limit: int = 4 * 1024 * 1024


RunForge = Callable[[ForgeCommand], Coroutine[Any, Any, bytes]]
"""Runs a command of a forge's program and returns its output.

It raises L{ForgeUnavailableError}.
"""


class Forge(Protocol):
    """Forge that is reached by a program of the user.

    @ivar name: the name of the forge for clients.
    @ivar program: the name of the program.
    """

    @property
    def name(self) -> str: ...

    @property
    def program(self) -> str: ...

    async def read_pull_request(self, run: RunForge, branch: ForgeBranch) -> PullRequest | None:
        """Return the branch's open pull request, else the newest one; C{None} if it has none.

        @raise ForgeUnavailableError: the program failed, or printed another form.
        """

    async def create_pull_request(
        self, run: RunForge, branch: ForgeBranch, draft: PullRequestDraft
    ) -> None:
        """Create a pull request of the branch, and ask for its reviewers.

        @raise ForgeUnavailableError: the program failed, or the forge refuses.
        """

    async def read_log(self, run: RunForge, branch: ForgeBranch, job: str) -> bytes:
        """Return the log of a failed check, up to where it failed.

        @param job: L{FailedCheck.job} of a check of the branch's pull request.
        @raise ForgeUnavailableError: the program failed, or there is no log.
        """
