"""Delivery of an answer to a dialog: press a key, capture the screen, choose the next key
(protocol-approvals).

The multiplexer's server compares the screen with the one from which the key was chosen, and presses
the key in the same step. So a dialog that was drawn in between receives nothing. One case stays
invisible: the program has already closed a dialog but not yet redrawn the screen. Therefore no key
follows a key without a visible effect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.approvals.answer_screen import AnswerScreen, GuardedScreen
from tservice.agents.approvals.answer_steps import (
    AnswerAction,
    DialogAnswer,
    FinishedStep,
    PageProgress,
    PasteStep,
    PressStep,
    are_all_questions_answered,
    check_answer,
    is_same_page,
    next_step,
)
from tservice.agents.approvals.model import ApprovalItem
from tservice.clis.interfaces import AnswerKeys
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import ServiceError, make_conflict_error, make_failure_error
from tservice.mux.interface import IPane, MuxError, MuxTimeout, PaneGone
from tservice.terminal.dialogs.dialog_kinds import DialogKind
from tservice.terminal.dialogs.dialogs import AgentDialog

LOOKS = (0.05, 0.1, 0.15, 0.3, 0.6, 1.0)
"""Seconds before each capture that checks for the effect of a key."""
TRIES = 5
"""Maximum number of attempts to press a key while the screen around the dialog keeps changing."""

GONE = "the dialog is no longer on the screen"


def reject_other_dialog(dialog: AgentDialog) -> bool:
    """Return false: a dialog with another hash is never the intended one."""
    return False


@frozen(kw_only=True)
class AnswerOutcome:
    """Result of an answer.

    @ivar closed: the dialog is gone.
    @ivar dialog: the dialog that is on the screen now; C{None} if there is none.
    """

    closed: bool
    dialog: AgentDialog | None


class AnswerChannel(Protocol):
    """Way to an agent that needs no keys."""

    def takes_reason(self, item: ApprovalItem) -> bool:
        """Return true if a denial of the item's request can have a reason, as far as is known."""
        ...

    async def give_answer(
        self,
        item: ApprovalItem,
        answer: DialogAnswer,
        pane: IPane,
        screen: AnswerScreen,
        check_permission: Callable[[], object],
    ) -> AnswerOutcome | None:
        """Give the answer, and return the result; C{None} if it must be given by keys.

        @param pane: the terminal in which the agent shows the dialog.
        @param check_permission: called directly before the agent gets the answer.
        @raise ServiceError: 409: a key in the terminal came at the same time; 422: the dialog did
            not close, so the agent may or may not have taken the answer.
        """


class KeyIgnoredError(Exception):
    """A pressed key had no visible effect, so no other key may follow for now."""

    def __init__(self, error: ServiceError) -> None:
        super().__init__(error.message)
        self.error = error


class DialogChangedError(Exception):
    """The screen shows C{dialog} instead of the dialog of the inbox item."""

    def __init__(self, dialog: AgentDialog | None) -> None:
        super().__init__("the dialog changed")
        self.dialog = dialog


class DialogAnswerer:
    """Delivers one answer to a dialog on the screen.

    @param keys: the keys that the agent's dialogs understand.
    @param check_permission: called before each key, because seconds pass while the screen settles
        and between pages.
    """

    def __init__(
        self,
        clock: IReactorTime,
        screen: AnswerScreen,
        check_permission: Callable[[], object],
        keys: AnswerKeys | None = None,
    ) -> None:
        self._clock = clock
        self._check_permission = check_permission
        self._screen = screen
        self._keys = keys or AnswerKeys()

    async def give_answer(
        self,
        answer: DialogAnswer,
        frame: str,
        stuck_at: int | None = None,
        is_meant: Callable[[AgentDialog], bool] = reject_other_dialog,
    ) -> AnswerOutcome:
        """Press the keys of an answer, and return the result.

        @param frame: hash of the intended dialog.
        @param stuck_at: offset of the output at which an earlier key had no effect; C{None} if
            there was no such key.
        @param is_meant: returns true if a dialog with another hash is the intended one, drawn
            differently.
        @raise ServiceError: 400: not an answer to this dialog; 409: the dialog is gone; 422: it
            failed, and nothing was pressed.
        @raise DialogChangedError: the screen shows another dialog; nothing was pressed.
        @raise Untaken: the key may or may not have been pressed, or had no effect.
        """
        try:
            seen = await self._screen.capture_unchanging()
            dialog = _find_intended_dialog(seen, answer, frame, is_meant)
            if stuck_at == seen.guard.capture.offset:
                raise make_failure_error("the dialog has not reacted to the last key yet")
            return await self._press_page_keys(answer, seen, dialog)
        except PaneGone as error:
            raise make_conflict_error(f"{GONE}: the session has no process") from error
        except MuxError as error:
            raise make_failure_error(f"nothing was typed: {error}") from error

    async def _press_page_keys(
        self, answer: DialogAnswer, seen: GuardedScreen, dialog: AgentDialog
    ) -> AnswerOutcome:
        check_answer(answer, dialog)
        progress = PageProgress(first=dialog, keys=self._keys)
        while True:
            step = next_step(answer, dialog, progress)
            if isinstance(step, FinishedStep):
                break
            before = seen.state
            seen = await self._perform_step(step, seen, progress)
            if seen.state == before:
                raise KeyIgnoredError(make_failure_error("the dialog did not react to the key"))
            progress = evolve(progress, steps=(*progress.steps, step))
            if seen.dialog is None or not self._is_page_unchanged(progress, seen.dialog):
                return await self._find_outcome_after_page(answer, seen, dialog)
            dialog = seen.dialog
        return AnswerOutcome(closed=False, dialog=dialog)

    def _is_page_unchanged(self, progress: PageProgress, now: AgentDialog) -> bool:
        typed = any(isinstance(step, PasteStep) for step in progress.steps)
        return is_same_page(progress.first, now, typed)

    async def _find_outcome_after_page(
        self, answer: DialogAnswer, seen: GuardedScreen, before: AgentDialog
    ) -> AnswerOutcome:
        """Return the result after the last key of a page: the dialog is gone, or shows another
        page.
        """
        now = seen.dialog
        if now is None or not (before.tabs and now.tabs):
            return AnswerOutcome(closed=True, dialog=now)
        submit = now.options[:1] and now.options[0].label.lower().startswith("submit")
        ready = now.kind is DialogKind.REVIEW and submit and are_all_questions_answered(now)
        if answer.action is AnswerAction.OPTIONS and ready:
            return await self._press_page_keys(DialogAnswer(action=AnswerAction.APPROVE), seen, now)
        return AnswerOutcome(closed=False, dialog=now)

    async def _perform_step(
        self, step: PressStep | PasteStep, seen: GuardedScreen, progress: PageProgress
    ) -> GuardedScreen:
        """Perform a step on the captured dialog, and return the screen that shows its effect."""
        first = seen
        for _ in range(TRIES):
            if await self._perform_reauthorized_step(step, seen):
                return await self._wait_for_effect(seen)
            seen = await self._screen.capture_unchanging()
            if seen.dialog is None or seen.state != first.state:
                if progress.steps:
                    raise KeyIgnoredError(
                        make_conflict_error("the dialog changed while it was being answered")
                    )
                raise _make_dialog_error(seen)
        raise make_failure_error("the screen keeps changing; nothing was pressed")

    async def _perform_reauthorized_step(
        self, step: PressStep | PasteStep, seen: GuardedScreen
    ) -> bool:
        self._check_permission()
        try:
            return await self._screen.perform_step(step, seen)
        except MuxTimeout as error:
            raise KeyIgnoredError(
                make_failure_error("it is unknown if the key was pressed")
            ) from error

    async def _wait_for_effect(self, before: GuardedScreen) -> GuardedScreen:
        """Capture the screen until a key has an effect or clearly has none; return the last
        capture.
        """
        seen = before
        for pause in LOOKS:
            await wait_seconds(self._clock, pause)
            try:
                seen = await self._screen.capture_now()
            except MuxTimeout as error:
                raise KeyIgnoredError(make_failure_error("the terminal does not answer")) from error
            if seen.state != before.state and (seen.dialog is not None or seen.is_recognized):
                # The screen must be at rest again before the next key.
                return await self._screen.capture_unchanging() if seen.dialog is not None else seen
        return seen


def _find_intended_dialog(
    seen: GuardedScreen, answer: DialogAnswer, frame: str, is_meant: Callable[[AgentDialog], bool]
) -> AgentDialog:
    dialog = seen.dialog
    if dialog is None or answer.expect_frame not in (None, frame):
        raise _make_dialog_error(seen)
    if dialog.frame_hash != frame and not is_meant(dialog):
        raise DialogChangedError(dialog)
    return dialog


def _make_dialog_error(seen: GuardedScreen) -> Exception:
    """Return the error for a screen without a dialog or with another dialog."""
    if seen.dialog is not None:
        return DialogChangedError(seen.dialog)
    if not seen.is_recognized:
        return make_failure_error("the screen is not recognized; nothing was pressed")
    return make_conflict_error(GONE)
