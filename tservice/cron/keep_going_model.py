"""Record of a run that keeps going, and functions on it (protocol-cron-keep-going)."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from attrs import evolve, frozen

MAX_MINUTES = 14_400
AT_A_TIME = 20
"""Maximum number of runs that keep going at the same time (protocol-cron-keep-going)."""
OF_ONE = 10
"""Maximum number of such runs of one account, in multi-user mode."""
LOGGED = 200
"""Maximum number of lines in a run's log.  The oldest are dropped first."""


class KeepGoingState(StrEnum):
    """State of a run that keeps going."""

    RUNNING = "running"
    COMPLETED = "completed"
    """The time is over."""
    STOPPED = "stopped"
    """A user ended it."""
    FAILED = "failed"


@frozen(kw_only=True)
class KeepGoing:
    """State of the prompts that follow a run's own prompt.

    @ivar end_at: time of the end, Unix milliseconds.
    @ivar turns: number of finished turns of the agent.
    @ivar lines: number of typed lines: the prompt, and one line after each turn.
    @ivar logs: lines of the log, oldest first.
    """

    minutes: int
    end_at: int
    state: KeepGoingState = KeepGoingState.RUNNING
    turns: int = 0
    lines: int = 0
    logs: tuple[str, ...] = ()


def begin_keep_going(minutes: int | None, now: int) -> KeepGoing | None:
    """Return the record of a run that starts now; C{None} for a job that does not keep going.

    @param now: Unix milliseconds.
    """
    if minutes is None:
        return None
    return KeepGoing(minutes=minutes, end_at=now + minutes * 60_000)


def add_log_line(record: KeepGoing, at: int, text: str) -> KeepGoing:
    """Return the record with one more log line; unchanged if the last line has the same text.

    @param at: time of the line, Unix milliseconds.
    """
    if record.logs and record.logs[-1].partition(" ")[2] == text:
        return record
    moment = datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return evolve(record, logs=(*record.logs, f"{moment} {text}")[-LOGGED:])


def make_reminder(record: KeepGoing, now: int) -> str:
    """Return the line that is typed after a turn.

    @param now: Unix milliseconds.
    """
    return f"Time left: {format_duration(record.end_at - now)}. Go on with the task."


def format_duration(ms: int) -> str:
    """Return a duration of C{ms} milliseconds as text, in whole minutes."""
    minutes = ms // 60_000
    if minutes < 1:
        return "less than a minute"
    hours, rest = divmod(minutes, 60)
    words = [f"{hours} h" if hours else "", f"{rest} min" if rest else ""]
    return " ".join(word for word in words if word)
