"""Turns that end in a real repository."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import gatherResults

from tests.unit.review.review_harness import ANN, SESSION_ID, ReviewTestCase
from tservice.core.kernel.event_payloads import HookEventPayload, OccurrencePayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.values.payload import Payload
from tservice.review.comparison.changes import DiffOptions, FileDiff
from tservice.review.comparison.comparer import Sides, TreeComparer
from tservice.review.model import RepositoryChanges
from tservice.review.turns.comparing import TurnTrees
from tservice.review.turns.recording import TurnRecorder
from tservice.review.turns.store import TurnStore


def publish(hub: EventHub, name: EventName, at: int = 1, session_id: str = SESSION_ID) -> None:
    payload: Payload = OccurrencePayload(id=session_id, at=at)
    if name is EventName.HOOK_PROMPT_SUBMITTED:
        payload = HookEventPayload(session_id=session_id, at=at, data={})
    hub.publish(Event(name=name, payload=payload, session_id=session_id, owner="ann"))


class TurnTestCase(ReviewTestCase):
    """Test with one repository, and turns that the test ends."""

    def setUp(self) -> None:
        super().setUp()
        world, self.hub = self.world, EventHub()
        self.turns = TurnStore(world.database)
        copies: Any = world.review._copies
        self.recorder = TurnRecorder(
            clock=world.clock, hub=self.hub, copies=copies, store=self.turns
        )
        self.recorder.start()
        self.comparer = TreeComparer(
            world.clock, copies, [TurnTrees(self.turns)], world.review.make_wish
        )

    async def tearDown(self) -> None:  # type: ignore[override]
        await self.recorder.stop()
        await super().tearDown()

    async def end_turn(self, at: int) -> None:
        """End a turn, and wait until its files were recorded or not."""
        publish(self.hub, EventName.SESSION_STOP, at)
        await gatherResults([*self.recorder._tasks.values()])

    async def read(self, at: int, target: str | None = None) -> RepositoryChanges:
        return await self.compare(Sides(base=f"turn:{at}", target=target))

    async def compare(self, sides: Sides) -> RepositoryChanges:
        return (await self.comparer.read_changes(SESSION_ID, sides, ANN))[0]

    async def read_listed(
        self, at: int, target: str | None = None
    ) -> dict[str, tuple[str, int, int]]:
        return list_files(await self.read(at, target))

    async def diff(self, at: int, path: str, target: str | None = None, **options: Any) -> FileDiff:
        sides = Sides(base=f"turn:{at}", target=target)
        return await self.diff_sides(sides, path, **options)

    async def diff_sides(self, sides: Sides, path: str, **options: Any) -> FileDiff:
        wanted = DiffOptions(**{"context": 3, **options})
        return await self.comparer.read_file_diff(SESSION_ID, sides, None, path, wanted, ANN)


def list_files(changes: RepositoryChanges) -> dict[str, tuple[str, int, int]]:
    """Return the state and the numbers of lines of each file."""
    return {
        file.display_path: (file.status.value, file.added, file.removed) for file in changes.files
    }
