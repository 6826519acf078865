"""Session service for the HTTP operations and for other features."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve, field, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.interfaces import ICliRegistry
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import DiskFull, raise_unsaved_change_on_disk_error
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.core.kernel.listeners import ListenerList
from tservice.core.locations.location import LocationOutage
from tservice.mux.interface import IPane, LeftoverProcess, PaneCapture, TerminalColours
from tservice.sessions.input.accept.driving_permission import DrivingPermission
from tservice.sessions.input.accept.input_queue import InputQueue
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.accept.offline_buffer import OfflineInputBuffer
from tservice.sessions.input.accept.target import InputTarget
from tservice.sessions.input.recover.unconfirmed_prompt_store import UnconfirmedPromptStore
from tservice.sessions.input.type.composer import find_composer
from tservice.sessions.interfaces import (
    FolderApprovalRequired,
    IActivitySources,
    IAgentTokens,
    IChannelLaunch,
    IConversations,
    ICustomModels,
    IInputGate,
    ILaunchPreparation,
    InputDelivery,
    ISessions,
    PromptClaim,
    PromptReport,
    SavedStateReader,
)
from tservice.sessions.life.adoption import PaneAdoption
from tservice.sessions.life.capacity import find_excess_stopped
from tservice.sessions.life.conversation import check_conversation_free
from tservice.sessions.life.creator import SessionCreator
from tservice.sessions.life.launcher import NoChannelLaunch, NoLaunchPreparation, NoSavedState
from tservice.sessions.life.processes import SessionProcesses
from tservice.sessions.life.properties import SessionProperties
from tservice.sessions.life.quick_start import QuickStartPreparer, QuickStartRequest, undo_created
from tservice.sessions.life.viewport_manager import ViewportManager
from tservice.sessions.lifecycle import SessionLifecycle, initial_phase
from tservice.sessions.live_session import LiveSession
from tservice.sessions.offline_input import OfflineInput
from tservice.sessions.output.reading import (
    TerminalReading,
    TerminalReadRequest,
    count_history_rows,
    search_terminal,
)
from tservice.sessions.record.model import (
    ModelSource,
    NameSource,
    ProcessPhase,
    Session,
    SessionStatus,
)
from tservice.sessions.record.repository import SessionRepository
from tservice.sessions.record.requests import CreateRequest, InputRequest
from tservice.sessions.record.viewport import SizeRequest
from tservice.sessions.record.wire import SessionAnswer, make_session_answer
from tservice.sessions.registry import SessionRegistry, is_owned_by, may_see
from tservice.sessions.terminal_reader import TerminalReader


@implementer(IInputGate)
class PassThroughGate:
    """Input gate that accepts every input immediately."""

    async def wait_until_ready(self, session: Session) -> None:
        """Return immediately."""

    def describe_dialog(self, session: Session, capture: PaneCapture, typed: str) -> str | None:
        """Return C{None}, because this gate recognizes no dialogs."""
        return None

    def find_opened_view(self, session: Session, capture: PaneCapture) -> str | None:
        """Return C{None}, because this gate recognizes no opened views."""
        return None

    def is_at_rest(self, session: Session, capture: PaneCapture) -> bool:
        """Return true, because this gate recognizes no activity."""
        return True

    def claim_prompt(self, session: Session, text: str, *, caught_up: bool) -> PromptClaim:
        """Return a claim that never has a report."""
        return UnreportedClaim()


class UnreportedClaim:
    """Claim of a prompt to an agent that never reports prompts."""

    async def get_report(self) -> PromptReport:
        """Return that the agent does not report prompts."""
        return PromptReport.NOTHING


@implementer(IConversations)
class UncheckedConversations:
    """Conversation access that lets an agent continue any conversation that it reported."""

    async def find_last_conversation(self, session: Session) -> str | None:
        return session.conversation_ids[-1] if session.conversation_ids else None

    async def check_conversation(self, session: Session, conversation: str) -> None:
        """Accept every conversation."""


@frozen(kw_only=True)
class AgentSupport:
    """Agent-specific services for the programs in the panes.

    @ivar activity: makes activity sources; C{None}: the plain sources for any program.
    @ivar gate: holds prompts back while the agent cannot accept them.
    @ivar preparation: prepares the files that agents read when they start.
    @ivar conversations: finds the conversation that the next start of an agent continues.
    @ivar recollection: returns saved data from before a restart of the machine.
    @ivar channels: adds the agents' channels to their launches.
    """

    activity: IActivitySources | None = None
    gate: IInputGate = field(factory=PassThroughGate)
    preparation: ILaunchPreparation = field(factory=NoLaunchPreparation)
    conversations: IConversations = field(factory=UncheckedConversations)
    recollection: SavedStateReader = field(factory=NoSavedState)
    channels: IChannelLaunch = field(factory=NoChannelLaunch)


@frozen(kw_only=True)
class SessionDependencies:
    """Collaborators of L{SessionService}."""

    clock: IReactorTime
    repository: SessionRepository
    journal: InputJournal
    buffer: OfflineInputBuffer
    doubts: UnconfirmedPromptStore
    driving: DrivingPermission
    away: OfflineInput
    roster: SessionRegistry
    clis: ICliRegistry
    processes: SessionProcesses
    creator: SessionCreator
    quick: QuickStartPreparer
    properties: SessionProperties
    windows: ViewportManager
    adoption: PaneAdoption
    gate: IInputGate
    conversations: IConversations
    recollection: SavedStateReader
    models: Callable[[], ICustomModels]
    new_input_id: Callable[[], str]
    history_limit: Callable[[], int]


@implementer(ISessions)
class SessionService:
    """Implementation of L{ISessions}. Additional methods serve the HTTP operations.

    @ivar properties: changes the properties that a user sets on a session.
    """

    _log = Logger()

    def __init__(self, deps: SessionDependencies) -> None:
        self._deps = deps
        self._roster = deps.roster
        self._processes = deps.processes
        self._typing_observers = ListenerList[Callable[[str], object]]("typing")
        self._entitled: Callable[[Identity, str], bool] = lambda sender, session_id: True
        self.properties = deps.properties

    # -- start and stop of the service

    async def load_and_adopt_sessions(self) -> None:
        """Load the records and adopt running processes. Call this before any request."""
        records = self._deps.repository.load()
        self._deps.recollection.accept_records(records)
        for record in records:
            self._roster.restore(self._make_live_session(record, initial_phase(record.phase)))
        await self._deps.adoption.adopt_all()

    def close(self) -> None:
        """Detach from all panes, which keep running. The journal keeps unfinished input. Call this
        before the multiplexer is closed, or input being typed finds its pane lost.
        """
        self._deps.adoption.close()
        self._roster.save_activity()
        self._deps.journal.close()
        for live in self._roster:
            live.detach_pane()
            live.inputs.close()

    def set_token_issuer(self, tokens: IAgentTokens) -> None:
        """Set the issuer of agents' own tokens. Call this before L{load_and_adopt_sessions}."""
        self._processes.set_token_issuer(tokens)

    def set_sender_check(self, entitled: Callable[[Identity, str], bool]) -> None:
        """Set the check for senders of waiting input. Call this before L{load_and_adopt_sessions}.

        @param entitled: returns true if an identity may still type into a session.
        """
        self._entitled = entitled

    def find_child_ids(self, session_id: str) -> frozenset[str]:
        """Return the ids of the sessions that a session's agent created."""
        return self._roster.find_child_ids(session_id)

    # -- reading

    def get(self, session_id: str, caller: Identity | None = None) -> Session:
        return self._roster.get(session_id, caller).session

    def list(self, caller: Identity | None = None) -> list[Session]:
        return [live.session for live in self._roster.list_visible(caller)]

    def describe_session(self, session_id: str) -> SessionAnswer:
        return make_session_answer(self._roster.get(session_id).session)

    def get_owner(self, session_id: str) -> str | None:
        return self._roster.get(session_id).record.owner

    def find_outage(self, session_id: str) -> LocationOutage | None:
        """Return the host outage that blocks input to the session; C{None} without one."""
        return self._deps.away.find_outage(self._roster.get(session_id))

    def get_pane(self, session_id: str) -> IPane | None:
        return self._roster.get(session_id).attached_pane

    def count_by_status(self) -> Iterable[tuple[str, SessionStatus, int]]:
        return self._roster.count_by_status()

    async def read_screen(
        self, session_id: str, *, full: bool, lines: str | None, tail: int | None
    ) -> TerminalReading:
        """Return the terminal's text (protocol-terminal).

        @param full: true to read the history too, as limited by L{count_history_rows}.
        @param tail: maximum number of characters from the end; C{None}: no limit.
        """
        live = self._roster.get(session_id)
        history = count_history_rows(full, lines, self._deps.history_limit())
        request = TerminalReadRequest(history=history, tail=tail)
        pane = live.attached_pane if live.record.pid is not None else None
        reader = TerminalReader(
            clock=self._deps.clock, load_saved_screen=self._deps.recollection.find_saved_screen
        )
        is_out = self._deps.away.find_outage(live) is not None
        return await reader.read_screen(live, pane, request, is_out=is_out)

    async def search_history(
        self, session_id: str, needle: str, limit: int, *, nocase: bool
    ) -> dict[str, Any]:
        """Search the pane's history (protocol-search), even after its process has ended."""
        pane = self._roster.get(session_id).attached_pane
        clock = self._deps.clock
        return await search_terminal(clock, pane, needle, limit, nocase=nocase)

    # -- starting and ending

    async def choose_model(self, request: CreateRequest, caller: Identity) -> CreateRequest:
        """Return C{request} with its requested custom model resolved.

        @raise ModelConfirmationRequired: the caller must answer a question first.
        @raise ServiceError: as L{ICustomModels.choose_model}.
        """
        wish = request.model_wish
        if wish is None:
            return request
        mode = self._deps.creator.find_requested_mode(request)
        custom = await self._deps.models().choose_model(mode, wish, caller)
        chosen: CreateRequest = evolve(request, custom_model=custom)
        return chosen

    async def create(self, request: CreateRequest, caller: Caller) -> Session:
        if request.resume_session_id is not None:
            check_conversation_free(
                request.resume_session_id, self._roster, lambda one: may_see(one, caller)
            )
        request, made = await self._deps.creator.create_worktree(request, caller)
        try:
            record = await self._deps.creator.make_record(request, caller)
            caller.reauthorize()
            live = self._register_session(record, starting=request.start)
            if request.start:
                await self._start_new_session(live, caller)
        except Exception:
            await undo_created([] if made is None else [made])
            raise
        return live.session

    async def quick_start(self, wanted: QuickStartRequest, caller: Caller) -> Session:
        """Create a case and a session in it, and start the session (protocol-quickstart).

        @param caller: as for L{create}.
        """
        prepared = await self._deps.quick.prepare_session(wanted, caller)
        try:
            caller.reauthorize()
            live = self._register_session(prepared.session, starting=True)
            await self._start_new_session(live, caller)
        except Exception:
            await undo_created(prepared.made)
            raise
        return live.session

    async def start(
        self,
        session_id: str,
        caller: Caller,
        *,
        clear_breaker: bool = False,
        fresh: bool = False,
        resume: str | None = None,
    ) -> Session:
        live = self._roster.get(session_id)
        if resume is None and not fresh:
            resume = await self._find_conversation(live)
        return await self._processes.start_process(
            live, caller, clear_breaker=clear_breaker, resume=resume
        )

    async def stop(self, session_id: str, reason: str) -> Session:
        session = await self._processes.stop_process(self._roster.get(session_id), reason)
        for record in find_excess_stopped(self._roster.list_records()):
            self._roster.remove(self._roster.get(record.id), asked=False)
        return session

    async def delete(self, session_id: str, *, kill: bool = True) -> tuple[LeftoverProcess, ...]:
        live = self._roster.get(session_id)
        with raise_unsaved_change_on_disk_error("ended", "list it again"):
            return await (
                self._processes.kill_session(live) if kill else self._processes.detach_session(live)
            )

    async def delete_all_own(self, caller: Identity) -> tuple[int, tuple[LeftoverProcess, ...]]:
        """End and remove every session of the caller.

        @return: the number of sessions, and the processes that outlive them.
        @raise ServiceError: 422: some sessions do not answer, while the others were removed. Or the
            disk is full, and a restart would list the removed sessions again.
        """
        own = [live for live in self._roster if is_owned_by(live.record, caller)]
        refused, owed = [], None
        left: list[LeftoverProcess] = []
        for live in own:
            try:
                left += await self._processes.kill_session(live)
            except DiskFull as error:
                owed = error
            except ServiceError as error:
                refused.append(error.message)
        if refused:
            raise make_failure_error(
                f"{len(refused)} of {len(own)} sessions could not be ended: {refused[0]}"
            )
        if owed is not None:
            raise owed.describe_unsaved_change("ended", "list them again") from owed
        return len(own), tuple(left)

    # -- input

    def check_sender(self, session_id: str, sender: Identity | None = None) -> None:
        self._deps.driving.check_sender(self._roster.get(session_id).record, sender)

    async def send_input(self, session_id: str, request: InputRequest) -> InputDelivery:
        live = self._roster.get(session_id)
        if request.is_typed_by_caller:
            self._report_typing(session_id)
        return await self._deps.away.type_or_buffer_input(live, request)

    async def send_prompt(self, session_id: str, text: str, sender: Identity | None = None) -> None:
        await self.send_input(session_id, InputRequest(text=text, use_mux=True, sender=sender))

    async def send_key(self, session_id: str, key: str, sender: Identity | None = None) -> None:
        live = self._roster.get(session_id)
        self._deps.away.refuse_key(live)
        if sender is not None:
            self._report_typing(session_id)
        await live.inputs.press_key(key, sender)

    def observe_input(self, observer: Callable[[str], object]) -> Callable[[], None]:
        return self._typing_observers.add(observer)

    async def resize_pane(self, session_id: str, wish: SizeRequest) -> tuple[int, int]:
        return await self._deps.windows.resize_pane(self._roster.get(session_id), wish)

    def set_viewer_colours(self, session_id: str, viewer: str, colours: TerminalColours) -> None:
        self._deps.windows.set_viewer_colours(self._roster.get(session_id), viewer, colours)

    async def remove_viewer(self, session_id: str, viewer: str) -> None:
        live = self._roster.find(session_id)
        if live is not None:
            await self._deps.windows.remove_viewer(live, viewer)

    # -- changes

    def rename_session(self, session_id: str, name: str, source: NameSource) -> Session:
        return self.properties.rename_session(self._roster.get(session_id), name, source)

    def report_model(self, session_id: str, source: ModelSource, text: str | None) -> None:
        self.properties.report_model(self._roster.get(session_id), source, text)

    def update_record(self, session_id: str, *, durable: bool = True, **fields: Any) -> Session:
        return self._roster.update_record(self._roster.get(session_id), durable=durable, **fields)

    def get_live_session(self, session_id: str, caller: Identity | None = None) -> LiveSession:
        """Return the session in memory, as needed for L{properties}."""
        return self._roster.get(session_id, caller)

    # -- internals

    def _register_session(self, record: Session, *, starting: bool) -> LiveSession:
        live = self._make_live_session(record, record.phase)
        # The start writes the record durably before there is a process.
        self._roster.add(live, durable=not starting)
        return live

    async def _start_new_session(self, live: LiveSession, caller: Caller) -> None:
        """Start a session that was just created. Remove it if it cannot be started.

        If a person must first answer a question about its folder, the session is kept.
        """
        try:
            resume = await self._find_requested_conversation(live)
            await self._processes.start_process(live, caller, resume=resume)
        except FolderApprovalRequired as held:
            self._log.info("{id} is not started: {reason}", id=live.record.id, reason=held.message)
        except Exception:
            self._roster.remove(live, asked=False)
            raise

    async def _find_conversation(self, live: LiveSession) -> str | None:
        """Return the id of the conversation to continue; C{None} if the agent cannot resume one."""
        entry = self._deps.clis.get_entry(live.record.mode)
        if entry is None or entry.resume is None:
            return None
        resume = await self._find_requested_conversation(live)
        return resume or await self._deps.conversations.find_last_conversation(live.record)

    async def _find_requested_conversation(self, live: LiveSession) -> str | None:
        """Return the conversation that a new session was created to continue (protocol-create).

        @raise ServiceError: 403, 422: see L{IConversations.check_conversation}.
        """
        record = live.record
        if record.phase is not ProcessPhase.CREATED or not record.conversation_ids:
            return None
        wanted = record.conversation_ids[-1]
        await self._deps.conversations.check_conversation(record, wanted)
        return wanted

    def _make_live_session(self, record: Session, phase: ProcessPhase) -> LiveSession:
        target = InputTarget(
            session=lambda: live.record,
            pane=lambda: live.attached_pane,
            composer=lambda: find_composer(self._deps.clis, live.record.mode),
            typed=lambda: self._record_typing_time(live),
            submitting=lambda text: self._record_submission(live, text),
            may_still_type=lambda sender: self._entitled(sender, live.record.id),
            check_drivable=lambda sender: self._deps.driving.check_sender(live.record, sender),
            allowed=lambda *asked: self._deps.driving.check_text_permission(live.record, *asked),
            lost=lambda chunks, why: self._roster.publish_lost_input(live, chunks, why),
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
        live = LiveSession(record=record, lifecycle=SessionLifecycle(phase), inputs=inputs)
        return live

    def _report_typing(self, session_id: str) -> None:
        self._typing_observers.notify_all(lambda observer: observer(session_id))

    def _record_typing_time(self, live: LiveSession) -> None:
        live.last_output = max(live.last_output, get_unix_ms(self._deps.clock))

    def _record_submission(self, live: LiveSession, text: str | None) -> None:
        # This time finds the agent's own record of the prompt. The confirmation may follow many
        # seconds later.
        now = get_unix_ms(self._deps.clock)
        told = live.activity is not None and live.activity.announce_submit(text)
        turn_open = told or live.record.turn_open
        self._roster.update_record(live, durable=False, last_submit_at=now, turn_open=turn_open)
