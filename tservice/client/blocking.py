"""Blocking client for scripts and notebooks: L{tservice.client.api} without C{await}.

The same coroutines run over a wire that blocks, so that each finishes before its method returns.

>>> client = connect()
>>> with client.new(mode="shell") as session:
...     session.send("make test; echo done-$?")
...     print(session.wait_output("done-"))
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack

from tservice.client import api
from tservice.client.errors import ApiError, Unusable
from tservice.client.finished import finished
from tservice.client.link.caller import Lost
from tservice.client.link.stream import Event
from tservice.client.session import OutputPosition, Sent, Until
from tservice.client.typed.events import SessionAnswer
from tservice.client.typed.sessions import CreateBody
from tservice.client.wires.blocking import BlockingWire

__all__ = ["ApiError", "Client", "Lost", "OutputPosition", "Sent", "Session", "Unusable", "connect"]

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    method: Callable[Concatenate[api.Session, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Session, P], T]:
    @wraps(method)
    def call(self: Session, /, *args: P.args, **given: P.kwargs) -> T:
        return finished(method(self.coroutines, *args, **given))

    return call


class Session:
    """Blocking form of L{tservice.client.session.Session}.

    @ivar coroutines: the session whose coroutines do the work.
    """

    def __init__(self, coroutines: api.Session) -> None:
        self.coroutines = coroutines

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        finished(self.coroutines.__aexit__())

    @property
    def id(self) -> str:
        """Id of the session."""
        return self.coroutines.id

    @property
    def record(self) -> SessionAnswer:
        """Session record as last received from the service."""
        return self.coroutines.record

    refresh = _blocking(api.Session.refresh)
    send = _blocking(api.Session.send)
    press = _blocking(api.Session.press)
    wait = _blocking(api.Session.wait)
    wait_output = _blocking(api.Session.wait_output)
    screen = _blocking(api.Session.screen)
    last = _blocking(api.Session.last)
    approvals = _blocking(api.Session.approvals)
    answer = _blocking(api.Session.answer)
    place = _blocking(api.Session.place)
    end = _blocking(api.Session.end)

    def stream(self, since: OutputPosition | None = None) -> Iterator[bytes]:
        """Yield the output of the session until its process ends."""
        return _each(self.coroutines.stream(since))

    def events(self, since: OutputPosition | None = None) -> Iterator[Event]:
        """Yield the output as in L{stream}, with redraws and the end as separate events."""
        return _each(self.coroutines.events(since))


class Client:
    """Blocking form of L{tservice.client.api.Client}.

    @ivar coroutines: every operation of the API, for L{now}.
    """

    def __init__(self, coroutines: api.Client) -> None:
        self.coroutines = coroutines

    def now(self, work: Coroutine[Any, Any, T]) -> T:
        """Run one of the L{coroutines} and return its result:
        C{client.now(client.coroutines.get_me())}.
        """
        return finished(work)

    def new(self, **fields: Unpack[CreateBody]) -> Session:
        """Create and start a session."""
        return Session(finished(self.coroutines.new(**fields)))

    def sessions(self) -> list[Session]:
        """Return every session that the caller may see."""
        return [Session(each) for each in finished(self.coroutines.sessions())]

    def session(self, word: str) -> Session:
        """Return the session with this id, unique id prefix or exact name."""
        return Session(finished(self.coroutines.session(word)))

    def wait_any(
        self, sessions: list[Session], until: Until = (), *, timeout: float = 60.0
    ) -> dict[str, Any]:
        """Wait until one of the sessions gives a signal, and return the signals so far by id."""
        each = [session.coroutines for session in sessions]
        return dict(finished(self.coroutines.wait_any(each, until, timeout=timeout)))

    def wait_all(
        self, sessions: list[Session], until: Until = (), *, timeout: float = 60.0
    ) -> dict[str, Any]:
        """Wait until every session has given a signal, and return those that came in time by id."""
        each = [session.coroutines for session in sessions]
        return dict(finished(self.coroutines.wait_all(each, until, timeout=timeout)))


def connect(url: str | None = None, **given: str) -> Client:
    """Return a blocking client.

    @param given: see L{tservice.client.api.where}.
    @raise Unusable: a value is invalid.
    """
    return Client(api.Client(BlockingWire(api.where(url, **given))))


def _each(found: AsyncIterator[T]) -> Iterator[T]:
    try:
        while True:
            try:
                yield finished(found.__anext__())  # type: ignore[arg-type]
            except StopAsyncIteration:
                return
    finally:
        finished(found.aclose())  # type: ignore[attr-defined]
