"""What the agents' transcripts tell of their sessions (protocol-session,
protocol-conversations)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import attrs
from twisted.internet.defer import Deferred, DeferredLock
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.interfaces import IAgents
from tservice.agents.todos import current_of, told
from tservice.agents.transcripts.files import MODES
from tservice.agents.transcripts.homes import Homes
from tservice.agents.transcripts.model import Message, ReadPosition, Tally, tally_of
from tservice.agents.transcripts.prices import Prices
from tservice.agents.transcripts.sources import GEMINI, OPENCODE, messages, read_on
from tservice.agents.transcripts.stores import CODEX
from tservice.agents.transcripts.turns import TurnLooks, Turns
from tservice.core.clock import now_ms, sleep
from tservice.core.doors.inthread import InOwnThread
from tservice.core.errors import ServiceError, invalid
from tservice.core.events import Event, EventHub, EventName
from tservice.core.tasks import spawn
from tservice.sessions.interfaces import (
    ISessions,
    ModelSource,
    NameSource,
    Session,
    Status,
    Tokens,
)
from tservice.store.database import Database

CONVERSATIONS = 50
"""Conversation ids that a session keeps, the newest."""

MOMENT = 0.1
"""Seconds from an event to the reading: the agent writes the last lines of a turn after its hook,
one turn makes several events, and whoever waits for them is to be answered first."""

_MOMENTS = {
    EventName.SESSION_STOP,
    EventName.SESSION_IDLE,
    EventName.HOOK_STOP,
    EventName.HOOK_PROMPT_SUBMITTED,
}

EARLY_MS = 1000
"""How much older than its Enter a prompt may seem."""

_LISTING = frozenset({CODEX, GEMINI, OPENCODE})
"""The modes whose transcripts hold a to-do list that no hook tells."""

_T = TypeVar("_T")


class TranscriptStore:
    """How far each transcript was read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, session_id: str) -> ReadPosition:
        """Where reading goes on; an empty place for a session that was never read."""
        row = self._database.query_one(
            "SELECT path, inode, position, tally FROM transcripts WHERE session_id = ?",
            (session_id,),
        )
        if row is None:
            return ReadPosition(path="")
        tally = tally_of(json.loads(row["tally"]))
        if tally is None:
            return ReadPosition(path="")
        return ReadPosition(
            path=row["path"], inode=row["inode"], position=row["position"], tally=tally
        )

    def save(self, session_id: str, place: ReadPosition) -> None:
        """Keep it; losing the last of it costs a second reading only."""
        self._database.execute(
            "INSERT INTO transcripts (session_id, path, inode, position, tally) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET path = excluded.path, "
            "inode = excluded.inode, position = excluded.position, tally = excluded.tally",
            (
                session_id,
                place.path,
                place.inode,
                place.position,
                json.dumps(attrs.asdict(place.tally)),
            ),
            durable=False,
        )


class Transcripts:
    """Reads on in a session's transcript whenever its agent said something.

    @ivar observers: told of each session whose transcript had something new.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        agents: IAgents,
        homes: Homes,
        store: TranscriptStore,
        in_thread: InOwnThread,
        prices: Prices,
    ) -> None:
        self._clock = clock
        self._sessions = sessions
        self._agents = agents
        self._homes = homes
        self._prices = prices
        self._store = store
        self._in_thread = in_thread
        self._places: dict[str, ReadPosition] = {}
        self._locks: dict[str, DeferredLock] = {}
        self._wanted: set[str] = set()
        self._turns = Turns(clock)
        self._looks = TurnLooks(clock, self._lists, self._want)
        self._begun: dict[str, int] = {}
        self._end: Callable[[], None] | None = None
        self._work: set[Deferred[Any]] = set()
        self.observers: list[Callable[[str, Tally], None]] = []

    def start(self, hub: EventHub) -> None:
        """Begin to hear."""
        self._end = hub.subscribe(self._heard)

    def stop(self) -> None:
        """Hear nothing more; what is being read is dropped."""
        if self._end is not None:
            self._end()
            self._end = None
        self._looks.close()
        for work in tuple(self._work):
            work.cancel()
        self._wanted.clear()

    def tally(self, session_id: str) -> Tally | None:
        """What was read last; C{None} before the first reading of this service."""
        place = self._places.get(session_id)
        return None if place is None else place.tally

    async def last_response(self, session_id: str, *, whole: bool) -> dict[str, Any]:
        """The agent's last answer; with C{whole} the last messages of the conversation too.

        Right after a turn's end it is held until the agent has written that turn's answer.

        @raise ServiceError: 400: the session's mode keeps no transcript that is known.
        """
        session = self._sessions.get(session_id)
        if session.mode not in MODES:
            raise invalid("id", f"only sessions of mode {', '.join(MODES)} have transcripts")
        place = await self.refresh(session_id)
        while pause := self._turns.lacking(session_id, place.tally):
            await sleep(self._clock, pause)
            place = await self.refresh(session_id)
        tally = place.tally
        answer: dict[str, Any] = {"text": tally.response, "timestamp": tally.response_at}
        if whole:
            said: list[Message] = []
            if place.path:
                path = Path(place.path)
                read = partial(messages, path, session.mode)
                said = await self._attempt(session, read) or []
            answer["messages"] = [attrs.asdict(message) for message in said]
        return answer

    async def refresh(self, session_id: str) -> ReadPosition:
        """Read what is new."""
        lock = self._locks.setdefault(session_id, DeferredLock())
        await lock.acquire()
        try:
            return await self._read(self._sessions.get(session_id))
        finally:
            lock.release()

    # -- inside

    def _heard(self, event: Event) -> None:
        self._turns.heard(event)
        self._looks.heard(event)
        session_id = event.session_id
        if session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._places.pop(session_id, None)
            self._locks.pop(session_id, None)
            self._begun.pop(session_id, None)
        elif event.name is EventName.SESSION_INTERACTIVE:
            self._begun[session_id] = now_ms(self._clock)
        elif event.name in _MOMENTS:
            self._want(session_id)

    def _lists(self, session_id: str) -> bool:
        return self._sessions.get(session_id).mode in _LISTING

    def _want(self, session_id: str) -> None:
        # A reading that waits for its turn will see this moment's words too.
        if session_id not in self._wanted:
            self._wanted.add(session_id)
            work = spawn(self._follow(session_id), self._log, "reading a transcript")
            if not work.called:
                self._work.add(work)
                work.addBoth(lambda _: self._work.discard(work))

    async def _follow(self, session_id: str) -> None:
        try:
            await sleep(self._clock, MOMENT)
            session = self._sessions.get(session_id)
        except ServiceError:
            self._wanted.discard(session_id)
            return  # it was deleted meanwhile
        lock = self._locks.setdefault(session_id, DeferredLock())
        await lock.acquire()
        self._wanted.discard(session_id)
        try:
            if session.mode in MODES:
                await self._read(session)
        finally:
            lock.release()

    async def _read(self, session: Session) -> ReadPosition:
        place = self._places.get(session.id) or self._store.load(session.id)
        told = self._agents.transcript_of(session.id)
        taken = {each.path for name, each in self._places.items() if name != session.id}
        files = self._homes.files_of(session)
        shared = self._shares(session)
        look = partial(files.locate, session, told, taken, shared=shared)
        path = _at_hand(session, place) or await self._attempt(session, look)
        if path is None:
            return place
        before = place
        while True:
            turn = partial(read_on, place, path, session.mode)
            read = await self._attempt(session, turn)
            if read is None:
                return place
            place = read
            if not self._is_there(session.id):
                return place
            self._places[session.id] = place
            if place.ended:
                break
        if place != before:
            self._keep(session.id, place)
        return place

    def _shares(self, session: Session) -> bool:
        """Whether other sessions of its mode are in its folder."""
        return any(
            each.id != session.id
            and (each.mode, each.working_dir) == (session.mode, session.working_dir)
            for each in self._sessions.list()
        )

    def _is_there(self, session_id: str) -> bool:
        """Whether it was not deleted while its transcript was read."""
        try:
            self._sessions.get(session_id)
        except ServiceError:
            return False
        return True

    def _keep(self, session_id: str, place: ReadPosition) -> None:
        session = self._sessions.get(session_id)
        self._store.save(session_id, place)
        fields = _fields(session, place.tally, self._prices)
        if session.mode in _LISTING:
            fields |= _listed(session, place.tally, self._begun.get(session_id, 0))
        if fields:
            self._sessions.update(session_id, **fields)
        title = place.tally.title
        if title is not None and session.name_source is NameSource.PLACEHOLDER:
            self._sessions.rename(session_id, title, NameSource.AUTO)
        for tell in self.observers:
            tell(session_id, place.tally)

    async def _attempt(self, session: Session, work: Callable[[], _T]) -> _T | None:
        try:
            owned = self._homes.as_owner(session, work)
            return await self._in_thread(owned, session.working_dir, session.owner)
        except OSError as error:
            self._log.info("a transcript cannot be read: {error}", error=error)
            return None


def _fields(session: Session, tally: Tally, prices: Prices) -> dict[str, Any]:
    """What the transcript changes of the session's record.

    Where a status line tells the figures, its word holds: it knows what the transcript leaves out.
    """
    told = session.statusline_telemetry or ModelSource.STATUSLINE in session.models
    tokens = Tokens.counted(tally.input, tally.output)
    cost = tally.cost if told else prices.cost(tally)
    fields: dict[str, Any] = {}
    if tokens.total and not told:
        fields["tokens"] = tokens
    if cost > session.total_cost:
        fields["total_cost"] = round(cost, 6)
    full = prices.context_percentage(tally, session.models.get(ModelSource.SCREEN, ""))
    if full is not None and tally.context and not told:
        fields["context_used_percentage"] = full
    known = session.conversation_ids
    if tally.conversation is not None and tally.conversation not in known:
        fields["conversation_ids"] = (*known, tally.conversation)[-CONVERSATIONS:]
    return {name: value for name, value in fields.items() if getattr(session, name) != value}


def _at_hand(session: Session, place: ReadPosition) -> Path | None:
    """The conversation that was read last, where it has the prompt of the turn that runs.

    Looking for it again costs a search through all of them.
    """
    prompt, submitted = place.tally.prompted_at, session.last_submit_at
    if session.status is not Status.BUSY or session.mode not in _LISTING:
        return None
    if prompt is None or submitted is None or prompt < submitted - EARLY_MS:
        return None
    return Path(place.path)


def _listed(session: Session, tally: Tally, begun: int) -> dict[str, Any]:
    """What the transcript changes of the to-do list that the record shows.

    A list is shown once its conversation was given a prompt by the process that is there now: what
    another process left behind is nobody's work.

    @param begun: Unix milliseconds when that process began.
    """
    if session.pid is None or tally.prompted_at is None or tally.prompted_at < begun:
        return {}
    todos = told(tally.todos)
    if (todos or None) == session.todos:
        return {}
    return {"todos": todos or None, "current_task": current_of(todos)}
