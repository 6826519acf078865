"""What features stand on, in tests: nothing outside of memory and one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.task import Clock
from zope.interface import implementer

from tservice.core.config.model import Config
from tservice.core.doors.reach import NoReach
from tservice.core.doors.threads import Door, IThreads, NoThreads
from tservice.core.logs.redact import Redactor
from tservice.ground.ground import Ground
from tservice.ground.osusers import OsUserParts, wire_os_users
from tservice.settings.interfaces import ISettings, SettingsObserver
from tservice.settings.model import Settings
from tservice.store.database import Database


@implementer(ISettings)
class FixedSettings:
    """Settings that a test sets; nobody is told of a change."""

    def __init__(self) -> None:
        self.now = Settings()

    def get(self) -> Settings:
        return self.now

    def observe(self, observer: SettingsObserver) -> Any:
        return lambda: None


class NoDoors:
    """Does everything at once, in the caller's thread.

    @ivar all: none that could be stuck.
    """

    all: Sequence[Door] = ()

    def __init__(self, files: IThreads | None = None) -> None:
        self.hashing = self.names = NoThreads()
        self.files = files or NoThreads()


def lay_ground(folder: Path, **given: Any) -> Ground:
    """A ground on a clock, a store in memory and work done at once.

    @param given: fields of L{Ground}; those of C{config} that are not given are below C{folder}.
    """
    reactor = given.pop("reactor", None) or Clock()
    config = given.pop("config", None) or Config(
        data_dir=folder / "data", cases_dir=folder / "cases"
    )
    redactor = given.get("redactor") or Redactor()
    ground = Ground(
        reactor=reactor,
        config=config,
        environ={"HOME": str(folder / "home"), "LANG": "C.UTF-8"},
        home=folder / "home",
        redactor=redactor,
        database=given.pop("database", None) or Database.in_memory(clock=reactor),
        doors=NoDoors(),  # type: ignore[arg-type]
        reach=NoReach(),
        settings=FixedSettings(),
        os_users=no_os_users(folder, redactor),
    )
    return evolve(ground, **given)


def no_os_users(folder: Path, redactor: Redactor) -> OsUserParts:
    """Those of a machine without C{setpriv}."""
    return wire_os_users(folder / "data", {"PATH": ""}, redactor.register)
