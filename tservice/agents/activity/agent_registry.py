"""Registry of the agents in running sessions, which answers other features' queries about them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import evolve, field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.activity.activity_tracker import TrackedAgent
from tservice.agents.activity.agent_watch import AgentWatch, WatchedRun
from tservice.agents.activity.blocked_signals import BlockedSignals
from tservice.agents.activity.input_gate import PromptReadiness
from tservice.agents.activity.ready_wait import is_screen_ready, wait_until_ready
from tservice.agents.activity.screen_signals import ScreenSignals
from tservice.agents.interfaces import AgentScreen, IAgents, LookObserver
from tservice.agents.model import PlanUsage
from tservice.agents.store import AgentStore
from tservice.agents.transcripts.prompt_proofs import PromptProofs
from tservice.clis.interfaces import (
    CliKind,
    HookSupport,
    ICliRegistry,
    SubmissionRules,
    TrustDialogPolicy,
)
from tservice.core.kernel.errors import ServiceError, make_conflict_error
from tservice.core.kernel.events import EventHub
from tservice.core.kernel.listeners import ListenerList
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.workers.worker_pool import IThreads, SynchronousThreads
from tservice.mux.interface import IPane
from tservice.sessions.interfaces import (
    ActivitySink,
    IActivitySource,
    IActivitySources,
    ISessions,
    ModelSource,
    Session,
)
from tservice.terminal.dialogs.dialogs import AgentDialog
from tservice.terminal.model_name import find_displayed_model, find_displayed_window
from tservice.terminal.screen_rules import ScreenRules

_RULES_KEPT = 200
"""Maximum number of cached screen rules, which is more than the registry of CLIs has entries."""


@frozen(kw_only=True)
class AgentRegistryDependencies:
    """Dependencies of L{AgentRegistry}.

    @ivar sessions: returns the sessions; called late, because they are created after the agents.
    @ivar shells: creates the activity sources of shells.
    @ivar places: locations of the agents' settings, with the rights that are used to read them.
    @ivar proofs: confirms prompts by the agents' own reports.
    @ivar files: thread pool that reads users' folders.
    """

    clock: IReactorTime
    hub: EventHub
    sessions: Callable[[], ISessions]
    clis: ICliRegistry
    shells: IActivitySources
    store: AgentStore
    places: LocationRegistry
    proofs: PromptProofs
    files: IThreads = field(factory=SynchronousThreads)


@implementer(IAgents, IActivitySources)
class AgentRegistry:
    """Registry of the agents in all running sessions.

    @ivar blocked_signals: sends the signal C{blocked} of every session.
    """

    _log = Logger()

    def __init__(self, deps: AgentRegistryDependencies) -> None:
        self._deps = deps
        self.blocked_signals = BlockedSignals(deps.clock, deps.hub)
        self._watches: dict[str, AgentWatch] = {}
        self._observers = ListenerList[LookObserver]("the screens")
        self._rules: dict[str, ScreenRules] = {}

    # -- called by the sessions

    def make_source(
        self, session: Session, pane: IPane, sink: ActivitySink, fresh: bool, resumed: bool
    ) -> IActivitySource:
        entry = self._deps.clis.get_entry(session.mode)
        if entry is not None and entry.kind is CliKind.SHELL:
            return self._deps.shells.make_source(session, pane, sink, fresh, resumed)
        can = None if entry is None else entry.capabilities
        proofs, keeps = self._deps.proofs, self._deps.proofs.has_transcript(session)

        def get_record() -> Session:
            return self._deps.sessions().get(session.id)

        def check_trust() -> None:
            self._deps.sessions().check_sender(session.id)

        watched = WatchedRun(
            agent=TrackedAgent(
                session=get_record,
                rules=self.get_screen_rules(session.mode),
                has_hooks=can is not None and can.hooks is not HookSupport.NONE,
                submission=SubmissionRules() if can is None else can.submission,
                has_answer=(lambda since: proofs.has_recorded_answer(get_record(), since))
                if keeps
                else None,
            ),
            pane=pane,
            sink=sink,
            fresh=fresh,
            resumed=resumed,
            may_trust=check_trust
            if can is not None and can.trust is TrustDialogPolicy.ANSWER
            else None,
            on_look=self._report_captured_screen,
            on_end=lambda: self._remove_watch(session.id, watch),
        )
        told = watched.agent.has_hooks and fresh
        watch = AgentWatch(self._deps.clock, watched if told else self._add_screen_signals(watched))
        self._watches[session.id] = watch
        self._report_launch_models(session)
        return watch

    # -- called by the hooks and the gate

    def get_watch(self, session_id: str) -> AgentWatch | None:
        """Return the watch of a session's agent; C{None} if the session has no running agent."""
        return self._watches.get(session_id)

    def get_readiness(self, session_id: str) -> PromptReadiness | None:
        """Return the readiness for prompts of a session's agent; C{None} if no agent runs there."""
        watch = self._watches.get(session_id)
        return None if watch is None else watch.readiness

    # -- for other features

    def is_answering_trust(self, session_id: str) -> bool:
        watch = self._watches.get(session_id)
        return watch is not None and watch.is_answering_trust

    def get_dialog(self, session_id: str) -> AgentDialog | None:
        watch = self._watches.get(session_id)
        return watch.last.reading.dialog if watch is not None and watch.last is not None else None

    async def capture_screen(self, session_id: str) -> AgentScreen:
        self._deps.sessions().get(session_id)
        watch = self._watches.get(session_id)
        if watch is None:
            raise make_conflict_error("no agent runs in the session")
        return await watch.capture_screen()

    async def wait_for_prompt(self, session_id: str, patience: float) -> None:
        await wait_until_ready(
            self._deps.clock,
            lambda: self.capture_screen(session_id),
            lambda look: is_screen_ready(look, self.get_readiness(session_id)),
            patience,
        )

    def add_observer(self, observer: LookObserver) -> Callable[[], None]:
        return self._observers.add(observer)

    def set_item_search(self, find_search: Callable[[str], Deferred[None] | None]) -> None:
        self.blocked_signals.find_search = find_search

    def get_screen_rules(self, mode: str) -> ScreenRules:
        entry = self._deps.clis.get_entry(mode)
        if entry is None:
            return ScreenRules()
        can = entry.capabilities.model_dump_json(by_alias=True)
        if can not in self._rules:
            if len(self._rules) >= _RULES_KEPT:
                self._rules.clear()
            self._rules[can] = ScreenRules.from_capabilities(
                entry.capabilities.model_dump(by_alias=True, mode="json")
            )
        return self._rules[can]

    def get_transcript_path(self, session_id: str) -> str | None:
        return self._deps.store.get_transcript_path(session_id)

    def get_displayed_window(self, session_id: str) -> int | None:
        watch = self._watches.get(session_id)
        if watch is None or watch.last is None:
            return None
        mode = self._deps.sessions().get(session_id).mode
        return find_displayed_window(watch.last.frame, self.get_screen_rules(mode))

    def get_plan_usage(self) -> PlanUsage | None:
        return self._deps.store.get_plan_usage()

    # -- internal

    def _add_screen_signals(self, watched: WatchedRun) -> WatchedRun:
        """Return the run with signals C{stop} and C{blocked} derived from its screen.

        The first hook that reports on a turn ends them.
        """
        among = self._deps
        signals = ScreenSignals(
            among.clock,
            among.hub,
            watched.agent.session,
            among.clis.gives_signals,
            self.blocked_signals,
        )

        def handle_screen(look: AgentScreen) -> None:
            watched.on_look(look)
            signals.handle_screen(look)

        return evolve(
            watched,
            sink=signals.wrap_sink(watched.sink),
            on_look=handle_screen,
            on_turn_hook=signals.stop_signals,
        )

    def _report_captured_screen(self, look: AgentScreen) -> None:
        self._report_screen_model(look)
        self._observers.notify_all(lambda observer: observer(look))

    def _remove_watch(self, session_id: str, watch: AgentWatch) -> None:
        if self._watches.get(session_id) is watch:
            del self._watches[session_id]

    def _report_launch_models(self, session: Session) -> None:
        """Report the model that the launch parameters and the agent's own settings name, at each
        start.
        """
        given = session.params.get("model")
        self._report_model(session, ModelSource.LAUNCH, given if isinstance(given, str) else None)
        spawn_logged(
            self._report_configured_model(session.id), self._log, "reading the configured model"
        )

    async def _report_configured_model(self, session_id: str) -> None:
        sessions = self._deps.sessions()
        try:
            session = sessions.get(session_id)
            read = self._make_model_reader(session)
            found = await self._deps.files.run(read, at=session.working_dir, owner=session.owner)
            # The session may be gone by now, or have changed since the file was requested.
            self._report_model(sessions.get(session_id), ModelSource.CONFIG, found)
        except ServiceError as error:
            self._log.info("session {id}: no model: {error}", id=session_id, error=error)

    def _make_model_reader(self, session: Session) -> Callable[[], str | None]:
        """Return a function that reads the model from the agent's settings; call it in a thread."""
        place = self._deps.places.find_earlier_location(session.location_id)
        if place.unreadable_reason is not None:
            return lambda: None  # its settings are on another machine
        env = {**place.build_environment(), **session.env_overrides}
        read = partial(self._deps.clis.read_configured_model, session.mode, env)
        return partial(place.run_file_work, read)

    def _report_screen_model(self, look: AgentScreen) -> None:
        session = self._deps.sessions().get(look.session_id)
        shown = find_displayed_model(look.frame, self.get_screen_rules(session.mode))
        # The name scrolls away; the last one read is valid until another is read.
        if shown is not None:
            self._report_model(session, ModelSource.SCREEN, shown)

    def _report_model(self, session: Session, source: ModelSource, text: str | None) -> None:
        if session.models.get(source) != text:
            self._deps.sessions().report_model(session.id, source, text)
