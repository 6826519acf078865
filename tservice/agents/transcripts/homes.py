"""Whose transcripts they are: the service's own user's, or those of another place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from attrs import evolve, frozen

from tservice.agents.transcripts.files import MODES, TranscriptFiles
from tservice.agents.transcripts.sqlite.rows import kept_open
from tservice.clis.interfaces import ICliRegistry
from tservice.core.places.bounds import ANYWHERE, Inside
from tservice.core.places.place import OWN, Place, PlaceId
from tservice.core.places.places import Places
from tservice.sessions.interfaces import Session

_T = TypeVar("_T")


@frozen(kw_only=True)
class Homes:
    """Where each place's transcripts are.

    @ivar own: of the service's own.
    @ivar inside: where the conversations of an account's sessions in a place must have begun.
    """

    own: TranscriptFiles
    places: Places
    inside: Callable[[str | None, PlaceId], Inside]

    def files_of(self, session: Session) -> TranscriptFiles:
        """Where a session's agent writes: its own C{envOverrides} may have moved it."""
        place = self.places.recall(session.place)
        files = self._below(place).moved(session.mode, session.env_overrides)
        return evolve(files, inside=self.inside(session.owner, session.place))

    def are_shared(self, session: Session) -> bool:
        """Whether conversations that the session's account may not see are in the same home."""
        return self.inside(session.owner, session.place) != ANYWHERE

    def every(self, place: Place, sessions: Iterable[Session]) -> list[TranscriptFiles]:
        """Where agents in C{place} write that were told nothing, and those of its C{sessions}."""
        base = self._below(place)
        return [base, *(base.moved(each.mode, each.env_overrides) for each in sessions)]

    def as_owner(self, session: Session, work: Callable[[], _T]) -> Callable[[], _T]:
        """C{work} with the rights of a session's place; for a thread.

        A session's agent chooses what its transcript's name leads to, so root must not follow it.
        """
        place = self.places.recall(session.place)
        kept = kept_open(work)
        return lambda: place.act(kept)

    def _below(self, place: Place) -> TranscriptFiles:
        # The service's environment counts in its own place only.
        return self.own if place.id == OWN else TranscriptFiles.of_home(place.home)


def own_files(home: Path, clis: ICliRegistry) -> TranscriptFiles:
    """Where the agents of the service's own user write that are told nothing by their session.

    The service's environment moves them for the modes that it reaches.
    """
    files = TranscriptFiles.of_home(home)
    for mode in MODES:
        files = files.moved(mode, clis.pane_environment(mode, {}))
    return files
