"""Automatic C{/compact} and C{/clear} when a conversation becomes too long (protocol-automatic)."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.interfaces import IAgents
from tservice.agents.transcripts.model import TranscriptTally
from tservice.clis.interfaces import PRIMARY
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import CommandSentPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.sessions.interfaces import SEQ_LIMIT, InputRequest, ISessions, Session, SessionStatus
from tservice.terminal.composers.composer_regions import contains_draft

COMPACT = EventName.SESSION_AUTO_COMPACT
CLEAR = EventName.SESSION_AUTO_CLEAR

_CLIENT = "automatic-"
"""Prefix of the commands' client id, followed by the name of an event (protocol-exactly-once)."""


class AutomaticCommands:
    """Sender that types the command once for each crossing of the threshold, when the session is
    idle.

    The sequence number of the input is the time of the answer before it. So the service does not
    repeat the command after a crash.
    """

    _log = Logger()

    def __init__(
        self, clock: IReactorTime, sessions: ISessions, agents: IAgents, hub: EventHub
    ) -> None:
        self._clock = clock
        self._sessions = sessions
        self._agents = agents
        self._hub = hub
        self._tallies: dict[str, TranscriptTally] = {}
        self._done: dict[str, set[EventName]] = {}
        self._busy: set[str] = set()
        self._end: Callable[[], None] | None = None

    def start(self) -> None:
        """Subscribe to events."""
        self._end = self._hub.subscribe(self._handle_event)

    def stop(self) -> None:
        """Unsubscribe from events."""
        if self._end is not None:
            self._end()
            self._end = None

    def handle_tally(self, session_id: str, tally: TranscriptTally) -> None:
        """Handle a new tally of the session's transcript."""
        self._tallies[session_id] = tally
        self._start_command(session_id)

    def _handle_event(self, event: Event) -> None:
        session_id = event.session_id
        if session_id is None:
            return
        if event.name is EventName.SESSION_IDLE:
            self._start_command(session_id)
        elif event.name is EventName.SESSION_DELETED:
            self._tallies.pop(session_id, None)
            self._done.pop(session_id, None)

    def _start_command(self, session_id: str) -> None:
        if self._find_due_command(session_id) is not None and session_id not in self._busy:
            self._busy.add(session_id)
            spawn_logged(self._send_due_command(session_id), self._log, "an automatic command")

    def _find_due_command(self, session_id: str) -> tuple[Session, EventName, str] | None:
        """Return the session, the event and the command to send now; C{None} without a command."""
        try:
            session = self._sessions.get(session_id)
        except ServiceError:
            return None
        context = self._get_context(session_id)
        compact, clear = session.auto_compact, session.auto_clear
        done = self._done.setdefault(session_id, set())
        due: dict[EventName, bool] = {
            CLEAR: context >= clear.threshold,
            COMPACT: context >= compact.threshold,
        }
        done -= {event for event, crossed in due.items() if not crossed}
        if (
            session.mode != PRIMARY
            or session.status is not SessionStatus.IDLE
            or session.pid is None
        ):
            return None
        if clear.enabled and due[CLEAR] and CLEAR not in done:
            return session, CLEAR, "/clear"
        if compact.enabled and due[COMPACT] and COMPACT not in done:
            # A line end would submit only a part of the text as the command.
            words = " ".join((compact.prompt or "").split())
            return session, COMPACT, f"/compact {words}".strip()
        return None

    async def _send_due_command(self, session_id: str) -> None:
        try:
            look = await self._agents.capture_screen(session_id)
            wanted = self._find_due_command(session_id)
            if wanted is None or not look.reading.composer_ready or look.reading.working:
                return
            session, event, command = wanted
            if contains_draft(look.frame, self._agents.get_screen_rules(session.mode)):
                return  # the command would be appended to the user's draft
            # In any case it is not tried again before the next crossing.
            self._done[session_id] |= {event} if event == COMPACT else {CLEAR, COMPACT}
            if await self._type_command(session_id, event, command):
                self._publish_event(session, event)
        except ServiceError as error:
            self._log.warn("{id}: no automatic command: {error}", id=session_id, error=error)
        finally:
            self._busy.discard(session_id)

    async def _type_command(self, session_id: str, event: EventName, command: str) -> bool:
        """Type a command; return false if it had already been typed."""
        tally = self._tallies.get(session_id)
        at = None if tally is None else tally.response_at
        # The agent reports this number, and it may be anything.
        known = at is not None and 0 <= at <= SEQ_LIMIT
        request = InputRequest(
            text=command,
            use_mux=True,
            client_id=f"{_CLIENT}{event}",
            seq=at if known else None,
        )
        return not (await self._sessions.send_input(session_id, request)).duplicate

    def _get_context(self, session_id: str) -> int:
        tally = self._tallies.get(session_id)
        return 0 if tally is None else tally.context

    def _publish_event(self, session: Session, name: EventName) -> None:
        tokens = self._get_context(session.id)
        self._hub.publish(
            Event(
                name=name,
                payload=CommandSentPayload(
                    id=session.id, at=get_unix_ms(self._clock), tokens=tokens
                ),
                session_id=session.id,
                owner=session.owner,
            )
        )
