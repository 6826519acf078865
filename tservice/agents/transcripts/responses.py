"""Conversations as clients see them (protocol-conversations)."""

from __future__ import annotations

from typing import Literal

from tservice.agents.transcripts.model import TranscriptMessage
from tservice.core.payload import Payload, omit_if_none


class TranscriptMessageResponse(Payload):
    """Something that one side said."""

    role: Literal["user", "assistant"]
    text: str
    timestamp: int | None


class LastAnswerResponse(Payload):
    """The agent's last answer; an empty text and no time before the first."""

    text: str
    timestamp: int | None
    messages: list[TranscriptMessageResponse] | None = omit_if_none()


class ConversationResponse(Payload):
    """A conversation on disk.

    @ivar turns: prompts in it; of a long one, those in its beginning, and C{turns_cut} is true.
    @ivar excerpt: the words around the first place that a search found.
    """

    id: str
    mode: str
    updated_at: int
    size: int
    turns: int
    turns_cut: bool | None = omit_if_none()
    working_dir: str | None = omit_if_none()
    title: str | None = omit_if_none()
    excerpt: str | None = omit_if_none()


class ConversationListResponse(Payload):
    """Conversations, newest first.

    @ivar complete: of a search: everything was looked through.
    """

    sessions: list[ConversationResponse]
    total: int
    complete: bool | None = omit_if_none()


class TranscriptResponse(Payload):
    """What was said in a conversation, oldest first.

    @ivar truncated: there is more before the first message.
    """

    session: ConversationResponse
    messages: list[TranscriptMessageResponse]
    truncated: bool


def make_message_response(message: TranscriptMessage) -> TranscriptMessageResponse:
    """Return a message as clients see it."""
    role: Literal["user", "assistant"] = "user" if message.role == "user" else "assistant"
    return TranscriptMessageResponse(role=role, text=message.text, timestamp=message.timestamp)
