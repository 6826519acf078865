"""Gate that delays prompts until an agent can accept them (protocol-trust, protocol-prompts).

A prompt waits until the composer has been on the screen for a moment, at most until the end of the
trust dialog's window. If a start dialog is still shown then, nothing is typed (422). Otherwise the
prompt is typed, because an unrecognized screen is no reason to refuse it forever. For an agent
without a recognizable composer, a quiet screen without a dialog is enough.

After the start, a dialog may appear at any time. No prompt is typed while one is on the screen,
because the prompt's Enter would answer the dialog. Raw input passes, because a person uses it to
answer such dialogs.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from tservice.agents.activity.poll_schedule import SLACK
from tservice.agents.interfaces import AgentScreen
from tservice.agents.transcripts.prompt_proofs import PromptProofs
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import make_conflict_error, make_failure_error
from tservice.core.kernel.timers import cancel_call
from tservice.mux.interface import PaneCapture
from tservice.sessions.interfaces import IInputGate, PromptClaim, Session
from tservice.terminal.composers.composer import shows_quoted_dialog
from tservice.terminal.dialogs.dialog_kinds import DialogKind, contains_trust_phrase
from tservice.terminal.dialogs.dialogs import AgentDialog
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading, read_screen

WINDOW = 90.0
"""Seconds after its start in which an agent may show the trust dialog (protocol-trust)."""
SETTLE = 0.15
"""Seconds from the composer's first appearance to the first key; an earlier Enter gets lost."""
SETTLE_UNTOLD = 1.5
"""Like L{SETTLE}, for an agent that does not report its start by a hook.

Gemini CLI draws its composer 0.3 s before its trust dialog replaces it, on an idle machine.
"""
SHARE = 0.25
"""Minimum wait after the composer's first appearance, as a share of the time until then: a busy
machine needs more time. The trust dialog of Gemini CLI follows 0.3 s after a start of 3.3 s, and
0.5 s after one of 9 s on a machine with nine busy loops.
"""
BLIND = 2.0
"""Seconds after its start at which an agent without a known composer accepts input."""

PICKER = "picker"
"""Name in responses for a page that one of the agent's own commands opened (protocol-prompts)."""

NO_PROCESS = "the session has no process; nothing was typed"

START_DIALOGS = frozenset({DialogKind.TRUST, DialogKind.BYPASS, DialogKind.API_KEY, DialogKind.MCP})
"""Dialogs that appear before the composer; a prompt's Enter would answer them."""

RAISED = frozenset({DialogKind.PERMISSION, DialogKind.PLAN, DialogKind.REVIEW, DialogKind.FORM})
"""Dialogs that belong to a turn, even if a command of the user started the turn."""


class PromptReadiness:
    """Readiness of one agent for prompts, from its start on.

    @ivar has_known_composer: the agent's composer can be recognized.
    @ivar has_start_dialog: a start dialog is on the agent's screen.
    @param settle: seconds for which the composer of a starting agent must be visible.
    @param fresh: true if the process was just started, false if it was adopted.
    @param prompted: true if the agent has received a prompt. An adopted agent with a prompt is
        ready, unless a start dialog is shown. An adopted agent without one counts as starting,
        unless another dialog is shown.
    @param resumed: the process was just started to continue a conversation.
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
        self.has_known_composer = rules.shape != "mark" or rules.ready_mark is not None
        self._began = clock.seconds()
        self._since: float | None = None
        self._asked_before = False
        self._waiting: list[Deferred[None]] = []
        self._closed = False
        self.has_start_dialog = False

    @property
    def is_ready(self) -> bool:
        """True if the agent is known to be ready for a prompt."""
        return self._since is not None

    @property
    def may_show_trust_dialog(self) -> bool:
        """True while the trust dialog may still appear."""
        return not self._closed and self._clock.seconds() < self._began + WINDOW - SLACK

    def update_from_screen(self, look: AgentScreen, *, quiet: bool) -> None:
        """Update the readiness from a capture of the screen.

        @param quiet: nothing has been printed for a moment.
        """
        self.has_start_dialog = _is_start_dialog(look)
        self._asked_before |= self.has_start_dialog
        if self.has_start_dialog or (self._remaining_settle > 0 and self._lacks_composer(look)):
            # The composer that was detected before was none.
            self._since = None
        if not self.is_ready and self._shows_ready(look, quiet):
            self._since = self._clock.seconds()
            self._settle = self._compute_settle(self._since)
            self._release_waiters(None)

    async def wait_until_ready(self) -> None:
        """Wait until a prompt may be typed.

        @raise ServiceError: 422: a start dialog is shown and the window is over; 409: the process
            ended.
        """
        while self.may_show_trust_dialog and (not self.is_ready or self._remaining_settle > 0):
            if not self.is_ready:
                await self._wait_until_composer_ready()
            if self._remaining_settle > 0:
                await wait_seconds(self._clock, self._remaining_settle)
        if self.has_start_dialog and not self.may_show_trust_dialog:
            raise make_failure_error(
                "the agent waits for an answer to its first dialog; nothing was typed"
            )
        if self._closed:
            raise make_conflict_error(NO_PROCESS)

    def close(self) -> None:
        """Fail all waiting prompts, because the process has ended or was released."""
        self._closed = True
        self._release_waiters(make_conflict_error(NO_PROCESS))

    @property
    def _remaining_settle(self) -> float:
        """Seconds until the composer has been visible long enough; 0 if none is visible."""
        if self._since is None:
            return 0.0
        return max(0.0, self._since + self._settle - self._clock.seconds())

    def _compute_settle(self, seen: float) -> float:
        """Return the seconds for which a composer must stay visible.

        @param seen: when the composer appeared, in the clock's seconds.
        """
        if self._base < SETTLE_UNTOLD or self._asked_before:
            return self._base
        return max(self._base, SHARE * (seen - self._began))

    async def _wait_until_composer_ready(self) -> None:
        seen: Deferred[None] = Deferred()
        over = self._clock.callLater(
            self._began + WINDOW - self._clock.seconds(), lambda: seen.callback(None)
        )
        self._waiting.append(seen)
        try:
            await seen
        finally:
            cancel_call(over)
            if seen in self._waiting:
                self._waiting.remove(seen)

    def _shows_ready(self, look: AgentScreen, quiet: bool) -> bool:
        if look.reading.composer_ready:
            return not self._is_starting(look)
        if self.has_start_dialog:
            return False
        if not self._fresh and (self._prompted or look.reading.dialog is not None):
            return True
        old = self._clock.seconds() >= self._began + BLIND - SLACK
        return not self.has_known_composer and quiet and old and look.reading.dialog is None

    def _lacks_composer(self, look: AgentScreen) -> bool:
        """Return true if the agent's composer is recognizable, but none that accepts keys is
        visible.
        """
        return self.has_known_composer and (
            not look.reading.composer_ready or self._is_starting(look)
        )

    def _is_starting(self, look: AgentScreen) -> bool:
        """Return true if the composer is visible, but keys would get lost or reach a dialog."""
        if not self._coming_up:
            return False
        line = self._rules.starting_line
        if line is not None and any(map(line.search, look.frame.rows)):
            return True
        screen = self._rules.resuming_screen if self._resumed else None
        return screen is not None and screen.search("\n".join(look.frame.rows)) is not None

    def _release_waiters(self, why: Exception | None) -> None:
        waiting, self._waiting = self._waiting, []
        for seen in waiting:
            if why is None:
                seen.callback(None)
            else:
                seen.errback(why)


def _is_agent_menu(dialog: AgentDialog) -> bool:
    """Return true if the dialog is a menu or an information page that the agent shows outside of a
    turn.
    """
    if dialog.kind is DialogKind.QUESTION:
        # A question of the agent has tabs; its pages may have the same footer.
        return not dialog.tabs
    return dialog.kind not in RAISED


def _is_start_dialog(look: AgentScreen) -> bool:
    """Return true if the screen shows a start dialog, including an unreadable one about trust."""
    dialog = look.reading.dialog
    if dialog is None:
        return False
    unread = dialog.kind is DialogKind.NOTICE and contains_trust_phrase(look.frame.rows)
    return unread or dialog.kind in START_DIALOGS


@implementer(IInputGate)
class AgentGate:
    """Input gate of all sessions, which never delays shells and sessions without a process."""

    def __init__(
        self,
        readiness: Callable[[str], PromptReadiness | None],
        rules: Callable[[str], ScreenRules],
        proofs: PromptProofs,
    ) -> None:
        self._readiness = readiness
        self._rules = rules
        self._proofs = proofs

    async def wait_until_ready(self, session: Session) -> None:
        found = self._readiness(session.id)
        if found is not None:
            await found.wait_until_ready()

    def describe_dialog(self, session: Session, capture: PaneCapture, typed: str) -> str | None:
        if self._readiness(session.id) is None:
            return None
        frame, reading = self._interpret_screen(session, capture)
        if reading.dialog is None or shows_quoted_dialog(frame.rows, typed):
            return None
        return reading.evidence

    def find_opened_view(self, session: Session, capture: PaneCapture) -> str | None:
        _, reading = self._interpret_screen(session, capture)
        return PICKER if reading.dialog is not None and _is_agent_menu(reading.dialog) else None

    def is_at_rest(self, session: Session, capture: PaneCapture) -> bool:
        _, reading = self._interpret_screen(session, capture)
        return reading.composer_ready and not reading.working

    def claim_prompt(self, session: Session, text: str, *, caught_up: bool) -> PromptClaim:
        return self._proofs.claim_prompt(session, text, caught_up=caught_up)

    def _interpret_screen(
        self, session: Session, capture: PaneCapture
    ) -> tuple[ScreenFrame, ScreenReading]:
        frame = ScreenFrame.from_capture(b"\n".join(capture.lines[capture.history :]), capture.cols)
        return frame, read_screen(frame, capture.title, self._rules(session.mode))
