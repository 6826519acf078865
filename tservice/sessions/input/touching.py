"""Keys for a composer, each bound to the look that it was chosen from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tservice.core.clock import sleep
from tservice.mux.interface import Capture, MuxError, MuxTimeout, PaneGone
from tservice.sessions.input.composing import Composer, Sight
from tservice.sessions.input.typist import TypingContext

WIPES = 80
"""How often the key is pressed at most: once for what stands in a row, once for its end."""
WIPED = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each look for what a key took away."""

BURST = 50
"""How often a key that takes away one letter is pressed between two looks."""
BURSTS = 400
"""Such bursts at most: what is longer is shown as a stand-in, which one key takes away."""

MOVING = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds behind each key that was not pressed because the screen moved under it."""


class Unanswered(Exception):
    """Whether the key was pressed is not known."""


class Touch:
    """Looks at one composer, and keys that are pressed only while it is as it was seen."""

    def __init__(self, context: TypingContext, composer: Composer) -> None:
        self._context = context
        self._composer = composer

    async def look(self) -> Capture | None:
        """The screen; C{None}: it cannot be read just now, which keeps nothing from being typed."""
        try:
            return await self._context.pane.capture()
        except PaneGone:
            raise
        except MuxError:
            return None

    async def see(self) -> Sight | None:
        """The composer; C{None}: none is to be seen."""
        capture = await self.look()
        return None if capture is None else self._composer.see(capture)

    async def press(self, key: str, meant: Callable[[Sight], bool]) -> Sight | None:
        """Press a key if the composer is what is C{meant}; what was seen before, if it was.

        @raise Unanswered: the terminal does not say.
        """
        seen, pressed = await self._press(key, meant)
        return seen if pressed else None

    async def insist(
        self, key: str, meant: Callable[[Sight], bool], times: int = 1
    ) -> Sight | None:
        """The same, but a screen that moved under the key is looked at again.

        @param times: how often the key is pressed.
        """
        for pause in MOVING:
            seen, pressed = await self._press(key, meant, times)
            if pressed or seen is None:
                return seen
            await sleep(self._context.clock, pause)
        return None

    async def _press(
        self, key: str, meant: Callable[[Sight], bool], times: int = 1
    ) -> tuple[Sight | None, bool]:
        """What was seen, if it is what is meant, and whether the key was pressed at that."""
        try:
            guard = await self._context.pane.guard()
            seen = self._composer.see(guard.capture)
            if seen is None or not meant(seen):
                return None, False
            return seen, await self._context.pane.press_if(key, guard, seen.draft.rows, times)
        except PaneGone:
            raise
        except MuxTimeout as error:
            raise Unanswered(str(error)) from error
        except MuxError:
            return None, False

    async def wipe(self, meant: Callable[[Sight], bool]) -> bool:
        """Take away the text that is C{meant}, row by row; whether nothing of it is left.

        @param meant: of the text as it stands there first.
        @raise Unanswered: the terminal does not say.
        """
        wipe, caret = self._composer.submission.wipe, self._composer.submission.caret
        if wipe is None:
            return False
        for _ in range(WIPES):
            # It takes away what stands before the caret, which may have been moved.
            if caret is not None and await self.insist(caret[1], meant) is None:
                return False
            before = await self.insist(wipe, meant)
            now = None if before is None else await self._changed(before)
            if now is not None and now.draft.text:
                now = await self._joined(now)
            if now is None:
                return False
            if not now.draft.text:
                return True
            meant = partial(_reads, now.draft.text)
        return False

    async def erase(self, text: str) -> bool:
        """Take C{text} away letter by letter, which every composer does; whether it is gone.

        @raise Unanswered: the terminal does not say.
        """
        caret = self._composer.submission.caret
        if caret is not None and await self.insist(caret[1], partial(_reads, text)) is None:
            return False
        for _ in range(BURSTS):
            times = min(BURST, max(1, len(text)))
            before = await self.insist("BSpace", partial(_reads, text), times)
            now = None if before is None else await self._changed(before)
            if now is None:
                return False
            if not now.draft.text:
                return True
            text = now.draft.text
        return False

    async def _joined(self, wiped: Sight) -> Sight | None:
        """Join the row that was wiped with the one above, if that takes a key of its own."""
        join = self._composer.submission.join
        if join is None:
            return wiped
        before = await self.insist(join, partial(_reads, wiped.draft.text))
        return None if before is None else await self._changed(before)

    async def _changed(self, before: Sight) -> Sight | None:
        for pause in WIPED:
            await sleep(self._context.clock, pause)
            now = await self.see()
            if now is not None and (now.draft.text, now.row) != (before.draft.text, before.row):
                return now
        return None


def _reads(text: str, sight: Sight) -> bool:
    return sight.draft.text == text
