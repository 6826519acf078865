"""Watches one agent's pane: looks at the screen when it pays, and moves its activity."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from attrs import evolve, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.activity.gate import BLIND, SETTLE, SETTLE_UNTOLD, Readiness
from tservice.agents.activity.machine import Course, Doing
from tservice.agents.activity.pace import (
    CALM,
    GRACE,
    SLACK,
    STREAK,
    Looked,
    Rhythm,
    Scene,
    Verdict,
    judge,
    next_look,
    shows_the_end,
    tells_rest,
)
from tservice.agents.activity.submits import Submission, is_over, submits
from tservice.agents.activity.trust import TrustAnswer
from tservice.agents.interfaces import Look
from tservice.core.clock import now_ms
from tservice.core.errors import ServiceError, conflict, failed
from tservice.core.tasks import spawn
from tservice.mux.interface import IPane, MuxError, PaneGone
from tservice.sessions.interfaces import ActivitySink, IActivitySource, Session, Status
from tservice.terminal.rules import ScreenRules
from tservice.terminal.screen import Frame
from tservice.terminal.status import Reading, read

START_IDLE = 3.0
"""Seconds after a fresh start when an external CLI counts as idle (protocol-status)."""


@frozen(kw_only=True)
class Subject:
    """What a watch knows of its session.

    @ivar session: the record, asked afresh each time.
    @ivar hooks: the agent tells of itself by hooks, so its first idle is its composer's; of the
        others it is told after L{START_IDLE}.
    @ivar trust: the folder-trust dialog is to be answered.
    @ivar seen: told of each look that succeeded.
    @ivar over: told once when watching ends.
    """

    session: Callable[[], Session]
    rules: ScreenRules
    hooks: bool
    trust: bool
    seen: Callable[[Look], None]
    over: Callable[[], None]


@implementer(IActivitySource)
class AgentWatch:
    """The activity source of one run of an agent.

    @ivar last: the last look that succeeded.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, subject: Subject) -> None:
        self._clock = clock
        self._subject = subject
        self._rules = subject.rules
        self._timers: dict[str, IDelayedCall] = {}
        self._unlisten: Callable[[], None] | None = None
        self._work: list[Deferred[None]] = []
        self._looking = False
        self._telling = False
        self.last: Look | None = None

    # -- as the sessions see it

    def start(self, pane: IPane, sink: ActivitySink, fresh: bool) -> None:
        now = self._clock.seconds()
        busy = self._subject.session().status is Status.BUSY
        begin = Doing.STARTING if fresh else Doing.WORKING if busy else Doing.IDLE
        self._pane = pane
        self._course = Course(sink, begin)
        self._sink = sink
        self._aside = False
        self._rhythm = Rhythm(begun=now, last=now)
        self._looked = Looked(at=now, current=False)
        self._offset = -1
        self._stopped: float | None = None
        self._at_work = False
        self._title = ""
        self._titled = False
        self._submission: Submission | None = None
        self._next = now
        self._rested = now_ms(self._clock)
        self.readiness = Readiness(
            self._clock,
            self._rules,
            fresh=fresh,
            prompted=self._subject.session().last_submit_at is not None,
            settle=SETTLE if self._subject.hooks else SETTLE_UNTOLD,
        )
        self._unlisten = pane.log.subscribe(self._printed)
        if fresh and not self._subject.hooks:
            self._after("start", START_IDLE, self._came_up)
        if not self.readiness.knowable:
            self._after("blind", BLIND, self._look_soon)
        if self._subject.trust:
            answer = TrustAnswer(self._clock, pane, self._rules, self.readiness, self.look)
            self._spawn(answer.run(), "answering the trust dialog")
        self._arm()

    def submitting(self, prompt: bool) -> None:
        if self._unlisten is None:
            return
        printed = self._offset != self._pane.log.end
        if submits(prompt, self.last, self._rules, printed=printed):
            self._submission = Submission(at=self._clock.seconds())

    def stop(self) -> None:
        if self._unlisten is None:
            return
        self._unlisten()
        self._unlisten = None
        self._course.tell.ended()
        self.readiness.close()
        for call in self._timers.values():
            call.cancel()
        self._timers.clear()
        # What tells of a look cannot be cancelled by whoever it tells; it ends by itself.
        for work in () if self._telling else tuple(self._work):
            work.cancel()
        self._subject.over()

    # -- as the hooks and other features see it

    @property
    def doing(self) -> Doing:
        """What the agent does."""
        return self._course.doing

    def prompted(self, reason: str) -> None:
        """A hook: a turn began."""
        self._submission = None
        self._stopped = None
        self._at_work = False
        self._course.tell.prompted(reason)
        self._stir()

    def stopped(self, reason: str) -> None:
        """A hook: the turn is over."""
        self._stopped = self._clock.seconds()
        self._course.tell.stopped(reason)
        self.carried_out(reason)

    def carried_out(self, reason: str) -> None:
        """A hook: what was submitted last, which is no turn, is over."""
        if self._submission is not None and self._course.doing in (Doing.STARTING, Doing.IDLE):
            self._submission = None
            self._course.tell.done(reason)

    def asked(self, reason: str) -> None:
        """A hook: a dialog waits."""
        self._course.tell.asked(reason)
        self._stir()

    def answered(self, reason: str) -> None:
        """A hook: the dialog was answered."""
        self._course.tell.answered(reason)
        self._stir()

    def acts(self, reason: str) -> None:
        """A hook: the agent does something; also in a turn that no prompt began.

        While a dialog waits another tool may run beside it: that is no answer.
        """
        if self._course.doing is Doing.WORKING:
            self._sink.noted(reason)
        elif self._course.doing is Doing.IDLE:
            self.prompted(reason)

    def resting(self, reason: str) -> None:
        """A hook: the agent waits for its next prompt."""
        self._course.tell.seen_idle(reason)

    async def look(self) -> Look:
        """Look now, and let everything know what was seen.

        @raise ServiceError: 409: the process is gone; 422: it cannot be read now.
        """
        begun = self._clock.seconds()
        try:
            capture = await self._pane.capture()
        except PaneGone as error:
            raise conflict("the session has no process") from error
        except MuxError as error:
            self._note(failed=True)
            raise failed(f"the screen cannot be read: {error}") from error
        self._offset = capture.offset
        self._title = capture.title
        frame = Frame.from_capture(b"\n".join(capture.lines[capture.history :]), capture.cols)
        look = Look(
            session_id=self._subject.session().id,
            at=now_ms(self._clock),
            frame=frame,
            # Not the pane's: that one was read at another moment.
            reading=read(frame, capture.title, self._rules),
        )
        if self._unlisten is not None:
            self._took(look, begun)
        return look

    # -- inside

    def _took(self, look: Look, begun: float) -> None:
        self.last = look
        self._titled = self._titled or self._tells_work(self._title)
        quiet = self._rhythm.settled(self._clock.seconds())
        self._count(look)
        self._telling = True
        try:
            self.readiness.saw(look, quiet=quiet)
            at_rest = self._course.doing in (Doing.STARTING, Doing.IDLE)
            self._weigh(look)
            self._follow(look, begun)
            if at_rest:
                self._tell_of_rest(look.reading)
            self._subject.seen(look)
        finally:
            self._telling = False
        self._arm()

    def _count(self, look: Look) -> None:
        """What this look and those before it show together."""
        reading, doing, now = look.reading, self._course.doing, self._clock.seconds()
        if reading.working or reading.dialog is not None:
            self._at_work = True
        counts = reading.state == "idle" and doing is Doing.WORKING
        ended = (
            self._subject.hooks
            and self._at_work
            and doing in (Doing.WORKING, Doing.BLOCKED)
            and shows_the_end(reading, self._rules, self._title)
        )
        since = self._looked.calm_since
        self._note(
            streak=self._looked.streak + 1 if counts and self._tells_rest() else 0,
            calm_since=(now if since is None else since) if ended else None,
        )

    def _tells_work(self, title: str) -> bool:
        pattern = self._rules.working_title
        return pattern is not None and pattern.search(title) is not None

    def _tells_rest(self) -> bool:
        return tells_rest(self._rules, self._titled)

    def _follow(self, look: Look, begun: float) -> None:
        """What this look shows of the last Enter; one that was begun before it shows nothing."""
        submission, now = self._submission, self._clock.seconds()
        if submission is None or begun < submission.at:
            return
        if self._course.doing in (Doing.WORKING, Doing.BLOCKED):
            self._submission = None
            return
        at_rest = look.reading.state == "idle" and self._tells_rest()
        self._submission = submission.looked(at_rest)
        if is_over(self._submission, look, self._rules, self._rhythm, now):
            self._submission = None
            tell = self._course.tell
            over = tell.done if self._subject.hooks else tell.passed
            over(look.reading.evidence)
            self._rested = now_ms(self._clock)

    def _calm(self, now: float) -> bool:
        since = self._looked.calm_since
        return since is not None and now >= since + CALM - SLACK

    def _weigh(self, look: Look) -> None:
        now, doing = self._clock.seconds(), self._course.doing
        scene = Scene(
            doing=doing,
            silent=self._rhythm.silent(now) or self._looked.streak >= STREAK or self._calm(now),
            sustained=self._rhythm.sustained(),
            submitted=(self._subject.session().last_submit_at or 0) >= self._rested,
            rests=self._tells_rest(),
        )
        found = judge(look.reading, self._rules, scene)
        if found is None:
            return
        verdict, reason = found
        tell = self._course.tell
        if verdict is Verdict.ASKED and doing is not Doing.STARTING:
            tell.asked(reason)
        elif verdict is Verdict.WORKING and not self._in_grace(now):
            tell.seen_working(reason)
        elif verdict is Verdict.IDLE and (doing is not Doing.STARTING or self._subject.hooks):
            tell.seen_idle(reason)
            self._rested = now_ms(self._clock)

    def _tell_of_rest(self, reading: Reading) -> None:
        """Of an agent at rest: that a dialog stands there which no turn asked, and its end.

        One without hooks tells of its composer too, since nothing else says that it is ready.
        """
        at_rest = self._course.doing in (Doing.STARTING, Doing.IDLE)
        told = reading.dialog is not None or (reading.state == "idle" and self.readiness.ready)
        if not at_rest or not told:
            return
        if reading.dialog is not None or self._aside or not self._subject.hooks:
            self._sink.noted(reading.evidence)
        self._aside = reading.dialog is not None

    def _in_grace(self, now: float) -> bool:
        return self._stopped is not None and now - self._stopped < GRACE

    def _came_up(self) -> None:
        reading = None if self.last is None else self.last.reading
        told = reading is not None and (reading.dialog is not None or self.readiness.ready)
        self._course.tell.settled(reading.evidence if reading and told else "the agent was started")

    def _printed(self) -> None:
        self._rhythm = self._rhythm.printed(self._clock.seconds())
        # A timer that was set for the silence is too late for what breaks it.
        at = self._due()
        if "look" not in self._timers or (at is not None and at < self._next - SLACK):
            self._arm()

    def _stir(self) -> None:
        """A hook counts as a sign of life: if nothing follows it, the silence is looked into."""
        self._rhythm = self._rhythm.printed(self._clock.seconds())
        self._arm()

    def _note(
        self, *, failed: bool = False, streak: int = 0, calm_since: float | None = None
    ) -> None:
        self._looked = Looked(
            at=self._clock.seconds(),
            current=False,
            failed=failed,
            streak=streak,
            calm_since=calm_since,
        )
        self._arm()

    def _arm(self) -> None:
        """Set the timer for the next look; whenever something changed that decides on it."""
        if self._unlisten is None:
            return
        self._disarm("look")
        at = self._due()
        if at is not None:
            self._next = at
            self._after("look", max(0.0, at - self._clock.seconds()), self._tick)

    def _due(self) -> float | None:
        doing = self._course.doing
        looked = evolve(
            self._looked,
            current=self._offset == self._pane.log.end,
            unseen=self._submission is not None
            or (self._subject.hooks and doing is Doing.WORKING and not self._at_work),
            pending=self._submission is not None,
        )
        return next_look(self._rhythm, looked, doing)

    def _tick(self) -> None:
        at = self._due()
        if at is not None and at > self._clock.seconds() + SLACK:
            self._arm()
        else:
            self._look_soon()

    def _look_soon(self) -> None:
        if not self._looking:
            self._spawn(self._scheduled(), "looking at a screen")

    async def _scheduled(self) -> None:
        self._looking = True
        try:
            await self.look()
        except ServiceError as error:
            # It is tried again, and until then nothing is known.
            self._log.debug("{error}", error=error)
        finally:
            self._looking = False
        self._arm()

    def _after(self, name: str, seconds: float, do: Callable[[], None]) -> None:
        def fire() -> None:
            del self._timers[name]
            do()

        self._timers[name] = self._clock.callLater(seconds, fire)

    def _disarm(self, name: str) -> None:
        call = self._timers.pop(name, None)
        if call is not None:
            call.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None], what: str) -> None:
        task = spawn(work, self._log, what)
        if not task.called:
            self._work.append(task)
            task.addBoth(lambda _: self._work.remove(task))
