"""What features stand on, in tests: nothing outside of memory and one folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.task import Clock
from zope.interface import implementer

from tservice.clis.loginpath import LoginPath, LoginShell
from tservice.clis.lookup import BinaryLookup
from tservice.core.config.model import Config
from tservice.core.doors.reach import NoReach
from tservice.core.doors.threads import Door, IThreads, NoThreads
from tservice.core.logs.redact import Redactor
from tservice.core.places.bounds import ANYWHERE, Inside, Standing, WorkspaceBounds
from tservice.core.places.near import OwnPlace
from tservice.core.places.place import Place, PlaceId, PlaceKind
from tservice.core.places.places import Places
from tservice.ground.ground import Ground
from tservice.ground.osusers import OsUserWiring, wire_os_users
from tservice.ground.places import OsUserSources, near_places, own_place
from tservice.mux.tmux.setup import OwnSetups, Setups, TmuxSetup
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import Transport
from tservice.settings.interfaces import IChangingSettings, ISettings, SettingsObserver
from tservice.settings.model import Settings
from tservice.store.database import Database


def anywhere(owner: str | None, place: PlaceId) -> Inside:
    """The bounds of who has none."""
    return ANYWHERE


OWN_UID = 1000
"""Of the service's own user in tests, who is not root."""


@implementer(ISettings, IChangingSettings)
class FixedSettings:
    """Settings that a test sets; only of L{change} anybody is told."""

    def __init__(self) -> None:
        self.now = Settings()
        self._observers: list[SettingsObserver] = []

    def get(self) -> Settings:
        return self.now

    def change(self, patch: Mapping[str, Any]) -> Settings:
        self._tell(Settings.model_validate({**self.now.model_dump(by_alias=True), **patch}))
        return self.now

    def observe(self, observer: SettingsObserver) -> Any:
        self._observers.append(observer)
        return lambda: None

    def alter(self, **fields: Any) -> None:
        """Other settings from now on, by the names of their fields."""
        self._tell(Settings.model_construct(**{**dict(self.now), **fields}))

    def _tell(self, now: Settings) -> None:
        before, self.now = self.now, now
        for observer in self._observers:
            observer(before, self.now)


class NoDoors:
    """Does everything at once, in the caller's thread.

    @ivar all: none that could be stuck.
    """

    all: Sequence[Door] = ()

    def __init__(self, files: IThreads | None = None) -> None:
        self.hashing = self.names = NoThreads()
        self.files = files or NoThreads()


def here(folder: Path = Path("/h"), **environ: str) -> Place:
    """The service's own place, where no program is installed."""
    return own_place(folder / "data", environ, folder, lambda names: None, uid=OWN_UID)


HERE = here()


def own_setups(
    transport: Transport, sockets: SocketFolder, program: Path | None = None
) -> dict[PlaceKind, Setups]:
    """How tmux runs in the service's own place.

    @param program: the keeper as a program of its own.
    """
    setup = TmuxSetup(transport=transport, sockets=sockets, python=sys.executable, program=program)
    return {PlaceKind.LOCAL: OwnSetups(setup)}


def places_of(own: Place, os_users: OsUserSources | None = None) -> Places:
    """The places of a machine; without C{os_users} the service's own alone."""
    if os_users is None:
        return Places({PlaceKind.LOCAL: OwnPlace(own)})
    environ = own.environment()
    return near_places(clock=Clock(), environ=environ, own=own, os_users=os_users)


def bounds_of(
    cases_dir: Path, account: Callable[[str], Standing | None] | None = None
) -> WorkspaceBounds:
    """Without C{account} those of one user, who works anywhere."""
    return WorkspaceBounds(
        cases_dir=cases_dir,
        multiuser=account is not None,
        account=account or (lambda name: None),
        account_id=lambda name: name,
    )


def no_login_shell(reactor: Any, environ: Mapping[str, str], home: Path) -> LoginPath:
    """Of a user who may not log in: nothing is started for it."""

    async def program() -> str:
        return "/usr/sbin/nologin"

    shell = LoginShell(
        clock=reactor, processes=reactor, environ=environ, home=home, program=program
    )
    return LoginPath(shell, lambda path: None)


def lay_ground(folder: Path, **given: Any) -> Ground:
    """A ground on a clock, a store in memory and work done at once.

    @param given: fields of L{Ground}; those of C{config} that are not given are below C{folder}.
    """
    reactor = given.pop("reactor", None) or Clock()
    config = given.pop("config", None) or Config(
        data_dir=folder / "data", cases_dir=folder / "cases"
    )
    redactor = given.get("redactor") or Redactor()
    home = given.pop("home", folder / "home")
    environ = given.pop("environ", {"HOME": str(home), "LANG": "C.UTF-8"})
    programs = given.pop("programs", None) or BinaryLookup(reactor, environ, home)
    os_users = given.pop("os_users", None) or no_os_users(folder, redactor)
    account = given.pop("account", lambda name: None)
    own = own_place(config.data_dir, environ, home, programs.find, uid=OWN_UID)
    ground = Ground(
        reactor=reactor,
        config=config,
        environ=environ,
        home=home,
        redactor=redactor,
        database=given.pop("database", None) or Database.in_memory(clock=reactor),
        doors=NoDoors(),  # type: ignore[arg-type]
        reach=NoReach(),
        settings=FixedSettings(),
        programs=programs,
        login=no_login_shell(reactor, environ, home),
        places=near_places(clock=reactor, environ=environ, own=own, os_users=os_users),
        os_users=os_users,
    )
    ground.account.set(account)
    ground.account_id.set(lambda name: name)
    return evolve(ground, **given)


def no_os_users(folder: Path, redactor: Redactor) -> OsUserWiring:
    """Those of a machine without C{setpriv}."""
    return wire_os_users(folder / "data", {"PATH": ""}, redactor.register)
