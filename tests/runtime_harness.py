"""What features stand on, in tests: nothing outside of memory and one folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.task import Clock
from zope.interface import implementer

from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.login_path import LoginPathReader, LoginShell
from tservice.core.callers.authentication import SignInRule
from tservice.core.config.model import Config
from tservice.core.locations.local_locations import OwnLocationProvider
from tservice.core.locations.location import Location, LocationId, LocationKind
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import (
    ANYWHERE,
    AccountRights,
    FolderLimit,
    WorkspaceBounds,
)
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildRunner
from tservice.core.workers.reachability import AlwaysReachable
from tservice.core.workers.worker_pool import IThreads, SynchronousThreads, WorkerPool
from tservice.mux.tmux.setup import LocalSetup, LocalSetups, ServerSetups
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import TmuxTransport
from tservice.runtime.local_location_setup import (
    OsUserSources,
    build_local_locations,
    build_own_location,
)
from tservice.runtime.os_user_wiring import OsUserWiring, build_os_users
from tservice.runtime.runtime import Runtime
from tservice.settings.interfaces import IEditableSettings, ISettings, SettingsObserver
from tservice.settings.model import Settings
from tservice.store.database import Database


def unbounded(owner: str | None, place: LocationId) -> FolderLimit:
    """The bounds of who has none."""
    return ANYWHERE


OWN_UID = 1000
"""Of the service's own user in tests, who is not root."""


@implementer(ISettings, IEditableSettings)
class FixedRuntimeSettings:
    """Settings that a test sets; only of L{change_settings} anybody is told."""

    def __init__(self) -> None:
        self.now = Settings()
        self._observers: list[SettingsObserver] = []

    def get(self) -> Settings:
        return self.now

    def change_settings(self, patch: Mapping[str, Any]) -> Settings:
        self._tell(Settings.model_validate({**self.now.model_dump(by_alias=True), **patch}))
        return self.now

    def add_observer(self, observer: SettingsObserver) -> Any:
        self._observers.append(observer)
        return lambda: None

    def alter(self, **fields: Any) -> None:
        """Other settings from now on, by the names of their fields."""
        self._tell(Settings.model_construct(**{**dict(self.now), **fields}))

    def _tell(self, now: Settings) -> None:
        before, self.now = self.now, now
        for observer in self._observers:
            observer(before, self.now)


class NoWorkerPools:
    """Does everything at once, in the caller's thread.

    @ivar all: none that could be stuck.
    """

    all: Sequence[WorkerPool] = ()

    def __init__(self, files: IThreads | None = None) -> None:
        self.hashing = self.names = SynchronousThreads()
        self.files = files or SynchronousThreads()


def own_location(folder: Path = Path("/h"), **environ: str) -> Location:
    """The service's own place, where no program is installed."""
    return build_own_location(folder / "data", environ, folder, lambda names: None, uid=OWN_UID)


HERE = own_location()


def own_setups(
    transport: TmuxTransport, sockets: SocketFolder, program: Path | None = None
) -> dict[LocationKind, ServerSetups]:
    """How tmux runs in the service's own place.

    @param program: the keeper as a program of its own.
    """
    setup = LocalSetup(transport=transport, sockets=sockets, python=sys.executable, program=program)
    return {LocationKind.LOCAL: LocalSetups(setup)}


def places_of(own: Location, os_users: OsUserSources | None = None) -> LocationRegistry:
    """The places of a machine; without C{os_users} the service's own alone."""
    if os_users is None:
        return LocationRegistry({LocationKind.LOCAL: OwnLocationProvider(own)})
    environ = own.build_environment()
    return build_local_locations(clock=Clock(), environ=environ, own=own, os_users=os_users)


def bounds_of(
    cases_dir: Path, account: Callable[[str], AccountRights | None] | None = None
) -> WorkspaceBounds:
    """Without C{account} those of one user, who works anywhere."""
    return WorkspaceBounds(
        cases_dir=cases_dir,
        multiuser=account is not None,
        account=account or (lambda name: None),
        account_id=lambda name: name,
    )


def no_login_shell(reactor: Any, environ: Mapping[str, str], home: Path) -> LoginPathReader:
    """Of a user who may not log in: nothing is started for it."""

    async def program() -> str:
        return "/usr/sbin/nologin"

    shell = LoginShell(
        children=ChildRunner(reactor, reactor), environ=environ, home=home, program=program
    )
    return LoginPathReader(shell, lambda path: None)


def build_test_runtime(folder: Path, **given: Any) -> Runtime:
    """A ground on a clock, a store in memory and work done at once.

    @param given: fields of L{Runtime}; those of C{config} that are not given are below C{folder}.
    """
    reactor = given.pop("reactor", None) or Clock()
    config = given.pop("config", None) or Config(
        data_dir=folder / "data", cases_dir=folder / "cases"
    )
    redactor = given.get("redactor") or SecretRedactor()
    home = given.pop("home", folder / "home")
    environ = given.pop("environ", {"HOME": str(home), "LANG": "C.UTF-8"})
    programs = given.pop("programs", None) or BinaryLookup(reactor, environ, home)
    os_users = given.pop("os_users", None) or no_os_users(folder, redactor)
    account = given.pop("account", lambda name: None)
    own = build_own_location(config.data_dir, environ, home, programs.find_program, uid=OWN_UID)
    ground = Runtime(
        sign_in=SignInRule(config.has_login, config.allow_unauthenticated_network),
        reactor=reactor,
        config=config,
        environ=environ,
        home=home,
        redactor=redactor,
        database=given.pop("database", None) or Database.open_in_memory(clock=reactor),
        worker_pools=NoWorkerPools(),  # type: ignore[arg-type]
        reachability=AlwaysReachable(),
        settings=FixedRuntimeSettings(),
        programs=programs,
        login_path=no_login_shell(reactor, environ, home),
        locations=build_local_locations(clock=reactor, environ=environ, own=own, os_users=os_users),
        os_users=os_users,
    )
    ground.account_rights.bind_value(account)
    ground.account_id.bind_value(lambda name: name)
    return evolve(ground, **given)


def no_os_users(folder: Path, redactor: SecretRedactor) -> OsUserWiring:
    """Those of a machine without C{setpriv}."""
    return build_os_users(folder / "data", {"PATH": ""}, redactor.register_secret)
