"""Scheduler that captures the screen after output, after hooks, and in between."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.activity_machine import AgentState
from tservice.agents.activity.poll_schedule import (
    SLACK,
    LastCapture,
    PollSchedule,
    compute_next_capture,
)
from tservice.core.kernel.timers import NamedTimers
from tservice.mux.outputlog import OutputLog


@frozen(kw_only=True)
class PollContext:
    """Facts, other than the output, that determine the time of the next capture; see
    L{LastCapture}.

    @ivar state: the state of the agent.
    """

    state: AgentState
    calm_since: float | None
    unseen: bool
    pending: bool
    answer_by: float | None


class PollTimer:
    """Timer of the next capture, which is set again whenever a relevant fact changes.

    @ivar rhythm: the times of the pane's output.
    """

    def __init__(
        self,
        clock: IReactorTime,
        log: OutputLog,
        stake: Callable[[], PollContext],
        look: Callable[[], None],
    ) -> None:
        """@param log: the output of the pane.
        @param stake: returns the facts that determine the time of the next capture.
        @param look: begins a capture, unless one is under way. A call of L{record_capture_end} must
            follow.
        """
        now = clock.seconds()
        self.rhythm = PollSchedule(begun=now, last=now)
        self._clock = clock
        self._log = log
        self._stake = stake
        self._look = look
        self._timers = NamedTimers(clock)
        self._at = self._next = now
        self._failed = self._closed = False
        self._offset = -1
        self._unlisten = log.subscribe(self._reschedule_after_output)

    @property
    def is_current(self) -> bool:
        """True if nothing has been printed since the screen was captured."""
        return self._offset == self._log.end

    def record_capture(self, offset: int) -> None:
        """Record a successful capture.

        @param offset: the end of the output log just before the capture.
        """
        self._offset = offset

    def record_capture_end(self, *, failed: bool = False) -> None:
        """Record the end of a capture; call L{arm_timer} to schedule the next one."""
        self._at = self._clock.seconds()
        self._failed = failed

    def record_activity(self) -> None:
        """Treat a hook like output, so that the silence after it leads to a capture."""
        self.rhythm = self.rhythm.after_output(self._clock.seconds())
        self.arm_timer()

    def arm_timer(self) -> None:
        """Set the timer for the next capture."""
        if self._closed:
            return
        self._timers.cancel_timer("look")
        at = self._compute_due_time()
        if at is not None:
            self._next = at
            self._timers.schedule_call(
                "look", max(0.0, at - self._clock.seconds()), self._run_due_capture
            )

    def close(self) -> None:
        """Stop capturing the screen."""
        self._closed = True
        self._unlisten()
        self._timers.cancel_all()

    def _reschedule_after_output(self) -> None:
        self.rhythm = self.rhythm.after_output(self._clock.seconds())
        # A timer set during silence fires too late for output that breaks the silence.
        at = self._compute_due_time()
        if "look" not in self._timers or (at is not None and at < self._next - SLACK):
            self.arm_timer()

    def _compute_due_time(self) -> float | None:
        stake = self._stake()
        looked = LastCapture(
            at=self._at,
            is_current=self.is_current,
            has_failed=self._failed,
            calm_since=stake.calm_since,
            unseen=stake.unseen,
            pending=stake.pending,
            answer_by=stake.answer_by,
        )
        return compute_next_capture(self.rhythm, looked, stake.state)

    def _run_due_capture(self) -> None:
        at = self._compute_due_time()
        if at is not None and at > self._clock.seconds() + SLACK:
            self.arm_timer()
        else:
            self._look()
