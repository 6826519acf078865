"""Wire form of timed runs (protocol-legacy)."""

from __future__ import annotations

from tservice.core.values.payload import Payload, omit_if_none
from tservice.timed_runs.model import TimedRun, TimedRunState


class TimedRunResponse(Payload):
    """Timed run; times in Unix milliseconds."""

    id: str
    prompt: str
    working_dir: str
    duration_minutes: int
    started_at: int
    end_at: int
    status: TimedRunState
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


def make_timed_run_response(run: TimedRun) -> TimedRunResponse:
    """Return the wire form of a run."""
    return TimedRunResponse.model_validate(run, from_attributes=True)
