"""Giving an answer: a key, a look, the next key (protocol-approvals).

No key is pressed on faith.  The multiplexer's server compares the screen with the one that the key
was chosen from and presses in the same step, so a dialog that was drawn meanwhile gets nothing.
What cannot be seen is a dialog that the program has already left but not yet redrawn; therefore a
key whose effect was not seen is never followed by another one.
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
from tservice.core.errors import ServiceError, conflict, failed
from tservice.mux.interface import MuxError, MuxTimeout, PaneGone
from tservice.sessions.interfaces import Again, lasting
from tservice.terminal.dialogs import Dialog
from tservice.terminal.kinds import DialogKind

LOOKS = (0.05, 0.1, 0.15, 0.3, 0.6, 1.0)
"""Seconds before each look for the effect of a key."""
TRIES = 5
"""How often a key is tried on a screen that keeps changing around the same dialog."""

GONE = "the dialog left the screen"


def _no_other(dialog: Dialog) -> bool:
    """Nothing but the very dialog is meant."""
    return False


@frozen(kw_only=True)
class AnswerOutcome:
    """What an answer led to.

    @ivar closed: the dialog is gone.
    @ivar dialog: what the screen shows now.
    """

    closed: bool
    dialog: Dialog | None


class Untaken(Exception):
    """A key was pressed and nobody knows its effect; none may follow it for now."""

    def __init__(self, error: ServiceError) -> None:
        super().__init__(error.message)
        self.error = error


class DialogChanged(Exception):
    """The dialog is another one than the item's; C{dialog} is what the screen shows."""

    def __init__(self, dialog: Dialog | None) -> None:
        super().__init__("the dialog changed")
        self.dialog = dialog


class Answerer:
    """Gives one answer to the dialog C{frame}.

    @param keys: of the agent's dialogs.
    @param again: judges whoever answers once more, before each key: until a screen holds still,
        and from one page to the next, seconds go by.
    """

    def __init__(
        self,
        clock: IReactorTime,
        screen: AnswerScreen,
        keys: AnswerKeys | None = None,
        again: Again = lasting,
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
        is_meant: Callable[[Dialog], bool] = _no_other,
    ) -> AnswerOutcome:
        """Carry the answer out.

        @param frame: hash of the dialog that is meant.
        @param is_meant: whether a dialog of another hash is that one, drawn differently.
        @param stuck_at: offset of the screen on which an earlier key was not taken.
        @raise ServiceError: 400: not an answer to this dialog; 409: it left the screen; 422: it
            did not work, and nothing was pressed.
        @raise Changed: another dialog stands there; nothing was pressed.
        @raise Untaken: the key may or may not have been pressed, or did nothing.
        """
        try:
            seen = await self._screen.see()
            dialog = _meant(seen, answer, frame, is_meant)
            if stuck_at == seen.guard.capture.offset:
                raise failed("the dialog has not taken the last key yet")
            return await self._page(answer, seen, dialog)
        except PaneGone as error:
            raise conflict(f"{GONE}: the session has no process") from error
        except MuxError as error:
            raise failed(f"nothing was typed: {error}") from error

    async def _page(self, answer: Answer, seen: ScreenLook, dialog: Dialog) -> AnswerOutcome:
        check_against(answer, dialog)
        progress = PageProgress(first=dialog, keys=self._keys)
        while True:
            step = next_step(answer, dialog, progress)
            if isinstance(step, Done):
                break
            before = seen.state
            seen = await self._done(step, seen, progress)
            if seen.state == before:
                raise Untaken(failed("the dialog did not take the key"))
            progress = evolve(progress, steps=(*progress.steps, step))
            if seen.dialog is None or not self._goes_on(progress, seen.dialog):
                return await self._left(answer, seen, dialog)
            dialog = seen.dialog
        return AnswerOutcome(closed=False, dialog=dialog)

    def _goes_on(self, progress: PageProgress, now: Dialog) -> bool:
        typed = any(isinstance(step, Paste) for step in progress.steps)
        return is_same_page(progress.first, now, typed)

    async def _left(self, answer: Answer, seen: ScreenLook, before: Dialog) -> AnswerOutcome:
        """The page is gone: the whole dialog with it, or another page of it came."""
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
        """Do it on the dialog that was seen, and see what came of it."""
        first = seen
        for _ in range(TRIES):
            if await self._tried(step, seen):
                return await self._effect(seen)
            seen = await self._screen.see()
            if seen.dialog is None or seen.state != first.state:
                if progress.steps:
                    raise Untaken(conflict("the dialog changed while it was being answered"))
                raise _other(seen)
        raise failed("the screen does not hold still; nothing was pressed")

    async def _tried(self, step: Press | Paste, seen: ScreenLook) -> bool:
        self._again()
        try:
            return await self._screen.do(step, seen)
        except MuxTimeout as error:
            raise Untaken(failed("whether the key was pressed is not known")) from error

    async def _effect(self, before: ScreenLook) -> ScreenLook:
        """Look until something came of the key, or it is clear that nothing will."""
        seen = before
        for pause in LOOKS:
            await sleep(self._clock, pause)
            try:
                seen = await self._screen.peek()
            except MuxTimeout as error:
                raise Untaken(failed("the terminal does not answer")) from error
            if seen.state != before.state and (seen.dialog is not None or seen.known):
                # The screen must be at rest again before the next key.
                return await self._screen.see() if seen.dialog is not None else seen
        return seen


def _meant(
    seen: ScreenLook, answer: Answer, frame: str, is_meant: Callable[[Dialog], bool]
) -> Dialog:
    dialog = seen.dialog
    if dialog is None or answer.expect_frame not in (None, frame):
        raise _other(seen)
    if dialog.frame_hash != frame and not is_meant(dialog):
        raise DialogChanged(dialog)
    return dialog


def _other(seen: ScreenLook) -> Exception:
    """What to tell whoever meant a dialog that is not there."""
    if seen.dialog is not None:
        return DialogChanged(seen.dialog)
    if not seen.known:
        return failed("the screen cannot be told; nothing was pressed")
    return conflict(GONE)
