"""Which hook events are a session's own, and which dialog they speak of.  Pure."""

from __future__ import annotations

from tservice.agents.model import HookEvent

FOREIGN = 100
"""Conversations of other agents that are remembered; the oldest is forgotten first."""

TOOLS = 16
"""Tools that are remembered as running; of more, the newest."""
_OVER = frozenset(
    {HookEvent.STOP, HookEvent.PROMPT_SUBMITTED, HookEvent.SESSION_START, HookEvent.SESSION_END}
)
_AT_ONCE = ("PermissionRequest", "Elicitation")
CLEAR = "clear"
_REPLACES = (CLEAR, "resume", "compact")


class PaneConversations:
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


class Tools:
    """The tools that run in a turn; several may at a time."""

    def __init__(self) -> None:
        self._running: list[str] = []

    @property
    def current(self) -> str | None:
        """The one that began last; C{None}: none runs."""
        return self._running[-1] if self._running else None

    def heard(self, event: HookEvent, words: str) -> None:
        """A hook told of one, or that whatever ran is over.

        @param words: what names the tool and what it does, the same at its beginning and its end.
        """
        if event is HookEvent.TOOL_STARTED:
            self._running = [*self._running, words][-TOOLS:]
        elif event in (HookEvent.TOOL_ENDED, HookEvent.PERMISSION_DENIED):
            if words in self._running:
                self._running.remove(words)
        elif event in _OVER:
            self.over()

    def over(self) -> None:
        """Nothing runs any more."""
        self._running = []


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
