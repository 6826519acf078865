"""Wire form of timed runs (protocol-legacy)."""

from __future__ import annotations

from tservice.core.payload import Payload, omit_if_none
from tservice.legacy.model import RunState, TimedRun


class TimedRunAnswer(Payload):
    """A timed run; times in Unix milliseconds."""

    id: str
    prompt: str
    working_dir: str
    duration_minutes: int
    started_at: int
    end_at: int
    status: RunState
    session_id: str | None
    turns: int
    logs: list[str]
    owner: str | None = omit_if_none()


class OneTimedRun(Payload):
    """A run that was begun."""

    run: TimedRunAnswer


class TimedRunsAnswer(Payload):
    """The runs, the newest first."""

    runs: list[TimedRunAnswer]


def timed_run_answer(run: TimedRun) -> TimedRunAnswer:
    """Return the response for a run."""
    return TimedRunAnswer(
        id=run.id,
        prompt=run.prompt,
        working_dir=run.working_dir,
        duration_minutes=run.duration_minutes,
        started_at=run.started_at,
        end_at=run.end_at,
        status=run.status,
        session_id=run.session_id,
        turns=run.turns,
        logs=list(run.logs),
        owner=run.owner,
    )
