"""Record of a timed run, and functions on it (protocol-legacy)."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from attrs import evolve, frozen

MAX_MINUTES = 14_400
PROMPT_LENGTH = 100_000
"""Maximum characters of a prompt."""
AT_A_TIME = 20
"""Maximum number of timed runs in progress (protocol-legacy)."""
OF_ONE = 10
"""Maximum number of one account's timed runs in progress, in multi-user mode."""
KEPT = 100
"""Maximum number of stored runs.  The oldest finished ones are deleted first."""
LOGGED = 200
"""Maximum number of lines in a run's log.  The oldest are dropped first."""


class TimedRunState(StrEnum):
    """State of a timed run."""

    RUNNING = "running"
    COMPLETED = "completed"
    """The time is over."""
    STOPPED = "stopped"
    """A user ended it."""
    FAILED = "failed"


@frozen(kw_only=True)
class TimedRun:
    """Record of a timed run.

    @ivar started_at: time of the start, Unix milliseconds; C{end_at} is the time of the end.
    @ivar turns: number of finished turns of the agent.
    @ivar lines: number of typed lines: the prompt, and one line after each turn.
    @ivar logs: lines of the log, oldest first.
    """

    id: str
    owner: str | None
    prompt: str
    working_dir: str
    duration_minutes: int
    started_at: int
    end_at: int
    status: TimedRunState = TimedRunState.RUNNING
    session_id: str | None = None
    turns: int = 0
    lines: int = 0
    logs: tuple[str, ...] = ()

    @property
    def is_running(self) -> bool:
        """True while the run is in progress."""
        return self.status is TimedRunState.RUNNING


def add_log_line(run: TimedRun, at: int, text: str) -> TimedRun:
    """Return the run with one more log line; unchanged if the last line has the same text.

    @param at: time of the line, Unix milliseconds.
    """
    if run.logs and run.logs[-1].partition(" ")[2] == text:
        return run
    moment = datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return evolve(run, logs=(*run.logs, f"{moment} {text}")[-LOGGED:])


def make_next_line(run: TimedRun, now: int) -> str:
    """Return the next line to type: first the prompt, then the time left and a request to continue.

    @param now: Unix milliseconds.
    """
    if run.lines == 0:
        return run.prompt
    return f"Time left: {format_duration(run.end_at - now)}. Go on with the task."


def format_duration(ms: int) -> str:
    """Return a duration of C{ms} milliseconds as text, in whole minutes."""
    minutes = ms // 60_000
    if minutes < 1:
        return "less than a minute"
    hours, rest = divmod(minutes, 60)
    words = [f"{hours} h" if hours else "", f"{rest} min" if rest else ""]
    return " ".join(word for word in words if word)


def find_excess_runs(runs: list[TimedRun]) -> list[TimedRun]:
    """Return the finished runs to delete because more than L{KEPT} are stored, oldest first."""
    over = [run for run in runs if not run.is_running]
    return over[: max(0, len(runs) - KEPT)]
