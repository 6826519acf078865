"""Entries of the system's user database, looked up in the worker pool for names.

The database may be remote (LDAP) and out of reach.  A lookup blocks only the request that needs it,
never the reactor.  The last answers are cached, because running sessions depend on them.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attrs import frozen
from twisted.logger import Logger

from tservice.core.doors.threads import IThreads, NoThreads

REMEMBERED = 1000
"""Number of cached users; the least recently used entry is evicted first."""


@frozen
class _Answer:
    entry: Any
    groups: tuple[int, ...]


class Directory:
    """Cache of the system's user database; L{refresh} queries the database."""

    _log = Logger()

    def __init__(
        self,
        entry: Callable[[str], Any] = pwd.getpwnam,
        groups: Callable[[str, int], Sequence[int]] = os.getgrouplist,
    ) -> None:
        """@param entry: returns the passwd entry of an account; raises C{KeyError} or C{ValueError}
            without one.
        @param groups: returns the groups of a name and its first group.
        """
        self._entry, self._groups = entry, groups
        self._threads: IThreads = NoThreads()
        self._known: dict[str, _Answer] = {}

    def use(self, threads: IThreads) -> None:
        """Run all further lookups in C{threads}."""
        self._threads = threads

    async def refresh(self, name: str) -> None:
        """Query the database for C{name} and cache the answer.

        @raise ServiceError: 422, 429: it does not answer.
        """
        self._keep(name, await self._threads.run(partial(self._ask, name)))

    def entry(self, name: str) -> Any:
        """Return the passwd entry that L{refresh} found.

        @raise KeyError: there is none.
        """
        found = self._recall(name).entry
        if found is None:
            raise KeyError(name)
        return found

    def groups(self, name: str, gid: int) -> Sequence[int]:
        """Return the groups that L{refresh} found for the entry."""
        return self._recall(name).groups

    def _recall(self, name: str) -> _Answer:
        known = self._known.get(name)
        if known is None:
            self._log.warn("the user {name} was looked up in the reactor's thread", name=name)
            known = self._keep(name, self._ask(name))
        return known

    def _keep(self, name: str, answer: _Answer) -> _Answer:
        self._known.pop(name, None)
        while len(self._known) >= REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[name] = answer
        return answer

    def _ask(self, name: str) -> _Answer:
        try:
            entry = self._entry(name)
        except (KeyError, ValueError):
            return _Answer(None, ())
        return _Answer(entry, tuple(self._groups(entry.pw_name, entry.pw_gid)))
