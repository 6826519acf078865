"""State and creation of the pull request of a session's branch (protocol-pull-request)."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from attrs import frozen
from twisted.internet.defer import DeferredSemaphore
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_not_found_error,
)
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.locations.location import LocationId
from tservice.core.values.program_output import clean_program_output
from tservice.git.interfaces import IUserGit, UserProgramCommand, WorkingCopy
from tservice.review.comment_model import check_comment_text
from tservice.review.forge.model import (
    TEXT_LENGTH,
    FailedCheck,
    Forge,
    ForgeBranch,
    ForgeCommand,
    ForgeUnavailableError,
    PullRequest,
    PullRequestDraft,
    RunForge,
    UnavailableReason,
)
from tservice.review.forge.parsing import find_refusal
from tservice.review.forge.remotes import find_forge_branch
from tservice.review.model import check_ref_name
from tservice.review.service import ReviewService
from tservice.sessions.interfaces import ISessions, NameSource

READ_SECONDS = 30.0
"""Time limit of one command that reads."""
CREATE_SECONDS = 120.0
"""Time limit of one command that creates a pull request."""
FRESH_SECONDS = 30.0
"""Seconds for which a state is reused."""
MAX_BACKOFF_SECONDS = 600.0
"""Maximum seconds until a branch is read again after failures."""
MAX_STATES = 200
"""Maximum number of branches whose state is remembered."""
LOG_TAIL_BYTES = 64 * 1024
"""Number of bytes from the end of a log that become plain text."""
MAX_COMMANDS = 4
"""Maximum number of commands at the same time."""
MAX_SUBJECTS = 50
"""Maximum number of commits that a suggested description lists."""

_NOT_SIGNED_IN = 4
"""Exit status of C{gh} for a host at which it is not signed in."""
_LOGIN_HINT = re.compile(r"\bauth login\b|\b401\b", re.IGNORECASE)
_NEEDS_GRANT = (
    "a pull request uses the sign-in of the session's user, which needs the grant to bypass"
    " permissions"
)

_T = TypeVar("_T")


@frozen(kw_only=True)
class PullRequestView:
    """State of a branch's pull request.

    @ivar reason: the reason why it is unknown; C{None} if it is known.
    @ivar message: the error text of the program, if any.
    @ivar forge: the name of the forge that answered.
    @ivar branch: the branch and its projects; C{None} if there is none on a forge.
    @ivar checked_at: time of the reading in Unix milliseconds.
    """

    reason: UnavailableReason | None = None
    message: str = ""
    forge: str | None = None
    branch: ForgeBranch | None = None
    pull_request: PullRequest | None = None
    checked_at: int


@frozen(kw_only=True)
class FailedCheckLog:
    """Failed check, and the end of its log as plain text."""

    check: FailedCheck
    text: str


@frozen(kw_only=True)
class PullRequestSuggestion:
    """Title and description that fit the branch."""

    title: str
    body: str


@frozen(kw_only=True)
class _StateKey:
    """Branch on a forge, as the user of a location sees it for an account."""

    owner: str | None
    place: LocationId
    branch: ForgeBranch


@frozen(kw_only=True)
class _KnownState:
    """State of a branch; C{until} is the time of the reactor at which it is read again.

    @ivar failures: number of failures in a row.
    """

    view: PullRequestView
    until: float
    failures: int = 0


class PullRequestService:
    """Pull requests of the branches in sessions.  Every error is a C{ServiceError}."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        review: ReviewService,
        sessions: ISessions,
        git: IUserGit,
        forges: Sequence[Forge],
        on_read: Callable[[str, str, PullRequest | None], object],
    ) -> None:
        """@param on_read: called with a session, the path of a repository, and the pull request of
        its branch, whenever a client got to know it.
        """
        self._clock, self._review, self._sessions, self._git = clock, review, sessions, git
        self._forges, self._on_read = forges, on_read
        self._turns = DeferredSemaphore(MAX_COMMANDS)
        self._known: OrderedDict[_StateKey, _KnownState] = OrderedDict()
        self._reading: dict[_StateKey, SharedWork[PullRequestView]] = {}

    async def read_state(
        self, session_id: str, repo: str | None, caller: Caller
    ) -> PullRequestView:
        """Return the state of the pull request of the branch that is checked out.

        Without a forge, a program or a sign-in the answer says so; it is not an error.

        Without the grant to bypass permissions it says so, too, and nothing is run.

        @raise ServiceError: 403 if the caller may not drive the session; 404 for an unknown
            repository.
        """
        if not caller.can_bypass_permissions:
            return self._make_unknown(UnavailableReason.NO_GRANT)
        copy = await self._review.open_copy(session_id, repo)
        try:
            branch = await find_forge_branch(copy)
        except ForgeUnavailableError as error:
            view = self._make_unknown(error.reason)
        else:
            view = await self._read_branch(session_id, branch, caller)
        if view.reason is not UnavailableReason.FAILED:
            self._on_read(session_id, copy.path, view.pull_request)
        return view

    async def _read_branch(
        self, session_id: str, branch: ForgeBranch, caller: Caller
    ) -> PullRequestView:
        key = self._make_key(session_id, branch)
        known = self._known.get(key)
        if known is not None and self._clock.seconds() < known.until:
            return known.view
        check = self._make_check(session_id, caller)
        check()
        if key not in self._reading:
            work = SharedWork(self._read_and_remember(session_id, key, check))
            if not work.is_finished:
                self._reading[key] = work
                work.finished.addBoth(lambda _: self._reading.pop(key, None))
            return await work.wait_for_result()
        return await self._reading[key].wait_for_result()

    async def create(
        self, session_id: str, repo: str | None, draft: PullRequestDraft, caller: Caller
    ) -> PullRequestView:
        """Create a pull request of the branch that is checked out, and return its state.

        @raise ServiceError: 400 for an odd base; 403 without the grant; 422 if there is no forge,
            or it refuses.
        """
        self._check_grant(caller)
        check_comment_text(draft.body, "body")
        check_comment_text(draft.title, "title")
        if draft.base is not None:
            check_ref_name(draft.base, "base")
        copy = await self._review.open_copy(session_id, repo)
        check = self._make_check(session_id, caller)
        try:
            branch = await find_forge_branch(copy)
            try:
                await self._ask_first(
                    session_id, branch, CREATE_SECONDS, check,
                    lambda forge, run: forge.create_pull_request(run, branch, draft),
                )  # fmt: skip
            finally:
                # It may be there although a later step failed.
                self._known.pop(self._make_key(session_id, branch), None)
        except ForgeUnavailableError as error:
            raise make_failure_error(describe_outage(error.reason, error.message)) from None
        key = self._make_key(session_id, branch)
        view = await self._read_and_remember(session_id, key, check)
        if view.reason is None:
            self._on_read(session_id, copy.path, view.pull_request)
        return view

    async def read_failures(
        self, session_id: str, repo: str | None, caller: Caller
    ) -> tuple[PullRequest, Sequence[FailedCheck]]:
        """Return the pull request of the branch with its failed checks.

        @raise ServiceError: 403 without the grant; 404 if the branch has no pull request; 422 if
            that cannot be found out.
        """
        self._check_grant(caller)
        view = await self.read_state(session_id, repo, caller)
        if view.reason is not None:
            raise make_failure_error(describe_outage(view.reason, view.message))
        if view.pull_request is None:
            raise make_not_found_error("Pull request")
        return view.pull_request, view.pull_request.checks.failures

    async def read_log(
        self, session_id: str, repo: str | None, job: str, caller: Caller
    ) -> FailedCheckLog:
        """Return the end of the log of a failed check of the branch's pull request.

        @param job: L{FailedCheck.job}.
        @raise ServiceError: 404 if no failed check has it; 422 if the forge gives no log; and see
            L{read_failures}.
        """
        _, failures = await self.read_failures(session_id, repo, caller)
        failed = next((each for each in failures if job and each.job == job), None)
        if failed is None:
            raise make_not_found_error("Failed check")
        copy = await self._review.open_copy(session_id, repo)
        check = self._make_check(session_id, caller)
        try:
            branch = await find_forge_branch(copy)
            log = await self._ask_first(
                session_id, branch, READ_SECONDS, check,
                lambda forge, run: forge.read_log(run, branch, job),
            )  # fmt: skip
        except ForgeUnavailableError as error:
            raise make_failure_error(describe_outage(error.reason, error.message)) from None
        text = await copy.run_in_thread(partial(clean_program_output, log[-LOG_TAIL_BYTES:]))
        return FailedCheckLog(check=failed, text=text[-TEXT_LENGTH:])

    async def suggest(self, session_id: str, repo: str | None) -> PullRequestSuggestion:
        """Return a title and description made of the session's name and the commits."""
        copy = await self._review.open_copy(session_id, repo)
        subjects = await self._list_subjects(session_id, copy)
        session = self._sessions.get(session_id)
        is_named = session.name_source is not NameSource.PLACEHOLDER
        return compose_suggestion(session.name if is_named else "", subjects)

    # -- inside

    async def _list_subjects(self, session_id: str, copy: WorkingCopy) -> list[str]:
        changes = await self._review.read_recent_changes(session_id)
        found = next((each for each in changes.repositories if each.path == copy.path), None)
        if found is None or found.commit is None or found.base.commit in (None, found.commit):
            return []
        words = (
            "log", "--format=%s", "--no-merges", f"--max-count={MAX_SUBJECTS}",
            f"{found.base.commit}..{found.commit}", "--",
        )  # fmt: skip
        output, _ = await copy.run_git(words, 64 * 1024)
        return output.decode("utf-8", "replace").splitlines()[::-1]

    async def _read_and_remember(
        self, session_id: str, key: _StateKey, check: Callable[[], object]
    ) -> PullRequestView:
        before = self._known.get(key)
        view = await self._read_by_first(session_id, key.branch, check)
        failures = 0
        if view.reason is UnavailableReason.FAILED:
            failures = 1 if before is None else before.failures + 1
        wait = min(FRESH_SECONDS * 2 ** min(failures, 10), MAX_BACKOFF_SECONDS)
        self._known.pop(key, None)
        self._known[key] = _KnownState(
            view=view, until=self._clock.seconds() + wait, failures=failures
        )
        while len(self._known) > MAX_STATES:
            self._known.popitem(last=False)
        return view

    async def _read_by_first(
        self, session_id: str, branch: ForgeBranch, check: Callable[[], object]
    ) -> PullRequestView:
        """Read by the first program that is installed and signed in."""
        failure = ForgeUnavailableError(UnavailableReason.NOT_INSTALLED)
        for forge in self._list_candidates(branch):
            run = self._make_runner(session_id, forge, READ_SECONDS, check)
            try:
                found = await forge.read_pull_request(run, branch)
            except ForgeUnavailableError as error:
                failure = _choose_failure(failure, error)
                continue
            return PullRequestView(
                forge=forge.name,
                branch=branch,
                pull_request=found,
                checked_at=get_unix_ms(self._clock),
            )
        return PullRequestView(
            reason=failure.reason,
            message=failure.message,
            branch=branch,
            checked_at=get_unix_ms(self._clock),
        )

    async def _ask_first(
        self,
        session_id: str,
        branch: ForgeBranch,
        seconds: float,
        check: Callable[[], object],
        ask: Callable[[Forge, RunForge], Coroutine[Any, Any, _T]],
    ) -> _T:
        """Ask the first forge whose program is installed and signed in.

        @raise ForgeUnavailableError: there is none, or it refuses.
        """
        failure = ForgeUnavailableError(UnavailableReason.NOT_INSTALLED)
        for forge in self._list_candidates(branch):
            run = self._make_runner(session_id, forge, seconds, check)
            try:
                return await ask(forge, run)
            except ForgeUnavailableError as error:
                if error.reason is UnavailableReason.FAILED:
                    raise
                failure = _choose_failure(failure, error)
        raise failure

    def _make_key(self, session_id: str, branch: ForgeBranch) -> _StateKey:
        session = self._sessions.get(session_id)
        return _StateKey(owner=session.owner, place=session.location_id, branch=branch)

    def _check_grant(self, caller: Caller) -> None:
        if not caller.can_bypass_permissions:
            raise ServiceError(ErrorCode.FORBIDDEN, _NEEDS_GRANT)

    def _list_candidates(self, branch: ForgeBranch) -> Sequence[Forge]:
        """Return the forges that a host may be; its name often says which."""
        named = [forge for forge in self._forges if forge.name in branch.host]
        return named or self._forges

    def _make_runner(
        self, session_id: str, forge: Forge, seconds: float, check: Callable[[], object]
    ) -> RunForge:
        return partial(self._run, session_id, forge.program, seconds, check)

    async def _run(
        self,
        session_id: str,
        program: str,
        seconds: float,
        check: Callable[[], object],
        command: ForgeCommand,
    ) -> bytes:
        wanted = UserProgramCommand(
            program=program,
            words=command.words,
            stdin=command.stdin,
            env=command.env,
            seconds=seconds,
            output_limit=command.output_limit,
        )
        await self._turns.acquire()
        try:
            done = await self._git.run_user_program(session_id, wanted, check)
        finally:
            self._turns.release()
        if done is None:
            raise ForgeUnavailableError(UnavailableReason.NOT_INSTALLED)
        if done.status == 0:
            return done.output
        if done.status == _NOT_SIGNED_IN or _LOGIN_HINT.search(done.errors):
            raise ForgeUnavailableError(UnavailableReason.NOT_SIGNED_IN)
        said = [done.errors[-500:] or f"{program} failed", find_refusal(done.output)[:500]]
        message = ": ".join(part for part in said if part)
        raise ForgeUnavailableError(UnavailableReason.FAILED, message)

    def _make_unknown(self, reason: UnavailableReason) -> PullRequestView:
        return PullRequestView(reason=reason, checked_at=get_unix_ms(self._clock))

    def _make_check(self, session_id: str, caller: Caller) -> Callable[[], None]:
        def check_caller() -> None:
            caller.reauthorize()
            self._sessions.check_sender(session_id, caller)

        return check_caller


def compose_suggestion(title: str, subjects: Sequence[str]) -> PullRequestSuggestion:
    """Return a title and description.

    @param title: the name of the session; empty if it has none.
    @param subjects: first lines of the branch's commits, oldest first.
    """
    if len(subjects) == 1:
        return PullRequestSuggestion(title=subjects[0][:250], body="")
    shown = " ".join(title.split()) or (subjects[0] if subjects else "")
    return PullRequestSuggestion(
        title=shown[:250], body="\n".join(f"* {subject}" for subject in subjects)
    )


def describe_outage(reason: UnavailableReason, message: str) -> str:
    """Return the error text for a reason."""
    texts = {
        UnavailableReason.NO_BRANCH: "no branch is checked out: create one first",
        UnavailableReason.NO_REMOTE: "no remote of the repository is on GitHub or GitLab",
        UnavailableReason.NO_GRANT: _NEEDS_GRANT,
        UnavailableReason.NOT_INSTALLED: "install gh or glab where the session runs",
        UnavailableReason.NOT_SIGNED_IN: "sign in with gh auth login or glab auth login first",
    }
    return texts.get(reason, message)


def _choose_failure(
    before: ForgeUnavailableError, now: ForgeUnavailableError
) -> ForgeUnavailableError:
    """Return the failure that helps more: one of a program that is installed."""
    return before if now.reason is UnavailableReason.NOT_INSTALLED else now
