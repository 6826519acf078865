"""Times at which a transcript is read: during a turn, and after it while its answer may be missing.

An agent writes the last lines of a turn a moment after its C{stop} hook. A client that requests the
answer right after that hook must not get the previous answer.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

from tservice.agents.transcripts.model import TranscriptTally
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.event_payloads import HookEventPayload
from tservice.core.kernel.events import Event, EventName
from tservice.core.kernel.timers import NamedTimers

LOOK = 0.05
"""Seconds between two reads of a transcript that may lack the answer."""
SETTLED = 0.15
"""Seconds after a turn's end in which the last part of its answer may still be written."""
PATIENCE = 5.0
"""Maximum seconds from a turn's end until its answer is written; an agent needs 0.1 on an idle
machine.
"""

IN_TURN = 5.0
"""Seconds between two reads during a turn, for agents whose to-do lists are only in their
transcripts.
"""

_FAILURE = "StopFailure"
"""Name of Claude Code's hook for the end of a turn without an answer."""
_REST = {EventName.SESSION_IDLE, EventName.SESSION_EXIT, EventName.SESSION_DELETED}


class TurnTimes:
    """Start and end of the last turn of each session."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._begun: dict[str, int] = {}
        self._ended: dict[str, float] = {}

    def record_turn_event(self, event: Event) -> None:
        """Handle a hook event of a session, or its end, which removes its times."""
        name = event.session_id
        if name is None:
            return
        if event.name is EventName.HOOK_PROMPT_SUBMITTED:
            self._begun[name] = get_unix_ms(self._clock)
        elif event.name is EventName.HOOK_STOP and _is_failed_turn_event(event):
            self._ended.pop(name, None)
        elif event.name is EventName.HOOK_STOP:
            self._ended[name] = self._clock.seconds()
        elif event.name is EventName.SESSION_DELETED:
            self._begun.pop(name, None)
            self._ended.pop(name, None)

    def get_read_delay(self, session_id: str, tally: TranscriptTally) -> float:
        """Return the seconds until the next read is useful; 0 if the transcript is complete."""
        ended = self._ended.get(session_id)
        if ended is None:
            return 0.0
        begun, answered = self._begun.get(session_id), tally.response_at
        # For a turn that began before this service started, the matching answer is unknown.
        there = begun is None or (answered is not None and answered >= begun)
        rest = (SETTLED if there else PATIENCE) - (self._clock.seconds() - ended)
        return min(LOOK, rest) if rest > 0 else 0.0


def _is_failed_turn_event(event: Event) -> bool:
    told = event.payload
    return isinstance(told, HookEventPayload) and told.data.get("hook_event_name") == _FAILURE


class TurnReadTimer:
    """Timer that calls C{look} with a session's id every L{IN_TURN} seconds during its turns.

    @param wanted: returns true if the transcript of a session contains data during its turns that
        no hook reports.
    """

    def __init__(
        self, clock: IReactorTime, wanted: Callable[[str], bool], look: Callable[[str], object]
    ) -> None:
        self._timers = NamedTimers(clock)
        self._wanted = wanted
        self._look = look

    def update_timer_from_event(self, event: Event) -> None:
        """Start or stop the timer of a session when its turn begins or ends."""
        name = event.session_id
        if name is None:
            return
        if event.name in _REST:
            self._timers.cancel_timer(name)
        elif event.name is EventName.SESSION_WORKING and self._wanted(name):
            self._timers.schedule_call(name, IN_TURN, self._handle_timer, name)

    def close(self) -> None:
        """Cancel all timers."""
        self._timers.cancel_all()

    def _handle_timer(self, name: str) -> None:
        self._timers.schedule_call(name, IN_TURN, self._handle_timer, name)
        self._look(name)
