"""The sessions: what routes and other features call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve, field, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.interfaces import ICliRegistry
from tservice.core.clock import now_ms
from tservice.core.disk import NotKept, holding
from tservice.core.errors import ServiceError, failed
from tservice.core.identity import Identity
from tservice.core.places.place import Outage
from tservice.mux.interface import Capture, Colours, IPane, Leftover
from tservice.sessions.away import Away
from tservice.sessions.input.buffer import InputBuffer
from tservice.sessions.input.composing import composer_of
from tservice.sessions.input.doubtstore import DoubtStore
from tservice.sessions.input.driving import Driving
from tservice.sessions.input.journal import InputJournal
from tservice.sessions.input.queue import InputQueue
from tservice.sessions.input.target import InputTarget
from tservice.sessions.interfaces import (
    Again,
    Claim,
    Delivery,
    FolderHeld,
    IActivitySources,
    IAgentTokens,
    IConversations,
    ICustomModels,
    IInputGate,
    ILaunchPreparation,
    IRecollection,
    ISessions,
    Told,
    lasting,
)
from tservice.sessions.life.adoption import Adoption
from tservice.sessions.life.capacity import overdue
from tservice.sessions.life.conversation import check_free
from tservice.sessions.life.create import Creator
from tservice.sessions.life.launcher import NoRecollection, NothingToPrepare
from tservice.sessions.life.processes import Processes
from tservice.sessions.life.properties import Properties
from tservice.sessions.life.quickstart import QuickStart, QuickStarter, take_back
from tservice.sessions.life.windows import Windows
from tservice.sessions.lifecycle import Stage, recalled
from tservice.sessions.live import Live
from tservice.sessions.output.reading import (
    ReadRequest,
    TerminalReading,
    history_rows,
    search_terminal,
)
from tservice.sessions.record.model import ModelSource, NameSource, Phase, Session, Status
from tservice.sessions.record.repository import SessionRepository
from tservice.sessions.record.requests import CreateRequest, InputRequest
from tservice.sessions.record.viewport import Wish
from tservice.sessions.record.wire import SessionAnswer, session_answer
from tservice.sessions.roster import Roster, is_own, may_see
from tservice.sessions.terminalreader import TerminalReader


@implementer(IInputGate)
class OpenGate:
    """Lets every input through at once."""

    async def ready(self, session: Session) -> None:
        """Nothing to wait for."""

    def asks(self, session: Session, capture: Capture, typed: str) -> str | None:
        """Nothing that anybody knows of."""
        return None

    def opened(self, session: Session, capture: Capture) -> str | None:
        """Nothing that anybody knows of."""
        return None

    def rests(self, session: Session, capture: Capture) -> bool:
        """Return true: nobody knows what works."""
        return True

    def claim(self, session: Session, text: str, *, caught_up: bool) -> Claim:
        """Nobody tells."""
        return Untold()


class Untold:
    """Of a prompt of which nobody tells anything."""

    async def told(self) -> Told:
        """Nothing."""
        return Told.NOTHING


@implementer(IConversations)
class KnownConversations:
    """Believes that an agent can go on with whatever it told of."""

    async def last(self, session: Session) -> str | None:
        return session.conversation_ids[-1] if session.conversation_ids else None

    async def check(self, session: Session, conversation: str) -> None:
        """Any will do."""


@frozen(kw_only=True)
class Support:
    """What is known of the programs in the panes by who knows agents.

    @ivar activity: how to find out what a session does; C{None}: as of any program.
    @ivar gate: keeps prompts back.
    @ivar preparation: puts in place what agents read when they start.
    @ivar conversations: which one the next start of an agent goes on with.
    @ivar recollection: what is known from before the machine went down.
    """

    activity: IActivitySources | None = None
    gate: IInputGate = field(factory=OpenGate)
    preparation: ILaunchPreparation = field(factory=NothingToPrepare)
    conversations: IConversations = field(factory=KnownConversations)
    recollection: IRecollection = field(factory=NoRecollection)


@frozen(kw_only=True)
class SessionDependencies:
    """The workers of L{SessionService}."""

    clock: IReactorTime
    repository: SessionRepository
    journal: InputJournal
    buffer: InputBuffer
    doubts: DoubtStore
    driving: Driving
    away: Away
    roster: Roster
    clis: ICliRegistry
    processes: Processes
    creator: Creator
    quick: QuickStarter
    properties: Properties
    windows: Windows
    adoption: Adoption
    gate: IInputGate
    conversations: IConversations
    recollection: IRecollection
    models: Callable[[], ICustomModels]
    new_input_id: Callable[[], str]
    history_limit: Callable[[], int]


@implementer(ISessions)
class SessionService:
    """See L{ISessions}; what is beyond it is for the routes.

    @ivar properties: what a user sets on a session.
    """

    _log = Logger()

    def __init__(self, deps: SessionDependencies) -> None:
        self._deps = deps
        self._roster = deps.roster
        self._processes = deps.processes
        self._entitled: Callable[[Identity, str], bool] = lambda sender, session_id: True
        self.properties = deps.properties

    # -- the service's own life

    async def open(self) -> None:
        """Read the records and take up what runs; call it once, before anybody may ask."""
        records = self._deps.repository.load()
        self._deps.recollection.recalled(records)
        for record in records:
            self._roster.recall(self._live(record, recalled(record.phase)))
        await self._deps.adoption.run()

    def close(self) -> None:
        """Let go: panes run on, the journal keeps what was begun.

        To be called before the multiplexer is closed: a pane that is let go while an input is
        being typed looks to it like one that is gone.
        """
        self._deps.adoption.close()
        self._roster.save_activity()
        self._deps.journal.close()
        for live in self._roster:
            live.forget_pane()
            live.inputs.close()

    def hand_out(self, tokens: IAgentTokens) -> None:
        """From now on agents get tokens of their own; to be called before L{open}."""
        self._processes.hand_out(tokens)

    def judge_senders(self, entitled: Callable[[Identity, str], bool]) -> None:
        """From now on input that waited is typed for those alone who may still type it; to be
        called before L{open}.

        @param entitled: whether somebody who was let through to type into a session still may.
        """
        self._entitled = entitled

    def children(self, session_id: str) -> frozenset[str]:
        """The sessions that a session has made."""
        return self._roster.children(session_id)

    # -- reading

    def get(self, session_id: str, caller: Identity | None = None) -> Session:
        return self._roster.get(session_id, caller).session

    def list(self, caller: Identity | None = None) -> list[Session]:
        return [live.session for live in self._roster.visible(caller)]

    def describe(self, session_id: str) -> SessionAnswer:
        return session_answer(self._roster.get(session_id).session)

    def owner_of(self, session_id: str) -> str | None:
        return self._roster.get(session_id).record.owner

    def outage(self, session_id: str) -> Outage | None:
        """What keeps input from it now; C{None}: nothing does."""
        return self._deps.away.outage(self._roster.get(session_id))

    def pane_of(self, session_id: str) -> IPane | None:
        return self._roster.get(session_id).held_pane

    def counts(self) -> Iterable[tuple[str, Status, int]]:
        return self._roster.counts()

    async def read(
        self, session_id: str, *, full: bool, lines: str | None, tail: int | None
    ) -> TerminalReading:
        """The terminal's text (protocol-terminal).

        @param lines: rows of history, as L{history_rows} reads it.
        """
        live = self._roster.get(session_id)
        history = history_rows(full, lines, self._deps.history_limit())
        request = ReadRequest(history=history, tail=tail)
        pane = live.held_pane if live.record.pid is not None else None
        reader = TerminalReader(clock=self._deps.clock, recall=self._deps.recollection.screen)
        is_out = self._deps.away.outage(live) is not None
        return await reader.read(live, pane, request, is_out=is_out)

    async def search(
        self, session_id: str, needle: str, limit: int, *, nocase: bool
    ) -> dict[str, Any]:
        """Occurrences in the pane's history (protocol-search); also of a process that is over."""
        pane = self._roster.get(session_id).held_pane
        clock = self._deps.clock
        return await search_terminal(clock, pane, needle, limit, nocase=nocase)

    # -- life and death

    async def choose_model(self, request: CreateRequest, caller: Identity) -> CreateRequest:
        """C{request} with what came of its wish for a custom model.

        @raise ModelQuestion: a question has to be answered first.
        @raise ServiceError: as L{ICustomModels.choose}.
        """
        wish = request.model_wish
        if wish is None:
            return request
        mode = self._deps.creator.mode_of(request)
        custom = await self._deps.models().choose(mode, wish, caller)
        chosen: CreateRequest = evolve(request, custom_model=custom)
        return chosen

    async def create(
        self, request: CreateRequest, caller: Identity, again: Again = lasting
    ) -> Session:
        if request.resume_session_id is not None:
            check_free(request.resume_session_id, self._roster, lambda one: may_see(one, caller))
        request, made = await self._deps.creator.in_worktree(request, caller, again)
        try:
            record = await self._deps.creator.record(request, caller)
            again()
            live = self._add(record, starting=request.start)
            if request.start:
                await self._first_start(live, caller, again)
        except Exception:
            await take_back([] if made is None else [made])
            raise
        return live.session

    async def quick_start(
        self, wanted: QuickStart, caller: Identity, again: Again = lasting
    ) -> Session:
        """Make a case and a session in it, and start it (protocol-quickstart).

        @param again: as for L{create}.
        """
        prepared = await self._deps.quick.prepare(wanted, caller, again)
        try:
            again()
            live = self._add(prepared.session, starting=True)
            await self._first_start(live, caller, again)
        except Exception:
            await take_back(prepared.made)
            raise
        return live.session

    async def start(
        self,
        session_id: str,
        *,
        granted: bool,
        clear_breaker: bool = False,
        fresh: bool = False,
        resume: str | None = None,
        again: Again = lasting,
    ) -> Session:
        live = self._roster.get(session_id)
        if resume is None and not fresh:
            resume = await self._conversation(live)
        return await self._processes.start(
            live, clear_breaker=clear_breaker, granted=granted, resume=resume, again=again
        )

    async def stop(self, session_id: str, reason: str) -> Session:
        session = await self._processes.stop(self._roster.get(session_id), reason)
        for record in overdue(self._roster.records()):
            self._roster.remove(self._roster.get(record.id), asked=False)
        return session

    async def delete(self, session_id: str, *, kill: bool = True) -> tuple[Leftover, ...]:
        live = self._roster.get(session_id)
        with holding("ended", "list it again"):
            return await (self._processes.kill(live) if kill else self._processes.let_go(live))

    async def delete_own(self, caller: Identity) -> tuple[int, tuple[Leftover, ...]]:
        """End and remove every session of the caller.

        @return: how many there were, and the processes that are left of them.
        @raise ServiceError: 422: some do not answer; all others are gone, or would be listed again
            after a restart.
        """
        own = [live for live in self._roster if is_own(live.record, caller)]
        refused, owed = [], None
        left: list[Leftover] = []
        for live in own:
            try:
                left += await self._processes.kill(live)
            except NotKept as error:
                owed = error
            except ServiceError as error:
                refused.append(error.message)
        if refused:
            raise failed(f"{len(refused)} of {len(own)} sessions are left: {refused[0]}")
        if owed is not None:
            raise owed.though("ended", "list them again") from owed
        return len(own), tuple(left)

    # -- input

    def judge(self, session_id: str, sender: Identity | None = None) -> None:
        self._deps.driving.judge(self._roster.get(session_id).record, sender)

    async def input(self, session_id: str, request: InputRequest) -> Delivery:
        return await self._deps.away.input(self._roster.get(session_id), request)

    async def prompt(self, session_id: str, text: str, sender: Identity | None = None) -> None:
        await self.input(session_id, InputRequest(text=text, use_mux=True, sender=sender))

    async def send_key(self, session_id: str, key: str, sender: Identity | None = None) -> None:
        live = self._roster.get(session_id)
        self._deps.away.refuse_key(live)
        await live.inputs.press(key, sender)

    async def resize(self, session_id: str, wish: Wish) -> tuple[int, int]:
        return await self._deps.windows.resize(self._roster.get(session_id), wish)

    def show_colours(self, session_id: str, viewer: str, colours: Colours) -> None:
        self._deps.windows.show(self._roster.get(session_id), viewer, colours)

    async def leave(self, session_id: str, viewer: str) -> None:
        live = self._roster.find(session_id)
        if live is not None:
            await self._deps.windows.leave(live, viewer)

    # -- changes

    def rename(self, session_id: str, name: str, source: NameSource) -> Session:
        return self.properties.rename(self._roster.get(session_id), name, source)

    def report_model(self, session_id: str, source: ModelSource, text: str | None) -> None:
        self.properties.report_model(self._roster.get(session_id), source, text)

    def update(self, session_id: str, *, durable: bool = True, **fields: Any) -> Session:
        return self._roster.change(self._roster.get(session_id), durable=durable, **fields)

    def live(self, session_id: str, caller: Identity | None = None) -> Live:
        """The session in memory, for L{properties}."""
        return self._roster.get(session_id, caller)

    # -- inside

    def _add(self, record: Session, *, starting: bool) -> Live:
        live = self._live(record, record.phase)
        # That it starts is on the disk before there is a process, and this with it.
        self._roster.add(live, durable=not starting)
        return live

    async def _first_start(self, live: Live, caller: Identity, again: Again) -> None:
        """Start a session that was just made; one that cannot be started is not kept.

        One whose folder is asked about is there, and starts with the answer.
        """
        try:
            granted = caller.can_bypass_permissions
            resume = await self._first_resume(live)
            await self._processes.start(live, granted=granted, resume=resume, again=again)
        except FolderHeld:
            pass
        except Exception:
            self._roster.remove(live, asked=False)
            raise

    async def _conversation(self, live: Live) -> str | None:
        """The conversation to go on with, of an agent that can."""
        entry = self._deps.clis.get(live.record.mode)
        if entry is None or entry.resume is None:
            return None
        resume = await self._first_resume(live)
        return resume or await self._deps.conversations.last(live.record)

    async def _first_resume(self, live: Live) -> str | None:
        """The conversation that a new session was made to go on with (protocol-create).

        @raise ServiceError: 403, 422: see L{IConversations.check}.
        """
        record = live.record
        if record.phase is not Phase.CREATED or not record.conversation_ids:
            return None
        wanted = record.conversation_ids[-1]
        await self._deps.conversations.check(record, wanted)
        return wanted

    def _live(self, record: Session, phase: Phase) -> Live:
        target = InputTarget(
            session=lambda: live.record,
            pane=lambda: live.held_pane,
            composer=lambda: composer_of(self._deps.clis, live.record.mode),
            typed=lambda: self._typed(live),
            submitting=lambda text: self._submitting(live, text),
            entitled=lambda sender: self._entitled(sender, live.record.id),
            drivable=lambda sender: self._deps.driving.judge(live.record, sender),
            allowed=lambda *asked: self._deps.driving.judge_text(live.record, *asked),
            lost=lambda chunks, why: self._roster.tell_lost(live, chunks, why),
        )
        inputs = InputQueue(
            clock=self._deps.clock,
            journal=self._deps.journal,
            buffer=self._deps.buffer,
            gate=self._deps.gate,
            target=target,
            new_id=self._deps.new_input_id,
            doubts=self._deps.doubts,
        )
        live = Live(record=record, stage=Stage(phase), inputs=inputs)
        return live

    def _typed(self, live: Live) -> None:
        live.last_output = max(live.last_output, now_ms(self._deps.clock))

    def _submitting(self, live: Live, text: str | None) -> None:
        # Its agent's own record of it is found by this moment; that it was taken may be known
        # many seconds later.
        now = now_ms(self._deps.clock)
        told = live.activity is not None and live.activity.submitting(text)
        turn_open = told or live.record.turn_open
        self._roster.change(live, durable=False, last_submit_at=now, turn_open=turn_open)
