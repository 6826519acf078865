"""Whether what a user named answers, asked behind the doors before the reactor's thread needs it.

A folder may lie on a mount whose server is gone, and whoever looks at it then waits for ever.  So
the folders of a request are touched in a thread first.  One that does not answer is refused, and
remembered: no second thread is spent on it while the first one waits.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from attrs import define

from tservice.core.doors.threads import Door
from tservice.core.errors import ErrorCode, ServiceError, failed
from tservice.core.users.osuser import OsUser, OsUsers

PROBE_SECONDS = 5.0
"""What has not answered by then is as good as gone."""


class IReach(Protocol):
    """What callers ask."""

    def paths(self, os_user: str | None, paths: Iterable[str], place: str) -> Awaitable[None]:
        """Touch folders with the rights of an OS user; that they are missing is fine.

        The user's home and what the service itself looks into are touched too.

        Raises C{ServiceError}: 422 naming the one that does not answer; 429: too much waits.

        @param os_user: C{None}: the service's own.
        @param place: who asks.
        """


class NoReach:
    """Everything answers: for tests."""

    async def paths(self, os_user: str | None, paths: Iterable[str], place: str) -> None:
        """See L{IReach}."""


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


class Reach:
    """See L{IReach}.

    @param always: folders that every request leads to: those of C{PATH}, the cases, the home.
    """

    def __init__(self, users: OsUsers, files: Door, always: Sequence[str] = ()) -> None:
        self._users, self._files, self._always = users, files, tuple(always)
        self._silent: dict[tuple[str | None, str], _Probe] = {}

    async def paths(self, os_user: str | None, paths: Iterable[str], place: str) -> None:
        await self._users.ask(os_user)
        user = None if os_user is None else self._users.find(os_user)
        if os_user is not None and user is None:
            return  # whoever judges the user says so
        every = (*paths, *self._always, "" if user is None else str(user.home))
        wanted = list(dict.fromkeys(path for path in every if path.startswith("/")))
        self._refuse_silent(os_user, wanted)
        probe = _Probe()
        try:
            await self._touch(user, probe, wanted, place)
        except ServiceError as error:
            at = probe.at
            if at is None or error.code is not ErrorCode.OPERATION_FAILED:
                raise
            self._silent[os_user, at] = probe
            raise _silent(at) from None

    async def _touch(
        self, user: OsUser | None, probe: _Probe, paths: list[str], place: str
    ) -> None:
        work = partial(self._users.act, user, partial(probe.touch, paths))
        await self._files.run(work, place, PROBE_SECONDS)

    def _refuse_silent(self, os_user: str | None, paths: list[str]) -> None:
        # No more than the door has threads that hang.
        self._silent = {key: probe for key, probe in self._silent.items() if probe.at == key[1]}
        for path in paths:
            if (os_user, path) in self._silent:
                raise _silent(path)


def _silent(path: str) -> ServiceError:
    return failed(f"{path} does not answer; is it on a mount whose server is gone?")
