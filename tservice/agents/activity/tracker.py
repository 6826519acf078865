"""Tracker of one agent's activity, by hooks, submissions and screens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.gate import Readiness
from tservice.agents.activity.machine import Course, Doing
from tservice.agents.activity.pace import GRACE, LookVerdict, Rhythm, Scene, judge
from tservice.agents.activity.pacer import Stake
from tservice.agents.activity.seen import SeenLooks
from tservice.agents.activity.submits import PendingSubmit, is_over
from tservice.agents.interfaces import Look
from tservice.clis.interfaces import SubmissionRules
from tservice.core.clock import now_ms
from tservice.sessions.interfaces import ActivitySink, Session
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading

_AT_REST = (Doing.STARTING, Doing.IDLE)


@frozen(kw_only=True)
class Tracked:
    """Agent to track.

    @ivar session: returns the current record of its session.
    @ivar hooks: it reports by hooks, so its first idle is that of its composer.
    @ivar submission: its handling of prompts.
    @ivar answered: returns true if its conversation contains an answer since a time (Unix
        milliseconds); C{None} if it stores no readable conversation.
    """

    session: Callable[[], Session]
    rules: ScreenRules
    hooks: bool
    submission: SubmissionRules
    answered: Callable[[int], Awaitable[bool]] | None

    def answers(self, text: str | None) -> bool:
        """Return true if its conversation will contain an answer to the submission.

        @param text: a prompt; C{None} if a user pressed a key.
        """
        said = text is not None and text.strip() != "" and not self.submission.is_not_prompt(text)
        return said and self.answered is not None


class Tracker:
    """Combines the evidence of one run and moves its L{Course}."""

    def __init__(
        self,
        clock: IReactorTime,
        agent: Tracked,
        readiness: Readiness,
        course: Course,
        sink: ActivitySink,
        stir: Callable[[], None],
        heard: Callable[[], None] = lambda: None,
    ) -> None:
        """@param stir: called for each hook that shows an agent in a turn.
        @param heard: called for each hook that concerns a turn.
        """
        self._clock = clock
        self._agent = agent
        self._readiness = readiness
        self._course = course
        self._sink = sink
        self._stir = stir
        self._heard = heard
        self._seen = SeenLooks(rules=agent.rules, hooks=agent.hooks)
        self._submission: PendingSubmit | None = None
        self._aside = False
        self._stopped: float | None = None
        self._rested = now_ms(clock)

    @property
    def doing(self) -> Doing:
        """State of the agent."""
        return self._course.doing

    @property
    def at_rest(self) -> bool:
        """True if no turn runs."""
        return self.doing in _AT_REST

    @property
    def stake(self) -> Stake:
        """Facts that determine the next look."""
        pending, doing = self._submission is not None, self.doing
        untold = self._agent.hooks and doing is Doing.WORKING and not self._seen.at_work
        return Stake(
            doing=doing,
            calm_since=self._seen.calm_since,
            unseen=pending or untold,
            pending=pending,
            answer_by=None if self._submission is None else self._submission.answer_by,
        )

    @property
    def unanswered_since(self) -> int | None:
        """Time of the submission whose answer is awaited, in Unix milliseconds."""
        submission = self._submission
        return None if submission is None or submission.answer_by is None else submission.since

    # -- submissions, and the start

    def submitted(self, text: str | None) -> None:
        """Record an Enter for something that the agent will take.

        @param text: a prompt; C{None} for a key whose submission is unknown.
        """
        self._submission = PendingSubmit(
            at=self._clock.seconds(),
            since=now_ms(self._clock),
            answerable=self._agent.answers(text),
        )

    def take_up(self, since: int) -> None:
        """Track a submission from before the service started, at C{since} (Unix milliseconds)."""
        ago = max(0.0, (now_ms(self._clock) - since) / 1000)
        self._submission = PendingSubmit(
            at=self._clock.seconds() - ago,
            since=since,
            answerable=self._agent.answered is not None,
            taken_up=True,
        )

    def answer_came(self, since: int) -> None:
        """Record that the agent's conversation contains an answer to the submission of C{since}."""
        submission = self._submission
        if submission is not None and submission.since == since:
            self._submission = evolve(submission, answered=True)

    def came_up(self, reading: ScreenReading | None) -> None:
        """Record that a fresh agent had its time to start; C{reading} is that of the last look."""
        told = reading is not None and (reading.dialog is not None or self._readiness.ready)
        self._course.tell.settled(reading.evidence if reading and told else "the agent was started")

    # -- reports of hooks

    def prompted(self, reason: str) -> None:
        """Record the start of a turn."""
        self._heard()
        self._submission = None
        self._stopped = None
        self._seen = self._seen.turn_began()
        self._course.tell.prompted(reason)
        self._stir()

    def stopped(self, reason: str) -> None:
        """Record the end of the turn."""
        self._heard()
        self._stopped = self._clock.seconds()
        self._course.tell.stopped(reason)
        self.carried_out(reason)

    def carried_out(self, reason: str) -> None:
        """Record the end of the last submission, which is no turn."""
        if self._submission is not None and self.at_rest:
            self._submission = None
            self._course.tell.done(reason)

    def asked(self, reason: str) -> None:
        """Record a waiting dialog."""
        self._heard()
        self._course.tell.asked(reason)
        self._stir()

    def answered(self, reason: str) -> None:
        """Record an answer to the dialog."""
        self._heard()
        self._course.tell.answered(reason)
        self._stir()

    def acts(self, reason: str) -> None:
        """Record an action of the agent, also in a turn that no prompt began.

        While a dialog waits, another tool may run in parallel: that is no answer.
        """
        self._heard()
        if self.doing is Doing.WORKING:
            self._sink.report_evidence(reason)
        elif self.doing is Doing.IDLE:
            self.prompted(reason)

    def resting(self, reason: str) -> None:
        """Record that the agent waits for its next prompt."""
        self._course.tell.seen_idle(reason)

    # -- results of looks

    def saw(self, look: Look, title: str, begun: float, rhythm: Rhythm) -> None:
        """Update the state by a look.

        @param title: the pane's title at that moment.
        @param begun: when the look was begun, in the clock's seconds.
        """
        at_rest = self.at_rest
        self._seen = self._seen.looked(look.reading, title, self.doing, self._clock.seconds())
        self._weigh(look.reading, rhythm)
        self._follow(look, begun, rhythm)
        if at_rest:
            self._tell_of_rest(look.reading)

    def missed(self) -> None:
        """Record a failed look."""
        self._seen = self._seen.missed()

    def _weigh(self, reading: ScreenReading, rhythm: Rhythm) -> None:
        now, doing = self._clock.seconds(), self.doing
        scene = Scene(
            doing=doing,
            silent=rhythm.silent(now) or self._seen.settled(now),
            sustained=rhythm.sustained(),
            submitted=(self._agent.session().last_submit_at or 0) >= self._rested,
            rests=self._seen.rests,
        )
        found = judge(reading, self._agent.rules, scene)
        if found is None:
            return
        verdict, reason = found
        tell = self._course.tell
        if verdict is LookVerdict.ASKED and doing is not Doing.STARTING:
            tell.asked(reason)
        elif verdict is LookVerdict.WORKING and not self._in_grace(now):
            tell.seen_working(reason)
        elif verdict is LookVerdict.IDLE and (doing is not Doing.STARTING or self._agent.hooks):
            tell.seen_idle(reason)
            self._rested = now_ms(self._clock)

    def _in_grace(self, now: float) -> bool:
        return self._stopped is not None and now - self._stopped < GRACE

    def _follow(self, look: Look, begun: float, rhythm: Rhythm) -> None:
        """Update the last submission by this look; a look that was begun before it has no
        effect.
        """
        submission = self._submission
        if submission is None or begun < submission.at:
            return
        if self.doing in (Doing.WORKING, Doing.BLOCKED):
            self._submission = None
            return
        submission = submission.looked(look.reading.state == "idle" and self._seen.rests)
        over = is_over(submission, look, self._agent.rules, rhythm, self._clock.seconds())
        self._submission = None if over else submission
        if over:
            # A hook would have reported a turn, unless the service was down.
            turn = not self._agent.hooks or (submission.taken_up and submission.answered)
            tell = self._course.tell.passed if turn else self._course.tell.done
            tell(look.reading.evidence)
            self._rested = now_ms(self._clock)

    def _tell_of_rest(self, reading: ScreenReading) -> None:
        """Report a dialog that an agent at rest shows outside a turn, and the end of that dialog.

        For an agent without hooks, report its composer too, because nothing else shows that it is
        ready.
        """
        dialog = reading.dialog is not None
        told = dialog or (reading.state == "idle" and self._readiness.ready)
        if not self.at_rest or not told:
            return
        if dialog or self._aside or not self._agent.hooks:
            self._sink.report_evidence(reading.evidence)
        self._aside = dialog
