"""Keeps prompts back while an agent cannot take them (protocol-trust, protocol-prompts).

A prompt waits until the composer was on the screen for a moment, at most to the end of the
window that the trust dialog has.  If a dialog of the start is still there then, nothing is typed
(422); if there is none, it is typed: a screen that is not understood is no reason to refuse for
good.  Of an agent whose composer nobody can recognise, a quiet screen without a dialog has to do.
Later a dialog may come up at any time: no prompt is typed while one is on the screen, for its
Enter would be the answer.  Raw input passes: it is how a person answers such a dialog.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from tservice.agents.activity.pace import SLACK
from tservice.agents.interfaces import Look
from tservice.agents.transcripts.proofs import Proofs
from tservice.core.clock import sleep
from tservice.core.errors import conflict, failed
from tservice.core.timers import cancel
from tservice.mux.interface import Capture
from tservice.sessions.interfaces import Claim, IInputGate, Session
from tservice.terminal.composer import shows_quoted
from tservice.terminal.dialogs import Dialog
from tservice.terminal.kinds import DialogKind, says_trust
from tservice.terminal.rules import ScreenRules
from tservice.terminal.screen import Frame
from tservice.terminal.status import Reading, read

WINDOW = 90.0
"""Seconds after its start in which an agent may be asking for trust (protocol-trust)."""
SETTLE = 0.15
"""Seconds between the composer's first appearance and the first key: before, an Enter gets lost."""
SETTLE_UNTOLD = 1.5
"""The same for an agent that does not tell of its start by a hook.

Gemini CLI draws its composer 0.3 s before its trust dialog takes the place, on an idle machine.
"""
SHARE = 0.25
"""The same as a share of the time until that appearance, where that is longer: on a busy machine it
all takes longer.  Gemini CLI's 0.3 s follow 3.3 s, and 0.5 s follow 9 s beside nine busy loops.
"""
BLIND = 2.0
"""Seconds after its start when an agent without a known composer may be typed to."""

PICKER = "picker"
"""What a command of the agent's own opened, as answers name it (protocol-prompts)."""

NO_PROCESS = "the session has no process; nothing was typed"

START_DIALOGS = frozenset({DialogKind.TRUST, DialogKind.BYPASS, DialogKind.API_KEY, DialogKind.MCP})
"""Dialogs that come up before the composer: an Enter there would answer them."""

RAISED = frozenset({DialogKind.PERMISSION, DialogKind.PLAN, DialogKind.REVIEW, DialogKind.FORM})
"""Dialogs that a turn raises, such as that of a command which is a prompt."""


class Readiness:
    """Whether one agent, from its start on, can be given a prompt.

    @ivar knowable: its composer can be recognised.
    @ivar asked: a dialog of the start is on its screen.
    @param settle: seconds for which the composer of one that comes up must stand there.
    @param fresh: its process was just started; one that was taken up was ready before, unless its
        screen shows a dialog of the start.
    @param prompted: it has had a prompt; one that was taken up without may still be coming up,
        unless it shows a dialog of another kind.
    @param resumed: it was just started to go on with a conversation.
    """

    def __init__(
        self,
        clock: IReactorTime,
        rules: ScreenRules,
        *,
        fresh: bool,
        prompted: bool = True,
        resumed: bool = False,
        settle: float = SETTLE,
    ) -> None:
        self._clock = clock
        self._coming_up = fresh or not prompted
        self._base = self._settle = settle if self._coming_up else SETTLE
        self._fresh = fresh
        self._rules = rules
        self._prompted = prompted
        self._resumed = resumed
        self.knowable = rules.shape != "mark" or rules.ready_mark is not None
        self._began = clock.seconds()
        self._since: float | None = None
        self._asked_before = False
        self._waiting: list[Deferred[None]] = []
        self._closed = False
        self.asked = False

    @property
    def ready(self) -> bool:
        """Whether the agent was seen to be ready."""
        return self._since is not None

    @property
    def in_window(self) -> bool:
        """Whether the trust dialog may still come up."""
        return not self._closed and self._clock.seconds() < self._began + WINDOW - SLACK

    def saw(self, look: Look, *, quiet: bool) -> None:
        """Take a look into account.

        @param quiet: nothing was printed for a moment.
        """
        self.asked = _of_the_start(look)
        self._asked_before |= self.asked
        if self.asked or (self._left > 0 and self._shows_none(look)):
            # What was taken for the composer was not one.
            self._since = None
        if not self.ready and self._shows_ready(look, quiet):
            self._since = self._clock.seconds()
            self._settle = self._settling(self._since)
            self._release(None)

    async def wait(self) -> None:
        """Return once a prompt may be typed.

        @raise ServiceError: 422: a dialog of the start is there, and the window is over; 409: the
            process ended.
        """
        while self.in_window and (not self.ready or self._left > 0):
            if not self.ready:
                await self._first_sight()
            if self._left > 0:
                await sleep(self._clock, self._left)
        if self.asked and not self.in_window:
            raise failed("the agent waits for an answer to its first dialog; nothing was typed")
        if self._closed:
            raise conflict(NO_PROCESS)

    def close(self) -> None:
        """The process is over or let go."""
        self._closed = True
        self._release(conflict(NO_PROCESS))

    @property
    def _left(self) -> float:
        """Seconds until the composer has stood there for long enough; 0 where none is seen."""
        if self._since is None:
            return 0.0
        return max(0.0, self._since + self._settle - self._clock.seconds())

    def _settling(self, seen: float) -> float:
        """Seconds for which a composer that is first seen now must stand there."""
        if self._base < SETTLE_UNTOLD or self._asked_before:
            return self._base
        return max(self._base, SHARE * (seen - self._began))

    async def _first_sight(self) -> None:
        seen: Deferred[None] = Deferred()
        over = self._clock.callLater(
            self._began + WINDOW - self._clock.seconds(), lambda: seen.callback(None)
        )
        self._waiting.append(seen)
        try:
            await seen
        finally:
            cancel(over)
            if seen in self._waiting:
                self._waiting.remove(seen)

    def _shows_ready(self, look: Look, quiet: bool) -> bool:
        if look.reading.composer_ready:
            return not self._starting(look)
        if self.asked:
            return False
        if not self._fresh and (self._prompted or look.reading.dialog is not None):
            return True
        old = self._clock.seconds() >= self._began + BLIND - SLACK
        return not self.knowable and quiet and old and look.reading.dialog is None

    def _shows_none(self, look: Look) -> bool:
        """Whether no composer is there that takes keys, of an agent whose composer is known."""
        return self.knowable and (not look.reading.composer_ready or self._starting(look))

    def _starting(self, look: Look) -> bool:
        """Whether the composer is drawn already but keys would go nowhere, or to a dialog."""
        if not self._coming_up:
            return False
        line = self._rules.starting_line
        if line is not None and any(map(line.search, look.frame.rows)):
            return True
        screen = self._rules.resuming_screen if self._resumed else None
        return screen is not None and screen.search("\n".join(look.frame.rows)) is not None

    def _release(self, why: Exception | None) -> None:
        waiting, self._waiting = self._waiting, []
        for seen in waiting:
            if why is None:
                seen.callback(None)
            else:
                seen.errback(why)


def _is_own(dialog: Dialog) -> bool:
    """Return whether a dialog is one of the agent's own pages, and not raised in a turn."""
    if dialog.kind is DialogKind.QUESTION:
        # What an agent asks has tabs; its pages may have the same footer.
        return not dialog.tabs
    return dialog.kind not in RAISED


def _of_the_start(look: Look) -> bool:
    """Whether a dialog of the start is there, also one about trust that cannot be read further."""
    dialog = look.reading.dialog
    if dialog is None:
        return False
    unread = dialog.kind is DialogKind.NOTICE and says_trust(look.frame.rows)
    return unread or dialog.kind in START_DIALOGS


@implementer(IInputGate)
class AgentGate:
    """The gate of every session; shells and what has no process are let through."""

    def __init__(
        self,
        readiness: Callable[[str], Readiness | None],
        rules: Callable[[str], ScreenRules],
        proofs: Proofs,
    ) -> None:
        self._readiness = readiness
        self._rules = rules
        self._proofs = proofs

    async def ready(self, session: Session) -> None:
        found = self._readiness(session.id)
        if found is not None:
            await found.wait()

    def asks(self, session: Session, capture: Capture, typed: str) -> str | None:
        if self._readiness(session.id) is None:
            return None
        frame, reading = self._read(session, capture)
        if reading.dialog is None or shows_quoted(frame.rows, typed):
            return None
        return reading.evidence

    def opened(self, session: Session, capture: Capture) -> str | None:
        _, reading = self._read(session, capture)
        return PICKER if reading.dialog is not None and _is_own(reading.dialog) else None

    def rests(self, session: Session, capture: Capture) -> bool:
        _, reading = self._read(session, capture)
        return reading.composer_ready and not reading.working

    def claim(self, session: Session, text: str, *, caught_up: bool) -> Claim:
        return self._proofs.claim(session, text, caught_up=caught_up)

    def _read(self, session: Session, capture: Capture) -> tuple[Frame, Reading]:
        frame = Frame.from_capture(b"\n".join(capture.lines[capture.history :]), capture.cols)
        return frame, read(frame, capture.title, self._rules(session.mode))
