"""Whether what a user named answers, asked behind the doors before the reactor's thread needs it.

A folder may lie on a mount whose server is gone, and whoever looks at it then waits for ever.  So
the folders of a request are touched in a thread first.  One that does not answer is refused, and
remembered: no second thread is spent on it while the first one waits.
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
"""What has not answered by then is as good as gone."""


class Reach(Protocol):
    """What callers ask."""

    def paths(
        self,
        place: PlaceId,
        paths: Iterable[str],
        asker: str,
        seconds: float = PROBE_SECONDS,
    ) -> Awaitable[None]:
        """Touch folders of a place with its rights; that they are missing is fine.

        Its home and what the service itself looks into are touched too; each mount by a thread of
        its own, which says where it is: what hangs takes no thread from what does not.  Of a place
        whose files are not this machine's nothing is touched: no thread of the service waits for
        them.

        Raises C{ServiceError}: 422 naming the one that does not answer; 429: too much waits.

        @param asker: the account that asks.
        @param seconds: that all of them together may take.
        """


class NoReach:
    """Everything answers: for tests."""

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
    """@ivar at: what it touches; C{None} once it is through."""

    at: str | None = None

    def touch(self, paths: list[str]) -> None:
        for path in paths:
            self.at = path
            with suppress(OSError, ValueError):
                # A folder that a server serves is asked for by its content.
                os.stat(os.path.join(path, "."))
        self.at = None


class DoorReach:
    """See L{Reach}.

    @param always: folders that every request leads to: those where programs are looked for, the
        cases, the home.
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
            return  # whoever judges the place says that there is none
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
        # No more than the door has threads that hang.
        self._silent = {key: probe for key, probe in self._silent.items() if probe.at == key[1]}
        for path in paths:
            if (place, path) in self._silent:
                raise silent(path)
