"""HTTP server factory: connections, their shared limits, and metrics of responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from twisted.internet.interfaces import IAddress, IReactorTime
from twisted.internet.task import deferLater
from twisted.web import server

from tservice.http.connections.channel import Http1Channel
from tservice.http.connections.connection_limit import MAX_CONNECTIONS, is_within_share
from tservice.http.connections.fair_scheduler import FairScheduler
from tservice.http.envelope import make_bare_refusal
from tservice.http.kernel import HttpKernel
from tservice.http.request import ServiceRequest

IDLE_SECONDS = 75
"""Seconds without traffic after which a connection is closed, unless a request is in progress."""

MAX_BODY_BYTES = 256 * 1024 * 1024
"""Limit in bytes on the request bodies of all connections together; beyond that 503."""

OVER_SHARE = make_bare_refusal(
    429, "Too Many Requests: too many concurrent ones of this account", {"Retry-After": "1"}
)

Weigh = Callable[[Http1Channel], int]

ResponseListener = Callable[[str, str, int, float, int], None]
"""Callback for every response: route pattern, method, status, seconds, bytes of its content."""


def _ignore_response(route: str, method: str, status: int, seconds: float, size: int) -> None:
    """Do nothing: the default callback."""


class HttpSite(server.Site):
    """Serves the kernel over HTTP/1.1.

    There is no access log, which would cost a third of the throughput; use C{on_response} instead.
    """

    requestFactory = ServiceRequest

    def __init__(
        self,
        kernel: HttpKernel,
        clock: IReactorTime,
        on_response: ResponseListener = _ignore_response,
        max_connections: int = MAX_CONNECTIONS,
        shared: bool = False,
    ) -> None:
        """@param shared: true if accounts share the connections: none may have them all."""
        super().__init__(kernel, reactor=clock, timeout=IDLE_SECONDS, parsePOSTFormSubmission=False)
        self.kernel = kernel
        self._answered = on_response
        self._shared = shared
        self._max_connections = max_connections
        self._open: dict[Http1Channel, str] = {}
        self._held = 0
        self.turns = FairScheduler(clock)

    def acceptableProtocols(self) -> list[bytes]:
        """Return the protocols that TLS may negotiate."""
        return [b"http/1.1"]

    def buildProtocol(self, addr: IAddress | None) -> Any:
        """Return the protocol of a new connection.

        @return: C{None} if there are too many connections; Twisted then closes the connection.
        """
        if len(self._open) >= self._max_connections and not self._drop_connection_if_full():
            return None
        connection = Http1Channel(self)
        self._open[connection] = str(getattr(addr, "host", ""))
        return connection

    def count_for_account(
        self, request: ServiceRequest, account: str, *, admin: bool = False
    ) -> None:
        """Count the response to C{request} as one in progress for C{account}.

        @param admin: true if no limit applies.
        @raise HttpRefusal: bare 429: the account has so many responses in progress that other
            accounts would find no connection.
        """
        request.set_owner(account or None)
        if admin or not (self._shared and account) or 2 * len(self._open) <= self._max_connections:
            return
        # Connections of unknown callers are dropped anyway when room is needed.
        used = [each.owner for each in self._open if each.is_responding and each.owner is not None]
        if not is_within_share(used.count(account), len(used), self._max_connections):
            raise OVER_SHARE

    def _drop_connection_if_full(self, weigh: Weigh | None = None) -> bool:
        """Drop one connection: a silent one, else one whose response belongs to no account.

        Among the candidates, choose the oldest of the address with the largest weight.

        @param weigh: returns the weight of a connection, and limits the choice to silent ones.
            C{None} for equal weights.
        @return: true if a connection was dropped.
        """
        silent = [each for each in self._open if not each.is_responding]
        if weigh is None:
            strangers = [each for each in self._open if each.is_responding and each.owner is None]
            return self._drop_heaviest(silent) or self._drop_heaviest(strangers)
        return self._drop_heaviest([each for each in silent if weigh(each)], weigh)

    def _drop_heaviest(
        self, these: list[Http1Channel], weigh: Weigh = lambda connection: 1
    ) -> bool:
        weights: Counter[str] = Counter()
        for each in these:
            weights[self._open[each]] += weigh(each)
        if not these:
            return False
        [(most, _)] = weights.most_common(1)
        oldest = next(each for each in these if self._open[each] == most)
        del self._open[oldest]
        oldest.abortConnection()
        return True

    def connection_ended(self, connection: Http1Channel) -> None:
        """Remove a connection that L{buildProtocol} made; also called for a dropped one."""
        self._open.pop(connection, None)

    async def close_connections(self) -> None:
        """Drop all connections, and wait until every handler has been notified."""
        # The reactor still has to send the answers that handlers have just given.
        for _ in range(2):
            await deferLater(self.reactor, 0)
        for each in tuple(self._open):
            each.abortConnection()
        await deferLater(self.reactor, 0)

    @property
    def connection_count(self) -> int:
        """Number of open connections."""
        return len(self._open)

    def reserve_body_bytes(self, size: int) -> bool:
        """Reserve memory for C{size} bytes of request body; a negative number releases memory.

        @return: true if the limit allows it.
        """
        if size > 0 and self._held + size > MAX_BODY_BYTES:
            # Incomplete bodies can fill it: drop one, so that a retry finds room.
            # Not immediately, because this request is still being refused.
            self.reactor.callLater(
                0, self._drop_connection_if_full, lambda connection: connection.received_bytes
            )
            return False
        self._held += size
        return True

    def startFactory(self) -> None:
        """Do nothing; the base class would open a log file and start a timer."""

    def stopFactory(self) -> None:
        """Do nothing, since there is nothing to close."""

    def log(self, request: ServiceRequest) -> None:  # type: ignore[override]
        """Count a finished response; twisted.web calls this method."""
        seconds = self.reactor.seconds() - request.started
        method = request.method.decode("ascii", "replace")
        self._answered(request.route, method, request.code, seconds, request.sentLength)
