"""Reachability checks of user-named folders in worker threads, before the reactor's thread needs
them.

A folder may be on a mount whose server is gone, where every access blocks for ever.  A worker
thread therefore accesses the folders of a request first.  A folder that does not answer is refused
and remembered, so no second thread waits for it while the first one does.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from attrs import define
from twisted.internet.defer import Deferred, FirstError, gatherResults

from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.location import Location, LocationId
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.workers.worker_pool import WorkerPool, make_unresponsive_error

PROBE_SECONDS = 5.0
"""Time-out of a check in seconds, after which a folder counts as unreachable."""


class ReachabilityCheck(Protocol):
    """Check that the folders of a request are reachable."""

    def check_paths(
        self,
        place: LocationId,
        paths: Iterable[str],
        asker: str,
        seconds: float = PROBE_SECONDS,
    ) -> Awaitable[None]:
        """Access folders of a location with its rights, to check that they answer.

        Missing folders are fine.  The location's home and the service's search folders are checked
        too.  Nothing is checked if the location's files are not on this machine.

        Raises C{ServiceError}: 422 naming the folder that does not answer; 429: too many requests
        are waiting.

        @param asker: the account that sent the request.
        @param seconds: the time limit for all folders together.
        """


class AlwaysReachable:
    """Check for tests; every folder counts as reachable."""

    async def check_paths(
        self,
        place: LocationId,
        paths: Iterable[str],
        asker: str,
        seconds: float = PROBE_SECONDS,
    ) -> None:
        """See L{ReachabilityCheck.check_paths}."""


Folders = Callable[[], Awaitable[Sequence[str]]]


async def _no_folders() -> Sequence[str]:
    return ()


@define(eq=False)
class _FolderProbe:
    """State of one check.

    @ivar at: the folder that is being accessed.  C{None} once all have answered.
    """

    at: str | None = None

    def touch_folders(self, paths: list[str]) -> None:
        for path in paths:
            self.at = path
            with suppress(OSError, ValueError):
                # The trailing "." makes a network mount query its server.
                os.stat(os.path.join(path, "."))
        self.at = None


class ReachabilityProbe:
    """Implementation of L{ReachabilityCheck} with threads of the worker pool for files.

    @param always: returns the folders that every request depends on: program folders, the cases
        folder, the home.
    """

    def __init__(
        self, places: LocationRegistry, files: WorkerPool, always: Folders = _no_folders
    ) -> None:
        self._places, self._files, self._always = places, files, always
        self._silent: dict[tuple[LocationId, str], _FolderProbe] = {}

    async def check_paths(
        self,
        place: LocationId,
        paths: Iterable[str],
        asker: str,
        seconds: float = PROBE_SECONDS,
    ) -> None:
        await self._places.refresh_location(place)
        found = self._places.find_location(place)
        if found is None or not found.has_local_files:
            return  # the later check of the location reports that it does not exist
        home = str(found.home) if found.is_isolated else ""
        named = list(dict.fromkeys(path for path in paths if path.startswith("/")))
        always = await self._always()
        wanted = dict.fromkeys((*named, *filter(os.path.isabs, (*always, home))))
        self._refuse_unresponsive(found.id, wanted)
        others = [path for path in wanted if path not in named]
        alone = named[0] if len(named) == 1 else ""
        asked = [
            self._probe_folders(found, at, folders, asker, seconds)
            for at, folders in ((alone, named), ("", others))
            if folders
        ]
        try:
            await gatherResults(map(Deferred.fromCoroutine, asked), consumeErrors=True)
        except FirstError as error:
            error.subFailure.raiseException()

    async def _probe_folders(
        self, place: Location, at: str, paths: list[str], asker: str, seconds: float
    ) -> None:
        probe = _FolderProbe()
        work = partial(place.run_file_work, partial(probe.touch_folders, paths))
        try:
            await self._files.run(work, asker, seconds, at=at)
        except ServiceError as error:
            hangs = probe.at
            if hangs is None or error.code is not ErrorCode.OPERATION_FAILED:
                raise
            self._silent[place.id, hangs] = probe
            raise make_unresponsive_error(hangs) from None

    def _refuse_unresponsive(self, place: LocationId, paths: Iterable[str]) -> None:
        # The number of entries is bounded by the threads of the pool that hang.
        self._silent = {key: probe for key, probe in self._silent.items() if probe.at == key[1]}
        for path in paths:
            if (place, path) in self._silent:
                raise make_unresponsive_error(path)
