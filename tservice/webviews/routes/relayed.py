"""How many requests and sockets of web tabs are passed on at a time, of all and of each account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tservice.http.connections.room import RELAYED, has_share
from tservice.http.envelope import bare

_BUSY = bare(429, "Too Many Requests: of web tabs at a time", {"Retry-After": "1"})


class Relayed:
    """What is under way: each is a connection to its target, that of the browser's aside."""

    def __init__(self, *, shared: bool) -> None:
        """@param shared: by several accounts, of which none may have all."""
        self._shared = shared
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def hold(self, owner: str) -> Iterator[None]:
        """One of C{owner}'s, for as long as it lasts.

        @raise Refusal: bare 429: there are L{RELAYED}, or too many of C{owner}'s beside others.
        """
        held, used = self._under_way[owner] + 1, self._under_way.total() + 1
        if used > RELAYED or (self._shared and not has_share(held, used, RELAYED)):
            raise _BUSY
        self._under_way[owner] += 1
        try:
            yield
        finally:
            self._under_way[owner] -= 1
            if not self._under_way[owner]:
                del self._under_way[owner]
