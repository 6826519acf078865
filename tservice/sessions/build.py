"""Builds the session feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.cases.interfaces import ICases
from tservice.clis.interfaces import ICliRegistry
from tservice.http.metrics import MetricSource, Values
from tservice.mux.interface import DARK, LIGHT, IMultiplexer, TerminalColours
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.input.accept.driving_permission import DrivingPermission
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.accept.offline_buffer import OfflineInputBuffer
from tservice.sessions.input.recover.unconfirmed_prompt_store import UnconfirmedPromptStore
from tservice.sessions.interfaces import IChannelLaunch, ICustomModels
from tservice.sessions.life.activity import PlainSources
from tservice.sessions.life.adoption import PaneAdoption
from tservice.sessions.life.creator import CreationDefaults, SessionCaps, SessionCreator
from tservice.sessions.life.launcher import LaunchSettings, NoCustomModels, PaneLauncher
from tservice.sessions.life.priority import SetPriority, set_process_priority
from tservice.sessions.life.processes import SessionProcesses
from tservice.sessions.life.properties import SessionProperties
from tservice.sessions.life.quick_start import QuickStartPreparer
from tservice.sessions.life.session_locations import SessionLocationRules
from tservice.sessions.life.viewport_manager import ViewportManager
from tservice.sessions.offline_input import OfflineInput
from tservice.sessions.record.repository import SessionRepository
from tservice.sessions.registry import SessionRegistry
from tservice.sessions.service import AgentSupport, SessionDependencies, SessionService
from tservice.settings.interfaces import ISettings, Settings


def build_sessions(
    ground: Runtime,
    *,
    mux: IMultiplexer,
    clis: ICliRegistry,
    api_url: Callable[[], str],
    cases: ICases,
    support: AgentSupport | None = None,
    models: Callable[[], ICustomModels] = NoCustomModels,
    set_priority: SetPriority = set_process_priority,
) -> FeatureRegistration[SessionService]:
    """Build the session feature, which adopts running processes when it starts.

    L{tservice.sessions.routes.build_waits} builds the routes, because they need the waits.

    @param api_url: returns the value of C{SERVICE_API_URL} for the panes.
    @param models: returns the registry of custom endpoints. It is not called before sessions exist.
    @param support: agent-specific services for the programs in the panes; C{None} for none.
    """
    given = support or AgentSupport()
    roster = SessionRegistry(ground.reactor, SessionRepository(ground.database), ground.hub)
    ground.locations.register_usage_check(roster.find_location_user)
    launching = _make_launch_settings(ground, api_url, given.channels)
    launcher = PaneLauncher(mux, clis, launching, given.preparation, given.recollection, models)
    activity = given.activity or PlainSources(ground.reactor, clis)
    windows = ViewportManager(
        ground.reactor, roster, lambda: _choose_colours(ground.settings.get())
    )
    processes = SessionProcesses(
        clock=ground.reactor, roster=roster, launcher=launcher, activity=activity,
        set_priority=set_priority, windows=windows,
    )  # fmt: skip
    creator = _make_creator(ground, roster, clis, launcher, cases)
    away = OfflineInput(ground.locations, processes.resolve_unknown_phase)
    service = SessionService(
        SessionDependencies(
            clock=ground.reactor,
            repository=SessionRepository(ground.database),
            journal=InputJournal(ground.database, ground.reactor),
            buffer=OfflineInputBuffer(ground.database),
            doubts=UnconfirmedPromptStore(ground.database),
            driving=DrivingPermission(clis, ground.workspace_bounds),
            away=away,
            roster=roster,
            clis=clis,
            processes=processes,
            creator=creator,
            quick=QuickStartPreparer(ground.reactor, creator, cases),
            properties=_make_properties(ground, roster, set_priority, creator),
            windows=windows,
            adoption=PaneAdoption(ground.reactor, mux, roster, processes),
            gate=given.gate, conversations=given.conversations, recollection=given.recollection,
            models=models, new_input_id=lambda: ground.random(12).hex(),
            history_limit=lambda: ground.settings.get().history_limit,
        )
    )  # fmt: skip
    unsubscribe = ground.hub.subscribe(away.make_reconnect_listener(roster.find))
    return _make_feature(
        service, [unsubscribe, ground.settings.add_observer(windows.apply_default_colours)]
    )


def _choose_colours(settings: Settings) -> TerminalColours:
    return LIGHT if settings.terminal_ground == "light" else DARK


def _make_feature(
    service: SessionService, ends: Sequence[Callable[[], None]]
) -> FeatureRegistration[SessionService]:
    def close_feature() -> None:
        for end in ends:
            end()
        service.close()

    return FeatureRegistration(
        name="sessions",
        service=service,
        measures=[_session_count_metric(service)],
        start=service.load_and_adopt_sessions,
        close=close_feature,
    )


def build_session_location_rules(ground: Runtime) -> SessionLocationRules:
    """Return the rules for locations of sessions. They use the OS users that accounts have now."""

    def find_os_user(owner: str | None) -> str | None:
        account = None if owner is None else ground.account_rights()(owner)
        return None if account is None else account.os_user

    return SessionLocationRules(places=ground.locations, of_account=find_os_user)


def _make_launch_settings(
    ground: Runtime, api_url: Callable[[], str], channels: IChannelLaunch
) -> LaunchSettings:
    return LaunchSettings(
        api_url=api_url,
        history_limit=lambda: ground.settings.get().history_limit,
        places=build_session_location_rules(ground),
        reach=ground.reachability,
        files=ground.worker_pools.files,
        bounds=ground.workspace_bounds,
        channels=channels,
    )


def _session_count_metric(service: SessionService) -> MetricSource:
    def count_sessions() -> Values:
        return {(mode, status.value): number for mode, status, number in service.count_by_status()}

    return MetricSource(
        "sessions", "Current number of sessions.", count_sessions, ("mode", "status")
    )


def _make_properties(
    ground: Runtime, roster: SessionRegistry, set_priority: SetPriority, creator: SessionCreator
) -> SessionProperties:
    return SessionProperties(
        clock=ground.reactor,
        roster=roster,
        set_priority=set_priority,
        fallback_name=creator.generate_name,
    )


def _make_creator(
    ground: Runtime,
    roster: SessionRegistry,
    clis: ICliRegistry,
    launcher: PaneLauncher,
    cases: ICases,
) -> SessionCreator:
    config = ground.config
    return SessionCreator(
        clock=ground.reactor,
        roster=roster,
        clis=clis,
        launcher=launcher,
        cases=cases,
        defaults=lambda: _make_defaults(ground.settings),
        caps=SessionCaps(total=config.max_sessions, per_user=config.max_sessions_per_user),
        random_bytes=ground.random,
    )


def _make_defaults(settings: ISettings) -> CreationDefaults:
    chosen = settings.get()
    return CreationDefaults(
        mode=chosen.default_mode, working_dir=chosen.default_working_dir or None
    )
