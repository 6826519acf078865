"""Delivers a prompt to an agent: types it, waits until it is visible, and submits it once
(protocol-prompts).

Enter is pressed only after the composer shows the text, so the agent never receives both in one
read. An agent would ignore an Enter in the same read.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import define

from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import make_failure_error
from tservice.mux.interface import InputMark, PaneGone
from tservice.sessions.input.entry import JournalEntry
from tservice.sessions.input.type.composer import ComposerSnapshot
from tservice.sessions.input.type.composer_keyboard import ComposerKeyboard, KeyUnconfirmed
from tservice.sessions.input.type.draft_stash import DraftStash
from tservice.sessions.input.type.submitter import (
    PromptSubmitter,
    PromptVisibility,
    SubmissionUnconfirmed,
)
from tservice.sessions.input.type.typist import (
    PASTE_GAP,
    PASTED,
    WRITTEN,
    EntryTypist,
    NotTyped,
    PromptContext,
    TypedRemainder,
)
from tservice.sessions.interfaces import PromptClaim, PromptReport

SIGHTS = (0.1, 0.2, 0.3, 0.5, 0.9, 1.0)
"""Seconds before each further check for a composer, before anything is typed.

A partly drawn screen has no composer, or shows an earlier prompt where the composer belongs.
"""
TAKING = (0.03, *(0.05,) * 8, *(0.1,) * 5, *(0.25,) * 8, *(0.5,) * 50)
"""Seconds before each check for a text that was typed. After the last check, Enter is pressed in
any case.

Gemini CLI reads nothing for some seconds after a prompt of 64 KiB.
"""
UNSEEN = 4.0
"""Seconds without a visible composer after which the composer counts as invisible.

This is longer than a stalled agent keeps a half-drawn screen.
"""
SEEN_GAP = 0.12
"""Seconds between the text's appearance and Enter."""
SETTLING = (0.15,) * 10
"""Seconds before each check that the completion menu of a command is drawn."""
CUTTING = (0.03, 0.07, 0.2, 0.5, 1.0, 1.0)
"""Seconds before each check that the text after the caret is gone.

Their sum is longer than a stalled agent keeps a half-drawn screen.
"""
ASKING = (0.1, 0.2, 0.4)
"""Seconds before each further check of a dialog, before a prompt is refused because of the dialog.

An earlier prompt that quotes a dialog looks like a dialog until the composer below is drawn.
"""
DIALOG_LOOKS = (0.15, 0.3, 0.6, 1.2)
"""Seconds before each check that a dialog is gone, if it appeared between text and Enter."""
OPENING = (0.1, 0.2, *(0.3,) * 15)
"""Seconds before each check for a view that a command opened.

A list of many conversations is slow to read, and a busy machine is slow to draw it.
"""
RESTING = 4
"""Number of consecutive checks with an idle composer that prove that a command opened no view."""


@define
class PromptOutcome:
    """Outcome of a prompt.

    @ivar opened: kind of view that the prompt's command opened; C{None} if it opened none.
    @ivar put_aside: true if an unconfirmed earlier prompt was removed from the composer.
    """

    opened: str | None = None
    put_aside: bool = False


class PromptRunner:
    """Delivers one prompt to an agent.

    @ivar passed: true if a later prompt was typed, for which this one was removed from the
        composer.
    """

    def __init__(self, entry: JournalEntry, context: PromptContext) -> None:
        self._context = context
        self._composer = context.composer
        self._typist = EntryTypist(entry, context)
        self._text = entry.data.decode("utf-8")
        self._touch = ComposerKeyboard(context)
        self._parking = DraftStash(context)
        self._submitter = PromptSubmitter(context, self._text, self._holds_text)
        self.passed = False

    async def deliver_prompt(self, *, resumed: bool = False) -> PromptOutcome:
        """Type and submit the prompt, or the missing part of it.

        @param resumed: true if an earlier run of the service may have begun the prompt.
        @raise NotTyped: nothing was typed.
        @raise PaneGone: the process ended, and the typed text is lost.
        @raise SubmissionUnconfirmed: the prompt was typed, but its submission could not be
            confirmed.
        @raise ServiceError: 422: the prompt was typed, in part or completely, but was not
            submitted.
        """
        mark = await self._typist.get_progress() if resumed else None
        if not self._text:
            return await self._press_bare_enter(mark)
        shown = await self._type_text(mark, resumed)
        if shown is None:
            return PromptOutcome()
        if mark is not None and mark.step not in (PASTED, WRITTEN):
            self._submitter.resume_submission()
        else:
            await self._wait_before_enter()
            await self._submitter.prepare_enter(shown)
            await self._typist.press_enter()
        try:
            await self._submitter.confirm_submission()
            await self._parking.restore_draft()
            return PromptOutcome(
                opened=await self._wait_for_opened_view(), put_aside=self._parking.did_put_aside
            )
        except PaneGone:
            # Enter was pressed, and the program ended on it: C{/exit} does that.
            return PromptOutcome()

    def restore_claim(self, claim: PromptClaim) -> None:
        """Set the claim of a prompt whose Enter was pressed by an earlier run of the service."""
        self._submitter.claim = claim

    async def finish_prompt(self, check_permission: Callable[[], object]) -> bool:
        """Submit an unconfirmed prompt that its caller sends again, if it was not submitted.

        @param check_permission: called before each Enter. Raises if the permission was lost.
        @return: true if the prompt is submitted.
        @raise PaneGone: the process has ended.
        """
        if not await self._is_unconfirmed():
            return True
        if self.passed or not await self._is_sole_text():
            return False
        try:
            await self._submitter.finish_submission(check_permission)
            await self._parking.restore_draft()
        except SubmissionUnconfirmed:
            return False
        return True

    async def _is_sole_text(self) -> bool:
        """Return true if the composer holds exactly the typed text and nothing that a user
        added.
        """
        sight = await self._touch.read_composer()
        if sight is None or not (sight.is_fully_recognized and sight.draft.is_exactly(self._text)):
            return False
        return await self._find_dialog(self._text) is None

    @property
    def remainder(self) -> TypedRemainder:
        """Description of the prompt, whose text may remain in the composer."""
        return TypedRemainder(text=self._text, claim=self._submitter.claim)

    async def _is_unconfirmed(self) -> bool:
        gone = await self.is_in_composer() is False
        told = await self._submitter.get_report()
        if told is PromptReport.SUBMITTED:
            return False
        untold = (
            told is not PromptReport.NOTHING
            and not self._composer.submission.is_cli_or_shell_command(self._text)
        )
        # The agent may not have read it yet, a user may have removed it, or it is put aside. Its
        # absence then proves nothing.
        return untold or self._submitter.was_never_visible or self.passed or not gone

    async def is_in_composer(self) -> bool | None:
        """Return true if the prompt's text is in the composer; C{None} if no composer is
        visible.
        """
        sight = await self._touch.read_composer()
        return None if sight is None else self._holds_text(sight)

    # -- the text

    async def _press_bare_enter(self, mark: InputMark | None) -> PromptOutcome:
        if mark is None:
            await self._require_no_dialog()
            self._context.moves.press_enter()
            await self._typist.press_enter()
        return PromptOutcome()

    async def _type_text(self, mark: InputMark | None, resumed: bool) -> PromptVisibility | None:
        """Type the missing part of the text. Return C{None} if the text must not be submitted.

        @param mark: progress of the prompt on the pane; C{None} if nothing was typed.
        """
        if mark is not None:
            await self._typist.type_text(mark)
            return (
                None if resumed and await self.is_in_composer() is False else PromptVisibility.WHOLE
            )
        await self._require_no_dialog()
        before = await self._parking.stash_draft(await self._wait_for_composer(), self._text)
        self._context.displacing()
        await self._typist.type_text(None)
        return await self._wait_for_typed_text(before)

    async def _wait_for_composer(self) -> ComposerSnapshot | None:
        """Return the composer once it is visible; C{None} if it does not appear in time."""
        seen = await self._touch.read_composer()
        for pause in SIGHTS if self._composer.is_recognizable else ():
            if seen is not None and (seen.is_fully_recognized or not seen.draft.text):
                break
            await wait_seconds(self._context.clock, pause)
            seen = await self._touch.read_composer()
        return seen

    async def _wait_for_typed_text(self, before: ComposerSnapshot | None) -> PromptVisibility:
        """Wait until the composer shows the text, or until it counts as invisible.

        @param before: the composer before the text was typed.
        """
        began = self._context.clock.seconds()
        # Without a visible composer there is nothing to wait for.
        shown = (
            PromptVisibility.BLIND
            if before is None
            else await self._wait_until_shown(before.draft.text)
        )
        spent = self._context.clock.seconds() - began
        await wait_seconds(self._context.clock, max(SEEN_GAP, PASTE_GAP - spent))
        if shown is PromptVisibility.BLIND:
            return shown
        if self._composer.submission.is_command(self._text):
            await self._wait_until_stable()
        else:
            await self._remove_trailing_text()
        return shown

    async def _wait_until_shown(self, before: str) -> PromptVisibility:
        """Wait until two checks show the text, exactly or as the agent renders it.

        @param before: the composer's text before.
        """
        other, unseen = before, 0.0
        for pause in TAKING:
            await wait_seconds(self._context.clock, pause)
            now = await self._touch.read_composer()
            if now is None and await self._find_dialog(self._text) is not None:
                await self._wait_past_dialog()
                return PromptVisibility.WHOLE
            if now is None:
                unseen += pause
                if unseen > UNSEEN:
                    return PromptVisibility.BLIND
                continue
            unseen = 0.0
            if now.draft.contains_prompt(self._text) or now.draft.text == other != before:
                return PromptVisibility.WHOLE
            other = now.draft.text
        return PromptVisibility.NOTHING

    async def _remove_trailing_text(self) -> None:
        """Delete text that appeared after the prompt although the composer was empty before.

        Claude Code restores deleted text if it was suspended between an Enter and its redraw.
        """
        cut = self._composer.submission.cut
        if cut is None:
            return
        try:
            before = await self._touch.press_retrying(cut, _has_trailing_text)
        except KeyUnconfirmed:
            # The key never deletes a part of the prompt, however often it is pressed.
            return
        for pause in CUTTING if before is not None else ():
            await wait_seconds(self._context.clock, pause)
            now = await self._touch.read_composer()
            if now is not None and not _has_trailing_text(now):
                return

    async def _wait_until_stable(self) -> None:
        """Wait until the screen no longer changes, for a limited time.

        A command's Enter accepts the marked entry of the completion menu, which is drawn late.
        """
        before = await self._touch.capture_screen()
        for pause in SETTLING:
            await wait_seconds(self._context.clock, pause)
            now = await self._touch.capture_screen()
            if before is None or now is None or now.lines == before.lines:
                return
            before = now

    # -- dialogs

    async def _require_no_dialog(self) -> None:
        """Check that no dialog is open, which the text would answer."""
        asked = await self._find_dialog("")
        for pause in ASKING:
            if asked is None:
                return
            await wait_seconds(self._context.clock, pause)
            asked = await self._find_dialog("")
        if asked is not None:
            raise NotTyped(f"the agent shows a dialog; answer it first ({asked})")

    async def _wait_before_enter(self) -> None:
        """Wait until no dialog is open, so that Enter does not answer one that just appeared."""
        if await self._find_dialog(self._text) is not None:
            await self._wait_past_dialog()

    async def _wait_past_dialog(self) -> None:
        """Wait until the dialog is gone and the composer still shows the text.

        @raise ServiceError: 422: the dialog stays.
        """
        for pause in DIALOG_LOOKS:
            await wait_seconds(self._context.clock, pause)
            if await self._find_dialog(self._text) is None and await self.is_in_composer():
                return
        raise make_failure_error(
            "the text was typed but not submitted: the agent opened a dialog before Enter"
        )

    async def _find_dialog(self, typed: str) -> str | None:
        """Return one line that describes the dialog on the screen; C{None} if none is visible.

        @param typed: the prompt's text, which may look like a dialog.
        """
        capture = await self._touch.capture_screen()
        return None if capture is None else self._context.find_dialog(capture, typed)

    # -- the outcome

    def _holds_text(self, sight: ComposerSnapshot) -> bool:
        draft = sight.draft
        return draft.contains_prompt(self._text) and not self._parking.is_stashed_draft(draft)

    async def _wait_for_opened_view(self) -> str | None:
        """Return the kind of view that the agent's command opened; C{None} if none appears in
        time.
        """
        if not self._composer.submission.is_command(self._text):
            return None
        resting = 0
        for pause in OPENING:
            await wait_seconds(self._context.clock, pause)
            capture = await self._touch.capture_screen()
            opened = None if capture is None else self._context.find_opened_view(capture)
            if opened is not None:
                return opened
            rests = capture is None or self._context.is_at_rest(capture)
            resting = resting + 1 if rests else 0
            if resting == RESTING:
                break
        return None


def _has_trailing_text(sight: ComposerSnapshot) -> bool:
    return sight.is_fully_recognized and sight.has_text_after_caret
