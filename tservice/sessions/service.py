"""Session service for routes and other features."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve, field, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.interfaces import ICliRegistry
from tservice.core.clock import now_ms
from tservice.core.disk_errors import DiskFull, report_unsaved_change
from tservice.core.errors import ServiceError, operation_failed
from tservice.core.identity import Identity
from tservice.core.places.location import LocationOutage
from tservice.mux.interface import IPane, LeftoverProcess, PaneCapture, TerminalColours
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
    """Input gate that lets every input through immediately."""

    async def ready(self, session: Session) -> None:
        """Return immediately."""

    def asks(self, session: Session, capture: PaneCapture, typed: str) -> str | None:
        """Return C{None}: no dialog can be recognized."""
        return None

    def opened(self, session: Session, capture: PaneCapture) -> str | None:
        """Return C{None}: no opened view can be recognized."""
        return None

    def rests(self, session: Session, capture: PaneCapture) -> bool:
        """Return true: no activity can be recognized."""
        return True

    def claim(self, session: Session, text: str, *, caught_up: bool) -> Claim:
        """Return a claim without reports."""
        return Untold()


class Untold:
    """Claim of a prompt for an agent that reports nothing."""

    async def told(self) -> Told:
        """Return that the agent does not report prompts."""
        return Told.NOTHING


@implementer(IConversations)
class KnownConversations:
    """Assumes that an agent can continue any conversation that it reported."""

    async def last(self, session: Session) -> str | None:
        return session.conversation_ids[-1] if session.conversation_ids else None

    async def check(self, session: Session, conversation: str) -> None:
        """Accept every conversation."""


@frozen(kw_only=True)
class Support:
    """Agent-specific services for the programs in the panes.

    @ivar activity: chooses activity sources; C{None}: the plain sources for any program.
    @ivar gate: holds prompts back.
    @ivar preparation: prepares the files that agents read when they start.
    @ivar conversations: finds the conversation that the next start of an agent continues.
    @ivar recollection: knowledge from before the machine went down.
    """

    activity: IActivitySources | None = None
    gate: IInputGate = field(factory=OpenGate)
    preparation: ILaunchPreparation = field(factory=NothingToPrepare)
    conversations: IConversations = field(factory=KnownConversations)
    recollection: IRecollection = field(factory=NoRecollection)


@frozen(kw_only=True)
class SessionDependencies:
    """Collaborators of L{SessionService}."""

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
    """Implementation of L{ISessions}. Members beyond the interface serve the routes.

    @ivar properties: changes of the values that a user sets on a session.
    """

    _log = Logger()

    def __init__(self, deps: SessionDependencies) -> None:
        self._deps = deps
        self._roster = deps.roster
        self._processes = deps.processes
        self._entitled: Callable[[Identity, str], bool] = lambda sender, session_id: True
        self.properties = deps.properties

    # -- start and stop of the service

    async def open(self) -> None:
        """Load the records and adopt running processes. Call it once, before any request is
        served.
        """
        records = self._deps.repository.load()
        self._deps.recollection.recalled(records)
        for record in records:
            self._roster.recall(self._live(record, recalled(record.phase)))
        await self._deps.adoption.run()

    def close(self) -> None:
        """Detach: panes continue to run, and the journal keeps unfinished input.

        Call it before the multiplexer is closed: a pane that is detached while an input is being
        typed looks to that input like a pane that is gone.
        """
        self._deps.adoption.close()
        self._roster.save_activity()
        self._deps.journal.close()
        for live in self._roster:
            live.forget_pane()
            live.inputs.close()

    def hand_out(self, tokens: IAgentTokens) -> None:
        """Set the issuer of agents' own tokens; call it before L{open}."""
        self._processes.hand_out(tokens)

    def judge_senders(self, entitled: Callable[[Identity, str], bool]) -> None:
        """Set the check that decides whether the sender of waiting input may still type; call it
        before L{open}.

        @param entitled: returns whether an identity that was once allowed to type into a session
            still may.
        """
        self._entitled = entitled

    def children(self, session_id: str) -> frozenset[str]:
        """Return the ids of the sessions that a session created."""
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

    def outage(self, session_id: str) -> LocationOutage | None:
        """Return the outage that blocks input to the session now; C{None} without an outage."""
        return self._deps.away.outage(self._roster.get(session_id))

    def pane_of(self, session_id: str) -> IPane | None:
        return self._roster.get(session_id).held_pane

    def counts(self) -> Iterable[tuple[str, Status, int]]:
        return self._roster.counts()

    async def read(
        self, session_id: str, *, full: bool, lines: str | None, tail: int | None
    ) -> TerminalReading:
        """Return the terminal's text (protocol-terminal).

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
        """Search the pane's history (protocol-search), even after the process ended."""
        pane = self._roster.get(session_id).held_pane
        clock = self._deps.clock
        return await search_terminal(clock, pane, needle, limit, nocase=nocase)

    # -- starting and ending

    async def choose_model(self, request: CreateRequest, caller: Identity) -> CreateRequest:
        """Return C{request} with its wish for a custom model resolved.

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
        """Create a case and a session in it, and start it (protocol-quickstart).

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

    async def delete(self, session_id: str, *, kill: bool = True) -> tuple[LeftoverProcess, ...]:
        live = self._roster.get(session_id)
        with report_unsaved_change("ended", "list it again"):
            return await (self._processes.kill(live) if kill else self._processes.let_go(live))

    async def delete_own(self, caller: Identity) -> tuple[int, tuple[LeftoverProcess, ...]]:
        """End and remove every session of the caller.

        @return: the number of sessions, and the processes that outlive them.
        @raise ServiceError: 422: some do not answer; the others are removed, or a restart would
            list them again.
        """
        own = [live for live in self._roster if is_own(live.record, caller)]
        refused, owed = [], None
        left: list[LeftoverProcess] = []
        for live in own:
            try:
                left += await self._processes.kill(live)
            except DiskFull as error:
                owed = error
            except ServiceError as error:
                refused.append(error.message)
        if refused:
            raise operation_failed(
                f"{len(refused)} of {len(own)} sessions could not be ended: {refused[0]}"
            )
        if owed is not None:
            raise owed.describe_unsaved_change("ended", "list them again") from owed
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

    def show_colours(self, session_id: str, viewer: str, colours: TerminalColours) -> None:
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
        """Return the session in memory, for L{properties}."""
        return self._roster.get(session_id, caller)

    # -- internals

    def _add(self, record: Session, *, starting: bool) -> Live:
        live = self._live(record, record.phase)
        # The start writes the record durably before there is a process.
        self._roster.add(live, durable=not starting)
        return live

    async def _first_start(self, live: Live, caller: Identity, again: Again) -> None:
        """Start a session that was just created. Remove it if it cannot be started.

        A session whose folder is asked about stays and starts with the answer.
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
        """Return the conversation to continue, for an agent that can resume."""
        entry = self._deps.clis.get_entry(live.record.mode)
        if entry is None or entry.resume is None:
            return None
        resume = await self._first_resume(live)
        return resume or await self._deps.conversations.last(live.record)

    async def _first_resume(self, live: Live) -> str | None:
        """Return the conversation that a new session was created to continue (protocol-create).

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
        # This time finds the agent's own record of the prompt. The confirmation may follow many
        # seconds later.
        now = now_ms(self._deps.clock)
        told = live.activity is not None and live.activity.submitting(text)
        turn_open = told or live.record.turn_open
        self._roster.change(live, durable=False, last_submit_at=now, turn_open=turn_open)
