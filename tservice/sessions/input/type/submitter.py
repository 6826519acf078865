"""Submits a prompt: presses Enter and confirms that the agent accepted the prompt
(protocol-prompts).

The confirmation comes from the composer. It may show the text for a while: an agent at the end of a
turn is slow, and a stalled agent does not redraw.  So visible text is no reason to press Enter
again.  A lost Enter needs two proofs. The caret moves on keys pressed after the Enter, with the
text unchanged, and the agent did not report the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from tservice.core.kernel.clock import wait_seconds
from tservice.sessions.input.type.caret_probe import CaretProbe
from tservice.sessions.input.type.composer import ComposerSnapshot
from tservice.sessions.input.type.composer_keyboard import ComposerKeyboard, KeyUnconfirmed
from tservice.sessions.input.type.typist import PromptContext
from tservice.sessions.interfaces import PromptClaim, PromptReport

LEAVING = (0.03, 0.05, 0.07, *(0.1,) * 8, *(0.25,) * 8)
"""Seconds before each check that the text is gone from the composer."""
STANDING = (0.05, 0.1, *(0.25,) * 12)
"""Seconds before each further check of an emptied composer, until two consecutive checks show all
of it.

Their sum is longer than a stalled agent keeps a half-drawn screen.
"""
TELLING = (0.03, 0.05, *(0.1,) * 9, *(0.25,) * 8, 0.5, 0.5, 1.0, 1.0)
"""Seconds after each check for the agent's report of a text that is gone from the composer.

Their sum is longer than a stalled agent keeps a half-drawn screen.
"""
PATIENCE = (1.0, 1.0, 2.0, 2.0, 3.0, 5.0)
"""Seconds after each check for the submission of a text that stays in the composer."""
WRITING = 0.5
"""Seconds between two tests with the caret. Agents write their reports shortly after they draw."""
AGAIN = 3
"""Maximum number of repeated Enters. Each needs proof that the one before was lost."""

NOT_SURE = "not sure whether it was submitted"


class SubmissionUnconfirmed(Exception):
    """Raised if the text is still in the composer and its submission cannot be confirmed."""


class PromptVisibility(Enum):
    """Visibility of the typed text in the composer before its Enter."""

    WHOLE = "the text"
    NOTHING = "the text did not appear"
    BLIND = "no composer was visible"


class PromptSubmitter:
    """Presses Enter for one prompt and confirms the submission.

    @param stands: returns true if the prompt's text is in the given composer snapshot.
    @ivar claim: the prompt's claim to the agent's reports; C{None} if Enter was not pressed yet.
    """

    def __init__(
        self,
        context: PromptContext,
        text: str,
        stands: Callable[[ComposerSnapshot], bool],
    ) -> None:
        self._context = context
        self._composer = context.composer
        self._text = text
        self._stands = stands
        self._touch = ComposerKeyboard(context)
        self._listening = CaretProbe(context, stands)
        self._shown = PromptVisibility.WHOLE
        self._check_permission: Callable[[], object] = lambda: None
        self.claim: PromptClaim | None = None

    async def prepare_enter(self, shown: PromptVisibility) -> None:
        """Record the state before the Enter that is pressed next.

        @param shown: visibility of the text before this Enter.
        """
        self._context.moves.press_enter()
        self._listening.note_enter(await self._touch.read_composer())
        self._shown = shown
        # An agent that shows the text has read everything typed before it.
        self.claim = self._context.claim(shown is PromptVisibility.WHOLE)

    def resume_submission(self) -> None:
        """Restore the state after an earlier run of the service pressed Enter."""
        self._context.moves.find_enter()
        self.claim = self._context.claim(False)

    @property
    def was_never_visible(self) -> bool:
        """True if the text was not visible before its Enter, and has not become visible since."""
        return self._shown is PromptVisibility.NOTHING

    async def get_report(self) -> PromptReport:
        """Return the agent's report of the prompt so far."""
        return PromptReport.NOTHING if self.claim is None else await self.claim.get_report()

    async def confirm_submission(self) -> None:
        """Return once the prompt was submitted. Press Enter again if it was certainly lost.

        @raise SubmissionUnconfirmed: the submission cannot be confirmed.
        @raise PaneGone: the process has ended.
        """
        if self._shown is PromptVisibility.BLIND and await self._trusts_reports():
            return
        try:
            if self._shown is PromptVisibility.WHOLE or await self._has_become_visible():
                await self._wait_until_submitted()
        except KeyUnconfirmed as error:
            raise SubmissionUnconfirmed(NOT_SURE) from error

    async def finish_submission(self, check_permission: Callable[[], object]) -> None:
        """Submit a text that is still in the composer and was certainly not submitted.

        @param check_permission: called before each Enter. Raises if the permission was lost.
        @raise SubmissionUnconfirmed: the submission cannot be confirmed.
        @raise PaneGone: the process has ended.
        """
        self._check_permission = check_permission
        try:
            if self.claim is None:
                await self.prepare_enter(PromptVisibility.WHOLE)
            elif not await self._listening.reads_keys():
                raise SubmissionUnconfirmed(NOT_SURE)
            elif not await self._is_enter_lost():
                return
            await self._press_again()
            await self._wait_until_submitted()
        except KeyUnconfirmed as error:
            raise SubmissionUnconfirmed(NOT_SURE) from error

    # -- internals

    async def _trusts_reports(self) -> bool:
        """Return true if the agent's reports decide about a prompt whose composer was not visible.

        Return false if the agent reports its prompts but did not report this one.
        """
        if self._composer.submission.is_cli_or_shell_command(self._text):
            return True
        for pause in TELLING:
            if await self.get_report() in (PromptReport.SUBMITTED, PromptReport.NOTHING):
                return True
            await wait_seconds(self._context.clock, pause)
        return False

    async def _has_become_visible(self) -> bool:
        """Return true if a text that was invisible before its Enter is in the composer now.

        Return false if the agent reported the prompt as submitted.

        @raise SubmissionUnconfirmed: neither is known; a composer without the text proves nothing.
        """
        for pause in PATIENCE:
            if await self.get_report() is PromptReport.SUBMITTED:
                return False
            if await self._is_there():
                self._shown = PromptVisibility.WHOLE
                return True
            await wait_seconds(self._context.clock, pause)
        raise SubmissionUnconfirmed(NOT_SURE)

    async def _is_there(self) -> bool:
        sight = await self._touch.read_composer()
        return sight is not None and self._stands(sight)

    async def _wait_until_submitted(self) -> None:
        """Return once the text was submitted and left the composer.

        @raise SubmissionUnconfirmed: the submission cannot be confirmed.
        """
        for _ in range(AGAIN):
            if await self._is_submitted() or not await self._is_enter_lost():
                return
            await self._press_again()
        if not await self._is_submitted():
            raise SubmissionUnconfirmed(NOT_SURE)

    async def _press_again(self) -> None:
        """Press Enter again, unless the screen changes before the key. A later check then
        decides.
        """
        self._check_permission()
        seen = await self._touch.press_if_matching("Enter", self._stands)
        if seen is not None:
            self._listening.note_enter(seen)

    async def _is_submitted(self) -> bool:
        return await self._leaves_composer(LEAVING) and await self._is_submission_confirmed()

    async def _leaves_composer(self, looks: Sequence[float]) -> bool:
        """Return true if the text vanishes from the composer.

        An invisible composer proves nothing, except after a command, which may have opened a page.

        @param looks: seconds before each check.
        """
        seen = False
        for pause in looks:
            await wait_seconds(self._context.clock, pause)
            if self._context.pane.ending is not None:
                # C{/exit} ends the process, and its text stays on the screen of the dead pane.
                return True
            found, whole = await self._check_text_gone()
            if found and await self._is_text_still_gone(whole):
                return True
            seen = seen or found is not None
        return not seen and self._composer.submission.is_cli_or_shell_command(self._text)

    async def _is_text_gone(self) -> bool | None:
        """Return true if the text is gone or a dialog replaces the composer; C{None} if this is
        unknown.
        """
        return (await self._check_text_gone())[0]

    async def _check_text_gone(self) -> tuple[bool | None, bool]:
        """Return the result of L{_is_text_gone}, and true if the screen was certainly
        complete.
        """
        capture = await self._touch.capture_screen()
        if capture is None:
            return None, True
        sight = self._composer.read_snapshot(capture)
        if sight is None or sight.draft.span is None:
            # If a dialog replaces the composer, an earlier prompt may look like its text.
            if self._context.find_dialog(capture, self._text) is not None:
                return True, True
            if sight is None:
                return None, True
        return not self._stands(sight) and not self._shows_first_screen(
            sight
        ), sight.is_fully_recognized

    async def _is_text_still_gone(self, whole: bool) -> bool:
        """Check again that the text is gone from the composer.

        A partly drawn screen may show an earlier prompt where the composer belongs.

        @param whole: true if the previous check saw a complete composer.
        """
        for pause in STANDING:
            await wait_seconds(self._context.clock, pause)
            free, now = await self._check_text_gone()
            if not free or (whole and now):
                return bool(free)
            whole = now
        return True

    async def _is_submission_confirmed(self) -> bool:
        """Return true if an emptied composer was more than an intermediate state of drawing.

        An agent that reports its prompts gets some time to report this one. An agent whose first
        screen ends with its first prompt gets the same time, because it may restore the text.
        """
        submission = self._composer.submission
        if submission.is_cli_or_shell_command(self._text):
            return True
        for pause in TELLING:
            told = await self.get_report()
            if told is PromptReport.SUBMITTED or (
                told is PromptReport.NOTHING and not submission.home
            ):
                return True
            await wait_seconds(self._context.clock, pause)
            if await self._is_text_gone() is False:
                return False
        return True

    async def _is_enter_lost(self) -> bool:
        """Return true if Enter was certainly lost, and false if the prompt was submitted.

        The proof needs an agent that moved its caret on keys pressed after the Enter, and did so
        again a moment later. The text must have been in the composer all the time. An agent that
        reports prompts must not have reported this one.

        @raise SubmissionUnconfirmed: neither is known.
        """
        for pause in PATIENCE:
            if await self.get_report() is PromptReport.SUBMITTED:
                await self._wipe_text()
                return False
            if await self._listening.reads_keys() and await self._is_still_unreported():
                return True
            if await self._leaves_composer((pause,)) and await self._is_submission_confirmed():
                return False
        raise SubmissionUnconfirmed(NOT_SURE)

    async def _wipe_text(self) -> None:
        """Remove the text of a submitted prompt from the composer. Ignore a terminal that does not
        answer.
        """
        try:
            await self._touch.wipe_rows(self._stands)
        except KeyUnconfirmed:
            # The next prompt recognizes the rest of it.
            return

    async def _is_still_unreported(self) -> bool:
        """Return true if an agent reads keys and, a moment later, has still not reported the
        prompt.

        The agent may have been suspended between drawing and writing its report.
        """
        await wait_seconds(self._context.clock, WRITING)
        if not await self._listening.reads_keys():
            return False
        return await self.get_report() in (PromptReport.NOT_YET, PromptReport.NOTHING)

    def _shows_first_screen(self, sight: ComposerSnapshot) -> bool:
        """Return true if the agent still shows its first screen, which its first prompt ends.

        opencode draws this screen with an empty composer for a while, and drops text that is typed
        then.
        """
        submission = self._composer.submission
        return (
            submission.home
            and sight.draft.hinted
            and not submission.is_cli_or_shell_command(self._text)
        )
