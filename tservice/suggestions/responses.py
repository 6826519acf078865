"""Wire form of suggestions and intents (protocol-suggestions, protocol-intent)."""

from __future__ import annotations

from pydantic import Field

from tservice.core.values.payload import Payload
from tservice.suggestions.model import Intent, Suggestion, SuggestionKind


class SuggestionResponse(Payload):
    """Suggestion for the next input, and its reason."""

    prompt: str
    why: str
    kind: SuggestionKind


class SuggestionsResponse(Payload):
    """1 to 3 suggestions, most likely first."""

    suggestions: list[SuggestionResponse]
    duration_ms: int


class PastPromptResponse(Payload):
    """Earlier prompt to an agent; C{ts} in Unix milliseconds."""

    ts: int
    session_id: str
    text: str


class IntentResponse(Payload):
    """Goal of a session's owner in its workspace."""

    key: str
    working_dir: str
    updated_at: int
    goals: str
    recent_prompts: list[PastPromptResponse] = Field(description="Oldest first")


class IntentEnvelope(Payload):
    """Response with the intent, null if there is none."""

    intent: IntentResponse | None


class IntentDeletedResponse(Payload):
    """Result of a removal: true if there was an intent."""

    deleted: bool


def make_suggestion_response(one: Suggestion) -> SuggestionResponse:
    """Return the wire form of a suggestion."""
    return SuggestionResponse.model_validate(one, from_attributes=True)


def make_intent_response(found: Intent | None) -> IntentEnvelope:
    """Return the wire form of an intent; C{None} becomes a null intent."""
    if found is None:
        return IntentEnvelope(intent=None)
    prompts = [
        PastPromptResponse.model_validate(each, from_attributes=True) for each in found.prompts
    ]
    intent = IntentResponse(
        key=found.key,
        working_dir=found.working_dir,
        updated_at=found.updated_at,
        goals=found.goals,
        recent_prompts=prompts,
    )
    return IntentEnvelope(intent=intent)
