"""Records of checks and of their runs, and the rules that need no effects (protocol-checks)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase

from attrs import evolve, frozen

from tservice.core.kernel.errors import make_field_error

MAX_CHECKS = 20
"""Maximum number of checks of a case."""
NAME_LENGTH = 32
COMMAND_LENGTH = 2000
MAX_SECONDS = 3600
MAX_PATHS = 50
"""Maximum number of path patterns of a check."""
PATH_LENGTH = 200
MAX_ATTEMPTS = 5
"""Maximum number of times in a row that a failure is sent back to the agent."""
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9 ._:/-]*$"

_NAME = re.compile(NAME_PATTERN)


class FailurePolicy(StrEnum):
    """Effect of a check that fails."""

    NOTIFY = "notify"
    """A person is notified."""
    SEND_BACK = "send_back"
    """The agent gets the failure as a prompt; a person is notified after the last attempt."""


class CheckState(StrEnum):
    """State of one check in a run."""

    WAITING = "waiting"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    """Its exit status was not 0, or a signal ended it."""
    TIMED_OUT = "timed_out"
    FLOODED = "flooded"
    """It was ended because it printed too much."""
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """The service ended while it ran."""
    UNAVAILABLE = "unavailable"
    """It could not be started."""


FAILURES = frozenset({CheckState.FAILED, CheckState.TIMED_OUT, CheckState.FLOODED})
"""States in which a check has a result that is not green."""
_SETTLED = FAILURES | {CheckState.PASSED}


class RunState(StrEnum):
    """State of a run of a session's checks."""

    WAITING = "waiting"
    RUNNING = "running"
    GREEN = "green"
    RED = "red"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    UNAVAILABLE = "unavailable"


UNDER_WAY = frozenset({RunState.WAITING, RunState.RUNNING})


class RunTrigger(StrEnum):
    """Reason of a run."""

    TURN = "turn"
    REQUEST = "request"


class FollowUp(StrEnum):
    """Step that follows a run.

    A failure is C{sending} from the moment at which this is decided, until its prompt was accepted.
    """

    NONE = "none"
    SENDING = "sending"
    SENT = "sent"
    NOTIFIED = "notified"
    """A person was notified that the checks are not green."""


@frozen(kw_only=True)
class Check:
    """Command that checks a workspace.

    @ivar paths: patterns of the files that the check is about; empty for all.
    """

    name: str
    command: str
    timeout_seconds: int
    paths: tuple[str, ...] = ()

    def is_about(self, changed: Iterable[str] | None) -> bool:
        """Return true if the check is about one of the changed files.

        @param changed: paths relative to the workspace; C{None} if any file may have changed.
        """
        if changed is None or not self.paths:
            return True
        return any(fnmatchcase(path, pattern) for path in changed for pattern in self.paths)


@frozen(kw_only=True)
class CaseChecks:
    """Checks of a case.

    @ivar owner: account that owns the case; empty in single-user mode.
    @ivar path: path of the case's folder when the checks were saved.
    @ivar updated_by: name of the person who saved them.
    @ivar file_hash: hash of the approved file that has them; empty for those of the case itself.
    """

    owner: str
    case_name: str
    path: str
    checks: tuple[Check, ...]
    on_failure: FailurePolicy = FailurePolicy.NOTIFY
    max_attempts: int = 0
    updated_at: int = 0
    updated_by: str = ""
    file_hash: str = ""


@frozen(kw_only=True)
class CheckResult:
    """Result of one check in a run.

    @ivar status: exit status; C{None} if there is none.
    @ivar passed: number of tests that passed, if the output ends with a known summary.
    @ivar output: end of what the check printed, as plain text.
    @ivar reason: reason of a state other than passed and failed.
    @ivar is_kept: true for the result of an earlier run, because no file changed that the check is
        about.
    """

    name: str
    command: str
    state: CheckState = CheckState.WAITING
    status: int | None = None
    duration_ms: int | None = None
    passed: int | None = None
    failed: int | None = None
    output: str = ""
    reason: str | None = None
    is_kept: bool = False

    @property
    def is_settled(self) -> bool:
        """True if the check ran to an end that says something about the workspace."""
        return self.state in _SETTLED


@frozen(kw_only=True)
class CheckRun:
    """Run of a session's checks.

    @ivar attempt: number of times in a row that the agent was asked before this run.
    @ivar reason: reason of a state other than green and red.
    @ivar created_at: Unix milliseconds, as for C{finished_at}.
    """

    id: str
    session_id: str
    state: RunState = RunState.WAITING
    trigger: RunTrigger = RunTrigger.TURN
    follow_up: FollowUp = FollowUp.NONE
    attempt: int = 0
    reason: str | None = None
    created_at: int
    finished_at: int | None = None
    results: tuple[CheckResult, ...] = ()

    @property
    def is_under_way(self) -> bool:
        """True if the run has not ended."""
        return self.state in UNDER_WAY

    @property
    def failures(self) -> list[CheckResult]:
        """Results that are not green."""
        return [each for each in self.results if each.state in FAILURES]

    def with_result(self, number: int, result: CheckResult) -> CheckRun:
        """Return the run with one of its results replaced."""
        changed = [*self.results]
        changed[number] = result
        return evolve(self, results=tuple(changed))


@frozen(kw_only=True)
class CheckProgress:
    """State of a session between the runs of its checks.

    @ivar workspace: the workspace at the last run, as L{WorkspaceState} writes it; C{None} if it
        is not known.
    @ivar attempts: number of times in a row that a failure was sent back to the agent.
    @ivar is_stopped: true if a person typed since then, so that nothing more is sent back.
    @ivar has_given_up: true after the last attempt, until a person types or the checks are green.
    """

    session_id: str
    workspace: str | None = None
    attempts: int = 0
    is_stopped: bool = False
    has_given_up: bool = False


class RunVerdict(StrEnum):
    """Consequence of a finished run."""

    RELEASE = "release"
    """The notice of the turn's end is sent."""
    SEND_BACK = "send_back"
    NOTIFY = "notify"
    """A person is notified that the checks are not green."""
    DROP = "drop"
    """No notice follows: a new turn has begun, or a person looks at the result."""


def judge_run(run: CheckRun, checks: CaseChecks, progress: CheckProgress) -> RunVerdict:
    """Return the consequence of a finished run."""
    if run.trigger is RunTrigger.REQUEST or run.state is RunState.CANCELLED:
        return RunVerdict.DROP
    if run.state in (RunState.GREEN, RunState.UNAVAILABLE):
        return RunVerdict.RELEASE
    if run.state is not RunState.RED or checks.on_failure is FailurePolicy.NOTIFY:
        return RunVerdict.NOTIFY
    is_last = progress.attempts >= checks.max_attempts
    if progress.is_stopped or progress.has_given_up or is_last:
        return RunVerdict.NOTIFY
    return RunVerdict.SEND_BACK


def settle_progress(progress: CheckProgress, run: CheckRun, verdict: RunVerdict) -> CheckProgress:
    """Return the progress after a run whose consequence is C{verdict}."""
    if run.state is RunState.GREEN:
        return evolve(progress, attempts=0, is_stopped=False, has_given_up=False)
    if verdict is RunVerdict.SEND_BACK:
        return evolve(progress, attempts=progress.attempts + 1)
    if verdict is RunVerdict.NOTIFY:
        gave_up = progress.has_given_up or (progress.attempts > 0 and not progress.is_stopped)
        return evolve(progress, attempts=0, is_stopped=False, has_given_up=gave_up)
    return progress


def stop_by_person(progress: CheckProgress, *, is_under_way: bool) -> CheckProgress:
    """Return the progress after a person typed.

    @param is_under_way: true if the checks of the session run.
    """
    if progress.attempts > 0 or is_under_way:
        return evolve(progress, is_stopped=True, has_given_up=False)
    return evolve(progress, has_given_up=False)


def conclude_run(results: Sequence[CheckResult]) -> RunState:
    """Return the state of a run whose checks have all ended."""
    states = {each.state for each in results}
    for state, concluded in (
        (CheckState.CANCELLED, RunState.CANCELLED),
        (CheckState.INTERRUPTED, RunState.INTERRUPTED),
    ):
        if state in states:
            return concluded
    if states & FAILURES:
        return RunState.RED
    return RunState.UNAVAILABLE if CheckState.UNAVAILABLE in states else RunState.GREEN


def select_checks(
    checks: Sequence[Check], earlier: Sequence[CheckResult], changed: Iterable[str] | None
) -> list[CheckResult]:
    """Return the results with which a run begins.

    A check that is not about a changed file keeps its earlier result, if it had one.

    @param earlier: results of the last run.
    @param changed: paths that changed since the last run; C{None} if any file may have changed.
    """
    known = {(each.name, each.command): each for each in earlier if each.is_settled}
    paths = None if changed is None else frozenset(changed)
    found = []
    for check in checks:
        before = known.get((check.name, check.command))
        if before is not None and not check.is_about(paths):
            found.append(evolve(before, is_kept=True))
        else:
            found.append(CheckResult(name=check.name, command=check.command))
    return found


def check_definitions(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return the checks of a request, if all follow the rules.

    @raise ServiceError: 400 that names the field and the rule.
    """
    if len(checks) > MAX_CHECKS:
        raise make_field_error("checks", f"at most {MAX_CHECKS}")
    names: set[str] = set()
    for number, check in enumerate(checks):
        field = f"checks.{number}"
        _check_name(check.name, f"{field}.name", names)
        _check_command(check.command, f"{field}.command")
        if not 1 <= check.timeout_seconds <= MAX_SECONDS:
            raise make_field_error(f"{field}.timeoutSeconds", f"1 to {MAX_SECONDS}")
        if len(check.paths) > MAX_PATHS:
            raise make_field_error(f"{field}.paths", f"at most {MAX_PATHS}")
        for place, path in enumerate(check.paths):
            _check_path(path, f"{field}.paths.{place}")
    return tuple(checks)


def check_attempts(attempts: int, named: str = "maxAttempts") -> int:
    """Return the number of attempts of a request.

    @raise ServiceError: 400: it is out of range.
    """
    if not 0 <= attempts <= MAX_ATTEMPTS:
        raise make_field_error(named, f"0 to {MAX_ATTEMPTS}")
    return attempts


def _check_name(name: str, field: str, names: set[str]) -> None:
    if not _NAME.fullmatch(name) or len(name) > NAME_LENGTH:
        rule = f"1 to {NAME_LENGTH} letters, digits, blanks or . _ : / -, beginning with one of"
        raise make_field_error(field, f"{rule} the first two")
    if name.casefold() in names:
        raise make_field_error(field, "is the name of another check")
    names.add(name.casefold())


def _check_command(command: str, field: str) -> None:
    if not command.strip() or len(command) > COMMAND_LENGTH:
        raise make_field_error(field, f"1 to {COMMAND_LENGTH} characters that are not all blank")
    if any((ord(sign) < 32 and sign not in "\n\t") or ord(sign) == 127 for sign in command):
        raise make_field_error(field, "must not contain control characters")
    try:
        command.encode()
    except UnicodeEncodeError:
        raise make_field_error(field, "must be valid text") from None


def _check_path(path: str, field: str) -> None:
    parts = path.split("/")
    if not path or len(path) > PATH_LENGTH or not path.isprintable():
        raise make_field_error(field, f"1 to {PATH_LENGTH} printable characters")
    if path.startswith("/") or ".." in parts:
        raise make_field_error(field, "must be relative to the workspace, without ..")
