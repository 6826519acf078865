"""Whether an agent reads keys behind an Enter, with the text where it was (protocol-prompts)."""

from __future__ import annotations

from collections.abc import Callable

from tservice.core.clock import sleep
from tservice.sessions.input.composing import Composer, Sight
from tservice.sessions.input.touching import Touch, Unanswered
from tservice.sessions.input.typist import TypingContext

ANSWERING = (0.1, 0.2, 0.5, 1.0, 1.0)
"""Seconds before each look for the caret that a key moved.

All in all longer than an agent that was stopped in the midst of its drawing stands still.
"""


class Listening:
    """One prompt's agent, behind an Enter.

    @param stands: whether the prompt stands in the composer.
    """

    def __init__(
        self, context: TypingContext, composer: Composer, stands: Callable[[Sight], bool]
    ) -> None:
        self._clock = context.clock
        self._touch = Touch(context, composer)
        self._caret = composer.submission.caret
        self._stands = stands
        self._entered: Sight | None = None
        self._took_back = False

    def entered(self, seen: Sight | None) -> None:
        """Enter was pressed, or will be, into what was C{seen}: what comes is judged anew."""
        self._entered = seen
        self._took_back = False

    async def answers(self) -> bool:
        """Whether the agent moves its caret to the end when keys say so, and keeps the text.

        It may stand at the beginning already: Gemini CLI draws its composer anew when it is up.

        @raise Unanswered: whether a line end was taken back is not known.
        """
        caret = self._caret
        if caret is None:
            return False
        if self._took_back or self._became_line_end(await self._touch.see()):
            return await self._takes_back()
        await self._moves(caret[0])
        return await self._moves(caret[1])

    def _became_line_end(self, now: Sight | None) -> bool:
        """Whether the Enter only ended a line, as Gemini CLI takes one right behind a large paste.

        In that row the caret has nowhere to go.
        """
        before = self._entered
        if before is None or now is None or not self._stands(now):
            return False
        return now.row == before.row + 1 and now.draft.text == before.draft.text

    async def _takes_back(self) -> bool:
        """Whether the agent takes the line end away again, so that it reads keys, and the next
        Enter stands behind the text as the first one did."""
        before = self._entered
        if not self._took_back:
            # Once: a second key that is read late would take a letter of the text.
            pressed = await self._touch.press("BSpace", self._became_line_end)
            self._took_back = pressed is not None
        for pause in ANSWERING:
            await sleep(self._clock, pause)
            now = await self._touch.see()
            if before is None or now is None or not self._stands(now):
                return False
            if now.row == before.row:
                return self._took_back
        return False

    async def _moves(self, key: str) -> bool:
        try:
            before = await self._touch.press(key, self._stands)
        except Unanswered:
            # A key that moves the caret may be pressed twice: it is tried again later.
            return False
        for pause in ANSWERING:
            await sleep(self._clock, pause)
            now = await self._touch.see()
            if before is None or now is None or not self._stands(now):
                return False
            if before.caret != now.caret:
                return True
        return False
