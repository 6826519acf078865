"""What every change of cases needs: one at a time for each name, done as whose it is, and told."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime

from tservice.cases.folders import PutHooks, explain, local_names
from tservice.cases.interfaces import WorkspaceHooks
from tservice.cases.making import Making
from tservice.cases.model import MOST_CASES, taken
from tservice.cases.store import CaseStore
from tservice.cases.workspaces import Workspaces
from tservice.core.doors.reach import PROBE_SECONDS as START_SECONDS
from tservice.core.doors.reach import Reach
from tservice.core.doors.threads import Door
from tservice.core.errors import conflict, failed
from tservice.core.events import Event, EventHub, EventName
from tservice.core.flight import Flight
from tservice.core.identity import Identity
from tservice.core.payload import Payload

PROBE_SECONDS = 3.0
"""That a folder gets to answer (protocol-case-paths)."""

MADE = "made"
"""What is done to a name that a new case gets."""

_T = TypeVar("_T")


@frozen(kw_only=True)
class DeskDependencies:
    """What the desk stands on.

    @ivar files: the door for folders that users named.
    @ivar hooks: puts the hooks of agents into new folders.
    """

    clock: IReactorTime
    hub: EventHub
    store: CaseStore
    workspaces: Workspaces
    reach: Reach
    files: Door
    hooks: WorkspaceHooks


@define(eq=False)
class _Reserved:
    """What is done to a name, and who waits for its end."""

    what: str
    waiting: list[Deferred[None]] = field(factory=list)


class Desk:
    """See the module."""

    def __init__(self, deps: DeskDependencies) -> None:
        self.clock, self.store = deps.clock, deps.store
        self.workspaces = deps.workspaces
        self._deps = deps
        self._reserved: dict[tuple[str, str], _Reserved] = {}
        self._flights: set[Flight[Any]] = set()

    def owner(self, caller: Identity) -> str:
        """Whose cases the caller's are, as they are kept."""
        return self.workspaces.owner_of(caller) or ""

    async def ready(self, caller: Identity, paths: Iterable[str] = ()) -> None:
        """Make sure that looking at C{paths}, and at the caller's home, holds up nobody.

        The system's word on the caller's OS user is at hand then.

        @raise ServiceError: 422: one does not answer; 429: too much is asked.
        """
        reach = self._deps.reach
        await reach.paths(caller.place, paths, caller.username, PROBE_SECONDS)

    # -- names

    @contextmanager
    def reserve(self, owner: str, name: str, what: str) -> Iterator[None]:
        """Nobody else does anything to that name meanwhile.

        @param what: is done to it, for who comes second: C{removed}.
        @raise ServiceError: 409.
        """
        self.refuse_reserved(owner, name)
        mine = self._reserved[owner, name.lower()] = _Reserved(what)
        try:
            yield
        finally:
            del self._reserved[owner, name.lower()]
            for waiter in mine.waiting:
                waiter.callback(None)

    async def made(self, owner: str, name: str) -> None:
        """Return once nobody is making a case of that name any more."""
        while (other := self._reserved.get((owner, name.lower()))) and other.what == MADE:
            waiter: Deferred[None] = Deferred(other.waiting.remove)
            other.waiting.append(waiter)
            await waiter

    def is_reserved(self, owner: str, name: str) -> bool:
        """Return whether something is done to that name."""
        return (owner, name.lower()) in self._reserved

    def refuse_reserved(self, owner: str, name: str) -> None:
        """@raise ServiceError: 409: something is done to that name."""
        other = self._reserved.get((owner, name.lower()))
        if other is not None:
            raise conflict(f"The case {name} is being {other.what}")

    async def refuse_taken(self, caller: Identity, name: str) -> None:
        """@raise ServiceError: 409: there is such a case; 422: there are too many."""
        row = self.store.find(self.owner(caller), name)
        if row is not None and row.path is not None:
            raise taken(row.name)
        there = await self.local_name(name, caller)
        if there is not None:
            raise taken(there)
        await self.refuse_too_many(caller)

    async def refuse_too_many(self, caller: Identity) -> None:
        """@raise ServiceError: 422: the owner has as many cases as there may be."""
        owner, cases = self.owner(caller), self.workspaces.cases_of(caller)
        rows = self.store.of(owner)
        if len(rows) < MOST_CASES:
            return
        there = set(await self.at(caller, [str(cases)], partial(local_names, cases)))
        # What somebody removed by hand is forgotten.
        gone = [row for row in rows if row.path is None and row.name not in there]
        for row in gone:
            self.store.forget(owner, row.name)
        if len(rows) - len(gone) >= MOST_CASES:
            raise failed(f"there are {MOST_CASES} cases already")

    # -- folders

    async def at(
        self,
        caller: Identity,
        paths: Iterable[str],
        work: Callable[[], _T],
        *,
        seconds: float | None = None,
        acting: bool = False,
        inside: str = "",
    ) -> _T:
        """The result of C{work} on folders, done with the rights of the caller's place.

        @param paths: what it looks at; they are asked whether they answer.
        @param seconds: that it may take.
        @param acting: C{work} takes those rights by itself.
        @param inside: a folder of which it looks into each entry: when one hangs, nobody else is
            sent there for that, and the folder itself is free.
        @raise ServiceError: 422: one does not answer; 429: too much is asked.
        """
        named = tuple(paths)
        await self.ready(caller, named)
        place = self.workspaces.place_of(caller)
        whole = work if acting else partial(place.act, work)
        only = named[0] if len(named) == 1 else ""
        at = os.path.join(inside, "*") if inside else only
        found: _T = await self._deps.files.run(whole, caller.username, seconds, at=at)
        return found

    async def folder(self, text: str, caller: Identity, named: str) -> str:
        """L{Workspaces.folder}, and 422, 429 as L{at}."""
        look = partial(self.workspaces.folder, text, caller, named)
        return await self._judged(caller, text, look)

    async def default(self, caller: Identity, chosen: str | None) -> str:
        """L{Workspaces.default}, and 422, 429 as L{at}."""
        find = partial(self.workspaces.default, caller, chosen)
        return await self._judged(caller, chosen or "", find)

    async def _judged(self, caller: Identity, path: str, look: Callable[[], str]) -> str:
        """A folder that a session works in has as long as any start gives it."""
        await self._deps.reach.paths(caller.place, [path], caller.username)
        found: str = await self._deps.files.run(look, caller.username, START_SECONDS, at=path)
        return found

    async def local_name(self, name: str, caller: Identity) -> str | None:
        """L{Workspaces.local_name}.

        @raise ServiceError: 422: the folder of the cases cannot be read; as L{at}.
        """
        find = partial(self.workspaces.local_name, name, caller)
        paths = [str(self.workspaces.cases_of(caller))]
        try:
            return await self.at(caller, paths, find, acting=True)
        except OSError as error:
            raise explain(error, "the cases cannot be read") from error

    async def make(
        self, caller: Identity, paths: Iterable[str], work: Callable[[Making], None]
    ) -> Making:
        """What C{work} made; nothing is left where it failed, or took too long.

        @raise OSError: as C{work} does.
        @raise ServiceError: as L{at}.
        """
        making = Making()
        try:
            await self.at(caller, paths, partial(making.run, work))
        except Exception:
            if making.abandon():
                await self.undo(caller, making)
            raise
        return making

    async def undo(self, caller: Identity, making: Making) -> None:
        """Take back what was made."""
        await self.at(caller, (), making.undo)

    def hooks_for(self, caller: Identity) -> PutHooks:
        """What puts hooks into the caller's folders."""
        workspaces = self.workspaces
        return self._deps.hooks.writer(workspaces.place_of(caller), workspaces.owner_of(caller))

    # -- whatever becomes of who asked

    async def whole(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The result of C{work}, which goes on when the caller waits no more."""
        flight = Flight(work)
        if not flight.landed:
            self._flights.add(flight)
            flight.over.addCallback(lambda _: self._flights.discard(flight))
        return await flight.join()

    def stop(self) -> Deferred[Any]:
        """Fires once nothing is changed any more."""
        return gatherResults([flight.over for flight in self._flights])

    # -- telling

    def publish(self, name: EventName, owner: str, told: Payload) -> None:
        """Tell the owner, and admins."""
        self._deps.hub.publish(Event(name=name, payload=told, owner=owner or None))


def local_path(cases: Path, name: str) -> str:
    """Where the local case C{name} is."""
    return str(cases / name)
