"""What the system's database of users says, asked behind the door for names.

The database may lie on another machine (LDAP), which may be away: a question holds up its asker,
never the reactor.  What was answered last is remembered, for what runs goes on by it.
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
"""Users that are remembered; the one asked about least lately is forgotten first."""


@frozen
class _Answer:
    entry: Any
    groups: tuple[int, ...]


class Directory:
    """Answers from memory; L{refresh} asks."""

    _log = Logger()

    def __init__(
        self,
        entry: Callable[[str], Any] = pwd.getpwnam,
        groups: Callable[[str, int], Sequence[int]] = os.getgrouplist,
    ) -> None:
        """
        @param entry: an account's line; C{KeyError} or C{ValueError} without one.
        @param groups: the groups of a name and its first group.
        """
        self._entry, self._groups = entry, groups
        self._threads: IThreads = NoThreads()
        self._known: dict[str, _Answer] = {}

    def use(self, threads: IThreads) -> None:
        """Ask behind this door from now on."""
        self._threads = threads

    async def refresh(self, name: str) -> None:
        """Have what the system says of C{name} now.

        @raise ServiceError: 422, 429: it does not answer.
        """
        self._keep(name, await self._threads.run(partial(self._ask, name)))

    def entry(self, name: str) -> Any:
        """The account's line as L{refresh} found it.

        @raise KeyError: there is none.
        """
        found = self._recall(name).entry
        if found is None:
            raise KeyError(name)
        return found

    def groups(self, name: str, gid: int) -> Sequence[int]:
        """The groups that went with it."""
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
