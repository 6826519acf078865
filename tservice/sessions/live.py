"""One session in memory: its record and what belongs to it while the service runs."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, evolve, field
from twisted.internet.defer import DeferredLock

from tservice.mux.interface import Colours, IPane
from tservice.sessions.input.queue import InputQueue
from tservice.sessions.interfaces import IActivitySource
from tservice.sessions.lifecycle import Stage
from tservice.sessions.output.lastscreen import LastScreen
from tservice.sessions.record.model import Phase, Session
from tservice.sessions.record.viewport import Claims


def _nothing() -> None:
    """Nobody listens."""


@define(eq=False)
class Live:
    """A session.

    @ivar record: as on disk, but for what L{session} adds.
    @ivar stage: where its process stands.
    @ivar lock: held while it is started, stopped, deleted or taken up.
    @ivar pane: its pane while the service holds it, also once its process is over.
    @ivar unlisten: ends hearing of that pane.
    @ivar failures: when it last failed, Unix milliseconds; see L{tservice.sessions.life.breaker}.
    @ivar last_output: Unix milliseconds of the last byte it printed.
    @ivar colours: of each viewer that is connected, those of its terminal; as many as sockets.
    @ivar told_colours: what the pane says of its colours; C{None} where that is not known.
    @ivar last_screen: what its pane showed last, also once its host is out of reach.
    """

    record: Session
    stage: Stage
    inputs: InputQueue
    lock: DeferredLock = field(factory=DeferredLock)
    pane: IPane | None = None
    unlisten: Callable[[], None] = _nothing
    activity: IActivitySource | None = None
    failures: tuple[int, ...] = ()
    claims: Claims = field(factory=Claims)
    last_output: int = 0
    last_screen: LastScreen | None = None
    colours: dict[str, Colours] = field(factory=dict)
    told_colours: Colours | None = None

    @property
    def session(self) -> Session:
        """The record with what changes too often to be saved each time."""
        if self.last_output <= self.record.last_activity_at:
            return self.record
        return evolve(self.record, last_activity_at=self.last_output)

    @property
    def held_pane(self) -> IPane | None:
        """The pane, unless it was let go and is only kept aside."""
        return None if self.stage.phase is Phase.DETACHED else self.pane

    def forget_pane(self) -> IPane | None:
        """Stop hearing of the pane and of its activity; the pane itself is left as it is."""
        self.unlisten()
        self.unlisten = _nothing
        if self.activity is not None:
            self.activity.stop()
        self.activity = None
        pane, self.pane = self.pane, None
        return pane
