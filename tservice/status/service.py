"""Initial state of a client, sent as the C{init} event and by C{GET /api/status}
(protocol-state).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from typing import Any, Literal

from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.event_payloads import (
    ChecksPayload,
    InitialStatePayload,
    PlanUsagePayload,
    SessionChangesPayload,
    SessionPullRequestsPayload,
)
from tservice.core.kernel.zone import find_zone_name
from tservice.core.values.payload import Payload
from tservice.sessions.interfaces import ISessions, SessionAnswer

GetStateField = Callable[[Identity], Any]
"""Callable that returns a feature's part of the state for one caller."""


class UserStatus(Payload):
    """The caller's identity."""

    username: str
    role: Literal["admin", "user"]
    multi_user: bool


class TunnelStatus(Payload):
    """State of the managed tunnel."""

    running: bool = False
    url: str | None = None


class StatusResponse(InitialStatePayload):
    """Initial state of a client, also sent as the C{init} event of the stream.

    Every field is present from the first release, and empty while its feature is off.

    @ivar installed_version: version on the disk if it is newer; a restart of the service uses it.
    @ivar cron_jobs: number of jobs.
    @ivar approvals: pending items, oldest first.
    @ivar custom_notices: true if the caller has rules of its own for notices.
    @ivar checks: the last run of each session's checks.
    @ivar changes: what sessions changed, as far as it is known.
    @ivar pull_requests: pull requests of sessions, as far as a client asked for them.
    @ivar server_time: Unix milliseconds.
    @ivar time_zone: time zone of the service, an IANA name or an offset. Scheduled jobs are planned
        in
        it.
    """

    version: str
    installed_version: str | None = None
    sessions: list[SessionAnswer]
    cron_jobs: int = 0
    approvals: list[Any] = []
    changes: list[SessionChangesPayload] = []
    pull_requests: list[SessionPullRequestsPayload] = []
    custom_notices: bool = False
    checks: list[ChecksPayload] = []
    plan_usage: PlanUsagePayload | None = None
    tunnel: TunnelStatus = TunnelStatus()
    user: UserStatus
    server_time: int
    time_zone: str = "UTC"


class StatusService:
    """Service that assembles the initial state of a client.

    It does so without waiting, so that no event is lost between the state and the stream.
    """

    def __init__(
        self,
        clock: IReactorTime,
        version: str,
        sessions: ISessions,
        multiuser: bool,
        tells: Mapping[str, GetStateField],
        zone: tzinfo = UTC,
        installed: Callable[[], str | None] = lambda: None,
    ) -> None:
        """@param tells: functions that return the features' parts of the state, by the name of the
            field.  They are looked up at each call, because features are registered later.
        @param zone: the time zone that is reported to clients.
        @param installed: returns the version on the disk if it is newer, else C{None}.
        """
        self._clock = clock
        self._version = version
        self._sessions = sessions
        self._multiuser = multiuser
        self._tells = tells
        self._zone, self._installed = zone, installed

    def describe_state(self, identity: Identity) -> StatusResponse:
        """Return the initial state, limited to the data that C{identity} may see."""
        sessions = self._sessions
        told = {name: tell(identity) for name, tell in self._tells.items()}
        now = get_unix_ms(self._clock)
        return StatusResponse(
            version=self._version,
            installed_version=self._installed(),
            sessions=[sessions.describe_session(one.id) for one in sessions.list(identity)],
            user=UserStatus(
                username=identity.username,
                role="admin" if identity.admin else "user",
                multi_user=self._multiuser,
            ),
            server_time=now,
            time_zone=find_zone_name(self._zone, now),
            **told,
        )
