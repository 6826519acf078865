"""Test whether an agent reads keys after an Enter, with the text unchanged (protocol-prompts)."""

from __future__ import annotations

from collections.abc import Callable

from tservice.core.clock import sleep
from tservice.sessions.input.composer import ComposerModel, ComposerSnapshot
from tservice.sessions.input.composer_keyboard import ComposerKeyboard, KeyUnconfirmed
from tservice.sessions.input.typist import TypingContext

ANSWERING = (0.1, 0.2, 0.5, 1.0, 1.0)
"""Seconds before each look for the caret that a key moved.

Their sum is longer than a stopped agent keeps a half-drawn screen.
"""


class CaretProbe:
    """Tests after an Enter whether the agent of one prompt reads keys.

    @param stands: returns whether the prompt is still in the composer.
    """

    def __init__(
        self,
        context: TypingContext,
        composer: ComposerModel,
        stands: Callable[[ComposerSnapshot], bool],
    ) -> None:
        self._clock = context.clock
        self._touch = ComposerKeyboard(context, composer)
        self._caret = composer.submission.caret
        self._stands = stands
        self._entered: ComposerSnapshot | None = None
        self._took_back = False

    def note_enter(self, seen: ComposerSnapshot | None) -> None:
        """Reset the probe: Enter was or will be pressed into the composer state C{seen}."""
        self._entered = seen
        self._took_back = False

    async def reads_keys(self) -> bool:
        """Return whether the agent moves its caret when keys request it, and keeps the text.

        The caret may be at the beginning already: Gemini CLI redraws its composer after its start.

        @raise Unanswered: it is not known whether a line end was removed.
        """
        caret = self._caret
        if caret is None:
            return False
        if self._took_back or self._became_line_end(await self._touch.read_composer()):
            return await self._removes_line_end()
        await self._moves_caret(caret[0])
        return await self._moves_caret(caret[1])

    def _became_line_end(self, now: ComposerSnapshot | None) -> bool:
        """Return whether the Enter only inserted a line end, as Gemini CLI does right after a
        large paste.

        The caret cannot move in that row.
        """
        before = self._entered
        if before is None or now is None or not self._stands(now):
            return False
        return now.row == before.row + 1 and now.draft.text == before.draft.text

    async def _removes_line_end(self) -> bool:
        """Return whether the agent removes the line end again, which proves that it reads keys.

        The next Enter then follows the text as the first one did.
        """
        before = self._entered
        if not self._took_back:
            # Press it once: a second key that is read late would delete a letter of the text.
            pressed = await self._touch.press_if_matching("BSpace", self._became_line_end)
            self._took_back = pressed is not None
        for pause in ANSWERING:
            await sleep(self._clock, pause)
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
            await sleep(self._clock, pause)
            now = await self._touch.read_composer()
            if before is None or now is None or not self._stands(now):
                return False
            if before.caret != now.caret:
                return True
        return False
