"""Giving a prompt to an agent: put in, seen in the composer, submitted once (protocol-prompts).

The text is put in and Enter is pressed only once the composer shows it, so the two never reach the
agent in one read, which is how an Enter gets lost.  Whether it was submitted is read from the
composer, which may show the text for a while yet: an agent at the end of a turn is slow, a stopped
one stands still.  So visible text is no reason to press Enter again.  What proves a lost Enter is
a caret that answers to keys pressed after it, with the text still there, of an agent that told of
no such prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define

from tservice.core.clock import sleep
from tservice.core.errors import failed
from tservice.mux.interface import Mark, PaneGone
from tservice.sessions.input.composing import Composer, Sight
from tservice.sessions.input.journal import JournalEntry
from tservice.sessions.input.listening import Listening
from tservice.sessions.input.parking import Parking
from tservice.sessions.input.touching import Touch, Unanswered
from tservice.sessions.input.typist import (
    PASTE_GAP,
    PASTED,
    WRITTEN,
    NotTyped,
    TypingContext,
    Typist,
)
from tservice.sessions.interfaces import Claim, Told

SIGHTS = (0.1, 0.2, 0.3, 0.5, 0.9, 1.0)
"""Seconds before each further look for a composer, before anything is typed: a screen that is half
drawn has none, or shows a prompt of before in its place."""
TAKING = (0.03, *(0.05,) * 8, *(0.1,) * 5, *(0.25,) * 8, *(0.5,) * 50)
"""Seconds before each look for a text that was put in; then Enter is pressed all the same.

Gemini CLI reads nothing for some seconds behind a prompt of 64 KiB.
"""
UNSEEN = 4.0
"""Seconds of such looks in a row without a composer after which none can be seen.

Longer than an agent that was stopped in the midst of its drawing stands still.
"""
SEEN_GAP = 0.12
"""Seconds between the text's appearance and Enter."""
SETTLING = (0.15,) * 10
"""Seconds before each look whether the completions of a command are drawn."""
CUTTING = (0.03, 0.07, 0.2, 0.5, 1.0, 1.0)
"""Seconds before each look whether what came up behind the caret is gone.

All in all longer than an agent that was stopped in the midst of its drawing stands still.
"""
ASKING = (0.1, 0.2, 0.4)
"""Seconds before each further look at what asks for something, before a prompt is refused for it:
an earlier prompt that quotes a dialog looks like one until the composer below it is drawn."""
DIALOG_LOOKS = (0.15, 0.3, 0.6, 1.2)
"""Seconds before each look for the end of a dialog that came up between text and Enter."""
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
TRIES = 3
"""How often Enter is pressed at most, each time but the first with proof."""
OPENING = (0.1, 0.2, 0.3, 0.4)
"""Seconds before each look for what a command opened."""

NOT_SURE = "not sure whether it was submitted"


class NotSure(Exception):
    """The text still stands in the composer, and nobody can tell whether it was submitted."""


@define
class Given:
    """What became of a prompt.

    @ivar opened: what its command opened.
    """

    opened: str | None = None


class Prompter:
    """Gives one prompt to an agent.

    @ivar passed: another prompt was given since, for which this one was put aside.
    """

    def __init__(self, entry: JournalEntry, context: TypingContext, composer: Composer) -> None:
        self._context = context
        self._composer = composer
        self._typist = Typist(entry, context)
        self._text = entry.data.decode("utf-8")
        self._touch = Touch(context, composer)
        self._parking = Parking(context, composer)
        self._blind = False
        self._untaken = False
        self._listening = Listening(context, composer, self._stands)
        self._claim: Claim | None = None
        self.passed = False

    async def give(self, *, resumed: bool = False) -> Given:
        """Give it, or what is left of it.

        @param resumed: it may have been begun before, by a process that is gone.
        @raise NotTyped: nothing was typed.
        @raise PaneGone: the process is over, so whatever was typed went with it.
        @raise NotSure: it was typed, and whether it was submitted is not known.
        @raise ServiceError: 422: it was typed, in part or whole, but did not get through.
        """
        mark = await self._typist.mark() if resumed else None
        if not self._text:
            return await self._bare_enter(mark)
        if not await self._put_in(mark, resumed):
            return Given()
        await self._submit(pressed=mark is not None and mark.step not in (PASTED, WRITTEN))
        try:
            await self._sure()
            await self._parking.put_back()
            return Given(opened=await self._opened())
        except PaneGone:
            # Enter was pressed, and the program ended on it: C{/exit} does that.
            return Given()

    async def doubted(self) -> bool:
        """Whether it is still not known what became of it."""
        gone = await self.holds() is False
        told = await self._told_by_now()
        if told is Told.SUBMITTED:
            return False
        untold = told is not Told.NOTHING and not self._composer.submission.is_unsaid(self._text)
        # It may not be read yet, somebody may have taken it away, or it is put aside: then its
        # absence says nothing.
        return untold or self._untaken or self.passed or not gone

    async def holds(self) -> bool | None:
        """Whether the text stands in the composer; C{None}: there is none to be seen."""
        sight = await self._touch.see()
        return None if sight is None else self._stands(sight)

    # -- the text

    async def _bare_enter(self, mark: Mark | None) -> Given:
        if mark is None:
            await self._unasked()
            self._typist.submitting()
            await self._typist.enter()
        return Given()

    async def _put_in(self, mark: Mark | None, resumed: bool) -> bool:
        """Put in what is missing of the text; whether it is to be submitted."""
        if mark is not None:
            await self._typist.put_in(mark)
            return not resumed or await self.holds() is not False
        await self._unasked()
        before = await self._parking.park(await self._sight())
        await self._typist.put_in(None)
        await self._taken(before)
        return True

    async def _sight(self) -> Sight | None:
        """The composer, for which a screen that is half drawn is given a while."""
        seen = await self._touch.see()
        for pause in SIGHTS if self._composer.knowable else ():
            if seen is not None and (seen.is_whole or not seen.draft.text):
                break
            await sleep(self._context.clock, pause)
            seen = await self._touch.see()
        return seen

    async def _taken(self, before: Sight | None) -> None:
        """Return once the composer shows the text, or does not tell."""
        began = self._context.clock.seconds()
        if before is None:
            # What cannot be seen cannot be waited for.
            self._blind = True
        else:
            await self._shown(before.draft.text)
        spent = self._context.clock.seconds() - began
        await sleep(self._context.clock, max(SEEN_GAP, PASTE_GAP - spent))
        if self._blind:
            return
        if self._composer.submission.is_command(self._text):
            await self._settled()
        else:
            await self._stand_alone()

    async def _shown(self, before: str) -> None:
        """Return once the text stands there, as it is or as the agent draws it: twice the same."""
        other, unseen = before, 0.0
        for pause in TAKING:
            await sleep(self._context.clock, pause)
            now = await self._touch.see()
            if now is None and await self._asks(self._text) is not None:
                await self._past_dialog()
                return
            if now is None:
                unseen += pause
                self._blind = unseen > UNSEEN
                if self._blind:
                    return
                continue
            unseen = 0.0
            if now.draft.holds(self._text) or now.draft.text == other != before:
                return
            other = now.draft.text
        self._untaken = True

    async def _stand_alone(self) -> None:
        """Take away what came up behind the prompt: the composer was empty before it.

        Claude Code, stopped between an Enter and its drawing, brings back what was taken away.
        """
        cut = self._composer.submission.cut
        if cut is None:
            return
        try:
            before = await self._touch.press(cut, _is_followed)
        except Unanswered:
            # It takes nothing of the prompt, however often it is pressed.
            return
        for pause in CUTTING if before is not None else ():
            await sleep(self._context.clock, pause)
            now = await self._touch.see()
            if now is not None and not _is_followed(now):
                return

    async def _settled(self) -> None:
        """Return once the screen rests, or after a while.

        A command's Enter takes what the menu of its completions marks, and that is drawn late.
        """
        before = await self._touch.look()
        for pause in SETTLING:
            await sleep(self._context.clock, pause)
            now = await self._touch.look()
            if before is None or now is None or now.lines == before.lines:
                return
            before = now

    # -- dialogs

    async def _unasked(self) -> None:
        """Make sure that nothing is typed into a dialog, whose answer it would be."""
        asked = await self._asks("")
        for pause in ASKING:
            if asked is None:
                return
            await sleep(self._context.clock, pause)
            asked = await self._asks("")
        if asked is not None:
            raise NotTyped(f"the agent asks for something, answer that first ({asked})")

    async def _asked_no_more(self) -> None:
        """Press no Enter at a dialog that came up since."""
        if await self._asks(self._text) is not None:
            await self._past_dialog()

    async def _past_dialog(self) -> None:
        """Return once the dialog is gone and has left the text: it may go soon.

        @raise ServiceError: 422: it does not.
        """
        for pause in DIALOG_LOOKS:
            await sleep(self._context.clock, pause)
            if await self._asks(self._text) is None and await self.holds():
                return
        raise failed(
            "the text was typed but not submitted: the agent asked for something meanwhile"
        )

    async def _asks(self, typed: str) -> str | None:
        """What waits for an answer on the screen, if it can be seen."""
        capture = await self._touch.look()
        return None if capture is None else self._context.asks(capture, typed)

    # -- its submission

    async def _submit(self, *, pressed: bool) -> None:
        """Press Enter, unless a process before this one has."""
        if not pressed:
            await self._asked_no_more()
            self._typist.submitting()
            self._listening.entered(await self._touch.see())
        # Who showed the text has read what was typed before it.
        seen = not (pressed or self._blind or self._untaken)
        self._claim = self._context.claim(seen)
        if not pressed:
            await self._typist.enter()

    async def _told_by_now(self) -> Told:
        return Told.NOTHING if self._claim is None else await self._claim.told()

    async def _sure(self) -> None:
        if self._blind and await self._told_blindly():
            return
        try:
            if not (self._blind or self._untaken) or await self._surfaced():
                await self._until_submitted()
        except Unanswered as error:
            raise NotSure(NOT_SURE) from error

    async def _told_blindly(self) -> bool:
        """Where no composer was seen, believe what the agent tells, if it tells of its prompts.

        False: it tells of them, and told of none.
        """
        if self._composer.submission.is_unsaid(self._text):
            return True
        for pause in TELLING:
            if await self._told_by_now() in (Told.SUBMITTED, Told.NOTHING):
                return True
            await sleep(self._context.clock, pause)
        return False

    async def _surfaced(self) -> bool:
        """Whether a text that was not seen before its Enter stands there now; false: it was
        submitted, as the agent tells.

        @raise NotSure: neither is known; a composer without it is no proof.
        """
        for pause in PATIENCE:
            if await self._told_by_now() is Told.SUBMITTED:
                return False
            if await self.holds():
                self._untaken = self._blind = False
                return True
            await sleep(self._context.clock, pause)
        raise NotSure(NOT_SURE)

    async def _until_submitted(self) -> None:
        """Return once the text was submitted, and the composer let go of it.

        @raise NotSure: nobody can tell.
        """
        for _ in range(TRIES):
            if await self._leaves(LEAVING) and await self._told():
                return
            if not await self._lost():
                return
            seen = await self._touch.press("Enter", self._stands)
            if seen is None:
                break
            self._listening.entered(seen)
        raise NotSure(NOT_SURE)

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
        sight = None if capture is None else self._composer.see(capture)
        if sight is not None:
            return not self._stands(sight) and not self._is_home(sight), sight.is_whole
        asked = None if capture is None else self._context.asks(capture, self._text)
        return (None if asked is None else True), True

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

    async def _told(self) -> bool:
        """Whether a composer that let go of the text was no mere moment of drawing.

        An agent that tells of its prompts is given a while to tell of this one; so is one whose
        first screen goes with its first prompt, for it may bring the text back.
        """
        submission = self._composer.submission
        if submission.is_unsaid(self._text):
            return True
        for pause in TELLING:
            told = await self._told_by_now()
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
            if await self._told_by_now() is Told.SUBMITTED:
                await self._take_away()
                return False
            if await self._listening.answers() and await self._is_still_untold():
                return True
            if await self._leaves((pause,)) and await self._told():
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
        return await self._told_by_now() in (Told.NOT_YET, Told.NOTHING)

    def _is_home(self, sight: Sight) -> bool:
        """Whether the agent's first screen is still there, which its first prompt ends.

        opencode draws it with an empty composer for a while, and drops what is typed there.
        """
        submission = self._composer.submission
        return submission.home and sight.draft.hinted and not submission.is_unsaid(self._text)

    def _stands(self, sight: Sight) -> bool:
        draft = sight.draft
        return draft.holds(self._text) and not self._parking.is_back(draft)

    async def _opened(self) -> str | None:
        """What a command opened, if it is one of the agent's own and opens something soon."""
        if not self._composer.submission.is_command(self._text):
            return None
        for pause in OPENING:
            await sleep(self._context.clock, pause)
            capture = await self._touch.look()
            opened = None if capture is None else self._context.opened(capture)
            if opened is not None:
                return opened
        return None


def _is_followed(sight: Sight) -> bool:
    return sight.is_whole and sight.is_followed
