"""Which hook events are a session's own, and which dialog they speak of.  Pure."""

from __future__ import annotations

from tservice.agents.model import HookEvent

FOREIGN = 100
"""Conversations of other agents that are remembered; the oldest is forgotten first."""

_AT_ONCE = ("PermissionRequest", "Elicitation")
CLEAR = "clear"
_REPLACES = (CLEAR, "resume", "compact")


class Conversations:
    """Tells the agent of the pane from those that it started itself.

    A second agent in the same pane begins its own conversation (C{SessionStart}, source
    C{startup}) while the first one's has not ended.  C{/clear} and the like begin one too, but with
    another source.

    @param current: the conversation that was the session's before the service was restarted.
    """

    def __init__(self, current: str | None) -> None:
        self._current = current
        self._foreign: dict[str, None] = {}

    def is_own(self, event: HookEvent, conversation: str, source: str) -> bool:
        """Whether an event is the session's own; events without a conversation are.

        @param source: why the conversation began, of a C{session_start}.
        """
        if not conversation:
            return True
        if conversation in self._foreign:
            if event is HookEvent.SESSION_END:
                del self._foreign[conversation]
            return False
        if self._is_second(event, conversation, source):
            self._foreign[conversation] = None
            if len(self._foreign) > FOREIGN:
                del self._foreign[next(iter(self._foreign))]
            return False
        self._current = None if event is HookEvent.SESSION_END else conversation
        return True

    def _is_second(self, event: HookEvent, conversation: str, source: str) -> bool:
        begins = event is HookEvent.SESSION_START and source not in _REPLACES
        return begins and self._current not in (None, conversation)


class Dialogs:
    """Merges the hooks that speak of one dialog.

    C{PermissionRequest} and C{Elicitation} come at once, the C{Notification} of the same dialog six
    seconds later or never.
    """

    def __init__(self) -> None:
        self._announced = False

    def is_new(self, name: str, *, blocked: bool) -> bool:
        """Whether an event tells of a dialog that no other told of.

        @param name: the agent's own name of the event.
        @param blocked: a dialog is known to be on the screen already.
        """
        if name in _AT_ONCE:
            self._announced = True
            return True
        announced, self._announced = self._announced, False
        return not (announced or blocked)

    def turn_over(self) -> None:
        """A turn begins or ends: no notification of a dialog before it can follow."""
        self._announced = False
