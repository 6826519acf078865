"""Remote hosts as locations of sessions (architecture-place)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from tservice.core.errors import failed
from tservice.core.places.place import Outage, Place, PlaceId
from tservice.core.text import VERSION_LENGTH
from tservice.core.users.osuser import OsUser, nobody
from tservice.hosts.connection import CannotConnect
from tservice.hosts.links import Facts, Link, Links

_T = TypeVar("_T")

MINIMUM = (3, 2)


@frozen
class RemoteEffects:
    """Operations in a remote location, where only panes run."""

    facts: Facts | None

    def act(self, work: Callable[[], _T], /) -> _T:
        raise OSError("the files are on another machine")

    def find(self, names: Sequence[str], /) -> Path | None:
        # Its existence is checked at the start, on the host's own search path.
        return Path(names[0]) if names else None

    def command(self, argv: Sequence[str], /) -> list[str]:
        raise OSError("the location is another machine")

    def environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        if self.facts is None:
            return {}
        facts = self.facts
        return {
            "HOME": facts.home,
            "USER": facts.user,
            "LOGNAME": facts.user,
            "SHELL": facts.shell,
            "PATH": facts.path,
        }

    def search_path(self) -> str:
        return self.environment().get("PATH", "")


@frozen
class RemotePlaces:
    """Locations on remote hosts. A session never leaves its host."""

    links: Links

    async def ask(self, known: PlaceId) -> None:
        await self._ask(known)

    async def _ask(self, known: PlaceId, *, waking: bool = False) -> None:
        link = self.links.of(known.name)
        if link is None:
            return
        try:
            await link.ask(waking=waking)
        except CannotConnect as error:
            raise failed(f"{link.host.label} is out of reach: {error}") from error

    async def ready(self, known: PlaceId) -> None:
        await self._ask(known, waking=True)

    async def meet(self, known: PlaceId) -> None:
        link = self.links.of(known.name)
        if link is None:
            raise failed(f"remote host {known.name} no longer exists")
        link.connection.begin()
        if not link.connection.up:
            raise failed(f"{link.host.label} is out of reach")
        await self.ask(known)

    def outage(self, known: PlaceId) -> Outage | None:
        link = self.links.of(known.name)
        if link is None:
            return Outage(title=known.name)
        if link.connection.up:
            return None
        return Outage(title=link.host.label, next_at=link.connection.next_at)

    def wanted(self, known: PlaceId) -> None:
        link = self.links.of(known.name)
        if link is not None:
            link.waker.wanted()

    def find(self, known: PlaceId) -> Place | None:
        link = self.links.of(known.name)
        return None if link is None else _place(known, link)

    def recall(self, known: PlaceId) -> Place:
        link = self.links.of(known.name)
        return _place(known, link) if link is not None else _lost(known)

    def judge(self, known: PlaceId, os_user: str | None) -> Place:
        link = self.links.of(known.name)
        if link is None:
            raise failed(f"remote host {known.name} no longer exists")
        if link.facts is None:
            raise failed(f"{link.host.label} is out of reach: {link.connection.why or 'not tried'}")
        refuse_tmux(link.facts.tmux)
        return _place(known, link)


def refuse_tmux(version: str | None) -> None:
    """Refuse a tmux that is missing or too old.

    @raise ServiceError: 422.
    """
    if version is None:
        raise failed("tmux is missing on the host: install tmux 3.2 or later")
    digits = re.findall(r"[0-9]{1,9}", version[:VERSION_LENGTH])
    if tuple(int(part) for part in digits[:2]) < MINIMUM:
        raise failed(
            f"tmux {version[:VERSION_LENGTH]} is too old on the host: install 3.2 or later"
        )


def _place(known: PlaceId, link: Link) -> Place:
    facts = link.facts
    user = nobody(link.host.username)
    if facts is not None:
        home = Path(facts.home)
        user = OsUser(
            name=facts.user, uid=facts.uid, gid=-1, groups=(), home=home, shell=facts.shell
        )
    return Place(
        id=known,
        title=link.host.label,
        home=user.home,
        user=user,
        apart=True,
        near=False,
        closed="remote",
        commands=link.host.commands,
        effects=RemoteEffects(facts),
    )


def _lost(known: PlaceId) -> Place:
    user = nobody(known.name)
    return Place(
        id=known,
        title=known.name,
        home=user.home,
        user=user,
        apart=True,
        near=False,
        closed="remote",
        effects=RemoteEffects(None),
    )
