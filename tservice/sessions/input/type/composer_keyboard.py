"""Presses keys in a composer, each only if the composer is unchanged since it was read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tservice.core.kernel.clock import wait_seconds
from tservice.mux.interface import MuxError, MuxTimeout, PaneCapture, PaneGone
from tservice.sessions.input.type.composer import ComposerSnapshot
from tservice.sessions.input.type.typist import PromptContext

WIPES = 80
"""Maximum presses of the wipe key. Each row needs one press for its content and one for its end."""
WIPED = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each check for the effect of the wipe key."""

BURST = 50
"""Presses of a key that deletes one letter, between two checks of the composer."""
BURSTS = 400
"""Maximum number of bursts of L{BURST} presses.

Longer text is shown as a placeholder, which one key deletes.
"""

MOVING = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds before each retry of a key that was not pressed because the screen changed."""


class KeyUnconfirmed(Exception):
    """Raised if the terminal does not answer, so that it is unknown if the key was pressed."""


class ComposerKeyboard:
    """Reads one composer and presses keys in it, only while the composer is unchanged since it was
    read.
    """

    def __init__(self, context: PromptContext) -> None:
        self._context = context
        self._composer = context.composer

    async def capture_screen(self) -> PaneCapture | None:
        """Return the screen; C{None} if it cannot be read now. Callers may type nevertheless."""
        try:
            return await self._context.pane.capture_content()
        except PaneGone:
            raise
        except MuxError:
            return None

    async def read_composer(self) -> ComposerSnapshot | None:
        """Return the state of the composer; C{None} if no composer is visible."""
        capture = await self.capture_screen()
        return None if capture is None else self._composer.read_snapshot(capture)

    async def press_if_matching(
        self, key: str, meant: Callable[[ComposerSnapshot], bool]
    ) -> ComposerSnapshot | None:
        """Press a key if C{meant} returns true for the composer.

        @return: the composer before the key press; C{None} if the key was not pressed.
        @raise KeyUnconfirmed: the terminal does not answer.
        """
        seen, pressed = await self._try_press(key, meant)
        return seen if pressed else None

    async def press_retrying(
        self, key: str, meant: Callable[[ComposerSnapshot], bool], times: int = 1
    ) -> ComposerSnapshot | None:
        """Press a key as L{press_if_matching} does, and retry if the screen changed.

        @param times: the number of presses.
        """
        for pause in MOVING:
            seen, pressed = await self._try_press(key, meant, times)
            if pressed or seen is None:
                return seen
            await wait_seconds(self._context.clock, pause)
        return None

    async def _try_press(
        self, key: str, meant: Callable[[ComposerSnapshot], bool], times: int = 1
    ) -> tuple[ComposerSnapshot | None, bool]:
        """Press a key once if C{meant} returns true for the composer.

        @return: the matching composer or C{None}, and true if the key was pressed in that state.
        """
        try:
            guard = await self._context.pane.guard_screen()
            seen = self._composer.read_snapshot(guard.capture)
            if seen is None or not meant(seen):
                return None, False
            return seen, await self._context.pane.press_if(key, guard, seen.draft.rows, times)
        except PaneGone:
            raise
        except MuxTimeout as error:
            raise KeyUnconfirmed(str(error)) from error
        except MuxError:
            return None, False

    async def wipe_rows(self, meant: Callable[[ComposerSnapshot], bool]) -> bool:
        """Delete the composer's text row by row. Return true if all of it is gone.

        @param meant: returns true if the composer holds the text to delete; called before the first
            key.
        @raise KeyUnconfirmed: the terminal does not answer.
        """
        wipe, caret = self._composer.submission.wipe, self._composer.submission.caret
        if wipe is None:
            return False
        for _ in range(WIPES):
            # The key deletes the text before the caret, which may have been moved.
            if caret is not None and await self.press_retrying(caret[1], meant) is None:
                return False
            before = await self.press_retrying(wipe, meant)
            now = None if before is None else await self._wait_for_change(before)
            if now is not None and now.draft.text:
                now = await self._join_rows(now)
            if now is None:
                return False
            if not now.draft.text:
                return True
            meant = partial(_shows_text, now.draft.text)
        return False

    async def erase_letters(self, text: str) -> bool:
        """Delete C{text} letter by letter, which every composer supports. Return true if the text
        is gone.

        @raise KeyUnconfirmed: the terminal does not answer.
        """
        caret = self._composer.submission.caret
        if (
            caret is not None
            and await self.press_retrying(caret[1], partial(_shows_text, text)) is None
        ):
            return False
        for _ in range(BURSTS):
            times = min(BURST, max(1, len(text)))
            before = await self.press_retrying("BSpace", partial(_shows_text, text), times)
            now = None if before is None else await self._wait_for_change(before)
            if now is None:
                return False
            if not now.draft.text:
                return True
            text = now.draft.text
        return False

    async def _join_rows(self, wiped: ComposerSnapshot) -> ComposerSnapshot | None:
        """Join the emptied row with the row above, if the composer needs a separate key for
        this.
        """
        join = self._composer.submission.join
        if join is None:
            return wiped
        before = await self.press_retrying(join, partial(_shows_text, wiped.draft.text))
        return None if before is None else await self._wait_for_change(before)

    async def _wait_for_change(self, before: ComposerSnapshot) -> ComposerSnapshot | None:
        for pause in WIPED:
            await wait_seconds(self._context.clock, pause)
            now = await self.read_composer()
            if now is not None and (now.draft.text, now.row) != (before.draft.text, before.row):
                return now
        return None


def _shows_text(text: str, sight: ComposerSnapshot) -> bool:
    return sight.draft.text == text
