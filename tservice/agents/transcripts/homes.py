"""Whose transcripts they are: the service's own user's, or an OS user's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from attrs import field, frozen

from tservice.agents.transcripts.files import MODES, TranscriptFiles
from tservice.clis.interfaces import ICliRegistry
from tservice.core.users.osuser import OsUser, OsUserId, OsUsers
from tservice.sessions.interfaces import Session

_T = TypeVar("_T")


@frozen(kw_only=True)
class Homes:
    """Where each user's transcripts are.

    @ivar own: of the service's own user.
    """

    own: TranscriptFiles
    os_users: OsUsers = field(factory=OsUsers)

    def files_of(self, session: Session) -> TranscriptFiles:
        """Where a session's agent writes: its own C{envOverrides} may have moved it."""
        return self._below(self.os_users.recall(session.os_user)).moved(
            session.mode, session.env_overrides
        )

    def every(self, user: OsUser | None, sessions: Iterable[Session]) -> list[TranscriptFiles]:
        """Where the agents of C{user} write that were told nothing, and those of C{sessions}.

        @param user: C{None}: the service's own; sessions of other users are passed over.
        """
        known = None if user is None else user.id
        base = self._below(user)
        theirs = [session for session in sessions if session.os_user == known]
        return [base, *(base.moved(each.mode, each.env_overrides) for each in theirs)]

    def _below(self, user: OsUser | None) -> TranscriptFiles:
        return self.own if user is None else TranscriptFiles.of_home(user.home)

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
        files = self._below(user)
        return lambda: self.os_users.act(user, lambda: work(files))


def own_files(home: Path, clis: ICliRegistry) -> TranscriptFiles:
    """Where the agents of the service's own user write that are told nothing by their session.

    The service's environment moves them for the modes that it reaches.
    """
    files = TranscriptFiles.of_home(home)
    for mode in MODES:
        files = files.moved(mode, clis.pane_environment(mode, {}))
    return files
