"""Session in memory: its record and the objects that exist while the service runs."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, evolve, field
from twisted.internet.defer import DeferredLock

from tservice.mux.interface import IPane, TerminalColours
from tservice.sessions.input.accept.input_queue import InputQueue
from tservice.sessions.interfaces import IActivitySource
from tservice.sessions.lifecycle import SessionLifecycle
from tservice.sessions.output.last_screen import LastScreen
from tservice.sessions.record.model import ProcessPhase, Session
from tservice.sessions.record.viewport import SizeClaims


def _unlisten_nothing() -> None:
    """Do nothing. This is the initial value of L{LiveSession.unlisten}."""


@define(eq=False)
class LiveSession:
    """Session in memory.

    @ivar record: the record as on disk. L{session} adds values that are not saved at each change.
    @ivar lifecycle: the lifecycle of the session's process.
    @ivar lock: held while the process is started, stopped, deleted or adopted.
    @ivar pane: the pane while the service is attached to it, even after its process ended.
    @ivar unlisten: unsubscribes from the pane's events.
    @ivar failures: times of the last failures in Unix milliseconds; see
        L{tservice.sessions.life.exit_breaker}.
    @ivar last_output: time of the last output in Unix milliseconds.
    @ivar colours: the terminal colours of each connected viewer, by client id of its socket.
    @ivar reported_colours: the colours that the pane reports to programs; C{None} if not known.
    @ivar last_screen: keeper of the pane's last screen for the time when its host is out of reach.
    """

    record: Session
    lifecycle: SessionLifecycle
    inputs: InputQueue
    lock: DeferredLock = field(factory=DeferredLock)
    pane: IPane | None = None
    unlisten: Callable[[], None] = _unlisten_nothing
    activity: IActivitySource | None = None
    failures: tuple[int, ...] = ()
    claims: SizeClaims = field(factory=SizeClaims)
    last_output: int = 0
    last_screen: LastScreen | None = None
    colours: dict[str, TerminalColours] = field(factory=dict)
    reported_colours: TerminalColours | None = None

    @property
    def session(self) -> Session:
        """Record with the values that change too often to be saved each time."""
        if self.last_output <= self.record.last_activity_at:
            return self.record
        return evolve(self.record, last_activity_at=self.last_output)

    @property
    def attached_pane(self) -> IPane | None:
        """The pane; C{None} if it was detached and is only kept for the next start."""
        return None if self.lifecycle.phase is ProcessPhase.DETACHED else self.pane

    def detach_pane(self) -> IPane | None:
        """Unsubscribe from the pane and its activity, and return the pane unchanged."""
        self.unlisten()
        self.unlisten = _unlisten_nothing
        if self.activity is not None:
            self.activity.stop()
        self.activity = None
        pane, self.pane = self.pane, None
        return pane
