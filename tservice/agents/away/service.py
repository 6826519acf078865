"""Counts what sessions do while their owners do not look."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from attrs import evolve
from twisted.internet.interfaces import IReactorTime

from tservice.agents.away.model import Absence
from tservice.agents.away.responses import AwayResponse, AwaySessionResponse
from tservice.agents.away.store import AbsenceStore
from tservice.agents.away.work import AgentWork, count_work
from tservice.agents.transcripts.conversation.items import ConversationItem
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import ApprovalResolvedPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.sessions.interfaces import ISessions, Session, SessionStatus

SESSIONS = 50
"""Maximum number of sessions in an answer, those with the most turns."""
ITEMS = 300
"""Number of the newest items of a conversation in which files and commits are counted."""
SAVE_MS = 5 * 60_000
"""Milliseconds after which a look without any change is saved again."""

ReadItems = Callable[[str, int], Awaitable[Sequence[ConversationItem]]]
FindCheckState = Callable[[str, int], str | None]


class AwayService:
    """Counts of all sessions since their owners looked last."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        sessions: ISessions,
        store: AbsenceStore,
        read_items: ReadItems,
        find_check_state: FindCheckState,
    ) -> None:
        """@param read_items: returns the newest items of a session's conversation.
        @param find_check_state: returns the state of the last run of a session's checks that ended
            after a time, in Unix milliseconds; C{None} if none did.
        """
        self._clock = clock
        self._hub = hub
        self._sessions = sessions
        self._store = store
        self._read_items = read_items
        self._find_check_state = find_check_state
        self._absences: dict[str, Absence] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Load the counts, and count from now on."""
        self._absences = {each.session_id: each for each in self._store.load_all()}
        self._unsubscribe = self._hub.subscribe(self._handle_event)

    def stop(self) -> None:
        """Count no longer."""
        self._unsubscribe()

    def record_look(self, account: str, session_id: str) -> None:
        """Record that an account looks at a session; only a look of the owner counts."""
        session = self._find(session_id)
        if session is None or (session.owner or "") != account:
            return
        before = self._absences.get(session_id)
        now = get_unix_ms(self._clock)
        absence = Absence(session_id=session_id, looked_at=now, cost=session.total_cost)
        self._absences[session_id] = absence
        if before is None or not before.is_empty or now - before.looked_at > SAVE_MS:
            self._store.save_absence(absence)

    def mark_all_seen(self, caller: Identity, account: str) -> None:
        """Record that the caller has read about all sessions of its own."""
        for session in self._sessions.list(caller):
            self.record_look(account, session.id)

    async def describe(self, caller: Identity, account: str) -> AwayResponse:
        """Return what the caller's own sessions did since the caller looked last."""
        found = []
        for session in self._sessions.list(caller):
            absence = self._absences.get(session.id)
            if absence and not absence.is_empty and (session.owner or "") == account:
                found.append(absence)
        found.sort(key=lambda each: each.turns, reverse=True)
        described = [await self._describe_session(absence) for absence in found[:SESSIONS]]
        return AwayResponse(
            sessions=[each for each in described if each is not None], total=len(found)
        )

    async def _describe_session(self, absence: Absence) -> AwaySessionResponse | None:
        work = await self._count_work(absence)
        session = self._find(absence.session_id)
        if session is None:
            return None
        return AwaySessionResponse(
            id=session.id,
            name=session.name,
            since=absence.looked_at,
            turns=absence.turns,
            answered=absence.answered,
            by_rule=absence.by_rule,
            files=work.files,
            commits=work.commits,
            checks=self._find_check_state(session.id, absence.looked_at),
            cost=max(0.0, session.total_cost - absence.cost),
            is_busy=session.status is SessionStatus.BUSY,
        )

    async def _count_work(self, absence: Absence) -> AgentWork:
        try:
            items = await self._read_items(absence.session_id, ITEMS)
        except ServiceError:
            # The agent keeps no conversation that can be read.
            return AgentWork()
        return count_work(items, absence.looked_at)

    def _handle_event(self, event: Event) -> None:
        session_id, told = event.session_id, event.payload
        if session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._absences.pop(session_id, None)
        elif event.name is EventName.SESSION_STOP:
            self._count(session_id, turns=1)
        elif event.name is EventName.APPROVAL_BY_RULE:
            self._count(session_id, answered=1, by_rule=1)
        elif isinstance(told, ApprovalResolvedPayload) and told.resolution == "answered":
            self._count(session_id, answered=1, by_rule=0 if told.rule is None else 1)

    def _count(self, session_id: str, turns: int = 0, answered: int = 0, by_rule: int = 0) -> None:
        session = self._find(session_id)
        if session is None:
            return
        before = self._absences.get(session_id) or Absence(
            session_id=session_id, looked_at=session.created_at
        )
        absence = evolve(
            before,
            turns=before.turns + turns,
            answered=before.answered + answered,
            by_rule=before.by_rule + by_rule,
        )
        self._absences[session_id] = absence
        self._store.save_absence(absence)

    def _find(self, session_id: str) -> Session | None:
        try:
            return self._sessions.get(session_id)
        except ServiceError:
            return None
