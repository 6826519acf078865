"""What becomes of approval rules and of the answers of agents' questions."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from tests.unit.agents.approvals.rules.hostile_commands import make_request, make_rule
from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.agents.approvals.rules.model import AnsweredRequest, RequestAnswer
from tservice.agents.approvals.rules.store import ApprovalRuleStore


def tell_approval_rules(world: StoryHarness) -> Sequence[StoryStep]:
    store = ApprovalRuleStore(world.database)
    rule = evolve(make_rule("npm", "test"), id="1")
    answered = AnsweredRequest(
        at=1, item_id="s:1", request=make_request("npm test"), answer=RequestAnswer.ALLOWED
    )
    stranger = evolve(answered, request=make_request("npm test", owner="bob"))
    return [
        StoryStep(name="made", do=lambda: store.save_rule(rule)),
        StoryStep(name="another", do=lambda: store.save_rule(evolve(rule, id="2"))),
        StoryStep(name="third", do=lambda: store.save_rule(evolve(rule, id="3"))),
        StoryStep(name="of bob", do=lambda: store.save_rule(evolve(rule, id="4", owner="bob"))),
        StoryStep(name="changed", do=lambda: store.save_rule(evolve(rule, note="x")), needs="made"),
        StoryStep(name="hit", do=lambda: store.save_hit("1", 1, 5), owed=True, needs="made"),
        StoryStep(name="deleted", do=lambda: store.delete_rule("2"), needs="another"),
        StoryStep(name="stale", do=lambda: store.delete_stale_rule("3"), owed=True, needs="third"),
        StoryStep(name="answered", do=lambda: store.save_answer(answered)),
        StoryStep(name="answered bob", do=lambda: store.save_answer(stranger)),
        StoryStep(
            name="strangers",
            do=lambda: store.delete_unknown_rules(lambda name: name == "ann"),
            owed=True,
            needs="of bob",
        ),
        StoryStep(
            name="their answers",
            do=lambda: store.delete_unknown_answers(lambda name: name == "ann"),
            owed=True,
            needs="answered bob",
        ),
    ]
