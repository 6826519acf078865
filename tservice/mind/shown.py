"""Wire form of suggestions and intents (protocol-suggestions, protocol-intent)."""

from __future__ import annotations

from pydantic import Field

from tservice.core.payload import Payload
from tservice.mind.model import Intent, Suggestion, SuggestionKind


class SuggestionAnswer(Payload):
    """Something to say next, and why."""

    prompt: str
    why: str
    kind: SuggestionKind


class SuggestionsAnswer(Payload):
    """1 to 3 suggestions, the likeliest first."""

    suggestions: list[SuggestionAnswer]
    duration_ms: int


class PastPromptAnswer(Payload):
    """Something that was said to an agent; C{ts} in Unix milliseconds."""

    ts: int
    session_id: str
    text: str


class IntentAnswer(Payload):
    """What the owner of a session wants in its workspace."""

    key: str
    working_dir: str
    updated_at: int
    goals: str
    recent_prompts: list[PastPromptAnswer] = Field(description="Oldest first")


class OneIntentAnswer(Payload):
    """Null without one."""

    intent: IntentAnswer | None


class ForgottenAnswer(Payload):
    """Whether there was one."""

    deleted: bool


def suggestion_answer(one: Suggestion) -> SuggestionAnswer:
    """Return the response for a suggestion."""
    return SuggestionAnswer.model_validate(one, from_attributes=True)


def intent_answer(found: Intent | None) -> OneIntentAnswer:
    """Return the response for an intent."""
    if found is None:
        return OneIntentAnswer(intent=None)
    prompts = [
        PastPromptAnswer.model_validate(each, from_attributes=True) for each in found.prompts
    ]
    intent = IntentAnswer(
        key=found.key,
        working_dir=found.working_dir,
        updated_at=found.updated_at,
        goals=found.goals,
        recent_prompts=prompts,
    )
    return OneIntentAnswer(intent=intent)
