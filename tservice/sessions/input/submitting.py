"""The Enter of a prompt, and whether it was submitted (protocol-prompts).

That is read from the composer, which may show the text for a while yet: an agent at the end of a
turn is slow, a stopped one stands still.  So visible text is no reason to press Enter again.  What
proves a lost Enter is a caret that answers to keys pressed after it, with the text still there, of
an agent that told of no such prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from tservice.core.clock import sleep
from tservice.sessions.input.composing import Composer, Sight
from tservice.sessions.input.listening import Listening
from tservice.sessions.input.touching import Touch, Unanswered
from tservice.sessions.input.typist import TypingContext, Typist
from tservice.sessions.interfaces import Claim, Told

LEAVING = (0.03, 0.05, 0.07, *(0.1,) * 8, *(0.25,) * 8)
"""Seconds before each look for the composer to let go of the text."""
STANDING = (0.05, 0.1, *(0.25,) * 12)
"""Seconds before each further look at a composer that let go, until two in a row show it whole.

All in all longer than an agent that was stopped in the midst of its drawing stands still.
"""
TELLING = (0.03, 0.05, *(0.1,) * 9, *(0.25,) * 8, 0.5, 0.5, 1.0, 1.0)
"""Seconds behind each question whether the agent told of a text that left its composer.

All in all longer than an agent that was stopped in the midst of its drawing stands still.
"""
PATIENCE = (1.0, 1.0, 2.0, 2.0, 3.0, 5.0)
"""Seconds behind each question whether a text that does not leave was submitted or not."""
WRITING = 0.5
"""Seconds between a caret that moved and its next proof: agents write what they were told a moment
behind their screen."""
AGAIN = 3
"""How often Enter is pressed again at most, each time with proof."""

NOT_SURE = "not sure whether it was submitted"


class NotSure(Exception):
    """The text still stands in the composer, and nobody can tell whether it was submitted."""


class Shown(Enum):
    """What a composer showed of the text that was put in, before its Enter."""

    WHOLE = "the text"
    NOTHING = "not the text, however long it was looked for"
    BLIND = "there was none to be seen"


class Submitter:
    """Presses Enter for one prompt, and finds out what became of it.

    @param stands: whether the prompt's text stands in the composer.
    @ivar claim: its claim to what the agent tells; C{None}: no Enter was pressed yet.
    """

    def __init__(
        self,
        context: TypingContext,
        composer: Composer,
        text: str,
        stands: Callable[[Sight], bool],
    ) -> None:
        self._context = context
        self._composer = composer
        self._text = text
        self._stands = stands
        self._touch = Touch(context, composer)
        self._listening = Listening(context, composer, stands)
        self._shown = Shown.WHOLE
        self._again: Callable[[], object] = lambda: None
        self.claim: Claim | None = None

    async def submit(self, typist: Typist, shown: Shown) -> None:
        """Press Enter behind the text."""
        await self._begin(typist, shown)
        await typist.enter()

    def resume(self) -> None:
        """A process before this one has pressed Enter."""
        self.claim = self._context.claim(False)

    @property
    def is_unseen(self) -> bool:
        """Whether its text was looked for in vain before its Enter, and ever since."""
        return self._shown is Shown.NOTHING

    async def told(self) -> Told:
        """What the agent told of it by now."""
        return Told.NOTHING if self.claim is None else await self.claim.told()

    async def sure(self) -> None:
        """Return once it was submitted; Enter is pressed again where it was lost for sure.

        @raise NotSure: nobody can tell.
        @raise PaneGone: the process is over.
        """
        if self._shown is Shown.BLIND and await self._told_blindly():
            return
        try:
            if self._shown is Shown.WHOLE or await self._surfaced():
                await self._until_submitted()
        except Unanswered as error:
            raise NotSure(NOT_SURE) from error

    async def finish(self, typist: Typist, again: Callable[[], object]) -> None:
        """Submit a text that stands there still: its Enter was lost for sure, or never pressed.

        @param again: judges who asks for it, before each Enter; raises what is against it.
        @raise NotSure: nobody can tell.
        @raise PaneGone: the process is over.
        """
        self._again = again
        try:
            if self.claim is None:
                await self._begin(typist, Shown.WHOLE)
            elif not await self._listening.answers():
                raise NotSure(NOT_SURE)
            elif not await self._lost():
                return
            await self._press_again()
            await self._until_submitted()
        except Unanswered as error:
            raise NotSure(NOT_SURE) from error

    # -- inside

    async def _begin(self, typist: Typist, shown: Shown) -> None:
        """Enter is pressed next."""
        typist.submitting()
        self._listening.entered(await self._touch.see())
        self._shown = shown
        # Who showed the text has read what was typed before it.
        self.claim = self._context.claim(shown is Shown.WHOLE)

    async def _told_blindly(self) -> bool:
        """Where no composer was seen, believe what the agent tells, if it tells of its prompts.

        False: it tells of them, and told of none.
        """
        if self._composer.submission.is_unsaid(self._text):
            return True
        for pause in TELLING:
            if await self.told() in (Told.SUBMITTED, Told.NOTHING):
                return True
            await sleep(self._context.clock, pause)
        return False

    async def _surfaced(self) -> bool:
        """Whether a text that was not seen before its Enter stands there now; false: it was
        submitted, as the agent tells.

        @raise NotSure: neither is known; a composer without it is no proof.
        """
        for pause in PATIENCE:
            if await self.told() is Told.SUBMITTED:
                return False
            if await self._is_there():
                self._shown = Shown.WHOLE
                return True
            await sleep(self._context.clock, pause)
        raise NotSure(NOT_SURE)

    async def _is_there(self) -> bool:
        sight = await self._touch.see()
        return sight is not None and self._stands(sight)

    async def _until_submitted(self) -> None:
        """Return once the text was submitted, and the composer let go of it.

        @raise NotSure: nobody can tell.
        """
        for _ in range(AGAIN):
            if await self._is_over() or not await self._lost():
                return
            await self._press_again()
        if not await self._is_over():
            raise NotSure(NOT_SURE)

    async def _press_again(self) -> None:
        """Press Enter into the text, unless the screen moves just then: it is looked at anew."""
        self._again()
        seen = await self._touch.press("Enter", self._stands)
        if seen is not None:
            self._listening.entered(seen)

    async def _is_over(self) -> bool:
        return await self._leaves(LEAVING) and await self._is_told()

    async def _leaves(self, looks: Sequence[float]) -> bool:
        """Look whether the composer lets go of the text.

        A composer that is nowhere to be seen proves nothing, but behind a command: it may have
        opened a page.
        """
        seen = False
        for pause in looks:
            await sleep(self._context.clock, pause)
            if self._context.pane.ending is not None:
                # C{/exit} does that, and its text stays on the screen of the pane that is left.
                return True
            found, whole = await self._freed()
            if found and await self._is_still_free(whole):
                return True
            seen = seen or found is not None
        return not seen and self._composer.submission.is_unsaid(self._text)

    async def _is_free(self) -> bool | None:
        """Whether the text is gone, or a dialog has the composer's place; C{None}: no telling."""
        return (await self._freed())[0]

    async def _freed(self) -> tuple[bool | None, bool]:
        """The same, and whether the screen was surely not half drawn."""
        capture = await self._touch.look()
        if capture is None:
            return None, True
        sight = self._composer.see(capture)
        if sight is None or sight.draft.span is None:
            # Where a dialog has the composer's place, a prompt of before may look like its text.
            if self._context.asks(capture, self._text) is not None:
                return True, True
            if sight is None:
                return None, True
        return not self._stands(sight) and not self._is_home(sight), sight.is_whole

    async def _is_still_free(self, whole: bool) -> bool:
        """Look again: a screen may be half drawn, and show a prompt of before in its place.

        @param whole: it was not, a moment ago.
        """
        for pause in STANDING:
            await sleep(self._context.clock, pause)
            free, now = await self._freed()
            if not free or (whole and now):
                return bool(free)
            whole = now
        return True

    async def _is_told(self) -> bool:
        """Whether a composer that let go of the text was no mere moment of drawing.

        An agent that tells of its prompts is given a while to tell of this one; so is one whose
        first screen goes with its first prompt, for it may bring the text back.
        """
        submission = self._composer.submission
        if submission.is_unsaid(self._text):
            return True
        for pause in TELLING:
            told = await self.told()
            if told is Told.SUBMITTED or (told is Told.NOTHING and not submission.home):
                return True
            await sleep(self._context.clock, pause)
            if await self._is_free() is False:
                return False
        return True

    async def _lost(self) -> bool:
        """Whether Enter was lost for sure; false: it was submitted.

        That takes an agent which moved its caret in answer to keys pressed after the Enter, and a
        moment later did so again, with the text where it was all the time; and which told of no
        such prompt by then, if it tells of any.

        @raise NotSure: neither is known.
        """
        for pause in PATIENCE:
            if await self.told() is Told.SUBMITTED:
                await self._take_away()
                return False
            if await self._listening.answers() and await self._is_still_untold():
                return True
            if await self._leaves((pause,)) and await self._is_told():
                return False
        raise NotSure(NOT_SURE)

    async def _take_away(self) -> None:
        """Take away the text of a prompt that was submitted, as far as the terminal answers."""
        try:
            await self._touch.wipe(self._stands)
        except Unanswered:
            # What is left of it is known for what it is when the next prompt is given.
            return

    async def _is_still_untold(self) -> bool:
        """Whether an agent that reads keys has gone on since, and told nothing all the same.

        It may be stopped between its screen and what it writes.
        """
        await sleep(self._context.clock, WRITING)
        if not await self._listening.answers():
            return False
        return await self.told() in (Told.NOT_YET, Told.NOTHING)

    def _is_home(self, sight: Sight) -> bool:
        """Whether the agent's first screen is still there, which its first prompt ends.

        opencode draws it with an empty composer for a while, and drops what is typed there.
        """
        submission = self._composer.submission
        return submission.home and sight.draft.hinted and not submission.is_unsaid(self._text)
