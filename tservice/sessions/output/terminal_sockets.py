"""Registry of the terminal sockets of all sessions (protocol-websocket)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from tservice.core.locations.location import LocationOutage
from tservice.mux.interface import IPane, IPaneListener, PaneExit
from tservice.sessions.output.terminal_stream import TerminalStream
from tservice.sessions.output.viewer import TerminalViewer, ViewerSocket, format_frame

MAX_SOCKETS = 5
"""Maximum number of sockets of one session (protocol-websocket)."""

CLOSE_FOREIGN, CLOSE_UNKNOWN, CLOSE_FULL, CLOSE_ENDED, CLOSE_REPLACED = 4003, 4004, 4008, 4009, 4010

NOTHING = "none"
"""Epoch in the hello frame of a session that has no pane."""


class ViewerConnection(ViewerSocket, Protocol):
    """WebSocket connection of one client."""

    cid: str

    def close(self, code: int, reason: str) -> None:
        """Close the connection with a code of protocol-websocket."""


@define(eq=False)
class _AttachedSocket:
    terminal: ViewerConnection
    viewer: TerminalViewer | None = None

    def send_frame(self, text: str) -> None:
        """Send a frame that is not output."""
        if self.viewer is None:
            self.terminal.send_text(text)
        else:
            self.viewer.send_frame(text)


@define(eq=False)
class _SessionSockets:
    """Sockets of one session, and the stream of its current pane."""

    stream: TerminalStream | None = None
    unlisten: Callable[[], None] | None = None
    sockets: dict[str, _AttachedSocket] = field(factory=dict)


@implementer(IPaneListener)
class _PaneAnnouncer:
    """Pane listener that sends events of a session's pane to the session's sockets."""

    def __init__(self, sockets: TerminalSockets, session_id: str) -> None:
        self._sockets = sockets
        self._id = session_id

    def pane_exited(self, ending: PaneExit) -> None:
        self._sockets.send_exit_to_sockets(self._id, ending.status)

    def pane_lost(self) -> None:
        self._sockets.send_exit_to_sockets(self._id, None)

    def pane_resized(self, cols: int, rows: int) -> None:
        self._sockets.broadcast_frame(self._id, format_frame("size", c=cols, r=rows))

    def pane_titled(self, title: str) -> None:
        """Ignore titles; terminals read them from the output."""


class TerminalSockets:
    """Registry that connects terminal sockets to the panes of their sessions.

    @ivar clock: the clock for rate limits.
    @param pane_of: returns the current pane of a session, or C{None}.
    @param needed: returns true if a wait for a session's output needs every byte.
    @param outage: returns the outage of a session's host, or C{None}.
    """

    def __init__(
        self,
        clock: IReactorTime,
        pane_of: Callable[[str], IPane | None],
        needed: Callable[[str], bool] = lambda session_id: False,
        outage: Callable[[str], LocationOutage | None] = lambda session_id: None,
    ) -> None:
        self.clock = clock
        self._pane_of = pane_of
        self._needed = needed
        self._outage = outage
        self._rooms: dict[str, _SessionSockets] = {}

    def connect(
        self, session_id: str, terminal: ViewerConnection, epoch: str | None, since: int | None
    ) -> None:
        """Send the session's output to C{terminal}.

        The socket replaces an older one with the same client id. A sixth socket is refused.

        @param epoch: epoch of the stream in which the client stopped; C{None} for a new client.
        @param since: offset at which the client stopped; C{None} for a new client.
        """
        room = self._rooms.setdefault(session_id, _SessionSockets())
        before = room.sockets.get(terminal.cid)
        if before is not None:
            self.disconnect(session_id, before.terminal)
            before.terminal.close(CLOSE_REPLACED, "replaced by a newer socket of this client")
            room = self._rooms.setdefault(session_id, room)
        elif len(room.sockets) >= MAX_SOCKETS:
            terminal.close(CLOSE_FULL, f"more than {MAX_SOCKETS} sockets on this session")
            return
        attached = room.sockets[terminal.cid] = _AttachedSocket(terminal)
        if room.stream is None:
            self._open_stream(session_id, room)
        self._attach_socket_to_stream(session_id, room, attached, epoch, since)

    def disconnect(self, session_id: str, terminal: ViewerConnection) -> None:
        """Remove C{terminal}. This may be called twice, and for a socket that was refused."""
        room = self._rooms.get(session_id)
        if room is None:
            return
        attached = room.sockets.get(terminal.cid)
        if attached is None or attached.terminal is not terminal:
            return
        del room.sockets[terminal.cid]
        if room.stream is not None and attached.viewer is not None:
            room.stream.detach(attached.viewer)
        if not room.sockets:
            self._close_stream(room)
            del self._rooms[session_id]

    def find_viewer(self, session_id: str, terminal: ViewerConnection) -> TerminalViewer | None:
        """Return the viewer that sends output to C{terminal}; C{None} if the socket has none."""
        room = self._rooms.get(session_id)
        attached = room.sockets.get(terminal.cid) if room is not None else None
        if attached is None or attached.terminal is not terminal:
            return None
        return attached.viewer

    def find_stream(self, session_id: str) -> TerminalStream | None:
        """Return the stream of a session; C{None} if the session has no viewers."""
        room = self._rooms.get(session_id)
        return room.stream if room is not None else None

    def switch_to_current_pane(self, session_id: str) -> None:
        """Switch a session's sockets to its current pane, or to none. The stream gets a new
        epoch.
        """
        room = self._rooms.get(session_id)
        if room is None:
            return
        self._close_stream(room)
        self._open_stream(session_id, room)
        for attached in tuple(room.sockets.values()):
            self._attach_socket_to_stream(session_id, room, attached, None, None)

    def switch_pane_if_changed(self, session_id: str) -> None:
        """Switch a session's sockets to its current pane, if the pane changed."""
        room = self._rooms.get(session_id)
        if room is None:
            return
        followed = room.stream.pane if room.stream is not None else None
        if self._pane_of(session_id) is not followed:
            self.switch_to_current_pane(session_id)

    def close_sockets_of_session(self, session_id: str) -> None:
        """Close the sockets of a deleted session with 4009."""
        room = self._rooms.pop(session_id, None)
        if room is None:
            return
        self._close_stream(room)
        for attached in room.sockets.values():
            attached.terminal.close(CLOSE_ENDED, "the session has ended")

    def send_exit_to_sockets(self, session_id: str, status: int | None) -> None:
        """Send the sockets the exit of the process, after its last output.

        @param status: exit status; C{None} if unknown.
        """
        stream = self.find_stream(session_id)
        if stream is not None:
            stream.flush()
        self.broadcast_frame(session_id, make_exit_frame(status))

    def broadcast_frame(self, session_id: str, text: str) -> None:
        """Send a text frame to every socket of a session."""
        room = self._rooms.get(session_id)
        for attached in tuple(room.sockets.values()) if room is not None else ():
            attached.send_frame(text)

    def count_sockets(self) -> int:
        """Return the number of open sockets."""
        return sum(len(room.sockets) for room in self._rooms.values())

    def close(self, code: int, reason: str) -> None:
        """Close every socket, because the service stops."""
        for session_id in tuple(self._rooms):
            room = self._rooms.pop(session_id)
            self._close_stream(room)
            for attached in room.sockets.values():
                attached.terminal.close(code, reason)

    def _open_stream(self, session_id: str, room: _SessionSockets) -> None:
        pane = self._pane_of(session_id)
        if pane is None:
            return
        room.stream = TerminalStream(pane, self.clock, partial(self._needed, session_id))
        room.unlisten = pane.add_listener(_PaneAnnouncer(self, session_id))

    def _close_stream(self, room: _SessionSockets) -> None:
        if room.unlisten is not None:
            room.unlisten()
        if room.stream is not None:
            room.stream.close()
        room.stream = room.unlisten = None

    def _attach_socket_to_stream(
        self,
        session_id: str,
        room: _SessionSockets,
        attached: _AttachedSocket,
        epoch: str | None,
        since: int | None,
    ) -> None:
        outage = self._outage(session_id)
        if room.stream is None:
            attached.viewer = None
            greet_without_pane(attached.terminal)
        else:
            away = outage is not None
            attached.viewer = room.stream.attach(attached.terminal, epoch, since, away=away)
        if outage is not None:
            attached.send_frame(make_link_frame(up=False, next_at=outage.next_at))
        if room.stream is None:
            return
        pane = room.stream.pane
        if pane.ending is not None:
            attached.send_frame(make_exit_frame(pane.ending.status))


def make_exit_frame(status: int | None) -> str:
    """Return the frame that announces the exit of a process.

    An unknown status is omitted and never reported as 0.
    """
    return format_frame("exit") if status is None else format_frame("exit", status=status)


def make_link_frame(*, up: bool, next_at: int | None = None) -> str:
    """Return the frame that announces a lost or restored connection to a remote host.

    @param up: true if the connection is restored.
    @param next_at: time of the next attempt to connect, in Unix milliseconds; C{None} if unknown.
    """
    return format_frame("link", up=up, **({} if next_at is None else {"nextAt": next_at}))


def greet_without_pane(wire: ViewerSocket) -> None:
    """Send an empty screen to a socket of a session without a pane."""
    wire.send_text(
        format_frame("hello", v=1, epoch=NOTHING, offset=0, cols=120, rows=40, resumed=False)
    )
    wire.send_text(format_frame("snapshot", offset=0, cols=120, rows=40, data=""))
