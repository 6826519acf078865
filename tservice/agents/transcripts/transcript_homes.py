"""Home folders with transcripts: that of the service's own user, and those of other locations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from attrs import evolve, frozen

from tservice.agents.transcripts.files import MODES, TranscriptLocations
from tservice.agents.transcripts.sqlite.rows import reuse_readers
from tservice.clis.interfaces import ICliRegistry
from tservice.core.locations.location import OWN_LOCATION, Location, LocationId
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import ANYWHERE, FolderLimit
from tservice.sessions.interfaces import Session

_T = TypeVar("_T")


@frozen(kw_only=True)
class TranscriptHomes:
    """Locations of transcripts, by the location in which a session runs.

    @ivar own: transcripts of the service's own user.
    @ivar inside: returns the folder in which conversations must have begun to belong to sessions of
        an account in a location.
    """

    own: TranscriptLocations
    places: LocationRegistry
    inside: Callable[[str | None, LocationId], FolderLimit]

    def get_transcript_locations(self, session: Session) -> TranscriptLocations:
        """Return the locations of a session's transcripts, which its C{envOverrides} may have
        moved.
        """
        place = self.places.find_earlier_location(session.location_id)
        files = self._find_session_locations(place, session)
        return evolve(files, inside=self.inside(session.owner, session.location_id))

    def is_home_shared(self, session: Session) -> bool:
        """Return true if the session's home folder contains conversations that its account may not
        see.
        """
        return self.inside(session.owner, session.location_id) != ANYWHERE

    def list_transcript_locations(
        self, place: Location, sessions: Iterable[Session]
    ) -> list[TranscriptLocations]:
        """Return the agents' default locations of transcripts in C{place}, and those of its
        C{sessions}.
        """
        moved = (self._find_session_locations(place, each) for each in sessions)
        return [self._get_default_locations(place), *moved]

    def bind_to_location_rights(self, session: Session, work: Callable[[], _T]) -> Callable[[], _T]:
        """Return a function that runs C{work} with the file rights of a session's location.

        Call the result in a thread. A session's agent chooses the target of its transcript's path,
        so root must not follow it.
        """
        place = self.places.find_earlier_location(session.location_id)
        kept = reuse_readers(work)
        return lambda: place.run_file_work(kept)

    def _find_session_locations(self, place: Location, session: Session) -> TranscriptLocations:
        files = self._get_default_locations(place)
        if place.unreadable_reason is not None:
            # The variable names a folder there; on this machine it may be another account's.
            return files
        return files.with_environment(session.mode, session.env_overrides)

    def _get_default_locations(self, place: Location) -> TranscriptLocations:
        # The service's environment applies to its own place only.
        return self.own if place.id == OWN_LOCATION else TranscriptLocations.from_home(place.home)


def find_own_locations(home: Path, clis: ICliRegistry) -> TranscriptLocations:
    """Return the locations of transcripts of agents that run as the service's own user.

    Environment variables of the service can set other locations, if the registry passes these
    variables to the agent's mode.

    @param home: home folder of the service's user.
    """
    files = TranscriptLocations.from_home(home)
    for mode in MODES:
        files = files.with_environment(mode, clis.build_pane_environment(mode, {}))
    return files
