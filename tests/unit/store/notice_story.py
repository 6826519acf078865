"""What becomes of the table of notification rules."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.notifications.model import NoticeRules
from tservice.notifications.store import NoticeRuleStore


def tell_notification_rules(world: StoryHarness) -> Sequence[StoryStep]:
    store = NoticeRuleStore(world.database)
    rules = NoticeRules()
    quiet = NoticeRules(only_unwatched=False)
    return [
        StoryStep(name="set", do=lambda: store.save_rules("ann", rules)),
        StoryStep(name="changed", do=lambda: store.save_rules("ann", quiet), needs="set"),
        StoryStep(name="another", do=lambda: store.save_rules("bob", rules)),
        StoryStep(name="deleted", do=lambda: store.delete_rules("bob"), needs="another"),
        StoryStep(
            name="account removed",
            do=lambda: store.delete_unknown_accounts(lambda name: False),
            holds=True,
            needs="set",
        ),
    ]
