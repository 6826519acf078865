"""What is done to the table of unconfirmed prompts, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.sessions.input.entry import InputKind
from tservice.sessions.input.entry import JournalEntry as Typed
from tservice.sessions.input.recover.unconfirmed_prompt_store import (
    SavedUnconfirmedPrompt,
    UnconfirmedPromptStore,
)


def tell_unconfirmed_prompts(world: StoryHarness) -> Sequence[StoryStep]:
    """Return the steps of the story."""
    store = UnconfirmedPromptStore(world.database)

    def keep(name: str) -> StoryStep:
        entry = Typed(session_id="s", id=name, kind=InputKind.PROMPT, data=b"go")
        doubt = SavedUnconfirmedPrompt(entry=entry, submitted_at=1, message="not sure")
        return StoryStep(name=name, do=lambda: store.save_prompt(doubt), owed=True)

    settled = Typed(session_id="s", id="one", kind=InputKind.PROMPT, data=b"go")
    return [
        keep("one"),
        keep("two"),
        StoryStep(name="passed", do=lambda: store.mark_put_aside("s"), owed=True),
        StoryStep(name="settled", do=lambda: store.delete_prompt(settled), owed=True),
        keep("three"),
        StoryStep(name="over", do=lambda: store.clear_session("s"), owed=True),
    ]
