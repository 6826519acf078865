"""Reachability checks of user-named folders in worker threads, before the reactor's thread needs
them.

A folder may lie on a mount whose server is gone, where every access blocks for ever.  The folders
of a request are therefore touched in a thread first.  A folder that does not answer is refused and
remembered, so no second thread is spent on it while the first one waits.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from attrs import define
from twisted.internet.defer import Deferred, FirstError, gatherResults

from tservice.core.doors.threads import Door, silent
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.places.place import Place, PlaceId
from tservice.core.places.places import Places

PROBE_SECONDS = 5.0
"""Time-out of a check in seconds; a folder that has not answered by then counts as unreachable."""


class Reach(Protocol):
    """Interface of the reachability check."""

    def paths(
        self,
        place: PlaceId,
        paths: Iterable[str],
        asker: str,
        seconds: float = PROBE_SECONDS,
    ) -> Awaitable[None]:
        """Touch folders of a location with its rights; missing folders are fine.

        The location's home and the service's search folders are touched too.  Each mount gets a
        separate thread, so a mount that hangs delays no other.  If the files of a location are not
        on this machine, nothing is touched, because no thread of the service waits for them.

        Raises C{ServiceError}: 422 naming the folder that does not answer; 429: too many requests
        wait.

        @param asker: the account that asks.
        @param seconds: the time limit for all of them together.
        """


class NoReach:
    """Check for tests in which every folder answers."""

    async def paths(
        self,
        place: PlaceId,
        paths: Iterable[str],
        asker: str,
        seconds: float = PROBE_SECONDS,
    ) -> None:
        """See L{Reach}."""


Folders = Callable[[], Awaitable[Sequence[str]]]


async def _no_folders() -> Sequence[str]:
    return ()


@define(eq=False)
class _Probe:
    """State of one check.

    @ivar at: the folder being touched; C{None} once all have answered.
    """

    at: str | None = None

    def touch(self, paths: list[str]) -> None:
        for path in paths:
            self.at = path
            with suppress(OSError, ValueError):
                # The trailing "." makes a network mount query its server.
                os.stat(os.path.join(path, "."))
        self.at = None


class DoorReach:
    """Implementation of L{Reach} on the worker pool for files.

    @param always: returns the folders that every request depends on: program folders, the cases
        folder, the home.
    """

    def __init__(self, places: Places, files: Door, always: Folders = _no_folders) -> None:
        self._places, self._files, self._always = places, files, always
        self._silent: dict[tuple[PlaceId, str], _Probe] = {}

    async def paths(
        self,
        place: PlaceId,
        paths: Iterable[str],
        asker: str,
        seconds: float = PROBE_SECONDS,
    ) -> None:
        await self._places.ask(place)
        found = self._places.find(place)
        if found is None or not found.near:
            return  # the later check of the location reports that it does not exist
        home = str(found.home) if found.apart else ""
        named = list(dict.fromkeys(path for path in paths if path.startswith("/")))
        always = await self._always()
        wanted = dict.fromkeys((*named, *filter(os.path.isabs, (*always, home))))
        self._refuse_silent(found.id, wanted)
        groups: dict[str, list[str]] = {}
        for path in wanted:
            alone = path if named == [path] else ""
            groups.setdefault(self._files.elsewhere(path) or alone, []).append(path)
        asked = [
            self._ask(found, group[0] if key else "", group, asker, seconds)
            for key, group in groups.items()
        ]
        try:
            await gatherResults(map(Deferred.fromCoroutine, asked), consumeErrors=True)
        except FirstError as error:
            error.subFailure.raiseException()

    async def _ask(
        self, place: Place, at: str, paths: list[str], asker: str, seconds: float
    ) -> None:
        probe = _Probe()
        work = partial(place.act, partial(probe.touch, paths))
        try:
            await self._files.run(work, asker, seconds, at=at)
        except ServiceError as error:
            hangs = probe.at
            if hangs is None or error.code is not ErrorCode.OPERATION_FAILED:
                raise
            self._silent[place.id, hangs] = probe
            raise silent(hangs) from None

    def _refuse_silent(self, place: PlaceId, paths: Iterable[str]) -> None:
        # The number of entries is bounded by the threads of the pool that hang.
        self._silent = {key: probe for key, probe in self._silent.items() if probe.at == key[1]}
        for path in paths:
            if (place, path) in self._silent:
                raise silent(path)
