"""What is done to the table of unconfirmed prompts, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.store.story import Step, World
from tservice.sessions.input.doubtstore import DoubtStore, KeptDoubt
from tservice.sessions.input.journal import InputKind
from tservice.sessions.input.journal import JournalEntry as Typed


def tell_doubts(world: World) -> Sequence[Step]:
    """Return the steps of the story."""
    store = DoubtStore(world.database)

    def keep(name: str) -> Step:
        entry = Typed(session_id="s", id=name, kind=InputKind.PROMPT, data=b"go")
        doubt = KeptDoubt(entry=entry, submitted_at=1, message="not sure")
        return Step(name=name, do=lambda: store.keep(doubt), owed=True)

    settled = Typed(session_id="s", id="one", kind=InputKind.PROMPT, data=b"go")
    return [
        keep("one"),
        keep("two"),
        Step(name="passed", do=lambda: store.pass_by("s"), owed=True),
        Step(name="settled", do=lambda: store.forget(settled), owed=True),
        keep("three"),
        Step(name="over", do=lambda: store.clear("s"), owed=True),
    ]
