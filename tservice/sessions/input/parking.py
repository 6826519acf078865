"""A draft that stands in the composer already: taken out, and put back behind the prompt.

It is somebody's own, or a prompt of before that was not submitted for sure.  A prompt never merges
with it.  Somebody's draft that cannot be taken out and put back as it was keeps the prompt from
being typed.  A prompt's text is known, so it is taken out by whatever key the agent answers to.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from twisted.logger import Logger

from tservice.clis.interfaces import Park
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
SHORT_LOOKS = LOOKS[:6]
"""The same where another key can be tried.  Longer than an agent that was stopped stands still."""

UNPARKED = "somebody's draft stands in the composer, send or clear that first"
STUCK = (
    "an earlier prompt, which may not have been submitted, stands in the composer, and no key takes"
    " it out; send or clear it first"
)


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
        self._returns = False

    @property
    def put_aside(self) -> bool:
        """Whether a prompt of before, which may not have been submitted, was taken out."""
        return self._left is not None

    async def park(self, sight: Sight | None, prompt: str) -> Sight | None:
        """Empty the composer for C{prompt}; what stands in it then.

        @raise NotTyped: the draft cannot be taken out.
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

    def is_back(self, draft: Draft) -> bool:
        """Whether C{draft} is the one that was parked."""
        return self._draft is not None and draft.text == self._draft.text

    async def put_back(self) -> None:
        """Type the draft again, where the agent does not do that by itself.

        It may be a prompt of before, of which the agent told only since.
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

    async def _put_aside(self, sight: Sight, left: Left, prompt: str) -> Sight:
        """Take out a prompt of before; what stands there then.

        @raise NotTyped: no key does.
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
        # Gone by itself, it was taken out after all, only late.
        self._returns = park is not None and not gone
        return empty

    async def _take_away(self, sight: Sight, left: Left) -> bool:
        """Row by row, else letter by letter; whether that took all of it away."""
        if await self._touch.wipe(partial(_reads_same, sight)):
            return True
        rest = await self._touch.see()
        # Whatever is left of it is a part of that prompt, or somebody else's by now.
        if rest is None or not rest.draft.text or not rest.draft.is_of(left.text):
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

    async def _press(self, sight: Sight, park: Park) -> bool:
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
        """The composer once nothing stands in it; C{None}: something does."""
        for pause in looks:
            await sleep(self._context.clock, pause)
            seen = await self._touch.see()
            if seen is not None and not seen.draft.text:
                return seen
        return None


async def _is_over(left: Left) -> bool:
    """Whether it was submitted, and what stands there is no draft."""
    return left.claim is not None and await left.claim.told() is Told.SUBMITTED


def _read_alike(one: str, other: str) -> bool:
    return one.split() == other.split()


def _reads_same(before: Sight, now: Sight) -> bool:
    """Whether it reads as before, and is a composer as surely as it was."""
    return before.draft.text == now.draft.text and (now.is_whole or not before.is_whole)
