"""One terminal client's conversation (protocol-websocket)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from twisted.logger import Logger

from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.identity import Identity
from tservice.core.tasks import spawn
from tservice.sessions.interfaces import ISessions
from tservice.sessions.output.frames import GotFrame, InputFrame, Malformed, ResizeFrame, parse
from tservice.sessions.output.latest import Latest
from tservice.sessions.output.rooms import (
    CLOSE_FOREIGN,
    CLOSE_UNKNOWN,
    TerminalSockets,
)
from tservice.sessions.output.viewer import frame
from tservice.sessions.record.requests import InputRequest
from tservice.sessions.record.viewport import Viewport

CLOSE_MALFORMED = 1003

RESIZE_SECONDS = 0.05
"""Between two changes of size that one socket asks for: a window that is drawn wider sends many."""


class Channel(Protocol):
    """The open WebSocket."""

    def send_text(self, text: str) -> None: ...
    def send_binary(self, data: bytes) -> None: ...
    def close(self, code: int, reason: str = "") -> None: ...
    def writable(self) -> bool: ...


class TerminalSocket:
    """Serves one socket: output by its viewer, input and sizes by the sessions.

    @param cid: the client id: inputs are deduplicated under it, and its old socket is replaced.
    @param since: offset to resume at, in the life of the stream named C{epoch}.
    @param typed: told how many characters of input were accepted.
    """

    _log = Logger()

    def __init__(
        self,
        sessions: ISessions,
        sockets: TerminalSockets,
        *,
        session_id: str,
        caller: Identity,
        cid: str,
        epoch: str | None,
        since: int | None,
        typed: Callable[[int], None] = lambda length: None,
    ) -> None:
        self._sessions = sessions
        self._sockets = sockets
        self._id = session_id
        self._caller = caller
        self._epoch = epoch
        self._since = since
        self._typed = typed
        self._channel: Channel | None = None
        self._sizes = Latest(sockets.clock, RESIZE_SECONDS, self._resize)
        self.cid = cid

    # -- told by the WebSocket

    def opened(self, channel: Channel) -> None:
        """The upgrade is done; session rules close with a code, so that a page sees it."""
        self._channel = channel
        code = self._refusal()
        if code is not None:
            self.close(code, "not your session" if code == CLOSE_FOREIGN else "no such session")
            return
        self._sockets.connect(self._id, self, self._epoch, self._since)

    def text(self, text: str) -> None:
        """A text frame arrived."""
        try:
            message = parse(text)
        except Malformed as error:
            self.close(CLOSE_MALFORMED, str(error))
            return
        match message:
            case InputFrame():
                spawn(self._type(message), self._log, "terminal input")
            case ResizeFrame():
                self._sizes.put(message)
            case GotFrame(offset=offset):
                viewer = self._sockets.viewer(self._id, self)
                if viewer is not None:
                    viewer.got(offset)

    def binary(self, data: bytes) -> None:
        """Clients send text only."""
        self.close(CLOSE_MALFORMED, "binary frames go to the client only")

    def drained(self) -> None:
        """The transport takes more again."""
        viewer = self._sockets.viewer(self._id, self)
        if viewer is not None:
            viewer.pump()

    def closed(self, code: int | None) -> None:
        """The socket is gone."""
        self._channel = None
        self._sizes.stop()
        self._sockets.disconnect(self._id, self)

    # -- what the stream needs of a socket

    def send_text(self, text: str) -> None:
        """Queue a text frame; nothing once the socket is gone."""
        if self._channel is not None:
            self._channel.send_text(text)

    def send_binary(self, data: bytes) -> None:
        """Queue a binary frame; nothing once the socket is gone."""
        if self._channel is not None:
            self._channel.send_binary(data)

    def writable(self) -> bool:
        """Whether the transport takes more."""
        return self._channel is not None and self._channel.writable()

    def close(self, code: int, reason: str) -> None:
        """Close, and hear nothing more."""
        channel, self._channel = self._channel, None
        self._sizes.stop()
        self._sockets.disconnect(self._id, self)
        if channel is not None:
            channel.close(code, reason)

    # -- inside

    def _refusal(self) -> int | None:
        try:
            self._sessions.get(self._id)
        except ServiceError:
            return CLOSE_UNKNOWN
        try:
            self._sessions.get(self._id, self._caller)
        except ServiceError:
            return CLOSE_FOREIGN
        return None

    async def _type(self, message: InputFrame) -> None:
        request = InputRequest(
            text=message.data,
            use_mux=False,
            client_id=None if message.seq is None else self.cid,
            seq=message.seq,
        )
        try:
            delivery = await self._sessions.input(self._id, request)
        except ServiceError as error:
            self._acknowledge(message.seq, err=str(error.code))
        except Exception:
            self._acknowledge(message.seq, err=str(ErrorCode.INTERNAL_ERROR))
            raise
        else:
            self._typed(len(message.data))
            self._acknowledge(message.seq, **({"dup": True} if delivery.duplicate else {}))

    def _acknowledge(self, seq: int | None, **fields: object) -> None:
        if seq is not None:
            fields = {"seq": seq, **fields}
        if fields:
            self.send_text(frame("ack", **fields))

    async def _resize(self, message: ResizeFrame) -> None:
        viewport = None if message.viewport is None else Viewport(message.viewport)
        try:
            cols, rows = await self._sessions.resize(
                self._id, message.cols, message.rows, viewport=viewport, force=message.force
            )
        except ServiceError as error:
            self._log.info("no resize of {id}: {why}", id=self._id, why=error.message)
            return
        if (cols, rows) != (message.cols, message.rows):
            # The client must draw at the size that holds; it heard of no change.
            self.send_text(frame("size", c=cols, r=rows))
