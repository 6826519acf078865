"""When a transcript is worth a look: in a turn, and while it may still lack what ended one.

An agent writes the last lines of a turn a moment after its C{stop} hook.  Whoever waited for that
hook and asks for the answer at once must not be told the answer before it.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

from tservice.agents.transcripts.model import Tally
from tservice.core.clock import now_ms
from tservice.core.events import Event, EventName
from tservice.core.payloads import HookTold
from tservice.core.timers import Timers

LOOK = 0.05
"""Seconds between two looks at a transcript that lacks something."""
SETTLED = 0.15
"""Seconds after a turn's end in which an answer that is there may still get its last part."""
PATIENCE = 5.0
"""Seconds after a turn's end in which its answer may come: 0.1 to an agent on an idle machine."""

IN_TURN = 5.0
"""Seconds between two readings in a turn, of agents whose lists only their transcripts tell."""

_FAILURE = "StopFailure"
"""The agent's name for the end of a turn that has no answer."""
_REST = {EventName.SESSION_IDLE, EventName.SESSION_EXIT, EventName.SESSION_DELETED}


class Turns:
    """When the last turn of each session began and ended; forgotten with the session."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._begun: dict[str, int] = {}
        self._ended: dict[str, float] = {}

    def heard(self, event: Event) -> None:
        """Take in a hook's event or the end of a session."""
        name = event.session_id
        if name is None:
            return
        if event.name is EventName.HOOK_PROMPT_SUBMITTED:
            self._begun[name] = now_ms(self._clock)
        elif event.name is EventName.HOOK_STOP and _failed(event):
            self._ended.pop(name, None)
        elif event.name is EventName.HOOK_STOP:
            self._ended[name] = self._clock.seconds()
        elif event.name is EventName.SESSION_DELETED:
            self._begun.pop(name, None)
            self._ended.pop(name, None)

    def lacking(self, session_id: str, tally: Tally) -> float:
        """Seconds until it is worth another look; 0 where the transcript is whole."""
        ended = self._ended.get(session_id)
        if ended is None:
            return 0.0
        begun, answered = self._begun.get(session_id), tally.response_at
        # Which answer belongs to a turn that began before this service started is unknown.
        there = begun is None or (answered is not None and answered >= begun)
        rest = (SETTLED if there else PATIENCE) - (self._clock.seconds() - ended)
        return min(LOOK, rest) if rest > 0 else 0.0


def _failed(event: Event) -> bool:
    told = event.payload
    return isinstance(told, HookTold) and told.data.get("hook_event_name") == _FAILURE


class TurnLooks:
    """Calls C{look} with a session's id every L{IN_TURN} seconds of its turns.

    @param wanted: whether a session's transcript tells something in its turns.
    """

    def __init__(
        self, clock: IReactorTime, wanted: Callable[[str], bool], look: Callable[[str], object]
    ) -> None:
        self._timers = Timers(clock)
        self._wanted = wanted
        self._look = look

    def heard(self, event: Event) -> None:
        """Take in what a session does."""
        name = event.session_id
        if name is None:
            return
        if event.name in _REST:
            self._timers.stop(name)
        elif event.name is EventName.SESSION_WORKING and self._wanted(name):
            self._timers.set(name, IN_TURN, self._due, name)

    def close(self) -> None:
        """Call nothing more."""
        self._timers.clear()

    def _due(self, name: str) -> None:
        self._timers.set(name, IN_TURN, self._due, name)
        self._look(name)
