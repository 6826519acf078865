"""A draft that stands in the composer already: taken out, and put back behind the prompt.

It is somebody's own, or a prompt of before that was not submitted for sure.  A prompt never merges
with it: what cannot be taken out and put back as it was keeps the prompt from being typed.
"""

from __future__ import annotations

from functools import partial

from twisted.logger import Logger

from tservice.core.clock import sleep
from tservice.mux.interface import MuxError, MuxTimeout, PaneGone
from tservice.sessions.input.composing import Composer, Sight
from tservice.sessions.input.touching import Touch, Unanswered
from tservice.sessions.input.typist import Left, NotTyped, TypingContext
from tservice.sessions.interfaces import Told
from tservice.terminal.composer import has_stand_in
from tservice.terminal.draft import Draft

LOOKS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 2.0, 3.0)
"""Seconds before each look for what a key made of the draft."""

UNPARKED = "somebody's draft stands in the composer, send or clear that first"


def is_retypable(draft: str) -> bool:
    """Whether it can be typed again as it was read.

    What was wrapped cannot be told from what was written on two rows, and of a long paste an agent
    shows a stand-in.
    """
    return "\n" not in draft and not has_stand_in(draft)


class Parking:
    """The draft of one composer while a prompt is given to it."""

    _log = Logger()

    def __init__(self, context: TypingContext, composer: Composer) -> None:
        self._context = context
        self._park = composer.submission.park
        self._composer = composer
        self._touch = Touch(context, composer)
        self._draft: Draft | None = None
        self._left: Left | None = None

    async def park(self, sight: Sight | None, prompt: str) -> Sight | None:
        """Empty the composer for C{prompt}; what stands in it then.

        @raise NotTyped: the draft cannot be taken out.
        """
        if sight is None or not sight.draft.text:
            return sight
        if not sight.is_whole:
            raise NotTyped(UNPARKED)
        left = self._left_in(sight.draft)
        try:
            if left is not None and (_read_alike(left.text, prompt) or await _is_over(left)):
                await self._wipe(sight)
            else:
                await self._take_out(sight, left)
            return await self._emptied()
        except Unanswered as error:
            raise NotTyped(UNPARKED) from error

    def is_back(self, draft: Draft) -> bool:
        """Whether C{draft} is the one that was parked."""
        return self._draft is not None and draft.text == self._draft.text

    async def put_back(self) -> None:
        """Type the draft again, where the agent does not do that by itself.

        It may be a prompt of before, of which the agent told only since.
        """
        if self._draft is None or self._park is None or self._park.returns:
            return
        if self._left is not None and await _is_over(self._left):
            return
        text = self._draft.text if self._left is None else self._left.text
        for pause in LOOKS:
            if await self._is_typed(text):
                return
            await sleep(self._context.clock, pause)
        self._log.warn("a draft that was put aside for a prompt could not be typed back")

    async def _is_typed(self, text: str) -> bool:
        """Type it if the composer is empty; whether that is done, or nothing more can be."""
        try:
            guard = await self._context.pane.guard()
            seen = self._composer.see(guard.capture)
            if seen is None or seen.draft.text:
                return False
            return await self._context.pane.paste_if(text, guard, seen.draft.rows)
        except MuxTimeout:
            # It may have been typed; the prompt was submitted, and that is what its caller is told.
            return True
        except PaneGone:
            raise
        except MuxError:
            return False

    def _left_in(self, draft: Draft) -> Left | None:
        """Which prompt of before it is, rather than somebody's own text."""
        found = (each for each in reversed(self._context.left) if draft.is_of(each.text))
        return next(found, None)

    async def _take_out(self, sight: Sight, left: Left | None) -> None:
        park = self._park
        if park is None:
            raise NotTyped(UNPARKED)
        known = left is not None and self._composer.submission.wipe is not None
        if not (park.returns or known or is_retypable(sight.draft.text)):
            raise NotTyped(UNPARKED)
        self._draft, self._left = sight.draft, left
        if known and not park.returns:
            # It may have many rows, and is typed again as it was given.
            await self._wipe(sight)
            return
        self._context.displacing()
        for key in park.keys:
            if await self._touch.insist(key, partial(_same, sight)) is None:
                raise NotTyped(UNPARKED)
            await sleep(self._context.clock, LOOKS[0])

    async def _wipe(self, sight: Sight) -> None:
        self._context.displacing()
        await self._touch.wipe(partial(_same, sight))

    async def _emptied(self) -> Sight:
        for pause in LOOKS:
            await sleep(self._context.clock, pause)
            seen = await self._touch.see()
            if seen is not None and not seen.draft.text:
                return seen
        raise NotTyped(UNPARKED)


async def _is_over(left: Left) -> bool:
    """Whether it was submitted, and what stands there is no draft."""
    return left.claim is not None and await left.claim.told() is Told.SUBMITTED


def _read_alike(one: str, other: str) -> bool:
    return one.split() == other.split()


def _same(before: Sight, now: Sight) -> bool:
    return now.is_whole and before.draft.text == now.draft.text
