"""Stash for a draft that is already in the composer. It is removed before a prompt is typed, and
restored afterwards.

The draft is a user's own text, or an earlier prompt whose submission was not confirmed. A prompt
never merges with the draft.  If a user's draft cannot be removed and restored unchanged, the prompt
is not typed.  The text of an earlier prompt is known, so any key that removes it may be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from twisted.logger import Logger

from tservice.clis.interfaces import DraftParking
from tservice.core.kernel.clock import wait_seconds
from tservice.mux.interface import MuxError, MuxTimeout, PaneGone
from tservice.sessions.input.type.composer import ComposerSnapshot
from tservice.sessions.input.type.composer_keyboard import ComposerKeyboard, KeyUnconfirmed
from tservice.sessions.input.type.typist import NotTyped, PromptContext, TypedRemainder
from tservice.sessions.interfaces import PromptReport
from tservice.terminal.composers.composer import has_paste_placeholder
from tservice.terminal.composers.draft import ComposerDraft

LOOKS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 2.0, 3.0)
"""Seconds before each check for the effect of a key on the draft."""
SHORT_LOOKS = LOOKS[:6]
"""Seconds before each check if another key can be tried afterwards.

Their sum is longer than a stalled agent stays unresponsive.
"""

UNPARKED = "the composer holds a draft; send or clear it first"
STUCK = (
    "the composer still holds an earlier prompt that may not have been submitted, and no key"
    " removes it; send or clear it first"
)


def is_retypable(draft: str) -> bool:
    """Return true if the draft can be typed again exactly as it was read.

    A wrapped line looks like two written lines, and agents show a placeholder for a long paste.
    """
    return "\n" not in draft and not has_paste_placeholder(draft)


class DraftStash:
    """Stash for the draft of one composer while a prompt is typed."""

    _log = Logger()

    def __init__(self, context: PromptContext) -> None:
        self._context = context
        self._park = context.composer.submission.park
        self._composer = context.composer
        self._touch = ComposerKeyboard(context)
        self._draft: ComposerDraft | None = None
        self._left: TypedRemainder | None = None
        self._returns = False

    @property
    def did_put_aside(self) -> bool:
        """True if an earlier prompt was removed from the composer. That prompt may not have been
        submitted.
        """
        return self._left is not None

    async def stash_draft(
        self, sight: ComposerSnapshot | None, prompt: str
    ) -> ComposerSnapshot | None:
        """Empty the composer so that C{prompt} can be typed. Return the empty composer.

        @param sight: the composer now; C{None} if no composer is visible.
        @raise NotTyped: the draft cannot be removed.
        """
        if sight is None or not sight.draft.text:
            return sight
        left = self._find_remainder(sight.draft)
        if left is None and not sight.is_fully_recognized:
            raise NotTyped(UNPARKED)
        try:
            if left is not None:
                return await self._remove_prompt(sight, left, prompt)
            await self._remove_draft(sight)
            return await self._require_empty()
        except KeyUnconfirmed as error:
            raise NotTyped(UNPARKED if left is None else STUCK) from error

    def is_stashed_draft(self, draft: ComposerDraft) -> bool:
        """Return true if C{draft} is the same text as the stashed draft."""
        return self._draft is not None and draft.text == self._draft.text

    async def restore_draft(self) -> None:
        """Type the stashed draft again, unless the agent restores it itself.

        An earlier prompt is not restored if the agent has since reported that it was submitted.
        """
        if self._draft is None or self._returns or (self._left is None and self._park is None):
            return
        if self._left is not None and await _was_submitted(self._left):
            return
        text = self._draft.text if self._left is None else self._left.text
        for pause in LOOKS:
            if await self._retype_text(text):
                return
            await wait_seconds(self._context.clock, pause)
        self._log.warn("a draft that was stashed for a prompt could not be restored")

    async def _retype_text(self, text: str) -> bool:
        """Type the text if the composer is empty. Return true if no further attempt is needed or
        possible.
        """
        try:
            guard = await self._context.pane.guard_screen()
            seen = self._composer.read_snapshot(guard.capture)
            if seen is None or seen.draft.text:
                return False
            return await self._context.pane.paste_if(text, guard, seen.draft.rows)
        except MuxTimeout:
            # It may have been typed. The prompt was submitted, so the caller gets a success.
            return True
        except PaneGone:
            raise
        except MuxError:
            return False

    def _find_remainder(self, draft: ComposerDraft) -> TypedRemainder | None:
        """Return the earlier prompt whose text is the draft; C{None} if the draft is a user's own
        text.
        """
        found = (each for each in reversed(self._context.left) if draft.is_exactly(each.text))
        return next(found, None)

    async def _remove_prompt(
        self, sight: ComposerSnapshot, left: TypedRemainder, prompt: str
    ) -> ComposerSnapshot:
        """Remove an earlier prompt and return the composer's state afterwards.

        @raise NotTyped: no key removes it.
        """
        over = _have_same_words(left.text, prompt) or await _was_submitted(left)
        if not over:
            self._draft, self._left = sight.draft, left
        self._context.displacing()
        park = self._park if self._park is not None and self._park.returns and not over else None
        empty = None
        if park is not None and await self._press_stash_keys(sight, park):
            empty = await self._wait_until_empty(SHORT_LOOKS)
        if empty is not None:
            self._returns = True
            return empty
        gone = await self._wipe_prompt(sight, left)
        empty = await self._wait_until_empty(LOOKS)
        if empty is None:
            raise NotTyped(STUCK)
        # If it vanished without wiping, the stash key worked after all, only late.
        self._returns = park is not None and not gone
        return empty

    async def _wipe_prompt(self, sight: ComposerSnapshot, left: TypedRemainder) -> bool:
        """Remove an earlier prompt row by row, or else letter by letter. Return true if all of it
        is gone.
        """
        if await self._touch.wipe_rows(partial(_is_unchanged, sight)):
            return True
        rest = await self._touch.read_composer()
        # The rest must be a part of that prompt; otherwise a user has typed in the meantime.
        if rest is None or not rest.draft.text or not rest.draft.is_exactly(left.text):
            return False
        return await self._touch.erase_letters(rest.draft.text)

    async def _remove_draft(self, sight: ComposerSnapshot) -> None:
        park = self._park
        if park is None or not (park.returns or is_retypable(sight.draft.text)):
            raise NotTyped(UNPARKED)
        self._draft, self._returns = sight.draft, park.returns
        self._context.displacing()
        if not await self._press_stash_keys(sight, park):
            raise NotTyped(UNPARKED)

    async def _press_stash_keys(self, sight: ComposerSnapshot, park: DraftParking) -> bool:
        for key in park.keys:
            if await self._touch.press_retrying(key, partial(_is_unchanged, sight)) is None:
                return False
            await wait_seconds(self._context.clock, LOOKS[0])
        return True

    async def _require_empty(self) -> ComposerSnapshot:
        seen = await self._wait_until_empty(LOOKS)
        if seen is None:
            raise NotTyped(UNPARKED)
        return seen

    async def _wait_until_empty(self, looks: Sequence[float]) -> ComposerSnapshot | None:
        """Return the composer once it is empty; C{None} if it does not become empty in time.

        @param looks: seconds before each check.
        """
        for pause in looks:
            await wait_seconds(self._context.clock, pause)
            seen = await self._touch.read_composer()
            if seen is not None and not seen.draft.text:
                return seen
        return None


async def _was_submitted(left: TypedRemainder) -> bool:
    """Return true if the agent reported the earlier prompt as submitted. Its text is then no
    draft.
    """
    return left.claim is not None and await left.claim.get_report() is PromptReport.SUBMITTED


def _have_same_words(one: str, other: str) -> bool:
    return one.split() == other.split()


def _is_unchanged(before: ComposerSnapshot, now: ComposerSnapshot) -> bool:
    """Return true if the composer shows the same text and is recognized at least as reliably as
    before.
    """
    return before.draft.text == now.draft.text and (
        now.is_fully_recognized or not before.is_fully_recognized
    )
