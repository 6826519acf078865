"""What the suggestions are made from, as other features tell it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol


class Conversation(Protocol):
    """What was said in a session."""

    def __call__(self, session_id: str) -> Awaitable[Mapping[str, Any]]:
        """C{{text, messages: [{role, text, timestamp}]}}; raises L{ServiceError} where no
        transcript is known."""


class Prompts(Protocol):
    """The prompts that a session's agent was given."""

    def __call__(self, session_id: str, since: int) -> Awaitable[Sequence[tuple[int, str]]]:
        """Return those from C{since} on, oldest first, each with the time of its Enter.

        Times are Unix milliseconds.  Raises L{ServiceError} where no transcript is known."""


class GitState(Protocol):
    """How a session's repositories stand."""

    def __call__(self, session_id: str) -> Awaitable[Mapping[str, Any]]:
        """The answer of git status (protocol-git-status)."""


class Pending(Protocol):
    """What a session's agent asks now."""

    def __call__(self, session_id: str) -> Mapping[str, Any] | None:
        """An item of the inbox (protocol-approvals)."""
