"""Assembly of the session feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.cases.interfaces import ICases
from tservice.clis.interfaces import ICliRegistry
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.metrics import MetricSource, Values
from tservice.mux.interface import DARK, LIGHT, IMultiplexer, TerminalColours
from tservice.sessions.away import Away
from tservice.sessions.input.buffer import InputBuffer
from tservice.sessions.input.doubtstore import DoubtStore
from tservice.sessions.input.driving import Driving
from tservice.sessions.input.journal import InputJournal
from tservice.sessions.interfaces import ICustomModels
from tservice.sessions.life.activity import PlainSources
from tservice.sessions.life.adoption import Adoption
from tservice.sessions.life.create import Creator, Defaults, SessionCaps
from tservice.sessions.life.launcher import Launcher, LaunchSettings, NoModels
from tservice.sessions.life.places import SessionPlaces
from tservice.sessions.life.priority import SetPriority, set_process_priority
from tservice.sessions.life.processes import Processes
from tservice.sessions.life.properties import Properties
from tservice.sessions.life.quickstart import QuickStarter
from tservice.sessions.life.windows import Windows
from tservice.sessions.record.repository import SessionRepository
from tservice.sessions.roster import Roster
from tservice.sessions.service import SessionDependencies, SessionService, Support
from tservice.settings.interfaces import ISettings, Settings


def build_sessions(
    ground: Ground,
    *,
    mux: IMultiplexer,
    clis: ICliRegistry,
    api_url: Callable[[], str],
    cases: ICases,
    support: Support | None = None,
    models: Callable[[], ICustomModels] = NoModels,
    set_priority: SetPriority = set_process_priority,
) -> Feature[SessionService]:
    """Build the session feature, which adopts running processes when it starts.

    L{tservice.sessions.routes.build} makes the routes, because they need the waits.

    @param api_url: returns C{SERVICE_API_URL} of the panes.
    @param cases: the folders that sessions may work in.
    @param models: returns the registry of custom endpoints; not called before there are sessions.
    @param support: the support for agents in the panes; none by default.
    """
    given = support or Support()
    roster = Roster(ground.reactor, SessionRepository(ground.database), ground.hub)
    ground.places.register_usage_check(roster.tenant)
    launching = _launching(ground, api_url)
    launcher = Launcher(mux, clis, launching, given.preparation, given.recollection, models)
    activity = given.activity or PlainSources(ground.reactor, clis)
    windows = Windows(ground.reactor, roster, lambda: _colours(ground.settings.get()))
    processes = Processes(
        clock=ground.reactor, roster=roster, launcher=launcher, activity=activity,
        set_priority=set_priority, windows=windows,
    )  # fmt: skip
    creator = _creator(ground, roster, clis, launcher, cases)
    away = Away(ground.places, processes.reconcile)
    service = SessionService(
        SessionDependencies(
            clock=ground.reactor,
            repository=SessionRepository(ground.database),
            journal=InputJournal(ground.database, ground.reactor),
            buffer=InputBuffer(ground.database),
            doubts=DoubtStore(ground.database),
            driving=Driving(clis, ground.bounds),
            away=away,
            roster=roster,
            clis=clis,
            processes=processes,
            creator=creator,
            quick=QuickStarter(ground.reactor, creator, cases),
            properties=_properties(ground, roster, set_priority, creator),
            windows=windows,
            adoption=Adoption(ground.reactor, mux, roster, processes),
            gate=given.gate,
            conversations=given.conversations,
            recollection=given.recollection,
            models=models,
            new_input_id=lambda: ground.random(12).hex(),
            history_limit=lambda: ground.settings.get().history_limit,
        )
    )
    unsubscribe = ground.hub.subscribe(away.heard(roster.find))
    return _feature(service, [unsubscribe, ground.settings.add_observer(windows.settings_changed)])


def _colours(settings: Settings) -> TerminalColours:
    return LIGHT if settings.terminal_ground == "light" else DARK


def _feature(
    service: SessionService, ends: Sequence[Callable[[], None]]
) -> Feature[SessionService]:
    def close() -> None:
        for end in ends:
            end()
        service.close()

    return Feature(
        name="sessions",
        service=service,
        measures=[_count(service)],
        start=service.open,
        close=close,
    )


def session_places(ground: Ground) -> SessionPlaces:
    """Return the location rules of sessions, which read the accounts' current OS users."""

    def of_account(owner: str | None) -> str | None:
        account = None if owner is None else ground.account()(owner)
        return None if account is None else account.os_user

    return SessionPlaces(places=ground.places, of_account=of_account)


def _launching(ground: Ground, api_url: Callable[[], str]) -> LaunchSettings:
    return LaunchSettings(
        api_url=api_url,
        history_limit=lambda: ground.settings.get().history_limit,
        places=session_places(ground),
        reach=ground.reach,
        files=ground.doors.files,
        bounds=ground.bounds,
    )


def _count(service: SessionService) -> MetricSource:
    def counts() -> Values:
        return {(mode, status.value): number for mode, status, number in service.counts()}

    return MetricSource("sessions", "Current number of sessions.", counts, ("mode", "status"))


def _properties(
    ground: Ground, roster: Roster, set_priority: SetPriority, creator: Creator
) -> Properties:
    return Properties(
        clock=ground.reactor,
        roster=roster,
        set_priority=set_priority,
        fallback_name=creator.fallback_name,
    )


def _creator(
    ground: Ground,
    roster: Roster,
    clis: ICliRegistry,
    launcher: Launcher,
    cases: ICases,
) -> Creator:
    config = ground.config
    return Creator(
        clock=ground.reactor,
        roster=roster,
        clis=clis,
        launcher=launcher,
        cases=cases,
        defaults=lambda: _defaults(ground.settings),
        caps=SessionCaps(total=config.max_sessions, per_user=config.max_sessions_per_user),
        random_bytes=ground.random,
    )


def _defaults(settings: ISettings) -> Defaults:
    chosen = settings.get()
    return Defaults(mode=chosen.default_mode, working_dir=chosen.default_working_dir or None)
