"""Wire form of jobs and runs (protocol-cron-job, protocol-cron-run)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from tservice.core.kernel.event_payloads import CronJobsPayload, CronRunPayload
from tservice.core.values.payload import Payload, omit_if_none
from tservice.cron.keep_going_model import KeepGoing, KeepGoingState
from tservice.cron.model import (
    ConcurrencyPolicy,
    CronJob,
    CronRun,
    InputMode,
    PromptMode,
    RunStatus,
    RunTrigger,
    ScheduleType,
    flatten_definition,
)

MAX_EVENT_PROMPT = 1000
"""Maximum characters of a C{promptText} in C{cron:jobsChanged}.

A longer one is left out.
"""
SHOWN_LOG_LINES = 5
"""Maximum lines of a run's log in lists and events."""


class JobResponse(Payload):
    """Job; times in Unix milliseconds."""

    id: str
    owner: str | None = omit_if_none()
    name: str
    agent_type: str
    working_dir: str
    case_name: str | None = omit_if_none()
    launch_command: str | None = omit_if_none()
    prompt_mode: PromptMode
    prompt_text: str | None = omit_if_none()
    prompt_file_path: str | None = omit_if_none()
    input_mode: InputMode
    schedule_type: ScheduleType
    run_at: int | None = omit_if_none()
    interval_minutes: int | None = omit_if_none()
    daily_time: str | None = omit_if_none()
    weekly_days: tuple[int, ...] | None = omit_if_none()
    weekly_time: str | None = omit_if_none()
    cron_expression: str | None = omit_if_none()
    enabled: bool
    concurrency_policy: ConcurrencyPolicy
    auto_close_previous_session: bool
    notes: str | None = omit_if_none()
    created_at: int
    updated_at: int
    last_run_at: int | None
    next_run_at: int | None
    last_status: RunStatus | None
    last_due_key: str | None
    keep_going_minutes: int | None = omit_if_none()
    completed_once: bool | None = omit_if_none()


class KeepGoingResponse(Payload):
    """State of a run that keeps going; C{logs} holds the newest lines."""

    minutes: int
    end_at: int
    state: KeepGoingState
    turns: int
    lines: int
    logs: list[str]


class RunResponse(CronRunPayload):
    """Run. C{finishedAt} is the end of its launch and its prompt, not of the agent's work."""

    cron_job_id: str
    started_at: int
    finished_at: int | None
    status: RunStatus
    trigger_type: RunTrigger
    created_session_url: str | None
    keep_going: KeepGoingResponse | None = omit_if_none()


class JobListResponse(CronJobsPayload):
    """Jobs, newest first; a long C{promptText} is omitted."""

    jobs: list[JobResponse]


def make_job_response(job: CronJob) -> JobResponse:
    """Return the wire form of a job."""
    return JobResponse(
        id=job.id,
        owner=job.owner,
        created_at=job.created_at,
        updated_at=job.updated_at,
        last_run_at=job.last_run_at,
        next_run_at=job.next_run_at,
        last_status=job.last_status,
        last_due_key=job.last_due_key,
        completed_once=job.completed_once or None,
        **flatten_definition(job.definition),
    )


def make_run_response(run: CronRun) -> RunResponse:
    """Return the wire form of a run."""
    return RunResponse(
        id=run.id,
        cron_job_id=run.job_id,
        session_id=run.session_id,
        session_name=run.session_name,
        started_at=run.started_at,
        finished_at=run.finished_at,
        status=run.status,
        error_message=run.error_message,
        trigger_type=run.trigger,
        created_session_url=None if run.session_id is None else f"/?session={run.session_id}",
        keep_going=None if run.keep_going is None else _make_keep_going(run.keep_going),
    )


def _make_keep_going(record: KeepGoing) -> KeepGoingResponse:
    shown = evolve(record, logs=record.logs[-SHOWN_LOG_LINES:])
    return KeepGoingResponse.model_validate(shown, from_attributes=True)


def make_jobs_response(jobs: Iterable[CronJob]) -> JobListResponse:
    """Return the wire form of jobs for an event, without long prompts."""
    return JobListResponse(jobs=[_without_long_prompt(make_job_response(job)) for job in jobs])


def _without_long_prompt(job: JobResponse) -> JobResponse:
    long = len(job.prompt_text or "") > MAX_EVENT_PROMPT
    return job.model_copy(update={"prompt_text": None}) if long else job
