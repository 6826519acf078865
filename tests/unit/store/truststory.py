"""What becomes of the answers about folders."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.store.story import Step, World
from tservice.agents.foldertrust.store import TrustStore


def tell_trusted_folders(world: World) -> Sequence[Step]:
    store = TrustStore(world.clock, world.database)
    return [
        Step(name="trusted", do=lambda: store.save("ann", "1", "/a")),
        Step(name="another", do=lambda: store.save("bob", "1", "/b")),
        Step(
            name="strangers",
            do=lambda: store.forget_strangers(lambda name: name == "bob"),
            owed=True,
            needs="trusted",
        ),
    ]
