"""Entries of the system's user database, looked up in the worker pool for names.

The database may be remote (LDAP) and unreachable.  A lookup blocks only the request that needs it,
never the reactor.  Entries are cached, because running sessions depend on them.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attrs import frozen
from twisted.logger import Logger

from tservice.core.workers.worker_pool import IThreads, SynchronousThreads

REMEMBERED = 1000
"""Number of cached users; the least recently used entry is evicted first."""


@frozen
class _CachedUser:
    entry: Any
    groups: tuple[int, ...]


class UserDirectory:
    """Cache of the system's user database; L{refresh_entry} queries the database."""

    _log = Logger()

    def __init__(
        self,
        entry: Callable[[str], Any] = pwd.getpwnam,
        groups: Callable[[str, int], Sequence[int]] = os.getgrouplist,
    ) -> None:
        """@param entry: returns the passwd entry of an account; raises C{KeyError} or C{ValueError}
            without one.
        @param groups: returns the group ids of a user, given the name and the first group.
        """
        self._entry, self._groups = entry, groups
        self._threads: IThreads = SynchronousThreads()
        self._known: dict[str, _CachedUser] = {}

    def use_threads(self, threads: IThreads) -> None:
        """Run all further lookups in C{threads}."""
        self._threads = threads

    async def refresh_entry(self, name: str) -> None:
        """Query the database for C{name} and cache the answer.

        @raise ServiceError: 422 or 429: the database does not answer.
        """
        self._cache_answer(name, await self._threads.run(partial(self._query_system, name)))

    def get_entry(self, name: str) -> Any:
        """Return the passwd entry that L{refresh_entry} found.

        @raise KeyError: the database has no such entry.
        """
        found = self._get_cached(name).entry
        if found is None:
            raise KeyError(name)
        return found

    def get_groups(self, name: str, gid: int) -> Sequence[int]:
        """Return the group ids that L{refresh_entry} found for the user."""
        return self._get_cached(name).groups

    def _get_cached(self, name: str) -> _CachedUser:
        known = self._known.get(name)
        if known is None:
            self._log.warn("the user {name} was looked up in the reactor's thread", name=name)
            known = self._cache_answer(name, self._query_system(name))
        return known

    def _cache_answer(self, name: str, answer: _CachedUser) -> _CachedUser:
        self._known.pop(name, None)
        while len(self._known) >= REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[name] = answer
        return answer

    def _query_system(self, name: str) -> _CachedUser:
        try:
            entry = self._entry(name)
        except (KeyError, ValueError):
            return _CachedUser(None, ())
        return _CachedUser(entry, tuple(self._groups(entry.pw_name, entry.pw_gid)))
