"""Host names, looked up behind the door for names instead of the reactor's own threads."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from attrs import frozen
from twisted.internet._resolver import GAIResolver
from twisted.internet.interfaces import IHostnameResolver
from twisted.python.failure import Failure

from tservice.core.doors.threads import Door
from tservice.core.errors import ServiceError

PLACE = "hosts"
"""Hosts have their share of the door, so that a dead name server leaves some to users."""


@frozen
class _Pool:
    """As much of a thread pool as the resolver asks for."""

    door: Door

    def callInThreadWithCallback(
        self, told: Callable[[bool, Any], object], work: Callable[..., Any], *args: Any, **kw: Any
    ) -> None:
        found = self.door.run(lambda: work(*args, **kw), PLACE)
        found.addCallbacks(lambda it: told(True, it), lambda why: told(False, _unknown(why)))


def door_resolver(reactor: Any, door: Door) -> IHostnameResolver:
    """A resolver that asks the system through C{door}; what does not answer is not found."""
    pool: Any = _Pool(door)
    resolver: IHostnameResolver = GAIResolver(reactor, lambda: pool)
    return resolver


def _unknown(why: Failure) -> Failure:
    if why.check(ServiceError):
        return Failure(socket.gaierror(socket.EAI_AGAIN, why.getErrorMessage()))
    return why
