"""Steps of the input that waits for a host that is away."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.accept.offline_buffer import OfflineInputBuffer
from tservice.sessions.input.entry import InputKind
from tservice.sessions.input.entry import JournalEntry as Typed
from tservice.sessions.record.requests import InputRequest


def tell_buffered_input(world: StoryHarness) -> Sequence[StoryStep]:
    buffer, journal = OfflineInputBuffer(world.database), InputJournal(world.database, world.clock)

    def put(text: str) -> StoryStep:
        request = InputRequest(text=text, client_id="me", seq=int(text))
        return StoryStep(name=text, do=lambda: buffer.put("s", request))

    def accept() -> None:
        entry = Typed(
            session_id="s", id="e", kind=InputKind.RAW, data=b"1", client_id="me", seq=1,
            buffered=1,
        )  # fmt: skip
        journal.accept_entry(entry)

    return [
        put("1"),
        StoryStep(name="begun", do=accept, needs="1"),
        put("2"),
        put("3"),
        StoryStep(name="given up", do=lambda: buffer.delete_chunk("s", 2), needs="2"),
        StoryStep(name="over", do=lambda: buffer.clear_session("s"), owed=True),
    ]
