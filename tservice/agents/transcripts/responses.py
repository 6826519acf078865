"""Response models of conversations (protocol-conversations)."""

from __future__ import annotations

from typing import Literal

from tservice.agents.transcripts.model import TranscriptMessage
from tservice.core.values.payload import Payload, omit_if_none


class TranscriptMessageResponse(Payload):
    """Message of the user or of the agent."""

    role: Literal["user", "assistant"]
    text: str
    timestamp: int | None


class LastAnswerResponse(Payload):
    """The agent's last response. Before the first one the text is empty and there is no time."""

    text: str
    timestamp: int | None
    messages: list[TranscriptMessageResponse] | None = omit_if_none()


class ConversationResponse(Payload):
    """Conversation on disk.

    @ivar turns: number of prompts. If C{turns_cut} is true, only those at the beginning of a long
        conversation are counted.
    @ivar excerpt: the words around the first match of a search.
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

    @ivar complete: true if a search looked through everything.
    """

    sessions: list[ConversationResponse]
    total: int
    complete: bool | None = omit_if_none()


class TranscriptResponse(Payload):
    """Messages of a conversation, oldest first.

    @ivar truncated: true if there are earlier messages.
    """

    session: ConversationResponse
    messages: list[TranscriptMessageResponse]
    truncated: bool


def make_message_response(message: TranscriptMessage) -> TranscriptMessageResponse:
    """Return a message as a response."""
    role: Literal["user", "assistant"] = "user" if message.role == "user" else "assistant"
    return TranscriptMessageResponse(role=role, text=message.text, timestamp=message.timestamp)
