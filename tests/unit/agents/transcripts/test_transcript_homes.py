"""Folders in which the transcripts of sessions are looked for, by their location."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import own_location, places_of, unbounded
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.core.locations.location import Location
from tservice.sessions.record.model import NameSource, Session


class TranscriptHomeTests(SynchronousTestCase):
    def roots(self, place: Location) -> set[Path]:
        """Where pi's conversations of a session are that moves its folder."""
        own = TranscriptLocations.from_home(Path("/h"))
        homes = TranscriptHomes(own=own, places=places_of(place), inside=unbounded)
        session = Session(
            id="s",
            mode="pi",
            name="n",
            name_source=NameSource.MANUAL,
            working_dir="/w",
            created_at=1,
            last_activity_at=1,
            env_overrides={"PI_CODING_AGENT_DIR": "/moved"},
        )
        every = homes.list_transcript_locations(place, [session])
        return {each.roots["pi"] for each in (homes.get_transcript_locations(session), every[-1])}

    def test_variables_of_a_session_move_its_agents_folder(self) -> None:
        self.assertEqual({Path("/moved/sessions")}, self.roots(own_location()))

    def test_variables_of_a_session_elsewhere_name_no_folder_of_this_machine(self) -> None:
        """In a container or on a remote host they name another folder."""
        for reason in ("docker", "remote"):
            place = evolve(own_location(), unreadable_reason=reason)
            self.assertEqual({Path("/h/.pi/agent/sessions")}, self.roots(place))
