"""Terminal stream of a session that survives lost connections (protocol-websocket).

Output is resumed by offset, and input is numbered.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from tservice.client.errors import ApiError, Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ResponseLost
from tservice.client.link.connection import PATIENCE
from tservice.client.link.websocket import BINARY, CLOSE, ReceivedMessage, WebSocket

FINAL_CLOSE_CODES = {
    1003: "the service did not understand tsctl",
    1009: "the service did not understand tsctl",
    4003: "the session is not yours, or you were signed out",
    4004: "the session no longer exists",
    4008: "too many terminals are open on this session",
    4010: "another terminal replaced this one",
}
"""Close codes after which another connection would fail for the same reason, with explanations."""
REMOVED_CLOSE_CODE = 4009
"""Close code which states that the session was removed."""
REFUSED_STATUSES = (400, 401, 403, 404)
"""HTTP statuses after which a retry would be refused too."""
UNACKNOWLEDGED = 65536
"""Number of characters of unacknowledged input above which no more input is accepted."""


class OutputReceived(NamedTuple):
    """Output of the session that directly follows the output before it."""

    data: bytes


class RedrawReceived(NamedTuple):
    """Complete contents of the terminal, sent if earlier output is missing or too large."""

    data: bytes


class ProcessEnded(NamedTuple):
    """Event for the end of the session's process.

    @ivar status: exit status of the process, or C{None} if it is unknown.
    """

    status: int | None


Event = OutputReceived | RedrawReceived | ProcessEnded


class TerminalConnection:
    """Terminal stream of one session.

    @ivar socket: WebSocket of the stream, or C{None} while disconnected.
    """

    def __init__(
        self,
        address: ServiceAddress,
        session_id: str,
        epoch: str | None = None,
        offset: int | None = None,
    ) -> None:
        """Prepare a stream without connecting it.

        @param epoch: together with C{offset}, the output position to begin at, as returned by a
            terminal read. C{None} begins with the whole screen.
        """
        self._address, self._id = address, session_id
        self._epoch, self._offset = epoch, offset
        self._cid = f"tsctl-{uuid.uuid4().hex}"
        self._seq = 0
        self._sent: dict[int, str] = {}
        self._size: tuple[int, int] | None = None
        self.socket: WebSocket | None = None

    def connect(self, patience: float = PATIENCE) -> None:
        """Connect, and resend unacknowledged input.

        @param patience: seconds that connecting may take.
        @raise Lost: the connection failed, and a later attempt may succeed.
        @raise ApiError: the service refused, and so would a later attempt. The same holds for
            L{Unusable}.
        """
        self.close()
        query: dict[str, object] = {"cid": self._cid}
        if self._epoch is not None:
            query |= {"epoch": self._epoch, "since": self._offset}
        target = f"/ws/sessions/{quote(self._id, safe='')}/terminal?{urlencode(query)}"
        try:
            self.socket = WebSocket(self._address, target, patience)
        except ApiError as error:
            if error.status in REFUSED_STATUSES:
                raise
            raise ResponseLost(str(error)) from None
        if self._size is not None:
            self.request_size(*self._size)
        for seq, text in self._sent.items():
            self._send_message({"t": "i", "d": text, "seq": seq})

    def close(self) -> None:
        """Close the connection if it is open."""
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    @property
    def can_accept_input(self) -> bool:
        """True while more input is accepted."""
        return sum(map(len, self._sent.values())) < UNACKNOWLEDGED

    def type_text(self, text: str) -> None:
        """Type C{text} exactly once, now or after the next L{connect}.

        @raise Lost: the connection was lost. The text is kept.
        """
        self._seq += 1
        self._sent[self._seq] = text
        self._send_message({"t": "i", "d": text, "seq": self._seq})

    def request_size(self, cols: int, rows: int) -> None:
        """Request a terminal size, now and after each L{connect}.

        @raise Lost: the connection was lost.
        """
        self._size = cols, rows
        self._send_message({"t": "z", "c": min(cols, 500), "r": min(rows, 200), "v": "desktop"})

    def receive_events(self) -> Iterator[Event]:
        """Yield the events received so far.

        @raise Lost: the connection was lost. After L{connect} the stream continues without a gap.
        @raise Unusable: the stream has ended permanently.
        """
        if self.socket is None:
            return
        for message in self.socket.receive_messages():
            if message.kind == BINARY:
                self._offset = (self._offset or 0) + len(message.payload)
                yield OutputReceived(message.payload)
            elif message.kind == CLOSE:
                yield self._handle_close(message.payload)
            else:
                yield from self._handle_text(message)

    def _handle_text(self, message: ReceivedMessage) -> Iterator[Event]:
        try:
            found: dict[str, Any] = json.loads(message.payload)
            kind = found["t"]
            if kind == "hello":
                self._epoch, self._offset = str(found["epoch"]), int(found["offset"])
            elif kind == "snapshot":
                self._offset = int(found["offset"])
                yield RedrawReceived(str(found["data"]).encode("utf-8", "replace"))
            elif kind == "exit":
                yield ProcessEnded(found.get("status"))
            elif kind == "ack":
                self._sent.pop(found.get("seq", 0), None)
        except (ValueError, KeyError, TypeError):
            raise Unusable("the service violates the terminal protocol") from None

    def _handle_close(self, payload: bytes) -> ProcessEnded:
        code = int.from_bytes(payload[:2], "big")
        if code == REMOVED_CLOSE_CODE:
            return ProcessEnded(None)
        if code in FINAL_CLOSE_CODES:
            raise Unusable(FINAL_CLOSE_CODES[code])
        raise ResponseLost(f"the service closed the connection ({code})")

    def _send_message(self, message: dict[str, object]) -> None:
        if self.socket is not None:
            self.socket.send_text(json.dumps(message))
