"""The terminal WebSocket in the operations table (protocol-websocket)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from pydantic import Field
from zope.interface import implementer

from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.identity import Identity
from tservice.http.models import Query, QueryInt
from tservice.http.operations import Access, Call, Operation, Scope, Style
from tservice.http.websockets.connection import ISocket, ISocketHandler
from tservice.http.websockets.frames import Message
from tservice.sessions.interfaces import ISessions
from tservice.sessions.output.conversation import TerminalSocket
from tservice.sessions.output.frames import MAX_SEQ
from tservice.sessions.output.rooms import TerminalSockets
from tservice.sessions.record.requests import CLIENT_ID_LENGTH

Typed = Callable[[Identity, str, str, int], None]


class TerminalQuery(Query):
    """Who connects, and where the client stands in the output.

    Without a C{cid} the socket gets one of its own and replaces no other.
    """

    cid: Annotated[str, Field(min_length=1, max_length=CLIENT_ID_LENGTH)] | None = None
    epoch: Annotated[str, Field(max_length=128)] | None = None
    since: Annotated[QueryInt, Field(ge=0, le=MAX_SEQ)] | None = None


class SharedFrames:
    """Frames output once for all sockets that stand at the same place.

    The output log hands out one bytes object there, so the last one is all that is remembered.
    """

    def __init__(self) -> None:
        self._last = Message(b"")

    def message(self, data: bytes) -> Message:
        """The message of C{data}, which may have been made for another socket already."""
        if self._last.payload is not data:
            self._last = Message(data)
        return self._last


@implementer(ISocketHandler)
class TerminalHandler:
    """Between a conversation and its WebSocket."""

    def __init__(self, conversation: TerminalSocket, frames: SharedFrames) -> None:
        self._conversation = conversation
        self._frames = frames
        self._socket: ISocket | None = None
        self._full = False

    # -- told by the WebSocket

    def opened(self, socket: ISocket) -> None:
        self._socket = socket
        self._conversation.opened(self)

    def text(self, data: str) -> None:
        self._conversation.text(data)

    def binary(self, data: bytes) -> None:
        self._conversation.binary(data)

    def paused(self) -> None:
        self._full = True

    def resumed(self) -> None:
        self._full = False
        self._conversation.drained()

    def closed(self, code: int) -> None:
        self._socket = None
        self._conversation.closed(code)

    # -- what the conversation needs

    def send_text(self, text: str) -> None:
        """Send a text frame."""
        if self._socket is not None:
            self._socket.send_text(text)

    def send_binary(self, data: bytes) -> None:
        """Send output."""
        if self._socket is not None:
            self._socket.send(self._frames.message(data))

    def writable(self) -> bool:
        """Whether the peer reads."""
        return self._socket is not None and self._socket.writable and not self._full

    def close(self, code: int, reason: str = "") -> None:
        """Close with a code of protocol-websocket."""
        if self._socket is not None:
            self._socket.close(code, reason)


class SocketRoutes:
    """C{/ws/sessions/{id}/terminal}."""

    def __init__(
        self,
        sessions: ISessions,
        sockets: TerminalSockets,
        new_cid: Callable[[], str],
        typed: Typed = lambda caller, address, session_id, length: None,
    ) -> None:
        """
        @param typed: told of input: whose, from which address, for which session, how long.
        """
        self._typed = typed
        self._sessions = sessions
        self._sockets = sockets
        self._new_cid = new_cid
        self._frames = SharedFrames()

    async def _terminal(self, call: Call) -> TerminalHandler:
        if not call.identity.has_scope(Scope.SESSIONS_READ):
            raise ServiceError(ErrorCode.FORBIDDEN, "The token lacks the scope sessions:read")
        query: TerminalQuery = call.query
        conversation = TerminalSocket(
            self._sessions,
            self._sockets,
            session_id=call.id,
            caller=call.identity,
            cid=query.cid or self._new_cid(),
            epoch=query.epoch,
            since=query.since,
            typed=partial(self._typed, call.identity, call.address, call.id),
        )
        return TerminalHandler(conversation, self._frames)

    def operations(self) -> list[Operation]:
        """Its place in the table."""
        return [
            Operation(
                method="GET",
                path="/ws/sessions/{id}/terminal",
                # Whose session it is is judged after the upgrade, so that a page sees the code.
                access=Access.USER,
                scope=Scope.SESSIONS_INPUT,
                handler=self._terminal,
                summary="The terminal: output as it comes, input, sizes",
                tag="Terminal",
                query=TerminalQuery,
                style=Style.WEBSOCKET,
            )
        ]
