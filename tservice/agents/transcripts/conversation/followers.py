"""Followed conversations, whose changes are published (protocol-conversation)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import define, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.core.locations.folder_watches import FolderWatches

FOLLOW_SECONDS = 600.0
"""Seconds after a request during which a conversation is followed."""
FOLLOWED = 500
"""Maximum followed conversations; the one that was requested longest ago is dropped."""
DEBOUNCE = 0.2
"""Seconds from a change in a folder until the conversation is read."""
QUIET = 120.0
"""Seconds between two reads without a notification, for changes that cause none."""
UNWATCHED = 10.0
"""The same for a folder that cannot be watched."""
SEARCHING = 1.0
"""Seconds between two searches for a conversation that does not exist yet."""


@frozen
class FollowedId:
    """Followed conversation: that of a session, or that of one of its sub-agents."""

    session_id: str
    branch: str | None = None

    @property
    def name(self) -> str:
        """Name of its timers."""
        return f"{self.session_id}/{self.branch or ''}"


@define(eq=False)
class _Follow:
    """Followed conversation.

    @ivar path: the conversation; C{None} while there is none.
    @ivar stop: ends the watch of the folder; C{None} without one.
    """

    id: FollowedId
    path: Path | None = None
    stop: Callable[[], None] | None = None
    is_reading: bool = False
    is_dirty: bool = False


class ConversationFollowers:
    """Registry of followed conversations.

    @param open_folder: returns an open descriptor of the folder of a conversation; C{None} if it
        cannot be opened.
    @param read: reads what is new, and publishes it.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        watches: FolderWatches,
        open_folder: Callable[[FollowedId, Path], Awaitable[int | None]],
        read: Callable[[FollowedId], Awaitable[None]],
    ) -> None:
        self._watches = watches
        self._open_folder = open_folder
        self._read = read
        self._follows: dict[FollowedId, _Follow] = {}
        self._ends, self._checks = NamedTimers(clock), NamedTimers(clock)
        self._work: set[Deferred[None]] = set()

    def __len__(self) -> int:
        return len(self._follows)

    def is_watched(self, followed: FollowedId) -> bool:
        """Return true if changes of a conversation are noticed at once."""
        found = self._follows.get(followed)
        return found is not None and found.stop is not None

    async def follow(self, followed: FollowedId, path: Path | None) -> None:
        """Follow a conversation from now on for L{FOLLOW_SECONDS}.

        @param path: the conversation; C{None} if there is none yet.
        """
        follow = self._follows.pop(followed, None) or _Follow(followed)
        self._follows[followed] = follow
        self._ends.schedule_call(followed.name, FOLLOW_SECONDS, self.drop, followed)
        while len(self._follows) > FOLLOWED:
            self.drop(next(iter(self._follows)))
        if path != follow.path or (path is not None and follow.stop is None):
            await self._watch_path(follow, path)
        if followed.name not in self._checks:
            self._schedule_check(follow, _get_pause(follow))

    def check_session(self, session_id: str) -> None:
        """Read the followed conversations of a session soon, because something happened there."""
        for follow in self._follows.values():
            if follow.id.session_id == session_id:
                self._schedule_check(follow, DEBOUNCE)

    def drop(self, followed: FollowedId) -> None:
        """Stop following a conversation."""
        follow = self._follows.pop(followed, None)
        self._ends.cancel_timer(followed.name)
        self._checks.cancel_timer(followed.name)
        if follow is not None and follow.stop is not None:
            follow.stop()
            follow.stop = None

    def drop_session(self, session_id: str) -> None:
        """Stop following the conversations of a session."""
        for followed in tuple(self._follows):
            if followed.session_id == session_id:
                self.drop(followed)

    def close(self) -> None:
        """Stop following everything."""
        for followed in tuple(self._follows):
            self.drop(followed)
        for work in tuple(self._work):
            work.cancel()

    # -- internal

    async def _watch_path(self, follow: _Follow, path: Path | None) -> None:
        if follow.stop is not None:
            follow.stop()
            follow.stop = None
        follow.path = path
        folder = None if path is None else await self._open_folder(follow.id, path)
        if folder is None:
            return
        try:
            if self._follows.get(follow.id) is follow and follow.path == path:
                heard = lambda: self._schedule_check(follow, DEBOUNCE)  # noqa: E731
                follow.stop = self._watches.watch_folder(folder, heard)
        except ServiceError as error:
            # It is read now and then all the same.
            self._log.warn("a conversation is not watched: {error}", error=error)
        finally:
            os.close(folder)

    def _schedule_check(self, follow: _Follow, seconds: float) -> None:
        if self._follows.get(follow.id) is not follow:
            return
        if seconds == DEBOUNCE and follow.is_dirty:
            return  # a check is due already; another delay would never end in a busy folder
        follow.is_dirty = seconds == DEBOUNCE
        self._checks.schedule_call(follow.id.name, seconds, self._start_check, follow)

    def _start_check(self, follow: _Follow) -> None:
        follow.is_dirty = False
        if follow.is_reading:
            self._schedule_check(follow, DEBOUNCE)
            return
        work = spawn_logged(self._check(follow), self._log, "following a conversation")
        if not work.called:
            self._work.add(work)
            work.addBoth(lambda _: self._work.discard(work))

    async def _check(self, follow: _Follow) -> None:
        follow.is_reading = True
        try:
            await self._read(follow.id)
        finally:
            follow.is_reading = False
            if follow.id.name not in self._checks:
                self._schedule_check(follow, _get_pause(follow))


def _get_pause(follow: _Follow) -> float:
    """Return the seconds until a conversation is read without a notification."""
    if follow.path is None:
        return SEARCHING
    return UNWATCHED if follow.stop is None else QUIET
