"""Scheduler of looks: after output, after a hook, and in between."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.machine import Doing
from tservice.agents.activity.pace import SLACK, LastLook, Rhythm, next_look
from tservice.core.timers import NamedTimers
from tservice.mux.outputlog import OutputLog


@frozen(kw_only=True)
class Stake:
    """Facts, other than the output, that determine the pace; see L{LastLook}.

    @ivar doing: the state of the agent.
    """

    doing: Doing
    calm_since: float | None
    unseen: bool
    pending: bool
    answer_by: float | None


class Pacer:
    """Timer of the next look, which is set again whenever a relevant fact changes.

    @ivar rhythm: the times of the output.
    """

    def __init__(
        self,
        clock: IReactorTime,
        log: OutputLog,
        stake: Callable[[], Stake],
        look: Callable[[], None],
    ) -> None:
        """@param look: begins a look, unless one is under way; a call of L{looked} or L{failed}
        follows.
        """
        now = clock.seconds()
        self.rhythm = Rhythm(begun=now, last=now)
        self._clock = clock
        self._log = log
        self._stake = stake
        self._look = look
        self._timers = NamedTimers(clock)
        self._at = self._next = now
        self._failed = self._closed = False
        self._offset = -1
        self._unlisten = log.subscribe(self._printed)

    @property
    def current(self) -> bool:
        """True if nothing was printed since the screen was captured."""
        return self._offset == self._log.end

    def captured(self, offset: int) -> None:
        """Record a capture; C{offset} is the log's end just before."""
        self._offset = offset

    def looked(self, *, failed: bool = False) -> None:
        """Record the end of a look; L{arm} schedules the next one."""
        self._at = self._clock.seconds()
        self._failed = failed

    def stir(self) -> None:
        """Treat a hook as output: if nothing follows it, the silence leads to a look."""
        self.rhythm = self.rhythm.printed(self._clock.seconds())
        self.arm()

    def arm(self) -> None:
        """Set the timer for the next look."""
        if self._closed:
            return
        self._timers.cancel_timer("look")
        at = self._due()
        if at is not None:
            self._next = at
            self._timers.schedule_call("look", max(0.0, at - self._clock.seconds()), self._tick)

    def close(self) -> None:
        """Stop looking."""
        self._closed = True
        self._unlisten()
        self._timers.cancel_all()

    def _printed(self) -> None:
        self.rhythm = self.rhythm.printed(self._clock.seconds())
        # A timer set during silence fires too late for output that breaks the silence.
        at = self._due()
        if "look" not in self._timers or (at is not None and at < self._next - SLACK):
            self.arm()

    def _due(self) -> float | None:
        stake = self._stake()
        looked = LastLook(
            at=self._at,
            current=self.current,
            failed=self._failed,
            calm_since=stake.calm_since,
            unseen=stake.unseen,
            pending=stake.pending,
            answer_by=stake.answer_by,
        )
        return next_look(self.rhythm, looked, stake.doing)

    def _tick(self) -> None:
        at = self._due()
        if at is not None and at > self._clock.seconds() + SLACK:
            self.arm()
        else:
            self._look()
