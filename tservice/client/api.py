"""The service from Python: coroutines on Twisted, or on asyncio (protocol-python).

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

from tservice.client.again import again
from tservice.client.errors import ApiError, Unusable
from tservice.client.link.address import Address, address_at, address_of
from tservice.client.link.caller import Lost
from tservice.client.link.naming import pick
from tservice.client.requests import Requests
from tservice.client.session import OutputPosition, Sent, Session, Signal, Until
from tservice.client.typed.sessions import CreateBody

__all__ = [
    "ApiError",
    "Client",
    "Lost",
    "OutputPosition",
    "Sent",
    "Session",
    "Unusable",
    "connect",
    "from_asyncio",
    "where",
]


class Client(Requests):
    """One service, as somebody.

    Beside what is here every operation of the API has its method, such as C{get_cron_jobs}.
    """

    async def new(self, **fields: Unpack[CreateBody]) -> Session:
        """Make and start a session; it is not tried again where the answer is lost.

        @param fields: of the body: C{mode}, C{workingDir}, C{name}...
        @raise Unusable: the service asks first whether this custom model may be used; see
            C{confirmed}, C{confirmedContext} and C{confirmedSwap} of C{customModel}.
        """
        made = cast(dict[str, Any], await self.post_sessions({"start": True, **fields}))
        if "session" not in made:
            asked = ", ".join(name for name in made if name.startswith("requires"))
            raise Unusable(f"the custom model is not used unasked: {asked}")
        return Session(self, made["session"], ours=True)

    async def sessions(self) -> list[Session]:
        """Every session that the caller may see."""
        found = await again(self.get_sessions, self.wire.sleep)
        return [Session(self, record) for record in found]

    async def session(self, word: str) -> Session:
        """The session of this id, unique beginning of an id, or exact name.

        @raise Unusable: none, or several.
        """
        sessions = await self.sessions()
        found = pick([session.record for session in sessions], word, "session")
        return next(session for session in sessions if session.id == found["id"])

    async def wait_any(
        self, sessions: Iterable[Session], until: Until = (), *, timeout: float = 60.0
    ) -> dict[str, Signal]:
        """Wait until one of several gives a signal: the signals that there are, by id."""
        return await self._waits(sessions, "any", until, timeout)

    async def wait_all(
        self, sessions: Iterable[Session], until: Until = (), *, timeout: float = 60.0
    ) -> dict[str, Signal]:
        """Wait until all of several have given a signal: those that came in time, by id."""
        return await self._waits(sessions, "all", until, timeout)

    async def _waits(
        self, sessions: Iterable[Session], mode: Any, until: Until, timeout: float
    ) -> dict[str, Signal]:
        found = await again(
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
    """A client whose coroutines wait for Deferreds.

    @param reactor: whose thread calls it.
    @param given: see L{where}.
    @raise Unusable: a wrong value.
    """
    from tservice.client.wires.onreactor import ReactorWire

    return Client(ReactorWire(reactor, where(url, **given)))


def from_asyncio(reactor: Any, url: str | None = None, **given: str) -> Client:
    """A client whose coroutines wait for asyncio's futures.

    @param reactor: a running C{AsyncioSelectorReactor} on the loop that calls it.
    @param given: see L{where}.
    @raise Unusable: a wrong value.
    """
    from tservice.client.wires.onasyncio import AsyncioWire
    from tservice.client.wires.onreactor import ReactorWire

    return Client(AsyncioWire(ReactorWire(reactor, where(url, **given))))


def where(url: str | None = None, *, at: str | None = None, **given: str) -> Address:
    """The service to talk to, and as whom.

    @param url: C{None}: what the environment says, as for C{tsctl}.
    @param at: a name of C{tsctl.yaml}, in place of everything else.
    @param given: with a URL: C{token}, C{tokenFile}, C{user}, C{password}, C{fingerprint}.
    @raise Unusable: a wrong value.
    """
    if url is None or at is not None:
        return address_of(os.environ, Path.home(), at)
    return address_at({"url": url, **given}, Path.home())
