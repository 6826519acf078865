"""Interfaces of the sources of suggestions."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol


class ConversationReader(Protocol):
    """Reader of a session's conversation."""

    def __call__(self, session_id: str) -> Awaitable[Mapping[str, Any]]:
        """Return C{{text, messages: [{role, text, timestamp}]}}; raises L{ServiceError} without
        a known transcript.
        """


class PromptReader(Protocol):
    """Reader of the prompts that a session's agent got."""

    def __call__(self, session_id: str, since: int) -> Awaitable[Sequence[tuple[int, str]]]:
        """Return those from C{since} on, oldest first, each with the time of its Enter.

        Times are Unix milliseconds.  Raises L{ServiceError} without a known transcript.
        """


class GitStateReader(Protocol):
    """Reader of the state of a session's repositories."""

    def __call__(self, session_id: str) -> Awaitable[Mapping[str, Any]]:
        """Return the answer of git status (protocol-git-status)."""


class PendingItemFinder(Protocol):
    """Finder of the open question of a session's agent."""

    def __call__(self, session_id: str) -> Mapping[str, Any] | None:
        """Return the item of the inbox (protocol-approvals), if there is one."""
