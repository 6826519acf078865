"""Tests after an Enter if an agent reads keys although the text is unchanged (protocol-prompts)."""

from __future__ import annotations

from collections.abc import Callable

from tservice.core.kernel.clock import wait_seconds
from tservice.sessions.input.type.composer import ComposerSnapshot
from tservice.sessions.input.type.composer_keyboard import ComposerKeyboard, KeyUnconfirmed
from tservice.sessions.input.type.typist import PromptContext

ANSWERING = (0.1, 0.2, 0.5, 1.0, 1.0)
"""Seconds before each check for a caret that was moved by a key.

Their sum is longer than a stalled agent keeps a half-drawn screen.
"""


class CaretProbe:
    """Tests if the agent reads keys after a prompt's Enter, by moving the caret.

    @param stands: returns true if the prompt is in the given composer snapshot.
    """

    def __init__(
        self,
        context: PromptContext,
        stands: Callable[[ComposerSnapshot], bool],
    ) -> None:
        self._clock = context.clock
        self._touch = ComposerKeyboard(context)
        self._caret = context.composer.submission.caret
        self._stands = stands
        self._entered: ComposerSnapshot | None = None
        self._took_back = False

    def note_enter(self, seen: ComposerSnapshot | None) -> None:
        """Reset the probe, because Enter was or will be pressed.

        @param seen: the composer before the Enter; C{None} if no composer was visible.
        """
        self._entered = seen
        self._took_back = False

    async def reads_keys(self) -> bool:
        """Press keys that move the caret. Return true if the caret moves and the text stays.

        The caret may be at the beginning already: Gemini CLI redraws its composer after its start.

        @raise KeyUnconfirmed: it is unknown if a line end was removed.
        """
        caret = self._caret
        if caret is None:
            return False
        if self._took_back or self._became_line_end(await self._touch.read_composer()):
            return await self._removes_line_end()
        await self._moves_caret(caret[0])
        return await self._moves_caret(caret[1])

    def _became_line_end(self, now: ComposerSnapshot | None) -> bool:
        """Return true if the Enter only inserted a line end, as Gemini CLI does right after a large
        paste.

        The caret is then in an empty row, in which it cannot move.
        """
        before = self._entered
        if before is None or now is None or not self._stands(now):
            return False
        return now.row == before.row + 1 and now.draft.text == before.draft.text

    async def _removes_line_end(self) -> bool:
        """Delete the inserted line end. Return true if the agent does so, which proves that it
        reads keys.

        The next Enter then follows the text as the first one did.
        """
        before = self._entered
        if not self._took_back:
            # Press it once: a second key that is read late would delete a letter of the text.
            pressed = await self._touch.press_if_matching("BSpace", self._became_line_end)
            self._took_back = pressed is not None
        for pause in ANSWERING:
            await wait_seconds(self._clock, pause)
            now = await self._touch.read_composer()
            if before is None or now is None or not self._stands(now):
                return False
            if now.row == before.row:
                return self._took_back
        return False

    async def _moves_caret(self, key: str) -> bool:
        try:
            before = await self._touch.press_if_matching(key, self._stands)
        except KeyUnconfirmed:
            # A key that moves the caret may be pressed twice, so a later attempt is safe.
            return False
        for pause in ANSWERING:
            await wait_seconds(self._clock, pause)
            now = await self._touch.read_composer()
            if before is None or now is None or not self._stands(now):
                return False
            if before.caret != now.caret:
                return True
        return False
