"""What other features know of the agents in the panes.

Hook events arrive as C{hook:<event>} of the event hub, payload C{{sessionId, at, data}}.  Each
dialog that hooks tell of is announced by one C{session:blocked}, however many speak of it.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from zope.interface import Interface

from tservice.agents.model import HookEvent, PlanUsage, Window
from tservice.terminal.dialogs import Dialog
from tservice.terminal.rules import ScreenRules
from tservice.terminal.screen import Frame
from tservice.terminal.status import Reading

__all__ = [
    "HookEvent",
    "IAgents",
    "Look",
    "LookObserver",
    "PlanUsage",
    "Window",
]


@frozen(kw_only=True)
class Look:
    """One look at a session's screen.

    @ivar at: Unix milliseconds when the frame was captured.
    @ivar reading: what C{frame} shows, by the rules of the session's mode.
    """

    session_id: str
    at: int
    frame: Frame
    reading: Reading


LookObserver = Callable[[Look], None]
"""Is told of every look that succeeded, whoever asked for it, after the activity was judged."""


class IAgents(Interface):
    """The agents of the running sessions.  Shells are none: nobody looks at their screens."""

    def dialog_of(session_id: str) -> Dialog | None:
        """The dialog that the last look saw; C{None} without one, also for unknown sessions."""

    async def look(session_id: str) -> Look:
        """Look at the screen now.

        @raise ServiceError: 404: no such session; 409: it has no process, or is a shell; 422: the
            terminal did not answer, so nothing is known.
        """

    async def ready(session_id: str, patience: float) -> None:
        """Return once the agent shows that it can be given a prompt.

        Of one whose composer nobody can recognise, a quiet screen without a dialog has to do.

        @param patience: seconds to wait for that.
        @raise ServiceError: 404: no such session; 409: it has no process, or is a shell; 422: it
            did not come to that in time, as the text says.
        """

    def observe(observer: LookObserver) -> Callable[[], None]:
        """Tell C{observer} of the looks at every session; the returned function ends it.

        A look is taken when output goes quiet, now and then while it flows, and when L{look} is
        called.  An observer that raises is logged and keeps nobody else from hearing.
        """

    def rules_of(mode: str) -> ScreenRules:
        """How the screens of C{mode} read; those of an unknown CLI where nobody knows."""

    def transcript_of(session_id: str) -> str | None:
        """The transcript file that the agent's hooks named last; kept over a restart.

        Untrusted: whoever opens it checks where it leads.
        """

    def plan_usage() -> PlanUsage | None:
        """What is used of the plan's limits (C{planUsage} of protocol-state); kept over a
        restart."""
