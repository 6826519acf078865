"""Classification of hook events: the agent and the dialog to which an event belongs.

This module does no I/O.
"""

from __future__ import annotations

from tservice.agents.model import HookEvent

FOREIGN = 100
"""Maximum number of other agents' conversations that are remembered; the oldest is dropped first.
"""

TOOLS = 16
"""Maximum number of tools that are remembered as running; the newest are kept."""
_OVER = frozenset(
    {HookEvent.STOP, HookEvent.PROMPT_SUBMITTED, HookEvent.SESSION_START, HookEvent.SESSION_END}
)
_AT_ONCE = ("PermissionRequest", "Elicitation")
CLEAR = "clear"
_REPLACES = (CLEAR, "resume", "compact")


class PaneConversations:
    """Classifier that distinguishes the pane's agent from agents that this agent started.

    A second agent in the same pane begins another conversation (C{SessionStart}, source C{startup})
    before the first agent's conversation has ended. C{/clear} and similar commands begin one too,
    but with another source.

    @param current: id of the session's conversation before the service was restarted; C{None}
        without one.
    """

    def __init__(self, current: str | None) -> None:
        self._current = current
        self._foreign: dict[str, None] = {}

    def is_event_of_pane_agent(self, event: HookEvent, conversation: str, source: str) -> bool:
        """Return true if an event comes from the session's own agent.

        Events without a conversation count as its own.

        @param conversation: id of the event's conversation; C{""} if it has none.
        @param source: the reason why the conversation started, for a C{session_start}.
        """
        if not conversation:
            return True
        if conversation in self._foreign:
            if event is HookEvent.SESSION_END:
                del self._foreign[conversation]
            return False
        if self._is_second_agent(event, conversation, source):
            self._foreign[conversation] = None
            if len(self._foreign) > FOREIGN:
                del self._foreign[next(iter(self._foreign))]
            return False
        self._current = None if event is HookEvent.SESSION_END else conversation
        return True

    def _is_second_agent(self, event: HookEvent, conversation: str, source: str) -> bool:
        begins = event is HookEvent.SESSION_START and source not in _REPLACES
        return begins and self._current not in (None, conversation)


class RunningTools:
    """Tools that run in the present turn; several may run at a time."""

    def __init__(self) -> None:
        self._running: list[str] = []

    @property
    def current_tool(self) -> str | None:
        """Tool that started last among those that run; C{None} if none runs."""
        return self._running[-1] if self._running else None

    def handle_event(self, event: HookEvent, words: str) -> None:
        """Handle a hook that reports the start or end of a tool, or the end of all tools.

        @param words: text with the tool and its action, which is the same at its start and its end.
        """
        if event is HookEvent.TOOL_STARTED:
            self._running = [*self._running, words][-TOOLS:]
        elif event in (HookEvent.TOOL_ENDED, HookEvent.PERMISSION_DENIED):
            if words in self._running:
                self._running.remove(words)
        elif event in _OVER:
            self.clear_tools()

    def clear_tools(self) -> None:
        """Record that no tool runs."""
        self._running = []


class DuplicateDialogFilter:
    """Filter that reports each dialog once, although several hooks report it.

    C{PermissionRequest} and C{Elicitation} come immediately. The C{Notification} of the same dialog
    comes six seconds later or never.
    """

    def __init__(self) -> None:
        self._announced = False

    def reports_new_dialog(self, name: str, *, blocked: bool) -> bool:
        """Return true if an event reports a dialog that no earlier event reported.

        @param name: the agent's own name of the event.
        @param blocked: a dialog is known to be on the screen already.
        """
        if name in _AT_ONCE:
            self._announced = True
            return True
        announced, self._announced = self._announced, False
        return not (announced or blocked)

    def forget_reported_dialogs(self) -> None:
        """Forget the reported dialogs at the start or end of a turn.

        No notification about an earlier dialog can follow.
        """
        self._announced = False
