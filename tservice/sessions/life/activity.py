"""Activity source for programs about which nothing is known (protocol-status)."""

from __future__ import annotations

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from zope.interface import implementer

from tservice.clis.interfaces import CliKind, ICliRegistry
from tservice.core.kernel.timers import cancel_call
from tservice.mux.interface import IPane
from tservice.sessions.interfaces import ActivitySink, IActivitySource, IActivitySources
from tservice.sessions.record.model import Session

SHELL_IDLE = 0.5
"""Seconds from the start of a shell to its only C{idle} report."""
AGENT_IDLE = 3.0
"""Seconds after which a freshly started external CLI counts as idle."""


@implementer(IActivitySource)
class IdleAfterStart:
    """Activity source that reports C{idle} once after a fresh start, and nothing after an
    adoption.
    """

    def __init__(
        self, clock: IReactorTime, sink: ActivitySink, fresh: bool, seconds: float, reason: str
    ) -> None:
        self._clock = clock
        self._sink = sink
        self._fresh = fresh
        self._seconds = seconds
        self._reason = reason
        self._timer: IDelayedCall | None = None

    def start(self) -> None:
        if self._fresh:
            self._timer = self._clock.callLater(self._seconds, self._sink.report_idle, self._reason)

    def announce_submit(self, text: str | None) -> bool:
        """Return false, because the submitted work is not observed."""
        return False

    def stop(self) -> None:
        cancel_call(self._timer)
        self._timer = None


@implementer(IActivitySources)
class PlainSources:
    """Factory of activity sources that only report the start of a shell or an agent."""

    def __init__(self, clock: IReactorTime, clis: ICliRegistry) -> None:
        self._clock = clock
        self._clis = clis

    def make_source(
        self, session: Session, pane: IPane, sink: ActivitySink, fresh: bool, resumed: bool
    ) -> IActivitySource:
        entry = self._clis.get_entry(session.mode)
        if entry is not None and entry.kind is CliKind.SHELL:
            return IdleAfterStart(self._clock, sink, fresh, SHELL_IDLE, "the shell is up")
        return IdleAfterStart(self._clock, sink, fresh, AGENT_IDLE, "the agent was started")
