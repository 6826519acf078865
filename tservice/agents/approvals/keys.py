"""Delivery of an answer: a key, a look, the next key (protocol-approvals).

The multiplexer's server compares the screen with the one from which the key was chosen, and presses
in the same step. So a dialog that was drawn in between receives nothing. One case stays invisible:
a dialog that the program has already closed but not yet redrawn. Therefore no key follows a key
without a visible effect.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.approvals.answers import (
    Action,
    Answer,
    Done,
    PageProgress,
    Paste,
    Press,
    all_answered,
    check_against,
    is_same_page,
    next_step,
)
from tservice.agents.approvals.screen import AnswerScreen, ScreenLook
from tservice.clis.interfaces import AnswerKeys
from tservice.core.clock import sleep
from tservice.core.errors import ServiceError, operation_failed, state_conflict
from tservice.mux.interface import MuxError, MuxTimeout, PaneGone
from tservice.sessions.interfaces import Reauthorize, accept_always
from tservice.terminal.dialog_kinds import DialogKind
from tservice.terminal.dialogs import AgentDialog

LOOKS = (0.05, 0.1, 0.15, 0.3, 0.6, 1.0)
"""Seconds before each look for the effect of a key."""
TRIES = 5
"""Maximum number of attempts for a key while the screen around the same dialog keeps changing."""

GONE = "the dialog is no longer on the screen"


def _no_other(dialog: AgentDialog) -> bool:
    """Return false: only the exact dialog is meant."""
    return False


@frozen(kw_only=True)
class AnswerOutcome:
    """Result of an answer.

    @ivar closed: the dialog is gone.
    @ivar dialog: the dialog on the screen now.
    """

    closed: bool
    dialog: AgentDialog | None


class Untaken(Exception):
    """A key was pressed without a visible effect; no other key may follow it for now."""

    def __init__(self, error: ServiceError) -> None:
        super().__init__(error.message)
        self.error = error


class DialogChanged(Exception):
    """The screen shows another dialog than the item's; C{dialog} is the one on the screen."""

    def __init__(self, dialog: AgentDialog | None) -> None:
        super().__init__("the dialog changed")
        self.dialog = dialog


class Answerer:
    """Gives one answer to the dialog C{frame}.

    @param keys: the keys of the agent's dialogs.
    @param again: checks the caller's permission again before each key, because seconds pass while
        the screen settles and between pages.
    """

    def __init__(
        self,
        clock: IReactorTime,
        screen: AnswerScreen,
        keys: AnswerKeys | None = None,
        again: Reauthorize = accept_always,
    ) -> None:
        self._clock = clock
        self._again = again
        self._screen = screen
        self._keys = keys or AnswerKeys()

    async def give(
        self,
        answer: Answer,
        frame: str,
        stuck_at: int | None = None,
        is_meant: Callable[[AgentDialog], bool] = _no_other,
    ) -> AnswerOutcome:
        """Give the answer.

        @param frame: hash of the intended dialog.
        @param is_meant: returns true if a dialog with another hash is the intended one, drawn
            differently.
        @param stuck_at: offset of the screen on which an earlier key had no effect.
        @raise ServiceError: 400: not an answer to this dialog; 409: the dialog is gone; 422: it
            failed, and nothing was pressed.
        @raise DialogChanged: the screen shows another dialog; nothing was pressed.
        @raise Untaken: the key may or may not have been pressed, or had no effect.
        """
        try:
            seen = await self._screen.see()
            dialog = _meant(seen, answer, frame, is_meant)
            if stuck_at == seen.guard.capture.offset:
                raise operation_failed("the dialog has not reacted to the last key yet")
            return await self._page(answer, seen, dialog)
        except PaneGone as error:
            raise state_conflict(f"{GONE}: the session has no process") from error
        except MuxError as error:
            raise operation_failed(f"nothing was typed: {error}") from error

    async def _page(self, answer: Answer, seen: ScreenLook, dialog: AgentDialog) -> AnswerOutcome:
        check_against(answer, dialog)
        progress = PageProgress(first=dialog, keys=self._keys)
        while True:
            step = next_step(answer, dialog, progress)
            if isinstance(step, Done):
                break
            before = seen.state
            seen = await self._done(step, seen, progress)
            if seen.state == before:
                raise Untaken(operation_failed("the dialog did not react to the key"))
            progress = evolve(progress, steps=(*progress.steps, step))
            if seen.dialog is None or not self._goes_on(progress, seen.dialog):
                return await self._left(answer, seen, dialog)
            dialog = seen.dialog
        return AnswerOutcome(closed=False, dialog=dialog)

    def _goes_on(self, progress: PageProgress, now: AgentDialog) -> bool:
        typed = any(isinstance(step, Paste) for step in progress.steps)
        return is_same_page(progress.first, now, typed)

    async def _left(self, answer: Answer, seen: ScreenLook, before: AgentDialog) -> AnswerOutcome:
        """Handle the end of the page: the dialog is gone, or shows another page."""
        now = seen.dialog
        if now is None or not (before.tabs and now.tabs):
            return AnswerOutcome(closed=True, dialog=now)
        submit = now.options[:1] and now.options[0].label.lower().startswith("submit")
        ready = now.kind is DialogKind.REVIEW and submit and all_answered(now)
        if answer.action is Action.OPTIONS and ready:
            return await self._page(Answer(action=Action.APPROVE), seen, now)
        return AnswerOutcome(closed=False, dialog=now)

    async def _done(
        self, step: Press | Paste, seen: ScreenLook, progress: PageProgress
    ) -> ScreenLook:
        """Perform a step on the captured dialog, and return the screen with its effect."""
        first = seen
        for _ in range(TRIES):
            if await self._tried(step, seen):
                return await self._effect(seen)
            seen = await self._screen.see()
            if seen.dialog is None or seen.state != first.state:
                if progress.steps:
                    raise Untaken(state_conflict("the dialog changed while it was being answered"))
                raise _other(seen)
        raise operation_failed("the screen keeps changing; nothing was pressed")

    async def _tried(self, step: Press | Paste, seen: ScreenLook) -> bool:
        self._again()
        try:
            return await self._screen.do(step, seen)
        except MuxTimeout as error:
            raise Untaken(operation_failed("it is unknown if the key was pressed")) from error

    async def _effect(self, before: ScreenLook) -> ScreenLook:
        """Look until the key had an effect, or it is clear that it has none."""
        seen = before
        for pause in LOOKS:
            await sleep(self._clock, pause)
            try:
                seen = await self._screen.peek()
            except MuxTimeout as error:
                raise Untaken(operation_failed("the terminal does not answer")) from error
            if seen.state != before.state and (seen.dialog is not None or seen.known):
                # The screen must be at rest again before the next key.
                return await self._screen.see() if seen.dialog is not None else seen
        return seen


def _meant(
    seen: ScreenLook, answer: Answer, frame: str, is_meant: Callable[[AgentDialog], bool]
) -> AgentDialog:
    dialog = seen.dialog
    if dialog is None or answer.expect_frame not in (None, frame):
        raise _other(seen)
    if dialog.frame_hash != frame and not is_meant(dialog):
        raise DialogChanged(dialog)
    return dialog


def _other(seen: ScreenLook) -> Exception:
    """Return the error for a missing or different dialog."""
    if seen.dialog is not None:
        return DialogChanged(seen.dialog)
    if not seen.known:
        return operation_failed("the screen is not recognized; nothing was pressed")
    return state_conflict(GONE)
