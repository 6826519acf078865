"""Timed runs: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class OneTimedRun(TypedDict):
    """A run that was begun."""

    run: TimedRunAnswer


class TimedRunAnswer(TypedDict):
    """A timed run; times in Unix milliseconds."""

    id: str
    prompt: str
    workingDir: str
    durationMinutes: int
    startedAt: int
    endAt: int
    status: Literal["running", "completed", "stopped", "failed"]
    sessionId: str | None
    turns: int
    logs: list[str]
    owner: NotRequired[str]


class TimedRunBody(TypedDict):
    """A new timed run (protocol-legacy)."""

    prompt: str
    workingDir: NotRequired[str | None]
    durationMinutes: int


class TimedRunsAnswer(TypedDict):
    """The runs, the newest first."""

    runs: list[TimedRunAnswer]


class TimedRuns(Calling):
    """Timed runs."""

    async def get_scheduled(self) -> TimedRunsAnswer:
        """The timed runs, newest first."""
        found: TimedRunsAnswer = await self.call("GET", "/scheduled")
        return found

    async def post_scheduled(self, body: TimedRunBody) -> OneTimedRun:
        """Start an agent and keep it going for a while."""
        found: OneTimedRun = await self.call("POST", "/scheduled", body=body)
        return found

    async def get_scheduled_id(self, id: str) -> TimedRunAnswer:
        """One timed run."""
        found: TimedRunAnswer = await self.call("GET", f"/scheduled/{quoted(id)}")
        return found

    async def delete_scheduled_id(self, id: str) -> dict[str, Any]:
        """End a timed run; its session and its record stay."""
        found: dict[str, Any] = await self.call("DELETE", f"/scheduled/{quoted(id)}")
        return found
