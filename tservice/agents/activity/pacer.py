"""Has a screen looked at when it pays: after output, after a hook, and in between."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.machine import Doing
from tservice.agents.activity.pace import SLACK, LastLook, Rhythm, next_look
from tservice.core.timers import Timers
from tservice.mux.outputlog import OutputLog


@frozen(kw_only=True)
class Stake:
    """What the pace follows beside the output; see L{LastLook}.

    @ivar doing: what the agent does.
    """

    doing: Doing
    calm_since: float | None
    unseen: bool
    pending: bool
    answer_by: float | None


class Pacer:
    """Arms one timer for the next look, anew whenever something changed that decides on it.

    @ivar rhythm: the times of the output.
    """

    def __init__(
        self,
        clock: IReactorTime,
        log: OutputLog,
        stake: Callable[[], Stake],
        look: Callable[[], None],
    ) -> None:
        """@param look: begins a look, if none is under way; L{looked} or L{failed} follows it."""
        now = clock.seconds()
        self.rhythm = Rhythm(begun=now, last=now)
        self._clock = clock
        self._log = log
        self._stake = stake
        self._look = look
        self._timers = Timers(clock)
        self._at = self._next = now
        self._failed = self._closed = False
        self._offset = -1
        self._unlisten = log.subscribe(self._printed)

    @property
    def current(self) -> bool:
        """Whether nothing was printed since the screen was captured."""
        return self._offset == self._log.end

    def captured(self, offset: int) -> None:
        """The screen was read; C{offset}: the log's end just before."""
        self._offset = offset

    def looked(self, *, failed: bool = False) -> None:
        """A look is over; L{arm} sets the next one."""
        self._at = self._clock.seconds()
        self._failed = failed

    def stir(self) -> None:
        """A hook counts as a sign of life: if nothing follows it, the silence is looked into."""
        self.rhythm = self.rhythm.printed(self._clock.seconds())
        self.arm()

    def arm(self) -> None:
        """Set the timer for the next look."""
        if self._closed:
            return
        self._timers.stop("look")
        at = self._due()
        if at is not None:
            self._next = at
            self._timers.set("look", max(0.0, at - self._clock.seconds()), self._tick)

    def close(self) -> None:
        """No look any more."""
        self._closed = True
        self._unlisten()
        self._timers.clear()

    def _printed(self) -> None:
        self.rhythm = self.rhythm.printed(self._clock.seconds())
        # A timer set while it was silent fires too late for what breaks the silence.
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
