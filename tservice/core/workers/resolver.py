"""Host name lookups in the worker pool for names, instead of the reactor's thread pool."""

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

from tservice.core.kernel.errors import ServiceError
from tservice.core.workers.worker_pool import WorkerPool

PLACE = "hosts"
"""Name of the pool share for host lookups.

User lookups have another share, so a dead name server does not block them.
"""


@frozen
class _ResolverPool:
    """Subset of the thread pool interface that Twisted's resolver needs."""

    door: WorkerPool
    place: str

    def callInThreadWithCallback(
        self, told: Callable[[bool, Any], object], work: Callable[..., Any], *args: Any, **kw: Any
    ) -> None:
        found = self.door.run(lambda: work(*args, **kw), self.place)
        found.addCallbacks(
            lambda it: told(True, it), lambda why: told(False, _to_lookup_error(why))
        )


@implementer(IHostnameResolver)
@frozen
class PooledResolver:
    """Resolver that runs the system's lookup function in a worker pool.

    A lookup that times out counts as not found.

    @ivar reactor: the reactor in whose thread the answers are delivered.
    @ivar place: the name of the pool share that is used.
    @ivar ask: the system's lookup function.
    """

    reactor: Any
    door: WorkerPool
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
        pool: Any = _ResolverPool(self.door, self.place)
        resolver = GAIResolver(self.reactor, lambda: pool, self.ask)
        return resolver.resolveHostName(
            resolutionReceiver, hostName, portNumber, addressTypes, transportSemantics
        )


def limit_to_owner_share(resolver: IHostnameResolver, owner: str | None) -> IHostnameResolver:
    """Return C{resolver}, limited to the pool share of the account that chose the names.

    @param owner: the account.  C{None} if the operator of the service chose the names.
    """
    if owner is None or not isinstance(resolver, PooledResolver):
        return resolver
    return evolve(resolver, place=f"{PLACE} of {owner}")


def _to_lookup_error(why: Failure) -> Failure:
    if why.check(ServiceError):
        return Failure(socket.gaierror(socket.EAI_AGAIN, why.getErrorMessage()))
    return why
