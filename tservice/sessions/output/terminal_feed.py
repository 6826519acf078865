"""Publishes terminal output of sessions as events, for event stream clients that request it
(protocol-events).

The feed is bounded: at most L{PER_SECOND} events a second and session, each with the newest
L{LARGEST} bytes. From the offset, a client learns which bytes it missed.  A client that needs every
byte opens the terminal's WebSocket.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import SessionOutputPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.mux.interface import IPane

PER_SECOND = 20
LARGEST = 64 * 1024


def whole_character_length(data: bytes) -> int:
    """Return the length of the longest prefix of C{data} that ends with a whole UTF-8 character.

    Invalid bytes count as characters.
    """
    for back in range(1, min(4, len(data)) + 1):
        lead = data[-back]
        if lead & 0xC0 == 0x80:
            continue
        needs = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
        return len(data) if needs <= back else len(data) - back
    return len(data)


class _PaneReader:
    """Reader that follows the output of one pane."""

    def __init__(self, clock: IReactorTime, pane: IPane, publish: Callable[[int, str], None]):
        self.pane = pane
        self._clock = clock
        self._publish = publish
        self._offset = pane.log.end
        self._timer: IDelayedCall | None = None

    def publish_or_skip_output(self, wanted: bool) -> None:
        """Handle new output of the pane.

        @param wanted: true if a client requested the output of this session.
        """
        if not wanted:
            self._offset = self.pane.log.end
        elif self._timer is None:
            self._timer = self._clock.callLater(1 / PER_SECOND, self._publish_new)

    def close(self) -> None:
        """Stop following the pane."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _publish_new(self) -> None:
        self._timer = None
        log = self.pane.log
        start = max(self._offset, log.start, log.end - LARGEST)
        data = log.read(start, LARGEST)
        data = data[: whole_character_length(data)]
        self._offset = start + len(data)
        if data:
            self._publish(start, data.decode("utf-8", "replace"))


class TerminalFeed:
    """Publishes C{session:terminal}, C{{id, offset, data}}, for each session that a client
    requested.

    @param wanted: returns true if a client of the event stream requested the session's terminal.
    """

    def __init__(
        self,
        clock: IReactorTime,
        hub: EventHub,
        pane_of: Callable[[str], IPane | None],
        owner_of: Callable[[str], str | None],
        wanted: Callable[[str], bool],
    ) -> None:
        self._clock = clock
        self._hub = hub
        self._pane_of = pane_of
        self._owner_of = owner_of
        self._wanted = wanted
        self._readers: dict[str, tuple[_PaneReader, Callable[[], None]]] = {}
        self._unsubscribe = hub.subscribe(self._handle_event)

    def close(self) -> None:
        """Stop following all panes."""
        self._unsubscribe()
        for session_id in tuple(self._readers):
            self._stop_pane_reader(session_id)

    def _handle_event(self, event: Event) -> None:
        if event.session_id is None or event.name is EventName.SESSION_TERMINAL:
            return
        if event.name is EventName.SESSION_DELETED:
            self._stop_pane_reader(event.session_id)
        else:
            self._follow_pane(event.session_id)

    def _follow_pane(self, session_id: str) -> None:
        try:
            pane = self._pane_of(session_id)
        except ServiceError:
            # Events about a session, such as its dialog, may arrive after its end.
            self._stop_pane_reader(session_id)
            return
        followed = self._readers.get(session_id)
        if followed is not None and followed[0].pane is pane:
            return
        self._stop_pane_reader(session_id)
        if pane is None:
            return

        def publish_output(offset: int, data: str) -> None:
            self._publish_output(session_id, offset, data)

        reader = _PaneReader(self._clock, pane, publish_output)
        end = pane.log.subscribe(lambda: reader.publish_or_skip_output(self._wanted(session_id)))
        self._readers[session_id] = (reader, end)

    def _stop_pane_reader(self, session_id: str) -> None:
        reader, end = self._readers.pop(session_id, (None, None))
        if reader is not None and end is not None:
            end()
            reader.close()

    def _publish_output(self, session_id: str, offset: int, data: str) -> None:
        self._hub.publish(
            Event(
                name=EventName.SESSION_TERMINAL,
                payload=SessionOutputPayload(id=session_id, offset=offset, data=data),
                session_id=session_id,
                owner=self._owner_of(session_id),
            )
        )
