"""A draft that stands in the composer already: taken out, and put back behind the prompt.

It is somebody's own.  A prompt never merges with it: what cannot be taken out and put back as it
was keeps the prompt from being typed.
"""

from __future__ import annotations

from functools import partial

from tservice.core.clock import sleep
from tservice.mux.interface import MuxError, PaneGone
from tservice.sessions.input.composing import Composer, Sight
from tservice.sessions.input.touching import Touch, Unanswered
from tservice.sessions.input.typist import NotTyped, TypingContext
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

    def __init__(self, context: TypingContext, composer: Composer) -> None:
        self._context = context
        self._park = composer.submission.park
        self._composer = composer
        self._touch = Touch(context, composer)
        self._draft: Draft | None = None

    async def park(self, sight: Sight | None) -> Sight | None:
        """Empty the composer; what stands in it then.

        @raise NotTyped: the draft cannot be taken out.
        """
        if sight is None or not sight.draft.text:
            return sight
        if not sight.is_whole:
            raise NotTyped(UNPARKED)
        try:
            if await self._is_left_over(sight.draft):
                await self._touch.wipe(partial(_same, sight))
            else:
                await self._take_out(sight)
            return await self._emptied()
        except Unanswered as error:
            raise NotTyped(UNPARKED) from error

    def is_back(self, draft: Draft) -> bool:
        """Whether C{draft} is the one that was parked."""
        return self._draft is not None and draft.text == self._draft.text

    async def put_back(self) -> None:
        """Type the draft again, where the agent does not do that by itself.

        It may be the prompt before, of which the agent told only since.
        """
        if self._draft is None or self._park is None or self._park.returns:
            return
        if await self._is_left_over(self._draft):
            return
        try:
            guard = await self._context.pane.guard()
            seen = self._composer.see(guard.capture)
            if seen is not None and not seen.draft.text:
                await self._context.pane.paste_if(self._draft.text, guard, seen.draft.rows)
        except PaneGone:
            raise
        except MuxError:
            # The prompt was submitted; that is what its caller is told.
            return

    async def _is_left_over(self, draft: Draft) -> bool:
        """Whether it is none: the prompt before, which was submitted and still stood there."""
        before = self._context.before
        if before is None or not draft.holds(before.text):
            return False
        return await before.claim.told() is Told.SUBMITTED

    async def _take_out(self, sight: Sight) -> None:
        if self._park is None or not (self._park.returns or is_retypable(sight.draft.text)):
            raise NotTyped(UNPARKED)
        self._draft = sight.draft
        for key in self._park.keys:
            if await self._touch.press(key, partial(_same, sight)) is None:
                raise NotTyped(UNPARKED)
            await sleep(self._context.clock, LOOKS[0])

    async def _emptied(self) -> Sight:
        for pause in LOOKS:
            await sleep(self._context.clock, pause)
            seen = await self._touch.see()
            if seen is not None and not seen.draft.text:
                return seen
        raise NotTyped(UNPARKED)


def _same(before: Sight, now: Sight) -> bool:
    return now.is_whole and before.draft.text == now.draft.text
