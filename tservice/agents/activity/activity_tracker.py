"""Tracker of one agent's activity by its hooks, its submissions and its screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.activity_machine import AT_REST, ActivityMachine, AgentState
from tservice.agents.activity.input_gate import PromptReadiness
from tservice.agents.activity.look_summary import CaptureSummary
from tservice.agents.activity.poll_schedule import (
    GRACE,
    CaptureContext,
    CaptureVerdict,
    PollSchedule,
    judge_capture,
)
from tservice.agents.activity.poll_timer import PollContext
from tservice.agents.activity.submission_end import PendingSubmission, is_submission_over
from tservice.agents.interfaces import AgentScreen
from tservice.clis.interfaces import SubmissionRules
from tservice.core.kernel.clock import get_unix_ms
from tservice.sessions.interfaces import ActivitySink, Session
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading


@frozen(kw_only=True)
class TrackedAgent:
    """Agent whose activity is tracked.

    @ivar session: returns the current record of the agent's session.
    @ivar rules: rules for reading the agent's screen.
    @ivar has_hooks: the agent reports by hooks. So its first idle state comes from its composer.
    @ivar submission: determines which inputs are prompts.
    @ivar has_answer: returns true if the agent's conversation contains an answer since a time (Unix
        milliseconds); C{None} if the agent stores no readable conversation.
    """

    session: Callable[[], Session]
    rules: ScreenRules
    has_hooks: bool
    submission: SubmissionRules
    has_answer: Callable[[int], Awaitable[bool]] | None

    def expects_answer(self, text: str | None) -> bool:
        """Return true if the agent's conversation will contain an answer to the submission.

        @param text: the submitted prompt; C{None} if a user pressed a key.
        """
        said = (
            text is not None
            and text.strip() != ""
            and not self.submission.is_cli_or_shell_command(text)
        )
        return said and self.has_answer is not None


class ActivityTracker:
    """Tracker that combines the evidence about one run of an agent for its L{ActivityMachine}."""

    def __init__(
        self,
        clock: IReactorTime,
        agent: TrackedAgent,
        readiness: PromptReadiness,
        course: ActivityMachine,
        sink: ActivitySink,
        record_activity: Callable[[], None],
        on_turn_hook: Callable[[], None] = lambda: None,
    ) -> None:
        """@param course: the state machine that receives the evidence.
        @param sink: receives new reasons while the state stays the same.
        @param record_activity: called for each hook that shows that a turn runs.
        @param on_turn_hook: called for each hook that concerns a turn.
        """
        self._clock = clock
        self._agent = agent
        self._readiness = readiness
        self._course = course
        self._sink = sink
        self._stir = record_activity
        self._heard = on_turn_hook
        self._seen = CaptureSummary(rules=agent.rules, hooks=agent.has_hooks)
        self._submission: PendingSubmission | None = None
        self._aside = False
        self._stopped: float | None = None
        self._told_at = 0
        self._rested = get_unix_ms(clock)

    @property
    def state(self) -> AgentState:
        """Current state of the agent."""
        return self._course.state

    @property
    def is_idle(self) -> bool:
        """True if no turn runs."""
        return self.state in AT_REST

    @property
    def poll_context(self) -> PollContext:
        """Facts that determine when the screen is captured next."""
        pending, doing = self._submission is not None, self.state
        untold = self._agent.has_hooks and doing is AgentState.WORKING and not self._seen.at_work
        return PollContext(
            state=doing,
            calm_since=self._seen.calm_since,
            unseen=pending or untold,
            pending=pending,
            answer_by=None if self._submission is None else self._submission.answer_deadline,
        )

    @property
    def unanswered_since(self) -> int | None:
        """Time of the submission whose answer is awaited, in Unix milliseconds, or C{None}."""
        submission = self._submission
        return (
            None if submission is None or submission.answer_deadline is None else submission.since
        )

    # -- submissions, and the start

    def record_submission(self, text: str | None) -> None:
        """Record that Enter was pressed to submit input to the agent.

        @param text: the prompt; C{None} for a key whose effect is unknown.
        """
        self._submission = PendingSubmission(
            at=self._clock.seconds(),
            since=get_unix_ms(self._clock),
            expects_answer=self._agent.expects_answer(text),
        )

    def adopt_submission(self, since: int) -> None:
        """Track a submission that was made before the service started.

        @param since: time of its Enter, in Unix milliseconds.
        """
        ago = max(0.0, (get_unix_ms(self._clock) - since) / 1000)
        self._submission = PendingSubmission(
            at=self._clock.seconds() - ago,
            since=since,
            expects_answer=self._agent.has_answer is not None,
            is_adopted=True,
        )

    def record_answer(self, since: int) -> None:
        """Record that the agent's conversation contains an answer to a submission.

        @param since: time of the submission's Enter, in Unix milliseconds.
        """
        submission = self._submission
        if submission is not None and submission.since == since:
            self._submission = evolve(submission, has_answer=True)

    def record_startup(self, reading: ScreenReading | None) -> None:
        """Record that the time in which a new agent starts is over.

        @param reading: interpretation of the last capture; C{None} if there was none.
        """
        told = reading is not None and (reading.dialog is not None or self._readiness.is_ready)
        self._course.evidence.startup_time_over(
            reading.evidence if reading and told else "the agent was started"
        )

    # -- reports of hooks

    def record_turn_start(self, reason: str) -> None:
        """Record the start of a turn."""
        self._heard()
        self._submission = None
        self._stopped = None
        self._told_at = get_unix_ms(self._clock)
        self._seen = self._seen.start_turn()
        self._course.evidence.turn_started(reason)
        self._stir()

    def record_turn_end(self, reason: str) -> None:
        """Record the end of the turn."""
        self._heard()
        self._stopped = self._clock.seconds()
        self._told_at = get_unix_ms(self._clock)
        self._course.evidence.turn_stopped(reason)
        self.record_command_end(reason)

    def record_command_end(self, reason: str) -> None:
        """Record the end of the last submission, which started no turn."""
        if self._submission is not None and self.is_idle:
            self._submission = None
            self._course.evidence.command_ended(reason)

    def record_dialog(self, reason: str) -> None:
        """Record that a dialog waits for an answer."""
        self._heard()
        self._told_at = get_unix_ms(self._clock)
        self._course.evidence.dialog_shown(reason)
        self._stir()

    def record_dialog_answer(self, reason: str) -> None:
        """Record that the agent's dialog was answered.

        @param reason: how this was noticed, for the record of the change.
        """
        self._heard()
        self._course.evidence.dialog_answered(reason)
        self._stir()

    def record_action(self, reason: str) -> None:
        """Record an action of the agent, even if no prompt started the turn.

        While a dialog waits, another tool may run in parallel. Its action is no answer to the
        dialog.
        """
        self._heard()
        if self.state is AgentState.WORKING:
            self._sink.report_evidence(reason)
        elif self.state is AgentState.IDLE:
            self.record_turn_start(reason)

    def record_idle(self, reason: str) -> None:
        """Record that the agent waits for its next prompt."""
        self._course.evidence.screen_shows_idle(reason)

    # -- reports of a channel

    def record_channel_status(self, doing: AgentState, since: int, reason: str) -> None:
        """Record a state that the agent reports beside its hooks.

        A state from before the last hook about the turn is ignored.

        @param since: time at which the agent entered the state, in Unix milliseconds.
        """
        if since < self._told_at or self.state in (doing, AgentState.STARTING):
            return
        tell, was = self._course.evidence, self.state
        if doing is AgentState.WORKING:
            self._submission = None  # its turn may end before the next capture
        if doing is AgentState.IDLE:
            # The screen may show the turn for a moment longer.
            self._stopped = self._clock.seconds()
            self._rested = get_unix_ms(self._clock)
            tell.screen_shows_idle(reason)
        elif doing is AgentState.BLOCKED:
            tell.dialog_shown(reason)
        elif was is AgentState.BLOCKED:
            tell.dialog_answered(reason)
        else:
            self._stopped = None
            tell.screen_shows_work(reason)
        self._stir()

    # -- results of looks

    def handle_screen(
        self, look: AgentScreen, title: str, begun: float, rhythm: PollSchedule
    ) -> None:
        """Update the state from a capture of the screen.

        @param title: the pane's title at the time of the capture.
        @param begun: when the capture was requested, in the clock's seconds.
        @param rhythm: the times of the pane's output.
        """
        at_rest = self.is_idle
        self._seen = self._seen.after_capture(
            look.reading, title, self.state, self._clock.seconds()
        )
        self._apply_screen_verdict(look.reading, rhythm)
        self._update_submission(look, begun, rhythm)
        if at_rest:
            self._report_idle_dialog(look.reading)

    def record_failed_capture(self) -> None:
        """Record that a capture of the screen failed."""
        self._seen = self._seen.after_failed_capture()

    def _apply_screen_verdict(self, reading: ScreenReading, rhythm: PollSchedule) -> None:
        now, doing = self._clock.seconds(), self.state
        scene = CaptureContext(
            state=doing,
            is_silent=rhythm.is_silent(now) or self._seen.proves_idle_like_silence(now),
            is_sustained=rhythm.has_sustained_output(),
            has_submission=(self._agent.session().last_submit_at or 0) >= self._rested,
            shows_rest=self._seen.can_show_idle,
        )
        found = judge_capture(reading, self._agent.rules, scene)
        if found is None:
            return
        verdict, reason = found
        tell = self._course.evidence
        if verdict is CaptureVerdict.ASKED and doing is not AgentState.STARTING:
            tell.dialog_shown(reason)
        elif verdict is CaptureVerdict.WORKING and not self._is_in_stop_grace(now):
            tell.screen_shows_work(reason)
        elif verdict is CaptureVerdict.IDLE and (
            doing is not AgentState.STARTING or self._agent.has_hooks
        ):
            tell.screen_shows_idle(reason)
            self._rested = get_unix_ms(self._clock)

    def _is_in_stop_grace(self, now: float) -> bool:
        return self._stopped is not None and now - self._stopped < GRACE

    def _update_submission(self, look: AgentScreen, begun: float, rhythm: PollSchedule) -> None:
        """Update the last submission from a capture that was requested after its Enter.

        An earlier capture has no effect.
        """
        submission = self._submission
        if submission is None or begun < submission.at:
            return
        if self.state in (AgentState.WORKING, AgentState.BLOCKED):
            self._submission = None
            return
        submission = submission.after_capture(
            look.reading.state == "idle" and self._seen.can_show_idle
        )
        over = is_submission_over(
            submission, look, self._agent.rules, rhythm, self._clock.seconds()
        )
        self._submission = None if over else submission
        if over:
            # A hook would have reported a turn, unless the service was down.
            turn = not self._agent.has_hooks or (submission.is_adopted and submission.has_answer)
            tell = (
                self._course.evidence.unseen_turn_ended
                if turn
                else self._course.evidence.command_ended
            )
            tell(look.reading.evidence)
            self._rested = get_unix_ms(self._clock)

    def _report_idle_dialog(self, reading: ScreenReading) -> None:
        """Report a dialog that the agent shows outside a turn, and the end of that dialog.

        For an agent without hooks, report its composer too, because nothing else shows that the
        agent is ready.
        """
        dialog = reading.dialog is not None
        told = dialog or (reading.state == "idle" and self._readiness.is_ready)
        if not self.is_idle or not told:
            return
        if dialog or self._aside or not self._agent.has_hooks:
            self._sink.report_evidence(reading.evidence)
        self._aside = dialog
