"""Stash for a draft that is already in the composer: removed before a prompt, restored
afterwards.

The draft is a user's own text, or an earlier prompt whose submission was not confirmed. A prompt
never merges with it.  If a user's draft cannot be removed and restored unchanged, the prompt is not
typed.  The text of an earlier prompt is known, so any key that removes it may be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from twisted.logger import Logger

from tservice.clis.interfaces import DraftParking
from tservice.core.clock import sleep
from tservice.mux.interface import MuxError, MuxTimeout, PaneGone
from tservice.sessions.input.composing import Composer, Sight
from tservice.sessions.input.touching import Touch, Unanswered
from tservice.sessions.input.typist import Left, NotTyped, TypingContext
from tservice.sessions.interfaces import Told
from tservice.terminal.composer import has_paste_placeholder
from tservice.terminal.draft import ComposerDraft

LOOKS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 2.0, 3.0)
"""Seconds before each look for the effect of a key on the draft."""
SHORT_LOOKS = LOOKS[:6]
"""The same if another key can be tried.  Longer than a stopped agent stays unresponsive."""

UNPARKED = "the composer holds a draft; send or clear it first"
STUCK = (
    "the composer still holds an earlier prompt that may not have been submitted, and no key"
    " removes it; send or clear it first"
)


def is_retypable(draft: str) -> bool:
    """Return whether the draft can be typed again exactly as it was read.

    A wrapped line looks like two written lines, and agents show a placeholder for a long paste.
    """
    return "\n" not in draft and not has_paste_placeholder(draft)


class Parking:
    """The draft of one composer while a prompt is typed."""

    _log = Logger()

    def __init__(self, context: TypingContext, composer: Composer) -> None:
        self._context = context
        self._park = composer.submission.park
        self._composer = composer
        self._touch = Touch(context, composer)
        self._draft: ComposerDraft | None = None
        self._left: Left | None = None
        self._returns = False

    @property
    def put_aside(self) -> bool:
        """True if an earlier prompt, which may not have been submitted, was removed."""
        return self._left is not None

    async def park(self, sight: Sight | None, prompt: str) -> Sight | None:
        """Empty the composer for C{prompt} and return its state afterwards.

        @raise NotTyped: the draft cannot be removed.
        """
        if sight is None or not sight.draft.text:
            return sight
        left = self._left_in(sight.draft)
        if left is None and not sight.is_whole:
            raise NotTyped(UNPARKED)
        try:
            if left is not None:
                return await self._put_aside(sight, left, prompt)
            await self._take_out(sight)
            return await self._emptied()
        except Unanswered as error:
            raise NotTyped(UNPARKED if left is None else STUCK) from error

    def is_back(self, draft: ComposerDraft) -> bool:
        """Return whether C{draft} is the stashed one."""
        return self._draft is not None and draft.text == self._draft.text

    async def put_back(self) -> None:
        """Type the draft again, unless the agent restores it itself.

        The draft may be an earlier prompt whose report from the agent arrived only now.
        """
        if self._draft is None or self._returns or (self._left is None and self._park is None):
            return
        if self._left is not None and await _is_over(self._left):
            return
        text = self._draft.text if self._left is None else self._left.text
        for pause in LOOKS:
            if await self._is_typed(text):
                return
            await sleep(self._context.clock, pause)
        self._log.warn("a draft that was stashed for a prompt could not be restored")

    async def _is_typed(self, text: str) -> bool:
        """Type the text if the composer is empty. Return whether no further attempt is needed or
        possible.
        """
        try:
            guard = await self._context.pane.guard_screen()
            seen = self._composer.see(guard.capture)
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

    def _left_in(self, draft: ComposerDraft) -> Left | None:
        """Return the earlier prompt that the draft consists of; C{None} for a user's own text."""
        found = (each for each in reversed(self._context.left) if draft.is_exactly(each.text))
        return next(found, None)

    async def _put_aside(self, sight: Sight, left: Left, prompt: str) -> Sight:
        """Remove an earlier prompt and return the composer's state afterwards.

        @raise NotTyped: no key removes it.
        """
        over = _read_alike(left.text, prompt) or await _is_over(left)
        if not over:
            self._draft, self._left = sight.draft, left
        self._context.displacing()
        park = self._park if self._park is not None and self._park.returns and not over else None
        empty = None
        if park is not None and await self._press(sight, park):
            empty = await self._empty(SHORT_LOOKS)
        if empty is not None:
            self._returns = True
            return empty
        gone = await self._take_away(sight, left)
        empty = await self._empty(LOOKS)
        if empty is None:
            raise NotTyped(STUCK)
        # If it vanished without wiping, the stash key worked after all, only late.
        self._returns = park is not None and not gone
        return empty

    async def _take_away(self, sight: Sight, left: Left) -> bool:
        """Remove it row by row, else letter by letter. Return whether that removed all of it."""
        if await self._touch.wipe(partial(_reads_same, sight)):
            return True
        rest = await self._touch.see()
        # The rest must be a part of that prompt; otherwise a user has typed in the meantime.
        if rest is None or not rest.draft.text or not rest.draft.is_exactly(left.text):
            return False
        return await self._touch.erase(rest.draft.text)

    async def _take_out(self, sight: Sight) -> None:
        park = self._park
        if park is None or not (park.returns or is_retypable(sight.draft.text)):
            raise NotTyped(UNPARKED)
        self._draft, self._returns = sight.draft, park.returns
        self._context.displacing()
        if not await self._press(sight, park):
            raise NotTyped(UNPARKED)

    async def _press(self, sight: Sight, park: DraftParking) -> bool:
        for key in park.keys:
            if await self._touch.insist(key, partial(_reads_same, sight)) is None:
                return False
            await sleep(self._context.clock, LOOKS[0])
        return True

    async def _emptied(self) -> Sight:
        seen = await self._empty(LOOKS)
        if seen is None:
            raise NotTyped(UNPARKED)
        return seen

    async def _empty(self, looks: Sequence[float]) -> Sight | None:
        """Return the composer once it is empty; C{None} if it does not become empty."""
        for pause in looks:
            await sleep(self._context.clock, pause)
            seen = await self._touch.see()
            if seen is not None and not seen.draft.text:
                return seen
        return None


async def _is_over(left: Left) -> bool:
    """Return whether the earlier prompt was submitted, so that its text is no draft."""
    return left.claim is not None and await left.claim.told() is Told.SUBMITTED


def _read_alike(one: str, other: str) -> bool:
    return one.split() == other.split()


def _reads_same(before: Sight, now: Sight) -> bool:
    """Return whether the composer shows the same text, recognized at least as reliably."""
    return before.draft.text == now.draft.text and (now.is_whole or not before.is_whole)
