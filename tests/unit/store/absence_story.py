"""What becomes of the table of absences."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.agents.away.model import Absence
from tservice.agents.away.store import AbsenceStore


def tell_absences(world: StoryHarness) -> Sequence[StoryStep]:
    store = AbsenceStore(world.database)
    looked = Absence(session_id="s", looked_at=1, cost=0.5)
    return [
        StoryStep(name="looked", do=lambda: store.save_absence(looked), owed=True),
        StoryStep(
            name="turn ended", do=lambda: store.save_absence(evolve(looked, turns=1)), owed=True
        ),
    ]
