"""Interface of the agents for other features.

Hook events arrive as C{hook:<event>} of the event hub, with the payload C{{sessionId, at, data}}.
Each dialog is announced by one C{session:blocked}, even if several hooks report it. The dialog's
item is in the inbox by then.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import Deferred
from zope.interface import Interface

from tservice.agents.model import HookEvent, PlanUsage, UsageWindow
from tservice.terminal.dialogs.dialogs import AgentDialog
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading

__all__ = [
    "AgentScreen",
    "HookEvent",
    "IAgents",
    "LookObserver",
    "PlanUsage",
    "UsageWindow",
]


@frozen(kw_only=True)
class AgentScreen:
    """Capture of a session's screen, with its interpretation.

    @ivar at: Unix milliseconds at which the frame was captured.
    @ivar reading: interpretation of C{frame} by the rules of the session's mode.
    """

    session_id: str
    at: int
    frame: ScreenFrame
    reading: ScreenReading


LookObserver = Callable[[AgentScreen], None]
"""Called with every successful capture of a screen, after the agent's activity was updated from it.
"""


class IAgents(Interface):
    """Agents of the running sessions. Shells are no agents, so their screens are not captured."""

    def get_dialog(session_id: str) -> AgentDialog | None:
        """Return the dialog in the last capture; C{None} without one, and for unknown sessions."""

    def is_answering_trust(session_id: str) -> bool:
        """Return true while the service answers the session's folder-trust dialog if it appears."""

    async def capture_screen(session_id: str) -> AgentScreen:
        """Capture the session's screen now.

        @raise ServiceError: 404: no such session; 409: it has no process, or is a shell; 422: the
            terminal did not answer, so the state is unknown.
        """

    async def wait_for_prompt(session_id: str, patience: float) -> None:
        """Wait until the agent is ready for a prompt.

        For an agent without a recognizable composer, a quiet screen without a dialog is enough.

        @param patience: maximum seconds to wait.
        @raise ServiceError: 404: no such session; 409: it has no process, or is a shell; 422: it
            was not ready in time, for the reason in the text.
        """

    def add_observer(observer: LookObserver) -> Callable[[], None]:
        """Call C{observer} with every capture of every session; the returned function unsubscribes.

        The screen is captured after output becomes quiet, periodically while it flows, and by
        L{capture_screen}. An exception of an observer is logged, and the other observers are still
        called.
        """

    def set_item_search(find_search: Callable[[str], Deferred[None] | None]) -> None:
        """Let the signal C{blocked} wait for C{find_search}.

        @param find_search: returns a Deferred that fires when the inbox has found the dialog of a
            session or has given up; C{None} if it does not search.
        """

    def get_screen_rules(mode: str) -> ScreenRules:
        """Return the rules for the screens of C{mode}; for an unknown mode, those of an unknown
        CLI.
        """

    def get_transcript_path(session_id: str) -> str | None:
        """Return the transcript file that the agent's hooks reported last, or C{None}.

        The path survives a restart of the service. It is untrusted: check its target before opening
        it.
        """

    def get_displayed_window(session_id: str) -> int | None:
        """Return the size of the model's context window in the last capture, in tokens; C{None} if
        the agent does not show it.
        """

    def get_plan_usage() -> PlanUsage | None:
        """Return the usage of the plan's limits (C{planUsage} of protocol-state); C{None} if
        unknown.

        The usage survives a restart of the service.
        """
