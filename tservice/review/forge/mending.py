"""Prompt that asks the agent to repair the failed checks of a pull request."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from attrs import frozen

from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.review.forge.model import FailedCheck, PullRequest
from tservice.review.forge.service import PullRequestService
from tservice.sessions.interfaces import InputDelivery, InputRequest, ISessions, SessionStatus

MAX_LOGS = 5
"""Maximum number of logs that are read for one prompt; other checks are named."""
PROMPT_CHARS = 12_000
"""Maximum characters of logs in one prompt, shared by the checks."""
LINE_CHARS = 500
"""Maximum characters of one line of a log in a prompt."""


@frozen(kw_only=True)
class MendRequest:
    """Request to let the agent repair failed checks.

    @ivar request_id: name of the request, which is typed once; C{None} for the failures themselves.
    @ivar even_while_busy: true to send it while the agent works.
    """

    request_id: str | None = None
    even_while_busy: bool = False


class CheckMender:
    """Sends failed checks to the agents of sessions.  Every error is a C{ServiceError}."""

    def __init__(self, pull_requests: PullRequestService, sessions: ISessions) -> None:
        self._pull_requests, self._sessions = pull_requests, sessions

    async def send_failures(
        self, session_id: str, repo: str | None, wanted: MendRequest, caller: Caller
    ) -> tuple[InputDelivery, Sequence[FailedCheck]]:
        """Send the failed checks with the ends of their logs as one prompt, typed exactly once.

        @return: the fate of the prompt, and the checks in it.
        @raise ServiceError: 409 if no check failed, or the agent works; and those of
            L{PullRequestService.read_failures} and of an input.
        """
        self._check_idle(session_id, wanted)
        pull, failures = await self._pull_requests.read_failures(session_id, repo, caller)
        if not failures:
            raise make_conflict_error("no check of the pull request failed")
        logs = [
            await self._read_log(session_id, repo, each, caller) for each in failures[:MAX_LOGS]
        ]
        text = format_failed_checks(pull, failures, logs)
        self._check_idle(session_id, wanted)
        caller.reauthorize()
        request = InputRequest(
            text=text,
            use_mux=True,
            client_id=f"mend-{_digest_request(repo, pull, failures, wanted)}",
            seq=1,
            may_wait=True,
            sender=caller,
        )
        delivery = await self._sessions.send_input(session_id, request)
        if delivery.dropped:
            raise make_failure_error("the session's host is out of reach: try again later")
        return delivery, failures

    async def _read_log(
        self, session_id: str, repo: str | None, check: FailedCheck, caller: Caller
    ) -> str:
        """Return the end of a log; empty if the forge has none."""
        if not check.job:
            return ""
        try:
            return (await self._pull_requests.read_log(session_id, repo, check.job, caller)).text
        except ServiceError as error:
            if error.code is not ErrorCode.OPERATION_FAILED:
                raise
            return ""  # it expired, or is too long: the agent gets the address

    def _check_idle(self, session_id: str, wanted: MendRequest) -> None:
        if wanted.even_while_busy:
            return
        if self._sessions.get(session_id).status is SessionStatus.BUSY:
            text = "the agent is working: wait for the end of its turn, or pass evenWhileBusy"
            raise ServiceError(ErrorCode.SESSION_BUSY, text)


def format_failed_checks(
    pull: PullRequest, failures: Sequence[FailedCheck], logs: Sequence[str]
) -> str:
    """Return the prompt for failed checks.

    @param logs: the ends of the logs of the first checks; empty for an unknown one.
    """
    room = PROMPT_CHARS // max(1, sum(bool(log) for log in logs))
    what = "A check" if len(failures) == 1 else f"{len(failures)} checks"
    of = f"pull request {pull.number}" + (f" at commit {pull.commit[:10]}" if pull.commit else "")
    first = f"{what} of {of} failed. Please repair the cause."
    shown = [*logs, *[""] * (len(failures) - len(logs))]
    blocks = [_format_check(each, log, room) for each, log in zip(failures, shown, strict=True)]
    return "\n\n".join([first, *blocks])


def _format_check(check: FailedCheck, log: str, room: int) -> str:
    name = " ".join(check.name.split())[:200]
    line = f"Check {name}" + (f", {check.url}" if check.url else "")
    if not log:
        return line
    lines = [
        each if len(each) <= LINE_CHARS else each[:LINE_CHARS] + "..." for each in log.split("\n")
    ]
    text = "\n".join(lines)[-room:]
    mark = "```"
    while mark in text:
        mark += "`"
    return "\n".join([line, "End of its log:", mark, text, mark])


def _digest_request(
    repo: str | None, pull: PullRequest, failures: Sequence[FailedCheck], wanted: MendRequest
) -> str:
    """Return a name for the request, else for exactly these failures."""
    names = [wanted.request_id] if wanted.request_id else [
        pull.commit, *(f"{each.name} {each.job} {each.url}" for each in failures)
    ]  # fmt: skip
    parts = [repo or "", str(pull.number), *names]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
