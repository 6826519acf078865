"""Service that reads sessions' data from the agents' transcripts (protocol-session,
protocol-conversations).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import attrs
from attrs import evolve, frozen
from twisted.internet.defer import Deferred, DeferredLock
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.interfaces import IAgents
from tservice.agents.transcripts.conversation_access import (
    read_messages,
    read_new_messages,
)
from tservice.agents.transcripts.conversation_stores import StoredConversation
from tservice.agents.transcripts.files import MODES, LocatedTranscripts
from tservice.agents.transcripts.model import (
    ReadPosition,
    TranscriptMessage,
    TranscriptTally,
    summarize_answer,
)
from tservice.agents.transcripts.parsers.claude import is_client_text, strip_paste_tags
from tservice.agents.transcripts.prices import PriceTable
from tservice.agents.transcripts.prompt_proofs import read_prompts
from tservice.agents.transcripts.reader import TAIL
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.agents.transcripts.turn_times import TurnReadTimer, TurnTimes
from tservice.agents.transcripts.usage.position_store import ReadPositionStore
from tservice.agents.transcripts.usage.session_fields import (
    LISTING,
    find_changed_fields,
    find_changed_todos,
    find_recent_path,
)
from tservice.agents.transcripts.usage.store import UsageStore
from tservice.clis.interfaces import PRIMARY
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.clock import get_unix_ms, wait_seconds
from tservice.core.kernel.errors import ServiceError, make_field_error
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.core.workers.thread_runners import RunForOwner
from tservice.sessions.interfaces import (
    ISessions,
    NameSource,
    Session,
)

MOMENT = 0.1
"""Seconds from an event to the read that it causes. The agent writes the last lines of a turn after
its hook, one turn causes several events, and waiting clients get their responses first.
"""

AGAIN = 0.5
"""Seconds between two reads after a turn whose answer is not written yet."""
LATE = 2.0
"""Seconds after which the transcript of an idle agent is read once more, if no hook reports the
turn's end.
"""

_MOMENTS = {
    EventName.SESSION_STOP,
    EventName.SESSION_IDLE,
    EventName.HOOK_STOP,
    EventName.HOOK_PROMPT_SUBMITTED,
}

_T = TypeVar("_T")


@frozen(kw_only=True)
class _ReadResult:
    """Result of reading a transcript.

    @ivar place: the position up to which it was read.
    @ivar is_stored: the usage of the messages is stored; false if the disk is full, so that this
        part must be read again.
    """

    place: ReadPosition
    is_stored: bool


class TranscriptService:
    """Service that reads a session's transcript whenever its agent has written something.

    @ivar observers: called for each session whose transcript has new content.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        agents: IAgents,
        homes: TranscriptHomes,
        store: ReadPositionStore,
        usage: UsageStore,
        in_thread: RunForOwner,
        prices: PriceTable,
    ) -> None:
        self._clock = clock
        self._sessions = sessions
        self._agents = agents
        self._homes = homes
        self._prices = prices
        self._store = store
        self._usage = usage
        self._in_thread = in_thread
        self._places: dict[str, ReadPosition] = {}
        self._beside: dict[str, dict[str, ReadPosition]] = {}
        self._found: dict[str, tuple[StoredConversation, ...]] = {}
        self._locks: dict[str, DeferredLock] = {}
        self._wanted: set[str] = set()
        self._turns = TurnTimes(clock)
        self._looks = TurnReadTimer(clock, self._has_todo_list, self._schedule_reading)
        self._late = NamedTimers(clock)
        self._begun: dict[str, int] = {}
        self._end: Callable[[], None] | None = None
        self._work: set[Deferred[Any]] = set()
        self.observers: list[Callable[[str, TranscriptTally], None]] = []

    def start(self, hub: EventHub) -> None:
        """Subscribe to events, and read the lines written while the service was down."""
        self._end = hub.subscribe(self._handle_event)
        for session in self._sessions.list():
            if self._store.load_position(session.id).path:
                self._schedule_reading(session.id)

    def stop(self) -> None:
        """Unsubscribe from events and cancel all reads."""
        if self._end is not None:
            self._end()
            self._end = None
        self._looks.close()
        self._late.cancel_all()
        for work in tuple(self._work):
            work.cancel()
        self._wanted.clear()

    def get_tally(self, session_id: str) -> TranscriptTally | None:
        """Return the session's last tally; C{None} before the service has read the transcript."""
        place = self._places.get(session_id)
        return None if place is None else place.tally

    def get_path(self, session_id: str) -> Path | None:
        """Return the session's transcript; C{None} before the service has found it."""
        place = self._places.get(session_id)
        return Path(place.path) if place is not None and place.path else None

    def require_transcript(self, session_id: str) -> Session:
        """Return a session whose agent has transcripts.

        @raise ServiceError: 400: the session's mode has no known transcript; 404.
        """
        session = self._sessions.get(session_id)
        if session.mode not in MODES:
            raise make_field_error(
                "id", f"only sessions of mode {', '.join(MODES)} have transcripts"
            )
        return session

    async def get_last_response(self, session_id: str, *, whole: bool) -> dict[str, Any]:
        """Return the agent's last answer.

        Right after a turn's end this waits until the agent has written that turn's answer.

        @param whole: also return the last messages of the conversation.
        @raise ServiceError: 400: the session's mode has no known transcript.
        """
        session = self.require_transcript(session_id)
        place = await self._read_new_part_completely(session_id)
        tally = place.tally
        answer: dict[str, Any] = {"text": tally.response, "timestamp": tally.response_at}
        if whole:
            said: list[TranscriptMessage] = []
            if place.path:
                path = Path(place.path)
                read = partial(read_messages, path, session.mode)
                said = await self.run_with_owner_rights(session, read) or []
            answer["messages"] = [attrs.asdict(message) for message in said]
        return answer

    async def list_prompts(self, session_id: str, since: int) -> list[tuple[int, str]]:
        """Return the prompts of the session's agent since C{since}, oldest first.

        Each prompt has the time of its Enter, as far as the agent records it, in Unix milliseconds.
        Right after a turn's end this waits like L{get_last_response}.

        @raise ServiceError: see L{get_last_response}.
        """
        session = self.require_transcript(session_id)
        place = await self._read_new_part_completely(session_id)
        if not place.path:
            return []
        read = partial(_read_prompts, Path(place.path), session.mode, since)
        return await self.run_with_owner_rights(session, read) or []

    async def read_new_part(self, session_id: str) -> ReadPosition:
        """Read the new part of the session's transcript, and return the new position."""
        lock = self._locks.setdefault(session_id, DeferredLock())
        await lock.acquire()
        try:
            return await self._read_session(self._sessions.get(session_id))
        finally:
            lock.release()

    async def run_with_owner_rights(self, session: Session, work: Callable[[], _T]) -> _T | None:
        """Return what C{work} returns in a thread with the file rights of a session's location.

        @return: C{None} if the files cannot be read.
        """
        try:
            owned = self._homes.bind_to_location_rights(session, work)
            return await self._in_thread(owned, session.working_dir, session.owner)
        except OSError as error:
            self._log.info("a transcript cannot be read: {error}", error=error)
            return None

    # -- internal

    async def _read_new_part_completely(self, session_id: str) -> ReadPosition:
        """Read the new part, and return the position.

        Right after a turn's end, wait for that turn's answer.
        """
        place = await self.read_new_part(session_id)
        while pause := self._turns.get_read_delay(session_id, place.tally):
            await wait_seconds(self._clock, pause)
            place = await self.read_new_part(session_id)
        return place

    def _handle_event(self, event: Event) -> None:
        self._turns.record_turn_event(event)
        self._looks.update_timer_from_event(event)
        session_id = event.session_id
        if session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._late.cancel_timer(session_id)
            self._places.pop(session_id, None)
            self._beside.pop(session_id, None)
            self._found.pop(session_id, None)
            self._usage.forget_session(session_id)
            self._locks.pop(session_id, None)
            self._begun.pop(session_id, None)
        elif event.name is EventName.SESSION_INTERACTIVE:
            self._begun[session_id] = get_unix_ms(self._clock)
        elif event.name in _MOMENTS:
            self._schedule_reading(session_id)
            if event.name is EventName.SESSION_IDLE:
                self._late.schedule_call(session_id, LATE, self._schedule_reading, session_id)

    def _has_todo_list(self, session_id: str) -> bool:
        return self._sessions.get(session_id).mode in LISTING

    def _schedule_reading(self, session_id: str) -> None:
        # A reading that waits for its turn will include this moment's lines.
        if session_id not in self._wanted:
            self._wanted.add(session_id)
            work = spawn_logged(
                self._read_until_complete(session_id), self._log, "reading a transcript"
            )
            if not work.called:
                self._work.add(work)
                work.addBoth(lambda _: self._work.discard(work))

    async def _read_until_complete(self, session_id: str) -> None:
        """Read the new part repeatedly, until it contains the answer of the turn that ended."""
        pause = MOMENT
        while pause:
            await wait_seconds(self._clock, pause)
            try:
                session = self._sessions.get(session_id)
            except ServiceError:
                self._wanted.discard(session_id)
                return  # it was deleted in the meantime
            lock = self._locks.setdefault(session_id, DeferredLock())
            await lock.acquire()
            self._wanted.discard(session_id)
            try:
                place = await self._read_session(session) if session.mode in MODES else None
            finally:
                lock.release()
            left = 0.0 if place is None else self._turns.get_read_delay(session_id, place.tally)
            pause = max(left, AGAIN) if left else 0.0

    async def _read_session(self, session: Session) -> ReadPosition:
        place = self._places.get(session.id) or self._store.load_position(session.id)
        path = find_recent_path(session, place)
        if path is None:
            found = await self._locate_transcripts(session)
            if found is None:
                return place
            path, self._found[session.id] = found.path, found.related
        begun = place if place.path == str(path) else ReadPosition(path=str(path))
        read = await self._read_to_end(session, begun)
        if read is None or not self._has_session(session.id):
            return place
        if not read.is_stored:
            return read.place
        if place.path != str(path):
            self._save_replaced_position(session.id, place)
        self._places[session.id] = read.place
        more = await self._read_related(session)
        if self._has_session(session.id) and (more or read.place != place):
            self._store_result(session.id, read.place)
        return read.place

    async def _locate_transcripts(self, session: Session) -> LocatedTranscripts | None:
        told = self._agents.get_transcript_path(session.id)
        taken = {each.path for name, each in self._places.items() if name != session.id}
        files = self._homes.get_transcript_locations(session)
        shared = self._shares_folder(session)
        look = partial(files.find_transcripts, session, told, taken, shared=shared)
        return await self.run_with_owner_rights(session, look)

    async def _read_to_end(self, session: Session, place: ReadPosition) -> _ReadResult | None:
        """Read a transcript to its end, and store the usage of its messages.

        @return: the result; C{None} if the transcript cannot be read, or the session was deleted.
        """
        found, kept = None, True
        while True:
            known = session.conversation_ids
            turn = partial(read_new_messages, place, Path(place.path), session.mode, known)
            read = await self.run_with_owner_rights(session, turn)
            if read is None or not self._has_session(session.id):
                return found
            try:
                self._usage.merge_usage(session.id, read.used)
            except DiskFull as error:
                self._log.warn("usage is not counted yet: {error}", error=error)
                kept = False
            place = evolve(read, used={})
            found = _ReadResult(place=place, is_stored=kept)
            if place.ended:
                return found

    async def _read_related(self, session: Session) -> bool:
        """Read the new part of the transcripts of subagents and of earlier conversations.

        @return: true if any of them has a new part.
        """
        places = self._get_related_positions(session.id)
        here = self._places[session.id].path
        if session.id not in self._found:
            return False
        found = [each for each in self._found[session.id] if str(each.path) != here]
        known = {str(each.path) for each in found}
        for path in places.keys() - known:
            del places[path]
            self._store.delete_related_position(session.id, path)
        more = False
        for each in found:
            place = places.get(str(each.path), ReadPosition(path=str(each.path)))
            if (place.position, place.changed_at) == (each.size, each.at):
                continue
            read = await self._read_to_end(session, place)
            if read is None or not read.is_stored:
                continue
            if not self._has_session(session.id):
                return False
            more = more or (read.place.inode, read.place.position) != (place.inode, place.position)
            places[place.path] = _strip_position_of_related(evolve(read.place, changed_at=each.at))
            self._store.save_related(session.id, places[place.path])
        return more

    def _get_related_positions(self, session_id: str) -> dict[str, ReadPosition]:
        if session_id not in self._beside:
            self._beside[session_id] = self._store.load_related(session_id)
        return self._beside[session_id]

    def _save_replaced_position(self, session_id: str, place: ReadPosition) -> None:
        """Store the position in a conversation that the session no longer uses, to read its rest
        later.
        """
        if place.path:
            places = self._get_related_positions(session_id)
            places[place.path] = _strip_position_of_related(place)
            self._store.save_related(session_id, places[place.path])

    def _shares_folder(self, session: Session) -> bool:
        """Return true if other sessions of the same mode use the session's folder."""
        return any(
            each.id != session.id
            and (each.mode, each.working_dir) == (session.mode, session.working_dir)
            for each in self._sessions.list()
        )

    def _has_session(self, session_id: str) -> bool:
        """Return true if the session was not deleted while its transcript was read."""
        try:
            self._sessions.get(session_id)
        except ServiceError:
            return False
        return True

    def _store_result(self, session_id: str, place: ReadPosition) -> None:
        session = self._sessions.get(session_id)
        self._store.save_position(session_id, place)
        window = self._agents.get_displayed_window(session_id)
        fields = find_changed_fields(
            session, place.tally, self._usage.get_totals(session_id), self._prices, window
        )
        if session.mode in LISTING:
            fields |= find_changed_todos(session, place.tally, self._begun.get(session_id, 0))
        said = summarize_answer(place.tally.response)
        if fields or said != session.last_answer:
            # What the agent said is not kept on disk.
            self._sessions.update_record(
                session_id, durable=bool(fields), last_answer=said, **fields
            )
        title = place.tally.title
        if title is not None and session.name_source is NameSource.PLACEHOLDER:
            self._sessions.rename_session(session_id, title, NameSource.AUTO)
        for tell in self.observers:
            tell(session_id, place.tally)


def _read_prompts(path: Path, mode: str, since: int) -> list[tuple[int, str]]:
    said = list(read_prompts(path, mode, since, TAIL))[::-1]
    if mode != PRIMARY:
        return said
    return [(at, strip_paste_tags(text)) for at, text in said if not is_client_text(text)]


def _strip_position_of_related(place: ReadPosition) -> ReadPosition:
    """Return the position without the data that only the session's own conversation needs."""
    tally = place.tally
    needed = TranscriptTally(
        model=tally.model, conversation=tally.conversation, turn=tally.turn, sum=tally.sum
    )
    return evolve(place, tally=needed)
