"""Records of jobs and runs, and the rules for them (protocol-cron-job, protocol-cron-run)."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from attrs import evolve, field, fields_dict, frozen

from tservice.core.kernel.errors import make_field_error
from tservice.cron.keep_going_model import KeepGoing, KeepGoingState, begin_keep_going

MAX_JOBS = 100
MAX_JOBS_OF_ONE = 50
MAX_RUNS = 500
"""Maximum number of jobs, of jobs of one account in multi-user mode, and of stored runs
(protocol-cron).
"""

NAME_LENGTH = 200
LINE_LENGTH = 2000
"""Maximum characters of a name, and of C{launchCommand} and C{notes}."""
PROMPT_LENGTH = 100_000
PROMPT_FILE_BYTES = 1024 * 1024
INTERVAL_MINUTES = 525_600
TIMED_RUN = "timed-"
"""Prefix of the ids of jobs that were made by the deprecated C{/api/scheduled}."""


class PromptMode(StrEnum):
    """Source of a job's prompt."""

    INLINE = "inline_text"
    FILE = "prompt_file_path"


class InputMode(StrEnum):
    """Method of entering the prompt."""

    PASTE = "paste"
    TYPED = "typed"


class ScheduleType(StrEnum):
    """Kind of schedule."""

    ONCE = "once"
    INTERVAL = "interval"
    DAILY = "daily"
    WEEKLY = "weekly"
    CRON = "cron"


class ConcurrencyPolicy(StrEnum):
    """Action of a scheduled run while the same agent runs elsewhere."""

    WARN = "warn_only"
    SKIP = "skip_if_same_agent_running"


class RunStatus(StrEnum):
    """Status of a run."""

    CREATED = "created"
    SESSION_STARTED = "session_started"
    PROMPT_SENT = "prompt_sent"
    FAILED = "failed"
    SKIPPED = "skipped"


class RunTrigger(StrEnum):
    """Cause of a run."""

    SCHEDULED = "scheduled"
    MANUAL = "manual_run_now"


@frozen(kw_only=True)
class JobSchedule:
    """Times at which a job runs.  Only the fields of the schedule's type are set.

    @ivar run_at: Unix milliseconds.
    @ivar daily_time: C{HH:MM} in the service's time zone; C{weekly_time} likewise.
    @ivar weekly_days: days of the week; 0 is Sunday.
    """

    type: ScheduleType
    run_at: int | None = None
    interval_minutes: int | None = None
    daily_time: str | None = None
    weekly_days: tuple[int, ...] | None = None
    weekly_time: str | None = None
    cron_expression: str | None = None


@frozen(kw_only=True)
class JobDefinition:
    """Settings of a job, as a user entered them.

    @ivar keep_going_minutes: minutes for which a run tells its agent to continue after each turn;
        C{None} for a job that types its prompt only.
    """

    name: str
    agent_type: str
    working_dir: str
    case_name: str | None = None
    launch_command: str | None = None
    prompt_mode: PromptMode
    prompt_text: str | None = field(default=None, repr=False)
    prompt_file_path: str | None = None
    input_mode: InputMode
    schedule: JobSchedule
    enabled: bool
    concurrency_policy: ConcurrencyPolicy
    auto_close_previous_session: bool = True
    notes: str | None = None
    keep_going_minutes: int | None = None

    @property
    def closes_previous(self) -> bool:
        """True if a run first closes the session of the previous run."""
        return self.auto_close_previous_session and self.schedule.type is not ScheduleType.ONCE


@frozen(kw_only=True)
class CronJob:
    """Scheduled job.

    @ivar covered: time up to which all scheduled times were handled, Unix milliseconds.
    @ivar skipping: true if the last scheduled run was skipped; further skips are then not recorded.
    """

    id: str
    owner: str | None
    definition: JobDefinition
    created_at: int
    updated_at: int
    last_run_at: int | None = None
    next_run_at: int | None = None
    last_status: RunStatus | None = None
    last_due_key: str | None = None
    completed_once: bool = False
    covered: int = 0
    skipping: bool = False

    @property
    def is_timed_run(self) -> bool:
        """True if the job was made by C{/api/scheduled}: it runs once, and cannot be changed."""
        return self.id.startswith(TIMED_RUN)


@frozen(kw_only=True)
class RunDelivery:
    """Input that the session of a run has not received yet.

    @ivar text: the prompt.
    @ivar command: shell command typed before the prompt; C{None} for an agent.
    @ivar begun: true if the agent was ready, so that part of the prompt may have been typed.
    """

    text: str = field(repr=False)
    typed: bool
    command: str | None = None
    begun: bool = False


@frozen(kw_only=True)
class CronRun:
    """Run of a job.

    @ivar finished_at: time at which the prompt was delivered, or the run failed; Unix milliseconds.
    @ivar due_key: key of the scheduled time (L{make_due_key}); C{None} for a manual run.
    @ivar delivery: input still to be typed, stored so that it continues after a restart.
    @ivar keep_going: state of a run that keeps going; C{None} for another run.
    """

    id: str
    job_id: str
    trigger: RunTrigger
    status: RunStatus
    started_at: int
    session_id: str | None = None
    session_name: str | None = None
    finished_at: int | None = None
    error_message: str | None = None
    due_key: str | None = None
    delivery: RunDelivery | None = None
    keep_going: KeepGoing | None = None

    @property
    def is_unfinished(self) -> bool:
        """True while the session or the prompt is outstanding."""
        return self.finished_at is None and self.error_message is None

    @property
    def keeps_going(self) -> bool:
        """True while the run tells its agent to continue after each turn."""
        return self.keep_going is not None and self.keep_going.state is KeepGoingState.RUNNING


def make_run(
    job: CronJob, run_id: str, trigger: RunTrigger, now: int, due_key: str | None = None
) -> CronRun:
    """Return a new run of a job.

    @param now: Unix milliseconds.
    """
    return CronRun(
        id=run_id,
        job_id=job.id,
        trigger=trigger,
        status=RunStatus.CREATED,
        started_at=now,
        due_key=due_key,
        keep_going=begin_keep_going(job.definition.keep_going_minutes, now),
    )


_SCHEDULE_FIELDS: Mapping[ScheduleType, tuple[str, ...]] = {
    ScheduleType.ONCE: ("run_at",),
    ScheduleType.INTERVAL: ("interval_minutes",),
    ScheduleType.DAILY: ("daily_time",),
    ScheduleType.WEEKLY: ("weekly_days", "weekly_time"),
    ScheduleType.CRON: ("cron_expression",),
}
_PROMPT_FIELDS: Mapping[PromptMode, tuple[str, ...]] = {
    PromptMode.INLINE: ("prompt_text",),
    PromptMode.FILE: ("prompt_file_path",),
}
_ALIASES = {
    "run_at": "runAt",
    "interval_minutes": "intervalMinutes",
    "working_dir": "workingDir",
    "daily_time": "dailyTime",
    "weekly_days": "weeklyDays",
    "weekly_time": "weeklyTime",
    "cron_expression": "cronExpression",
    "prompt_text": "promptText",
    "prompt_file_path": "promptFilePath",
}


def flatten_definition(definition: JobDefinition) -> dict[str, Any]:
    """Return a definition as a flat mapping of the fields of a request."""
    schedule = definition.schedule
    found = {name: getattr(definition, name) for name in fields_dict(JobDefinition)}
    del found["schedule"]
    for name in fields_dict(JobSchedule):
        found["schedule_type" if name == "type" else name] = getattr(schedule, name)
    return found


def merge_definition(
    given: Mapping[str, Any],
    before: JobDefinition | None = None,
    is_shell: Callable[[str], bool] = lambda mode: mode == "shell",
) -> JobDefinition:
    """Return the definition that results from the fields of a request.

    Fields of another C{promptMode} or C{scheduleType} are left out.  The command is left out as
    well if the job does not run a shell.

    @param given: fields of the request; C{None} as a value means that the field is absent.
    @param before: the previous definition, for a change.
    @raise ServiceError: 400 for the field that is not valid.
    """
    merged = {**({} if before is None else flatten_definition(before)), **given}
    _require_mode_fields(given, before)
    prompt, kind = merged["prompt_mode"], merged["schedule_type"]
    _require_fields(merged, (*_PROMPT_FIELDS[prompt], *_SCHEDULE_FIELDS[kind]))
    case = merged.get("case_name") or None
    if case is None:
        _require_fields(merged, ("working_dir",))
    schedule = JobSchedule(type=kind, **{name: merged[name] for name in _SCHEDULE_FIELDS[kind]})
    shell = is_shell(merged["agent_type"])
    if not shell and given.get("launch_command"):
        raise make_field_error("launchCommand", "is for agentType shell only")
    if shell and given.get("keep_going_minutes"):
        raise make_field_error("keepGoingMinutes", "is for agents, not for agentType shell")
    closes = merged.get("auto_close_previous_session")
    return JobDefinition(
        name=merged["name"],
        agent_type=merged["agent_type"],
        # The folder of a case is resolved later.
        working_dir=merged.get("working_dir") or "",
        case_name=case,
        launch_command=(merged.get("launch_command") or None) if shell else None,
        prompt_mode=prompt,
        **{name: merged[name] for name in _PROMPT_FIELDS[prompt]},
        input_mode=merged["input_mode"],
        schedule=schedule,
        enabled=merged["enabled"],
        concurrency_policy=merged["concurrency_policy"],
        auto_close_previous_session=True if closes is None else closes,
        notes=merged.get("notes"),
        keep_going_minutes=None if shell else merged.get("keep_going_minutes"),
    )


def _require_mode_fields(given: Mapping[str, Any], before: JobDefinition | None) -> None:
    """Fail if the request sets a new mode without the fields needed for it (protocol-cron)."""
    if before is None:
        return
    prompt = given.get("prompt_mode", before.prompt_mode)
    kind = given.get("schedule_type", before.schedule.type)
    if prompt is not before.prompt_mode:
        _require_fields(given, _PROMPT_FIELDS[prompt])
    if kind is not before.schedule.type:
        _require_fields(given, _SCHEDULE_FIELDS[kind])


def _require_fields(given: Mapping[str, Any], names: Iterable[str]) -> None:
    for name in names:
        if given.get(name) is None:
            raise make_field_error(_ALIASES[name], "is required")


def normalize_prompt_path(definition: JobDefinition) -> JobDefinition:
    """Return the definition with the path of its prompt file in normal form.

    The file's existence and symbolic links are checked when the job runs.

    @raise ServiceError: 400: the path is not absolute, or not inside the working directory.
    """
    path = definition.prompt_file_path
    if path is None:
        return definition
    if "\0" in path or not path.startswith("/"):
        raise make_field_error("promptFilePath", "must be an absolute path")
    plain = os.path.normpath(path)
    folder = os.path.normpath(definition.working_dir)
    if not plain.startswith(folder.rstrip("/") + "/"):
        raise make_field_error("promptFilePath", "must be inside workingDir")
    return evolve(definition, prompt_file_path=plain)


_NO_LINE = re.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\\u2028\\u2029]")
"""Matches control characters and line separators (Unicode categories Cc, Zl and Zp).

A loop over 100,000 characters would take 10 ms.
"""


def is_single_line(text: str) -> bool:
    """Return true if a text is one line without control characters except TAB."""
    return _NO_LINE.search(text) is None


def make_due_key(job_id: str, planned: int) -> str:
    """Return a key for a scheduled time of a job, so that it runs once (protocol-cron-times).

    @param planned: the scheduled time, Unix milliseconds.
    """
    return f"{job_id}:{planned}"
