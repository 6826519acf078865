"""Timed runs: their record and pure rules (protocol-legacy)."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from attrs import evolve, frozen

MAX_MINUTES = 14_400
PROMPT_LENGTH = 100_000
"""Characters of a prompt."""
AT_A_TIME = 20
"""Runs under way (protocol-legacy)."""
OF_ONE = 10
"""Of them of one account, where there are several accounts."""
KEPT = 100
"""Runs that are remembered; the oldest that are over go first."""
LOGGED = 200
"""Lines of a run's log; the oldest go first."""


class RunState(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    """Its time is over."""
    STOPPED = "stopped"
    """Somebody ended it."""
    FAILED = "failed"


@frozen(kw_only=True)
class TimedRun:
    """One run.

    @ivar started_at: Unix milliseconds, as C{end_at}.
    @ivar turns: of the agent, that have ended.
    @ivar lines: that were typed: the prompt, and what follows each turn.
    @ivar logs: what happened, oldest first.
    """

    id: str
    owner: str | None
    prompt: str
    working_dir: str
    duration_minutes: int
    started_at: int
    end_at: int
    status: RunState = RunState.RUNNING
    session_id: str | None = None
    turns: int = 0
    lines: int = 0
    logs: tuple[str, ...] = ()

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.status is RunState.RUNNING


def logged(run: TimedRun, at: int, text: str) -> TimedRun:
    """The run with one more line of its log; what was said last is not said again."""
    if run.logs and run.logs[-1].partition(" ")[2] == text:
        return run
    moment = datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return evolve(run, logs=(*run.logs, f"{moment} {text}")[-LOGGED:])


def next_line(run: TimedRun, now: int) -> str:
    """What is typed next: the prompt, then how much time is left, and to go on."""
    if run.lines == 0:
        return run.prompt
    return f"Time left: {span(run.end_at - now)}. Go on with the task."


def span(ms: int) -> str:
    """A length of time in words, in whole minutes."""
    minutes = ms // 60_000
    if minutes < 1:
        return "less than a minute"
    hours, rest = divmod(minutes, 60)
    words = [f"{hours} h" if hours else "", f"{rest} min" if rest else ""]
    return " ".join(word for word in words if word)


def too_many(runs: list[TimedRun]) -> list[TimedRun]:
    """Those of C{runs}, oldest first, that are over and beyond what is kept."""
    over = [run for run in runs if not run.running]
    return over[: max(0, len(runs) - KEPT)]
