"""C{GET /api/events}: the event hub as Server-Sent Events (protocol-sse).

Each event is encoded once for all clients.  A client that does not read keeps only references to
the bytes, up to L{MAX_BACKLOG}, and is then disconnected.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Annotated, cast

from pydantic import Field
from twisted.application.service import Service
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IPushProducer, IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.event_payloads import HeartbeatPayload
from tservice.core.kernel.events import Event, EventAudience, EventHub, EventName
from tservice.core.values.payload import Payload
from tservice.http.envelope import dump_json, make_bare_refusal
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, ResponseStyle, Scope
from tservice.http.request import ServiceRequest
from tservice.http.validation.models import QueryParameters

HEARTBEAT_SECONDS = 15
RING = 1000
RING_CHARS = 16 * 1024 * 1024
"""Limits on the events that are kept for clients that reconnect: their number, and the characters
of text in them.
"""

MAX_CLIENTS = 100
MAX_BACKLOG = 4 * 1024 * 1024
"""Unsent bytes at which a client that does not read is disconnected."""

GetInitialState = Callable[[Identity], Payload]
"""Callable that returns the payload of the C{init} event for one caller.

It returns without waiting, so that no event is lost between the state and the stream.
"""


class EventsQuery(QueryParameters):
    """Query for the event stream. C{sessions} lists the ids whose terminal output is wanted; all
    other events are always sent.
    """

    sessions: Annotated[str, Field(max_length=8192)] | None = None
    client_id: Annotated[str, Field(max_length=128)] | None = None


class RingEntry:
    """Event that is kept for clients that reconnect. A bulky event is encoded at its first use.

    @ivar number: number of the event, counted from 1.
    """

    __slots__ = ("_boot", "_frame", "event", "number")

    def __init__(self, boot: str, number: int, event: Event) -> None:
        self._boot, self.number, self.event = boot, number, event
        self._frame: bytes | None = None
        if not event.name.bulky:
            self.encode_event()  # an event that cannot be encoded fails before it enters the ring

    def encode_event(self) -> bytes:
        """Return the event as a message of the stream; the bytes are cached."""
        if self._frame is None:
            self._frame = encode_message(
                self._boot, self.number, self.event.name, self.event.payload
            )
        return self._frame

    @property
    def text_length(self) -> int:
        """Number of characters of text in a bulky event, or of the encoded message for other
        events.
        """
        if not self.event.name.bulky:
            return len(self.encode_event())
        return sum(len(value) for _, value in self.event.payload if isinstance(value, str))


def encode_message(boot: str, number: int, name: EventName, payload: Payload) -> bytes:
    """Return one message of the event stream.

    JSON contains no line ends, so a single C{data} line is enough.

    @param boot: id of this run of the service, part of the message's id.
    @param number: number of the event.
    """
    return b"id: %s-%d\nevent: %s\ndata: %s\n\n" % (
        boot.encode(),
        number,
        name.encode(),
        dump_json(payload),
    )


def receives_event(event: Event, identity: Identity, sessions: frozenset[str] | None) -> bool:
    """Return whether a client receives C{event} (protocol-sse).

    @param sessions: ids of the sessions whose bulky events the client wants.  C{None} for all.
    """
    name = event.name
    if name.bulky and sessions is not None and event.session_id not in sessions:
        return False
    if name.scope is not None and not identity.has_scope(name.scope):
        return False
    if name.audience is EventAudience.OWNER:
        return identity.can_access(event.owner, event.session_id)
    if identity.sessions is not None and event.session_id is not None:
        return False
    if name.audience is EventAudience.EVERYONE:
        return True
    if name.audience is EventAudience.PERSON and not identity.is_person(event.owner):
        return False
    return identity.admin and identity.has_scope(Scope.ADMIN)


@implementer(IPushProducer)
class EventClient:
    """Client of an event stream.

    @ivar done: Deferred that fires when the service ends the stream.
    """

    def __init__(
        self, request: ServiceRequest, identity: Identity, sessions: frozenset[str] | None
    ) -> None:
        self.identity = identity
        self._request, self._sessions = request, sessions
        self._waiting: deque[bytes] = deque()
        self._backlog = 0
        self._paused = False
        self._over = False
        self.done: Deferred[None] = Deferred()

    def wants_terminal(self, session_id: str) -> bool:
        """Return whether the client requested bulky events of that session.

        A client that named no sessions gets those of all sessions.
        """
        return self._sessions is None or session_id in self._sessions

    def send_if_wanted(self, entry: RingEntry) -> None:
        """Send C{entry}, if the client may and wants to receive it."""
        if receives_event(entry.event, self.identity, self._sessions):
            self.write_bytes(entry.encode_event())

    def write_bytes(self, data: bytes) -> None:
        """Send C{data} after the data already queued."""
        if self._over:
            return
        if not self._paused:
            self._request.write(data)
            return
        self._waiting.append(data)
        self._backlog += len(data)
        if self._backlog > MAX_BACKLOG:
            self._over = True
            self._waiting.clear()
            self._request.abort()

    def end_stream(self) -> None:
        """End the stream: close it if the client still reads, else abort the connection."""
        if not self.done.called:
            self.done.callback(None)

    def pauseProducing(self) -> None:
        self._paused = True

    def resumeProducing(self) -> None:
        self._paused = False
        while self._waiting and not self._paused:
            data = self._waiting.popleft()
            self._backlog -= len(data)
            self._request.write(data)

    def stopProducing(self) -> None:
        self._over = True
        self._waiting.clear()


class EventStreams(Service):
    """Service that holds all open event streams, and past events for clients that reconnect."""

    _log = Logger()

    def __init__(
        self, hub: EventHub, clock: IReactorTime, boot: str, status: GetInitialState
    ) -> None:
        """@param boot: id of this run of the service, without a dash.
        @param status: returns the payload of the C{init} event.
        """
        self._hub, self._clock, self._boot, self._status = hub, clock, boot, status
        self._clients: dict[EventClient, None] = {}
        self._ring: deque[RingEntry] = deque()
        self._weight = 0
        self._number = 0
        self._unsubscribe: Callable[[], None] | None = None
        self._beat = LoopingCall(self._send_heartbeat)
        self._beat.clock = clock

    @property
    def client_count(self) -> int:
        """Number of connected clients."""
        return len(self._clients)

    def wants_terminal(self, session_id: str) -> bool:
        """Return whether a client wants that session's bulky events."""
        return any(client.wants_terminal(session_id) for client in self._clients)

    def startService(self) -> None:
        """Subscribe to events."""
        super().startService()
        self._unsubscribe = self._hub.subscribe(self._buffer_and_send_event)
        beating = self._beat.start(HEARTBEAT_SECONDS, now=False)
        beating.addErrback(lambda why: self._log.failure("the heartbeat stopped", why))

    def stopService(self) -> Deferred[None]:
        """Send C{server:shutdown} to every client, then end its stream."""
        super().stopService()
        self._buffer_and_send_event(Event(name=EventName.SERVER_SHUTDOWN))
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if self._beat.running:
            self._beat.stop()
        self.drop_connections(lambda identity: True)
        return succeed(None)

    def drop_connections(self, whose: Callable[[Identity], bool]) -> None:
        """End the streams of callers who may no longer receive events.

        @param whose: returns whether a caller has lost access.
        """
        for client in tuple(self._clients):
            if whose(client.identity):
                client.end_stream()

    def _buffer_and_send_event(self, event: Event) -> None:
        if event.name is EventName.ADMIN_USERS_CHANGED:
            # A new user with the name of a removed one must not receive its missed events.
            self._ring.clear()
            self._weight = 0
        entry = RingEntry(self._boot, self._number + 1, event)
        self._number += 1
        self._ring.append(entry)
        self._weight += entry.text_length
        while len(self._ring) > RING or self._weight > RING_CHARS:
            self._weight -= self._ring.popleft().text_length
        for client in tuple(self._clients):
            client.send_if_wanted(entry)

    def _send_heartbeat(self) -> None:
        # A heartbeat repeats the newest id: it is not in the ring, and a reconnect misses nothing.
        beat = HeartbeatPayload(t=get_unix_ms(self._clock))
        data = encode_message(self._boot, self._number, EventName.SSE_HEARTBEAT, beat)
        for client in tuple(self._clients):
            client.write_bytes(data)

    def _find_missed(self, last_id: str | None) -> list[RingEntry] | None:
        """Return the events after C{last_id}; C{None} if they are no longer kept."""
        boot, _, number = (last_id or "").rpartition("-")
        if boot != self._boot or not (number.isascii() and number.isdigit()):
            return None
        if len(number) > 18 or not self._number - len(self._ring) <= int(number) <= self._number:
            return None
        return [entry for entry in self._ring if entry.number > int(number)]

    @operation(
        "GET",
        "/api/events",
        tag="Events",
        access=AccessRule.USER,
        scope=Scope.EVENTS,
        scope_reason=(
            "Receives the events of sessions, their text included. Events of cases, jobs, "
            "settings and admins also need the scopes that read these. No token receives "
            "codes."
        ),
        style=ResponseStyle.STREAM,
    )
    async def serve_stream(self, call: OperationCall, query: EventsQuery) -> None:
        """Stream all events, as Server-Sent Events.

        @raise HttpRefusal: L{MAX_CLIENTS} are connected, and no user has more streams than the
            caller.
        """
        if len(self._clients) >= MAX_CLIENTS and not self._end_oldest_stream_if_full(call.caller):
            raise make_bare_refusal(503, "Too many SSE connections", {"Retry-After": "5"})
        request = cast(ServiceRequest, call.request)
        headers = request.responseHeaders
        headers.setRawHeaders("Content-Type", ["text/event-stream; charset=utf-8"])
        headers.setRawHeaders("Cache-Control", ["no-store"])
        headers.setRawHeaders("X-Accel-Buffering", ["no"])
        request.write(b"")
        if request.method == b"HEAD":
            return
        await self._serve_client(call, request, query.sessions)

    def _end_oldest_stream_if_full(self, identity: Identity) -> bool:
        """End the oldest stream of the user with most streams, and return true.

        The stream is ended only if that user has at least two more than the caller.  Otherwise one
        user could lock all others out.
        """
        names = Counter(client.identity.username for client in self._clients)
        [(most, count)] = names.most_common(1)
        if count - names[identity.username] < 2:
            return False
        oldest = next(each for each in self._clients if each.identity.username == most)
        del self._clients[oldest]
        oldest.end_stream()
        return True

    async def _serve_client(
        self, call: OperationCall, request: ServiceRequest, sessions: str | None
    ) -> None:
        wanted = None if sessions is None else frozenset(sessions.split(","))
        client = EventClient(request, call.caller, wanted)
        request.registerProducer(client, True)
        self._clients[client] = None
        try:
            missed = self._find_missed(call.get_header("last-event-id"))
            if missed is None:
                status = self._status(call.caller)
                client.write_bytes(encode_message(self._boot, self._number, EventName.INIT, status))
            for entry in missed or ():
                client.send_if_wanted(entry)
            await client.done
        finally:
            self._clients.pop(client, None)
            client.stopProducing()
            if not request.gone:
                request.unregisterProducer()
