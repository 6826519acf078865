"""Interfaces of the functions that read the information for suggestions."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol


class ConversationReader(Protocol):
    """Function that reads the conversation of a session."""

    def __call__(self, session_id: str) -> Awaitable[Mapping[str, Any]]:
        """Return C{{text, messages: [{role, text, timestamp}]}} of the session's conversation.

        @raise ServiceError: the session has no known transcript.
        """


class PromptReader(Protocol):
    """Function that reads the prompts that were submitted to a session's agent."""

    def __call__(self, session_id: str, since: int) -> Awaitable[Sequence[tuple[int, str]]]:
        """Return the prompts submitted at or after C{since}, oldest first, as pairs of time and
        text.

        Times are Unix milliseconds.

        @raise ServiceError: the session has no known transcript.
        """


class GitStateReader(Protocol):
    """Function that reads the git status of a session's repositories."""

    def __call__(self, session_id: str) -> Awaitable[Mapping[str, Any]]:
        """Return the git status response for the session's repositories (protocol-git-status)."""


class PendingItemFinder(Protocol):
    """Function that finds the question that a session's agent currently asks."""

    def __call__(self, session_id: str) -> Mapping[str, Any] | None:
        """Return the approval item of the question (protocol-approvals); C{None} if none is
        pending.
        """
