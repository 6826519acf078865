"""Wire form of timed runs (protocol-legacy)."""

from __future__ import annotations

from tservice.core.values.payload import Payload, omit_if_none
from tservice.cron.keep_going_model import KeepGoingState
from tservice.cron.model import TIMED_RUN
from tservice.cron.timed_runs.service import TimedRun


class TimedRunResponse(Payload):
    """Timed run; times in Unix milliseconds."""

    id: str
    prompt: str
    working_dir: str
    duration_minutes: int
    started_at: int
    end_at: int
    status: KeepGoingState
    session_id: str | None
    turns: int
    logs: list[str]
    owner: str | None = omit_if_none()


class TimedRunEnvelope(Payload):
    """Response with a timed run."""

    run: TimedRunResponse


class TimedRunsResponse(Payload):
    """Timed runs, newest first."""

    runs: list[TimedRunResponse]


def make_timed_run_response(found: TimedRun) -> TimedRunResponse:
    """Return the wire form of a timed run."""
    job, run, going = found.job, found.run, found.going
    return TimedRunResponse(
        id=job.id.removeprefix(TIMED_RUN),
        prompt=job.definition.prompt_text or "",
        working_dir=job.definition.working_dir,
        duration_minutes=going.minutes,
        started_at=run.started_at,
        end_at=going.end_at,
        status=going.state,
        session_id=run.session_id,
        turns=going.turns,
        logs=list(going.logs),
        owner=job.owner,
    )
