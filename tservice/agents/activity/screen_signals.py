"""Signals C{stop} and C{blocked} derived from captures of the screen (protocol-signals).

Agents without hooks need them. Agents with hooks need them for a turn that continued while the
service was down.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.blocked_signals import BlockedSignals
from tservice.agents.activity.poll_schedule import TURN_DIALOGS
from tservice.agents.dialog_likeness import DialogLikeness, compare_rows
from tservice.agents.interfaces import AgentScreen
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.event_payloads import OccurrencePayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.sessions.interfaces import ActivitySink, Session, SessionStatus
from tservice.terminal.dialogs.dialogs import AgentDialog


class ScreenSignals:
    """Source of the signals of one run of an agent, in the form that hooks would cause.

    Signals are sent between the watch and the session. So C{stop} comes before the C{idle} that the
    same evidence causes, and C{blocked} comes after the C{working}.

    @param session: returns the current record of the session.
    @param wanted: returns true if sessions of a mode need these signals now.
    @param blocked: sends the signal C{blocked}.
    """

    def __init__(
        self,
        clock: IReactorTime,
        hub: EventHub,
        session: Callable[[], Session],
        wanted: Callable[[str], bool],
        blocked: BlockedSignals,
    ) -> None:
        self._clock = clock
        self._hub = hub
        self._session = session
        self._wanted = wanted
        self._blocked = blocked
        self._asked: AgentDialog | None = None
        self._ended = False

    def stop_signals(self) -> None:
        """Stop sending signals, because the agent's hooks cause them from now on."""
        self._ended = True

    def wrap_sink(self, sink: ActivitySink) -> ActivitySink:
        """Return a sink that replaces C{sink} and also sends C{stop}."""
        return _StopSignalSink(
            sink,
            self._session().status is SessionStatus.BUSY,
            self._publish_stop,
        )

    def handle_screen(self, look: AgentScreen) -> None:
        """Send the signals of a captured screen; call this after the activity was updated by it."""
        dialog = look.reading.dialog
        if dialog is not None and dialog.kind in TURN_DIALOGS:
            is_new = self._asked is None or not self._is_same_dialog(self._asked, dialog)
            self._asked = dialog
            if is_new and self._is_wanted():
                now = get_unix_ms(self._clock)
                self._blocked.announce_dialog(
                    self._session(), now, lambda: self._asked is not None and not self._ended
                )
        elif dialog is not None or look.reading.composer_ready or look.reading.working:
            self._asked = None

    def _is_same_dialog(self, asked: AgentDialog, dialog: AgentDialog) -> bool:
        """Return true if C{dialog} is the dialog C{asked}, perhaps drawn for another size."""
        pairs = ((dialog.context, asked.context), (asked.context, dialog.context))
        views = {compare_rows(one, other) for one, other in pairs}
        same = dialog.frame_hash == asked.frame_hash
        return same or not views.isdisjoint((DialogLikeness.SAME, DialogLikeness.CUT))

    def _is_wanted(self) -> bool:
        return not self._ended and self._wanted(self._session().mode)

    def _publish_stop(self) -> None:
        session = self._session()
        if self._is_wanted():
            self._hub.publish(
                Event(
                    name=EventName.SESSION_STOP,
                    payload=OccurrencePayload(id=session.id, at=get_unix_ms(self._clock)),
                    session_id=session.id,
                    owner=session.owner,
                )
            )


class _StopSignalSink:
    """Sink that signals the end of a turn before it passes the end on."""

    def __init__(self, sink: ActivitySink, in_turn: bool, stop: Callable[[], None]) -> None:
        self._sink = sink
        self._in_turn = in_turn
        self._stop = stop

    def report_working(self, reason: str) -> None:
        self._in_turn = True
        self._sink.report_working(reason)

    def report_idle(self, reason: str) -> None:
        if self._in_turn:
            self._in_turn = False
            self._stop()
        self._sink.report_idle(reason)

    def report_evidence(self, reason: str) -> None:
        self._sink.report_evidence(reason)
