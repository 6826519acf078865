"""The state that a client starts from (protocol-state: C{init} and C{GET /api/status})."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from typing import Any

from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.identity import Identity
from tservice.core.zone import zone_name
from tservice.sessions.interfaces import ISessions

Teller = Callable[[Identity], Any]
"""What a feature tells of itself to one caller."""


def absent() -> dict[str, Any]:
    """What is told of features that are not there."""
    return {
        "cronJobs": 0,
        "approvals": [],
        "planUsage": None,
        "tunnel": {"running": False, "url": None},
    }


class StatusService:
    """Puts the state together, at once, so that no event falls between it and the stream."""

    def __init__(
        self,
        clock: IReactorTime,
        version: str,
        sessions: ISessions,
        multiuser: bool,
        tells: Mapping[str, Teller],
        zone: tzinfo = UTC,
    ) -> None:
        """
        @param tells: the fields of the features, by name; read anew each time.
        @param zone: what the service's own wall times are told in.
        """
        self._clock = clock
        self._version = version
        self._sessions = sessions
        self._multiuser = multiuser
        self._tells = tells
        self._zone = zone

    def describe(self, identity: Identity) -> dict[str, Any]:
        """Everything that C{identity} may see."""
        sessions = self._sessions
        told = {name: tell(identity) for name, tell in self._tells.items()}
        now = now_ms(self._clock)
        return {
            "version": self._version,
            "sessions": [sessions.describe(one.id) for one in sessions.list(identity)],
            **absent(),
            **told,
            "user": {
                "username": identity.username,
                "role": "admin" if identity.admin else "user",
                "multiUser": self._multiuser,
            },
            "serverTime": now,
            "timeZone": zone_name(self._zone, now),
        }
