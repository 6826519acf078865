"""Blocking client for scripts and notebooks: L{tservice.client.api} without C{await}.

The same coroutines run over a transport that blocks, so that each finishes before its method
returns.

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
from tservice.client.link.caller import ResponseLost
from tservice.client.link.stream import Event
from tservice.client.session import OutputPosition, SentInput, Until
from tservice.client.synchronous import run_synchronously
from tservice.client.typed.events import SessionAnswer
from tservice.client.typed.sessions import CreateBody
from tservice.client.wires.blocking import BlockingWire

__all__ = [
    "ApiError",
    "Client",
    "OutputPosition",
    "ResponseLost",
    "SentInput",
    "Session",
    "Unusable",
    "connect",
]

P = ParamSpec("P")
T = TypeVar("T")


def _make_blocking(
    method: Callable[Concatenate[api.Session, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Session, P], T]:
    @wraps(method)
    def call(self: Session, /, *args: P.args, **given: P.kwargs) -> T:
        return run_synchronously(method(self.coroutines, *args, **given))

    return call


class Session:
    """Blocking version of L{tservice.client.session.Session}.

    @ivar coroutines: session object whose coroutines do the work.
    """

    def __init__(self, coroutines: api.Session) -> None:
        self.coroutines = coroutines

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        run_synchronously(self.coroutines.__aexit__())

    @property
    def id(self) -> str:
        """Id of the session."""
        return self.coroutines.id

    @property
    def record(self) -> SessionAnswer:
        """Session record as last received from the service."""
        return self.coroutines.record

    refresh = _make_blocking(api.Session.refresh)
    send = _make_blocking(api.Session.send)
    press = _make_blocking(api.Session.press)
    wait = _make_blocking(api.Session.wait)
    wait_output = _make_blocking(api.Session.wait_output)
    screen = _make_blocking(api.Session.screen)
    last = _make_blocking(api.Session.last)
    approvals = _make_blocking(api.Session.approvals)
    answer = _make_blocking(api.Session.answer)
    place = _make_blocking(api.Session.place)
    end = _make_blocking(api.Session.end)

    def stream(self, since: OutputPosition | None = None) -> Iterator[bytes]:
        """Yield the output of the session until its process ends."""
        return _iterate_blocking(self.coroutines.stream(since))

    def events(self, since: OutputPosition | None = None) -> Iterator[Event]:
        """Yield the output of the session as events, and separate events for redraws and the
        end.
        """
        return _iterate_blocking(self.coroutines.events(since))


class Client:
    """Blocking version of L{tservice.client.api.Client}.

    @ivar coroutines: client with the coroutines of every operation, to be run by L{now}.
    """

    def __init__(self, coroutines: api.Client) -> None:
        self.coroutines = coroutines

    def now(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of C{coroutines} and return its result:
        C{client.now(client.coroutines.get_me())}.
        """
        return run_synchronously(work)

    def new(self, **fields: Unpack[CreateBody]) -> Session:
        """Create and start a session."""
        return Session(run_synchronously(self.coroutines.new(**fields)))

    def sessions(self) -> list[Session]:
        """Return every session that the user may see."""
        return [Session(each) for each in run_synchronously(self.coroutines.sessions())]

    def session(self, word: str) -> Session:
        """Return the session with this id, unique id prefix or exact name."""
        return Session(run_synchronously(self.coroutines.session(word)))

    def wait_any(
        self, sessions: list[Session], until: Until = (), *, timeout: float = 60.0
    ) -> dict[str, Any]:
        """Wait until at least one of the sessions gives a signal. Return the signals so far by
        session id.
        """
        each = [session.coroutines for session in sessions]
        return dict(run_synchronously(self.coroutines.wait_any(each, until, timeout=timeout)))

    def wait_all(
        self, sessions: list[Session], until: Until = (), *, timeout: float = 60.0
    ) -> dict[str, Any]:
        """Wait until every session has given a signal. Return the signals given in time by session
        id.
        """
        each = [session.coroutines for session in sessions]
        return dict(run_synchronously(self.coroutines.wait_all(each, until, timeout=timeout)))


def connect(url: str | None = None, **given: str) -> Client:
    """Return a blocking client.

    @param given: as for L{tservice.client.api.find_service_address}.
    @raise Unusable: a value is invalid.
    """
    return Client(api.Client(BlockingWire(api.find_service_address(url, **given))))


def _iterate_blocking(found: AsyncIterator[T]) -> Iterator[T]:
    try:
        while True:
            try:
                yield run_synchronously(found.__anext__())  # type: ignore[arg-type]
            except StopAsyncIteration:
                return
    finally:
        run_synchronously(found.aclose())  # type: ignore[attr-defined]
