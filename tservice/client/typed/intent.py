"""Intent: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class ForgottenAnswer(TypedDict):
    """Whether there was one."""

    deleted: bool


class IntentAnswer(TypedDict):
    """What the owner of a session wants in its workspace."""

    key: str
    workingDir: str
    updatedAt: int
    goals: str
    recentPrompts: list[PastPromptAnswer]


class IntentBody(TypedDict):
    """The whole of an intent."""

    goals: str


class OneIntentAnswer(TypedDict):
    """Null without one."""

    intent: IntentAnswer | None


class PastPromptAnswer(TypedDict):
    """Something that was said to an agent; C{ts} in Unix milliseconds."""

    ts: int
    sessionId: str
    text: str


class SuggestBody(TypedDict):
    """What another guess is to heed; both absent for the first."""

    steer: NotRequired[str | None]
    rejected: NotRequired[list[str] | None]


class SuggestionAnswer(TypedDict):
    """Something to say next, and why."""

    prompt: str
    why: str
    kind: Literal["continue", "verify", "redirect"]


class SuggestionsAnswer(TypedDict):
    """1 to 3 suggestions, the likeliest first."""

    suggestions: list[SuggestionAnswer]
    durationMs: int


class Intent(Calling):
    """Intent."""

    async def post_sessions_id_readmymind(
        self, id: str, body: SuggestBody | None = None
    ) -> SuggestionsAnswer:
        """Suggest what to say next; nothing is sent to the session."""
        found: SuggestionsAnswer = await self.call(
            "POST", f"/sessions/{quoted(id)}/readmymind", body=body
        )
        return found

    async def get_sessions_id_intent(self, id: str) -> OneIntentAnswer:
        """What the session's owner wants in its workspace."""
        found: OneIntentAnswer = await self.call("GET", f"/sessions/{quoted(id)}/intent")
        return found

    async def put_sessions_id_intent(self, id: str, body: IntentBody) -> OneIntentAnswer:
        """Replace the whole intent."""
        found: OneIntentAnswer = await self.call("PUT", f"/sessions/{quoted(id)}/intent", body=body)
        return found

    async def delete_sessions_id_intent(self, id: str) -> ForgottenAnswer:
        """Forget the intent."""
        found: ForgottenAnswer = await self.call("DELETE", f"/sessions/{quoted(id)}/intent")
        return found
