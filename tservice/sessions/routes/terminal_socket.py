"""Protocol of one terminal client's WebSocket (protocol-websocket)."""

from __future__ import annotations

from collections.abc import Callable

from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.http.websockets.frames import SocketMessage
from tservice.http.websockets.interface import ISocket, ISocketHandler
from tservice.sessions.interfaces import InputDelivery, ISessions, TerminalColours
from tservice.sessions.output.client_frames import (
    ColoursFrame,
    DrawnFrame,
    InputFrame,
    MalformedFrame,
    ResizeFrame,
    parse_frame,
)
from tservice.sessions.output.coalescer import RequestCoalescer
from tservice.sessions.output.terminal_sockets import (
    CLOSE_FOREIGN,
    CLOSE_REPLACED,
    CLOSE_UNKNOWN,
    TerminalSockets,
)
from tservice.sessions.output.viewer import format_frame
from tservice.sessions.record.requests import InputRequest
from tservice.sessions.record.viewport import SizeRequest, ViewportKind
from tservice.terminal.terminal_reports import is_terminal_report

CLOSE_MALFORMED = 1003

RESIZE_SECONDS = 0.05
"""Minimum seconds between two size changes by one socket. Dragging a window's edge sends many."""


_INPUT_LOG = Logger()
"""Log of failed keys. A logger of the class is copied at each access, which a key would wait for.
"""


class SharedFrames:
    """Cache that frames output once for all sockets at the same position.

    The output log returns one bytes object for that position, so only the last frame is kept.
    """

    def __init__(self) -> None:
        self._last = SocketMessage(b"")

    def make_message(self, data: bytes) -> SocketMessage:
        """Return the WebSocket message with C{data}. Reuse the last message if it has the same
        data.
        """
        if self._last.payload is not data:
            self._last = SocketMessage(data)
        return self._last


@implementer(ISocketHandler)
class TerminalSocket:
    """Protocol of one terminal WebSocket.

    A viewer sends the output, and the session service handles input and sizes.

    @param frames: cache shared by all sockets.
    @param cid: the client id. Inputs are deduplicated under this id, and an older socket with the
        same id is replaced.
    @param since: offset at which to resume, in the stream with the epoch C{epoch}.
    @param typed: called with the number of typed characters that were accepted.
    """

    _log = Logger()

    def __init__(
        self,
        sessions: ISessions,
        sockets: TerminalSockets,
        frames: SharedFrames,
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
        self._frames = frames
        self._id = session_id
        self._caller = caller
        self._epoch = epoch
        self._since = since
        self._typed = typed
        self._socket: ISocket | None = None
        self._full = False
        self._sizes = RequestCoalescer(sockets.clock, RESIZE_SECONDS, self._resize_pane)
        self._viewing = False
        self.cid = cid

    # -- callbacks of the WebSocket

    def socket_opened(self, socket: ISocket) -> None:
        """Connect the socket to the session.

        If the session's rules forbid this, the socket is closed with a code after the upgrade, so
        that a page sees the code.
        """
        self._socket = socket
        code = self._find_refusal()
        if code is not None:
            self.close(code, "not your session" if code == CLOSE_FOREIGN else "no such session")
            return
        self._viewing = True
        self._sockets.connect(self._id, self, self._epoch, self._since)

    def text_received(self, data: str) -> None:
        """Handle a text frame."""
        try:
            message = parse_frame(data)
        except MalformedFrame as error:
            self.close(CLOSE_MALFORMED, str(error))
            return
        match message:
            case InputFrame():
                spawn_logged(self._type_input(message), _INPUT_LOG, "terminal input")
            case ResizeFrame():
                self._sizes.submit_request(message)
            case ColoursFrame(foreground=foreground, background=background):
                self._show_colours(TerminalColours(foreground=foreground, background=background))
            case DrawnFrame(offset=offset):
                viewer = self._sockets.find_viewer(self._id, self)
                if viewer is not None:
                    viewer.acknowledge_drawn(offset)

    def binary_received(self, data: bytes) -> None:
        """Close the socket, because clients may send text frames only."""
        self.close(CLOSE_MALFORMED, "binary frames go to the client only")

    def sending_paused(self) -> None:
        """Stop sending output until the transport resumes."""
        self._full = True

    def sending_resumed(self) -> None:
        """Continue to send output."""
        self._full = False
        viewer = self._sockets.find_viewer(self._id, self)
        if viewer is not None:
            viewer.send_available()

    def socket_closed(self, code: int) -> None:
        """Disconnect from the session after the socket was closed."""
        self._socket = None
        self._disconnect()

    # -- interface for the stream

    def send_text(self, text: str) -> None:
        """Queue a text frame. Do nothing once the socket is closed."""
        if self._socket is not None:
            self._socket.send_text(text)

    def send_binary(self, data: bytes) -> None:
        """Queue a binary frame. Do nothing once the socket is closed."""
        if self._socket is not None:
            self._socket.send(self._frames.make_message(data))

    def is_writable(self) -> bool:
        """Return true if the transport accepts more data."""
        return self._socket is not None and self._socket.writable and not self._full

    def close(self, code: int, reason: str) -> None:
        """Close the socket and ignore later callbacks."""
        socket, self._socket = self._socket, None
        # The replacing socket is the same viewer, so its size request is kept.
        self._viewing = self._viewing and code != CLOSE_REPLACED
        self._disconnect()
        if socket is not None:
            socket.close(code, reason)

    # -- internals

    def _disconnect(self) -> None:
        self._sizes.stop()
        self._sockets.disconnect(self._id, self)
        if self._viewing:
            self._viewing = False
            spawn_logged(
                self._sessions.remove_viewer(self._id, self.cid),
                self._log,
                "removing a viewer's size",
            )

    def _find_refusal(self) -> int | None:
        try:
            self._sessions.get(self._id)
        except ServiceError:
            return CLOSE_UNKNOWN
        try:
            self._sessions.get(self._id, self._caller)
        except ServiceError:
            return CLOSE_FOREIGN
        return None

    async def _type_input(self, message: InputFrame) -> None:
        request = InputRequest(
            text=message.data,
            use_mux=False,
            client_id=None if message.seq is None else self.cid,
            seq=message.seq,
            may_wait=True,
            sender=self._caller,
        )
        try:
            delivery = await self._sessions.send_input(self._id, request)
        except ServiceError as error:
            self._send_ack(message.seq, err=str(error.code))
        except Exception:
            self._send_ack(message.seq, err=str(ErrorCode.INTERNAL_ERROR))
            raise
        else:
            self._acknowledge_input(message, delivery)

    def _acknowledge_input(self, message: InputFrame, delivery: InputDelivery) -> None:
        if delivery.dropped:
            self._send_ack(message.seq, err=str(ErrorCode.OPERATION_FAILED))
            return
        if not is_terminal_report(message.data.encode("utf-8", "replace")):
            self._typed(len(message.data))
        told: dict[str, object] = {
            "dup": delivery.duplicate or None,
            "last": delivery.last,
            "buffered": delivery.buffered or None,
        }
        self._send_ack(message.seq, **{k: v for k, v in told.items() if v is not None})

    def _show_colours(self, colours: TerminalColours) -> None:
        try:
            self._sessions.set_viewer_colours(self._id, self.cid, colours)
        except ServiceError as error:
            self._log.info("no colours of {id}: {why}", id=self._id, why=error.message)

    def _send_ack(self, seq: int | None, **fields: object) -> None:
        if seq is not None:
            fields = {"seq": seq, **fields}
        if fields:
            self.send_text(format_frame("ack", **fields))

    async def _resize_pane(self, message: ResizeFrame) -> None:
        wish = SizeRequest(
            cols=message.cols,
            rows=message.rows,
            viewport=None if message.viewport is None else ViewportKind(message.viewport),
            viewer=self.cid,
            force=message.force,
        )
        try:
            cols, rows = await self._sessions.resize_pane(self._id, wish)
        except ServiceError as error:
            self._log.info("no resize of {id}: {why}", id=self._id, why=error.message)
            return
        if (cols, rows) != (message.cols, message.rows):
            # The client must draw at the size in effect; no change event was sent.
            self.send_text(format_frame("size", c=cols, r=rows))
