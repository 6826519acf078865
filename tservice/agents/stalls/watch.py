"""Watch over the agents that work, which publishes stalls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from tservice.agents.interfaces import AgentScreen, IAgents
from tservice.agents.stalls.detector import find_stall
from tservice.agents.stalls.model import FoundStall, StallThresholds
from tservice.agents.stalls.nudging import Nudger
from tservice.agents.stalls.processes import StartedPrograms
from tservice.agents.stalls.screen_progress import summarise_screen
from tservice.agents.stalls.tool_outcomes import read_turn_tools
from tservice.agents.stalls.tracked_agent import StallRecord
from tservice.agents.transcripts.conversation.pages import ConversationPage
from tservice.clis.interfaces import CliKind, ICliRegistry
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import SessionStalledPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.workers.worker_pool import IThreads
from tservice.sessions.interfaces import (
    ISessions,
    Session,
    SessionLocationKind,
    SessionStall,
    SessionStatus,
)
from tservice.settings.interfaces import ISettings

EVERY = 15.0
"""Seconds between two looks at the agents that work."""
ITEMS = 60
"""Number of the newest items of a conversation in which repetitions are searched."""

ReadLatest = Callable[[str, int], Awaitable[ConversationPage | None]]
ReadPrograms = Callable[[Mapping[str, int]], dict[str, StartedPrograms]]


class StallWatch:
    """Looks regularly at the agents that work, and publishes those that hang.

    An agent that moves again loses its mark by itself.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        sessions: ISessions,
        agents: IAgents,
        clis: ICliRegistry,
        settings: ISettings,
        threads: IThreads,
        read_latest: ReadLatest,
        read_programs: ReadPrograms,
        nudger: Nudger,
    ) -> None:
        """@param read_latest: returns the newest items of a session's conversation.
        @param read_programs: returns the programs that agents started; blocks.
        """
        self._clock = clock
        self._hub = hub
        self._sessions = sessions
        self._agents = agents
        self._clis = clis
        self._settings = settings
        self._threads = threads
        self._read_latest = read_latest
        self._read_programs = read_programs
        self._nudger = nudger
        self._records: dict[str, StallRecord] = {}
        self._screens: dict[str, AgentScreen] = {}
        self._loop = LoopingCall(lambda: spawn_logged(self.look(), self._log, "a look at agents"))
        self._loop.clock = clock
        self._ended: Deferred[LoopingCall] | None = None
        self._unsubscribe: list[Callable[[], None]] = []

    def start(self) -> None:
        """Begin to look regularly."""
        self._unsubscribe = [
            self._agents.add_observer(self._keep_screen),
            self._hub.subscribe(self._handle_event),
        ]
        self._ended = self._loop.start(EVERY, now=False)

    def stop(self) -> Deferred[LoopingCall] | None:
        """Look no more; fires once a look that has begun is finished."""
        for each in self._unsubscribe:
            each()
        if self._ended is not None:
            self._loop.stop()
        return self._ended

    async def look(self) -> None:
        """Look once at each agent that works or has a prompt, and publish what has changed."""
        if not self._settings.get().stalls.enabled:
            self._clear_marks()
            return
        watched = [session for session in self._sessions.list() if self._is_watched(session)]
        await self._record_programs(watched)
        for session in watched:
            await self._record_conversation(session)
            self._decide(session.id)
        self._forget_others({session.id for session in watched})

    # -- facts

    def _is_watched(self, session: Session) -> bool:
        entry = self._clis.get_entry(session.mode)
        is_agent = entry is not None and entry.kind is not CliKind.SHELL
        works = session.status is SessionStatus.BUSY or session.turn_open
        return is_agent and session.pid is not None and works

    def _get_record(self, session_id: str) -> StallRecord:
        now = get_unix_ms(self._clock)
        return self._records.setdefault(session_id, StallRecord(progress_at=now))

    def _keep_screen(self, look: AgentScreen) -> None:
        """Keep the newest screen for the next look: agents redraw ten times a second."""
        if look.session_id in self._records:
            self._screens[look.session_id] = look

    def _record_screen(self, session_id: str, record: StallRecord) -> None:
        look = self._screens.pop(session_id, None)
        if look is not None:
            screen = summarise_screen(look.frame.rows)
            dialog = look.reading.dialog is not None
            record.record_screen(screen, dialog, look.at)

    async def _record_programs(self, watched: list[Session]) -> None:
        pids = {
            session.id: session.pid
            for session in watched
            if session.pid is not None and session.location is SessionLocationKind.LOCAL
        }
        if not pids:
            return
        try:
            found: dict[str, StartedPrograms] = await self._threads.run(
                lambda: self._read_programs(pids)
            )
        except (ServiceError, OSError) as error:
            self._log.info("the programs of agents were not read: {error}", error=error)
            return
        for session_id, programs in found.items():
            self._get_record(session_id).record_programs(programs, get_unix_ms(self._clock))

    async def _record_conversation(self, session: Session) -> None:
        record = self._get_record(session.id)
        self._record_screen(session.id, record)
        # The screen may have been captured before the agent was watched.
        record.has_dialog = self._agents.get_dialog(session.id) is not None
        busy = session.status is SessionStatus.BUSY
        record.record_status(busy, get_unix_ms(self._clock))
        if not busy:
            return
        try:
            page = await self._read_latest(session.id, ITEMS)
        except ServiceError:
            # The agent keeps no conversation that can be read; the screen has to do.
            return
        if page is not None:
            now = get_unix_ms(self._clock)
            record.record_tools(read_turn_tools(page.items), page.cursor, now)

    # -- decisions

    def _decide(self, session_id: str) -> None:
        session, record = self._find(session_id), self._records.get(session_id)
        if session is None or record is None:
            return
        busy = session.status is SessionStatus.BUSY
        untaken = session.last_submit_at if session.turn_open and not busy else None
        facts = record.make_facts(get_unix_ms(self._clock), untaken)
        self._publish(session, record, find_stall(facts, self._get_thresholds()))

    def _publish(self, session: Session, record: StallRecord, found: FoundStall | None) -> None:
        before, record.stall = record.stall, found
        if found is None:
            self._mark(session, None)
            return
        if before is not None and before.reason == found.reason:
            # The same stall goes on: it keeps its beginning, and is announced once.
            record.stall = before
        else:
            self._mark(session, found)
            self._announce(session, found)
        now = get_unix_ms(self._clock)
        nudge = self._settings.get().stalls.nudge and self._nudger.may_help(found)
        if nudge and record.may_nudge(now):
            record.nudged_at = now
            self._nudger.nudge(session, found)

    def _mark(self, session: Session, found: FoundStall | None) -> None:
        stall = None
        if found is not None:
            stall = SessionStall(reason=found.reason, since=found.since, detail=found.detail)
        if session.stall != stall:
            self._sessions.update_record(session.id, durable=False, stall=stall)

    def _announce(self, session: Session, found: FoundStall) -> None:
        told = SessionStalledPayload(
            id=session.id, reason=found.reason, since=found.since, detail=found.detail
        )
        self._hub.publish(
            Event(
                name=EventName.SESSION_STALLED,
                payload=told,
                session_id=session.id,
                owner=session.owner,
            )
        )

    def _get_thresholds(self) -> StallThresholds:
        settings = self._settings.get().stalls
        return StallThresholds(
            silence=settings.silence_minutes * 60_000, tool=settings.tool_minutes * 60_000
        )

    # -- ends

    def _handle_event(self, event: Event) -> None:
        """Remove a mark as soon as the turn is over, not only at the next look."""
        session_id = event.session_id
        if session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._records.pop(session_id, None)
            self._screens.pop(session_id, None)
        elif event.name in (EventName.SESSION_IDLE, EventName.SESSION_EXIT):
            self._forget(session_id)

    def _forget_others(self, watched: set[str]) -> None:
        for session_id in set(self._records) - watched:
            self._forget(session_id)

    def _forget(self, session_id: str) -> None:
        """End the mark of an agent at rest.  What was learned about its silences stays."""
        session, record = self._find(session_id), self._records.get(session_id)
        self._screens.pop(session_id, None)
        if record is None:
            return
        record.record_status(is_busy=False, now=get_unix_ms(self._clock))
        record.stall = record.terminal_wait = None
        if session is None:
            del self._records[session_id]
        else:
            self._mark(session, None)

    def _clear_marks(self) -> None:
        for session_id in list(self._records):
            self._forget(session_id)

    def _find(self, session_id: str) -> Session | None:
        try:
            return self._sessions.get(session_id)
        except ServiceError:
            return None
