"""Captures of a pane that must still be valid when a key is pressed (protocol-approvals)."""

from __future__ import annotations

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.approvals.answer_steps import PasteStep, PressStep
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import make_conflict_error
from tservice.mux.interface import IPane, ScreenGuard
from tservice.terminal.dialogs.dialog_questions import strip_drawing
from tservice.terminal.dialogs.dialogs import AgentDialog
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading, read_screen

SETTLE = 1.0
"""Seconds in which a program shows the effect of another user's keys."""
RESTS = (0.0, 0.25, 0.25, 0.25, 0.25)
"""Seconds before each attempt to capture an unchanging screen. After the last one only the dialog's
rows must stay unchanged.
"""
TYPING_LIMIT = 20
"""Maximum number of times that an answer waits for another user's typing."""


@frozen(kw_only=True)
class GuardedScreen:
    """Capture of the screen with its dialog.

    @ivar rows: the indices of the screen's rows that the dialog covers.
    """

    guard: ScreenGuard
    reading: ScreenReading
    rows: tuple[int, ...]

    @property
    def dialog(self) -> AgentDialog | None:
        """Dialog that waits for an answer; C{None} if the screen shows none."""
        return self.reading.dialog

    @property
    def is_recognized(self) -> bool:
        """True if the screen shows a recognizable state of the agent."""
        return self.reading.state != "unknown"

    @property
    def state(self) -> tuple[object, ...]:
        """Parts of the screen that an answer's key would change."""
        if self.dialog is None:
            return (None, self.is_recognized)
        return (
            self.dialog.frame_hash,
            *((o.selected, o.checked, o.label) for o in self.dialog.options),
        )


class AnswerScreen:
    """Access to the screen of one session while an answer is given.

    Every method raises L{tservice.mux.interface.MuxError} if the pane does not answer.
    """

    def __init__(self, clock: IReactorTime, pane: IPane, rules: ScreenRules) -> None:
        self._clock = clock
        self._pane = pane
        self._rules = rules

    async def capture_unchanging(self) -> GuardedScreen:
        """Capture the screen while it does not change, if that is possible.

        @raise ServiceError: 409: another user types there all the time.
        """
        for pause in RESTS:
            if pause:
                await wait_seconds(self._clock, pause)
            guard = await self._capture_after_typing()
            if guard.still:
                break
        return self._make_guarded_screen(guard)

    async def capture_now(self) -> GuardedScreen:
        """Capture the screen immediately."""
        return self._make_guarded_screen(await self._pane.guard_screen())

    async def perform_step(self, step: PressStep | PasteStep, seen: GuardedScreen) -> bool:
        """Perform a step if the screen has not changed since the capture.

        @return: true if the step was performed.
        """
        if isinstance(step, PressStep):
            return await self._pane.press_if(step.key, seen.guard, seen.rows)
        return await self._pane.paste_if(step.text, seen.guard, seen.rows)

    async def _capture_after_typing(self) -> ScreenGuard:
        """Capture the screen once it shows the effect of another user's typing."""
        for _ in range(TYPING_LIMIT):
            typed = self._pane.typed_at
            left = 0.0 if typed is None else typed + SETTLE - self._clock.seconds()
            if left > 0:
                await wait_seconds(self._clock, left)
                continue
            guard = await self._pane.guard_screen()
            if self._pane.typed_at == typed:
                return guard
        raise make_conflict_error("another user is typing in the terminal")

    def _make_guarded_screen(self, guard: ScreenGuard) -> GuardedScreen:
        capture = guard.capture
        frame = ScreenFrame.from_capture(b"\n".join(capture.lines), capture.cols)
        reading = read_screen(frame, capture.title, self._rules)
        return GuardedScreen(
            guard=guard, reading=reading, rows=find_dialog_rows(frame, reading.dialog)
        )


def find_dialog_rows(frame: ScreenFrame, dialog: AgentDialog | None) -> tuple[int, ...]:
    """Return the indices of the rows that the dialog covers; empty without a dialog.

    These are the last filled rows, as many as the dialog's context has.
    """
    if dialog is None:
        return ()
    filled = [at for at in range(frame.last_row + 1) if strip_drawing(frame.inner_rows[at])]
    return tuple(filled[-max(1, len(dialog.context)) :])
