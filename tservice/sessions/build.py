"""Putting the sessions together from what the program hands in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.clis.interfaces import ICliRegistry
from tservice.core.config.model import Config
from tservice.core.doors.reach import IReach, NoReach
from tservice.core.doors.threads import IThreads, NoThreads
from tservice.core.events import EventHub
from tservice.mux.interface import IMultiplexer
from tservice.sessions.input.journal import InputJournal
from tservice.sessions.interfaces import (
    IActivitySources,
    IConversations,
    IInputGate,
    ILaunchPreparation,
)
from tservice.sessions.life.activity import PlainSources
from tservice.sessions.life.adoption import Adoption
from tservice.sessions.life.create import Caps, Creator, Defaults
from tservice.sessions.life.launcher import Launcher, LaunchSettings, NothingToPrepare
from tservice.sessions.life.osusers import SessionOsUsers
from tservice.sessions.life.priority import SetPriority, set_process_priority
from tservice.sessions.life.processes import Processes
from tservice.sessions.life.properties import Properties
from tservice.sessions.life.quickstart import QuickStarter
from tservice.sessions.life.workspaces import Workspaces
from tservice.sessions.record.repository import SessionRepository
from tservice.sessions.roster import Roster
from tservice.sessions.service import KnownConversations, OpenGate, Parts, SessionService
from tservice.settings.interfaces import ISettings
from tservice.store.database import Database


@frozen(kw_only=True)
class Surroundings:
    """What the sessions live on.

    @ivar home: where a session works when nothing else says so.
    @ivar api_url: C{SERVICE_API_URL} of the panes.
    @ivar random_bytes: for session and input ids.
    @ivar activity: how to find out what a session does; C{None}: L{PlainSources}.
    @ivar gate: keeps prompts back; C{None}: nothing does.
    @ivar preparation: puts in place what agents read when they start.
    @ivar conversations: which one the next start of an agent goes on with.
    @ivar os_users: the OS users that panes run as.
    @ivar reach: asks whether folders answer.
    @ivar files: the door for what users' folders hold.
    """

    clock: IReactorTime
    database: Database
    mux: IMultiplexer
    clis: ICliRegistry
    hub: EventHub
    settings: ISettings
    config: Config
    home: Path
    api_url: Callable[[], str]
    hook_secret_file: Path
    random_bytes: Callable[[int], bytes]
    set_priority: SetPriority = set_process_priority
    activity: IActivitySources | None = None
    gate: IInputGate = field(factory=OpenGate)
    preparation: ILaunchPreparation = field(factory=NothingToPrepare)
    conversations: IConversations = field(factory=KnownConversations)
    os_users: SessionOsUsers = field(factory=SessionOsUsers)
    reach: IReach = field(factory=NoReach)
    files: IThreads = field(factory=NoThreads)


def build_sessions(around: Surroundings) -> SessionService:
    """The sessions, not opened yet."""
    repository = SessionRepository(around.database)
    roster = Roster(around.clock, repository, around.hub)
    launcher = _launcher(around)
    workspaces = Workspaces(
        cases_dir=around.config.cases_dir,
        home=around.home,
        multiuser=around.config.multiuser,
        os_users=around.os_users,
    )
    processes = Processes(
        clock=around.clock,
        roster=roster,
        launcher=launcher,
        activity=around.activity or PlainSources(around.clock, around.clis),
        set_priority=around.set_priority,
    )
    creator = _creator(around, roster, launcher, workspaces)
    return SessionService(
        Parts(
            clock=around.clock,
            repository=repository,
            journal=InputJournal(around.database),
            roster=roster,
            clis=around.clis,
            processes=processes,
            creator=creator,
            quick=QuickStarter(around.clock, creator, workspaces),
            properties=Properties(
                clock=around.clock,
                roster=roster,
                set_priority=around.set_priority,
                fallback_name=creator.fallback_name,
            ),
            adoption=Adoption(around.clock, around.mux, roster, processes),
            gate=around.gate,
            reach=around.reach,
            conversations=around.conversations,
            new_input_id=lambda: around.random_bytes(12).hex(),
            history_limit=lambda: around.settings.get().history_limit,
        )
    )


def _launcher(around: Surroundings) -> Launcher:
    settings = LaunchSettings(
        api_url=around.api_url,
        hook_secret_file=around.hook_secret_file,
        history_limit=lambda: around.settings.get().history_limit,
        os_users=around.os_users,
        reach=around.reach,
        files=around.files,
    )
    return Launcher(around.mux, around.clis, settings, around.preparation)


def _defaults(settings: ISettings) -> Defaults:
    chosen = settings.get()
    return Defaults(mode=chosen.default_mode, working_dir=chosen.default_working_dir or None)


def _creator(
    around: Surroundings, roster: Roster, launcher: Launcher, workspaces: Workspaces
) -> Creator:
    caps = Caps(total=around.config.max_sessions, per_user=around.config.max_sessions_per_user)
    return Creator(
        clock=around.clock,
        roster=roster,
        clis=around.clis,
        launcher=launcher,
        workspaces=workspaces,
        defaults=lambda: _defaults(around.settings),
        caps=caps,
        random_bytes=around.random_bytes,
    )
