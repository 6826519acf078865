"""Coroutine client of the service, for Twisted or asyncio (protocol-python).

>>> client = connect(reactor)
>>> async with await client.new(mode="shell") as session:
...     await session.send("make test; echo done-$?")
...     print(await session.wait_output("done-"))
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack, cast

from tservice.client.errors import ApiError, Unusable
from tservice.client.link.address import (
    ServiceAddress,
    address_from_environment,
    address_from_mapping,
)
from tservice.client.link.caller import ResponseLost
from tservice.client.link.naming import pick_record
from tservice.client.requests import ApiRequests
from tservice.client.retrying import retry_lost
from tservice.client.session import OutputPosition, SentInput, Session, Until
from tservice.client.typed.sessions import CreateBody
from tservice.client.wait_limits import Signal

__all__ = [
    "ApiError",
    "Client",
    "OutputPosition",
    "ResponseLost",
    "SentInput",
    "Session",
    "Unusable",
    "connect",
    "find_service_address",
    "from_asyncio",
]


class Client(ApiRequests):
    """Client of one service, with the credentials of one user or token.

    Each operation of the API is also a method of this class, such as C{get_cron_jobs}.
    """

    async def new(self, **fields: Unpack[CreateBody]) -> Session:
        """Create and start a session. The request is not retried if its response is lost.

        @param fields: fields of the request body: C{mode}, C{workingDir}, C{name}...
        @raise Unusable: the service requires a confirmation of the custom model; see C{confirmed},
            C{confirmedContext} and C{confirmedSwap} of C{customModel}.
        """
        made = cast(dict[str, Any], await self.post_sessions({"start": True, **fields}))
        if "session" not in made:
            asked = ", ".join(name for name in made if name.startswith("requires"))
            raise Unusable(f"the custom model needs your confirmation: {asked}")
        return Session(self, made["session"], ours=True)

    async def sessions(self) -> list[Session]:
        """Return every session that the user may see."""
        found = await retry_lost(self.get_sessions, self.wire.sleep)
        return [Session(self, record) for record in found]

    async def session(self, word: str) -> Session:
        """Return one session.

        @param word: id, unique id prefix or exact name of the session.
        @raise Unusable: no session matches, or several do.
        """
        sessions = await self.sessions()
        found = pick_record([session.record for session in sessions], word, "session")
        return next(session for session in sessions if session.id == found["id"])

    async def wait_any(
        self, sessions: Iterable[Session], until: Until = (), *, timeout: float = 60.0
    ) -> dict[str, Signal]:
        """Wait until at least one of the sessions gives a signal.

        @param until: signals to wait for. An empty value means the end of a turn.
        @param timeout: maximum time to wait in seconds.
        @return: the signals given so far, by session id.
        """
        return await self._wait_for_signals(sessions, "any", until, timeout)

    async def wait_all(
        self, sessions: Iterable[Session], until: Until = (), *, timeout: float = 60.0
    ) -> dict[str, Signal]:
        """Wait until every session has given a signal.

        @param until: signals to wait for. An empty value means the end of a turn.
        @param timeout: maximum time to wait in seconds.
        @return: the signals given in time, by session id.
        """
        return await self._wait_for_signals(sessions, "all", until, timeout)

    async def _wait_for_signals(
        self, sessions: Iterable[Session], mode: Any, until: Until, timeout: float
    ) -> dict[str, Signal]:
        found = await retry_lost(
            lambda: self.get_waits(
                sessions=[session.id for session in sessions],
                mode=mode,
                until=([until] if isinstance(until, str) else list(until)) or None,
                timeout=max(1, round(timeout * 1000)),
            ),
            self.wire.sleep,
        )
        return {one: signal for one, signal in found["signals"].items() if signal is not None}


def connect(reactor: Any, url: str | None = None, **given: str) -> Client:
    """Return a client whose coroutines wait for Deferreds.

    @param reactor: reactor in whose thread the client is used.
    @param given: as for L{find_service_address}.
    @raise Unusable: a value is invalid.
    """
    from tservice.client.wires.reactor_wire import ReactorWire

    return Client(ReactorWire(reactor, find_service_address(url, **given)))


def from_asyncio(reactor: Any, url: str | None = None, **given: str) -> Client:
    """Return a client whose coroutines wait for futures of asyncio.

    @param reactor: a running C{AsyncioSelectorReactor} on the caller's event loop.
    @param given: as for L{find_service_address}.
    @raise Unusable: a value is invalid.
    """
    from tservice.client.wires.asyncio_wire import AsyncioWire
    from tservice.client.wires.reactor_wire import ReactorWire

    return Client(AsyncioWire(ReactorWire(reactor, find_service_address(url, **given))))


def find_service_address(
    url: str | None = None, *, at: str | None = None, **given: str
) -> ServiceAddress:
    """Return the address and credentials of a service.

    @param url: URL of the service. C{None} takes it from the environment, as C{tsctl} does.
    @param at: name of a service in C{tsctl.yaml}, which replaces every other source.
    @param given: credentials for C{url}: C{token}, C{tokenFile}, C{user}, C{password},
        C{fingerprint}.
    @raise Unusable: a value is invalid.
    """
    if url is None or at is not None:
        return address_from_environment(os.environ, Path.home(), at)
    return address_from_mapping({"url": url, **given}, Path.home())
