"""Host names, looked up behind the door for names instead of the reactor's own threads."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve, frozen
from twisted.internet._resolver import GAIResolver
from twisted.internet.interfaces import (
    IAddress,
    IHostnameResolver,
    IHostResolution,
    IResolutionReceiver,
)
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.core.doors.threads import Door
from tservice.core.errors import ServiceError

PLACE = "hosts"
"""Hosts have their share of the door, so that a dead name server leaves some to users."""


@frozen
class _Pool:
    """As much of a thread pool as the resolver asks for."""

    door: Door
    place: str

    def callInThreadWithCallback(
        self, told: Callable[[bool, Any], object], work: Callable[..., Any], *args: Any, **kw: Any
    ) -> None:
        found = self.door.run(lambda: work(*args, **kw), self.place)
        found.addCallbacks(lambda it: told(True, it), lambda why: told(False, _unknown(why)))


@implementer(IHostnameResolver)
@frozen
class DoorResolver:
    """Asks the system through a door; what does not answer is not found.

    @ivar reactor: that the answers come back to.
    @ivar place: whose share of the door is used.
    @ivar ask: the system's own.
    """

    reactor: Any
    door: Door
    place: str = PLACE
    ask: Callable[..., Any] = socket.getaddrinfo

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        """See L{IHostnameResolver}."""
        pool: Any = _Pool(self.door, self.place)
        resolver = GAIResolver(self.reactor, lambda: pool, self.ask)
        return resolver.resolveHostName(
            resolutionReceiver, hostName, portNumber, addressTypes, transportSemantics
        )


def asked_by(resolver: IHostnameResolver, owner: str | None) -> IHostnameResolver:
    """C{resolver} for names that an account chose, which take nothing of the share of others.

    @param owner: C{None}: whoever runs the service chose them.
    """
    if owner is None or not isinstance(resolver, DoorResolver):
        return resolver
    return evolve(resolver, place=f"{PLACE} of {owner}")


def _unknown(why: Failure) -> Failure:
    if why.check(ServiceError):
        return Failure(socket.gaierror(socket.EAI_AGAIN, why.getErrorMessage()))
    return why
