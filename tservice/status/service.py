"""The state that a client starts from (wire 3: C{init} and C{GET /api/status})."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.identity import Identity
from tservice.sessions.interfaces import ISessions


def _none(identity: Identity) -> None:
    """A feature that is off."""


def _no_items(identity: Identity) -> list[Any]:
    """A feature that is off."""
    return []


def _no_tunnel(identity: Identity) -> dict[str, Any]:
    return {"running": False, "url": None}


@frozen(kw_only=True)
class Sources:
    """What the features tell of themselves to one caller; a feature that is off says nothing.

    @ivar cron_jobs: how many jobs the caller may see.
    @ivar approvals: pending items, oldest first.
    @ivar plan_usage: the last telemetry, or C{None}.
    @ivar tunnel: C{running} and C{url}.
    @ivar time_zone: what the service's own wall times are told in, at a moment in Unix
        milliseconds.
    """

    cron_jobs: Callable[[Identity], int] = field(default=lambda identity: 0)
    approvals: Callable[[Identity], list[Any]] = _no_items
    plan_usage: Callable[[Identity], Any] = _none
    tunnel: Callable[[Identity], dict[str, Any]] = _no_tunnel
    time_zone: Callable[[int], str] = field(default=lambda now: "UTC")


class StatusService:
    """Puts the state together, at once, so that no event falls between it and the stream."""

    def __init__(
        self,
        clock: IReactorTime,
        version: str,
        sessions: ISessions,
        multiuser: bool,
        sources: Sources,
    ) -> None:
        self._clock = clock
        self._version = version
        self._sessions = sessions
        self._multiuser = multiuser
        self._sources = sources

    def describe(self, identity: Identity) -> dict[str, Any]:
        """Everything that C{identity} may see."""
        sessions, sources = self._sessions, self._sources
        now = now_ms(self._clock)
        return {
            "version": self._version,
            "sessions": [sessions.describe(one.id) for one in sessions.list(identity)],
            "cronJobs": sources.cron_jobs(identity),
            "approvals": sources.approvals(identity),
            "planUsage": sources.plan_usage(identity),
            "tunnel": sources.tunnel(identity),
            "user": {
                "username": identity.username,
                "role": "admin" if identity.admin else "user",
                "multiUser": self._multiuser,
            },
            "serverTime": now,
            "timeZone": sources.time_zone(now),
        }
