"""Whose transcripts they are: the service's own user's, or an OS user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from attrs import field, frozen

from tservice.agents.transcript_files import TranscriptFiles
from tservice.core.osuser import OsUser, OsUserId, OsUsers

_T = TypeVar("_T")


@frozen(kw_only=True)
class Homes:
    """Where each user's transcripts are.

    @ivar own: of the service's own user.
    """

    own: TranscriptFiles
    os_users: OsUsers = field(factory=OsUsers)

    def reading(
        self, known: OsUserId | None, work: Callable[[TranscriptFiles], _T]
    ) -> Callable[[], _T]:
        """C{work} on the files of a session's user, with that user's rights; for a thread.

        A session's agent chooses what its transcript's name leads to, so root must not follow it.
        """
        return self.reading_as(self.os_users.recall(known), work)

    def as_owner(self, known: OsUserId | None, work: Callable[[], _T]) -> Callable[[], _T]:
        """C{work} with the rights of a session's user; for a thread."""
        user = self.os_users.recall(known)
        return lambda: self.os_users.act(user, work)

    def reading_as(
        self, user: OsUser | None, work: Callable[[TranscriptFiles], _T]
    ) -> Callable[[], _T]:
        """As L{reading}, for C{user}; C{None}: the service's own."""
        files = self.own if user is None else TranscriptFiles.of_home(user.home)
        return lambda: self.os_users.act(user, lambda: work(files))
