"""What becomes of the answers about folders."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.agents.foldertrust.store import TrustStore


def tell_trusted_folders(world: StoryHarness) -> Sequence[StoryStep]:
    store = TrustStore(world.clock, world.database)
    return [
        StoryStep(name="trusted", do=lambda: store.save_trust("ann", "1", "/a")),
        StoryStep(name="another", do=lambda: store.save_trust("bob", "1", "/b")),
        StoryStep(
            name="strangers",
            do=lambda: store.delete_unknown_owners(lambda name: name == "bob"),
            owed=True,
            needs="trusted",
        ),
    ]
