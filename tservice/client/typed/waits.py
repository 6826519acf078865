"""Waits: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, TypedDict

from tservice.client.calling import Calling, held_ms, quoted
from tservice.client.typed.terminal import SignalState


class FleetAnswer(TypedDict):
    """Each session's signal, null where none came."""

    signals: dict[str, Literal["exit", "blocked", "stop", "idle", "working"] | None]
    wait: WaitState
    waitedMs: int
    immediate: bool


class OutputAnswer(TypedDict):
    """The wait for output, and the session's status alongside."""

    wait: OutputState
    waitedMs: int
    status: str
    limitPaused: bool
    immediate: bool


class OutputState(TypedDict):
    """How a wait for output ended."""

    timedOut: bool
    timeoutMs: int
    until: list[Literal["exit", "blocked", "stop", "idle", "working"]]
    ended: bool
    signal: Literal["exit", "blocked", "stop", "idle", "working"] | None
    matched: bool
    match: str | None
    snippet: str | None


class WaitAnswer(TypedDict):
    """The wait, and the session's status alongside."""

    wait: SignalState
    waitedMs: int
    status: str
    limitPaused: bool
    immediate: bool


class WaitState(TypedDict):
    """How the wait ended."""

    timedOut: bool
    timeoutMs: int
    until: list[Literal["exit", "blocked", "stop", "idle", "working"]]
    ended: bool


class Waits(Calling):
    """Waits."""

    async def get_sessions_id_wait(
        self,
        id: str,
        *,
        until: list[str] | None = None,
        timeout: int | None = None,
        fresh: bool | None = None,
        regex: None = None,
    ) -> WaitAnswer:
        """Wait until the session gives a signal."""
        found: WaitAnswer = await self.call(
            "GET",
            f"/sessions/{quoted(id)}/wait",
            query={"until": until, "timeout": timeout, "fresh": fresh, "regex": regex},
            wait_ms=held_ms(timeout),
        )
        return found

    async def get_sessions_id_wait_output(
        self,
        id: str,
        *,
        match: str,
        nocase: bool | None = None,
        from_: Literal["now", "buffer"] | None = None,
        timeout: int | None = None,
        regex: None = None,
    ) -> OutputAnswer:
        """Wait until the session prints a literal text."""
        found: OutputAnswer = await self.call(
            "GET",
            f"/sessions/{quoted(id)}/wait-output",
            query={
                "match": match,
                "nocase": nocase,
                "from": from_,
                "timeout": timeout,
                "regex": regex,
            },
            wait_ms=held_ms(timeout),
        )
        return found

    async def get_waits(
        self,
        *,
        sessions: list[str],
        until: list[str] | None = None,
        timeout: int | None = None,
        fresh: bool | None = None,
        regex: None = None,
        mode: Literal["any", "all"] | None = None,
    ) -> FleetAnswer:
        """Wait until any or all of several sessions give a signal."""
        found: FleetAnswer = await self.call(
            "GET",
            "/waits",
            query={
                "until": until,
                "timeout": timeout,
                "fresh": fresh,
                "regex": regex,
                "sessions": sessions,
                "mode": mode,
            },
            wait_ms=held_ms(timeout),
        )
        return found
