"""Limits of concurrently relayed requests and WebSockets, in total and for each account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tservice.http.connections.connection_limit import RELAYED, is_within_share
from tservice.http.envelope import make_bare_refusal

_BUSY = make_bare_refusal(
    429, "Too Many Requests: the limit of web tab connections is reached", {"Retry-After": "1"}
)


class RelayLimits:
    """Limit of relayed connections, counted separately from the connections of browsers."""

    def __init__(self, *, shared: bool) -> None:
        """Create a limit.

        @param shared: true if there are several accounts, none of which may use all connections.
        """
        self._shared = shared
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def hold_connection_slot(self, owner: str) -> Iterator[None]:
        """Count one connection of C{owner} while the block runs.

        @raise HttpRefusal: 429 in plain text if there are L{RELAYED} connections, or if C{owner}
            has too large a share of them.
        """
        held, used = self._under_way[owner] + 1, self._under_way.total() + 1
        if used > RELAYED or (self._shared and not is_within_share(held, used, RELAYED)):
            raise _BUSY
        self._under_way[owner] += 1
        try:
            yield
        finally:
            self._under_way[owner] -= 1
            if not self._under_way[owner]:
                del self._under_way[owner]
