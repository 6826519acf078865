"""Typing one accepted input into a pane, exactly once (wire 1.5, 26).

The pane's server keeps a mark of what was typed last, set in the same command as the keys.  So
whatever was lost, an answer or this whole process, the mark says what is left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import sleep
from tservice.core.errors import failed
from tservice.mux.interface import Capture, IPane, Mark, MuxError, MuxTimeout, PaneGone
from tservice.sessions.journal import Entry, Kind
from tservice.terminal.composer import ComposerRule, composer_text, still_holds
from tservice.terminal.plain import plain

PASTE_GAP = 0.15
"""Seconds between a paste and its Enter: with less, some agents take the Enter for text."""
LOOKS = (0.15, 0.3, 0.6, 1.2)
"""Seconds before each look at the composer; after each but the last, Enter is pressed again."""
REFUSALS = 3
"""How often a command that the multiplexer refused is tried before it counts as failed."""
QUESTIONS = 2
"""How often the mark is asked for in vain before the caller is told that nobody knows."""
PAUSE = 1.0
"""Seconds between two such attempts."""

PASTED = "pasted"
ENTERED = "entered"
WRITTEN = "written"


class NotTyped(Exception):
    """Nothing of it was typed, and nothing will be; the sequence number is given back."""


@frozen(kw_only=True)
class Hands:
    """What typing needs beside the entry.

    @ivar composer: how the mode draws its composer; C{None}: Enter is pressed once (shells).
    @ivar asks: what an agent's screen asks for, beside what was typed, where Enter would be the
        answer.
    @ivar unsure: called when the pane did not say whether the input arrived, so that the caller
        need not wait any longer.
    @ivar wanted: whether what was not begun should be begun, once that is known again.
    @ivar submitting: called just before what submits is typed.
    """

    clock: IReactorTime
    pane: IPane
    composer: ComposerRule | None
    asks: Callable[[Capture, str], str | None]
    unsure: Callable[[], None]
    wanted: Callable[[], bool]
    submitting: Callable[[], None] | None = None


class Typist:
    """Types one entry."""

    _log = Logger()

    def __init__(self, entry: Entry, hands: Hands) -> None:
        self._entry = entry
        self._hands = hands
        self._refusals = 0

    async def type(self, *, resumed: bool = False) -> None:
        """Type it, or what is left of it.

        @param resumed: it may have been begun before, by a process that is gone.
        @raise NotTyped: nothing was typed.
        @raise PaneGone: the process is over, so whatever was typed went with it.
        @raise ServiceError: 422: it was typed, in part or whole, but did not get through.
        """
        mark = await self._mark() if resumed else None
        if self._entry.kind is Kind.RAW:
            self._submitting()
            await self._write(mark)
        else:
            await self._prompt(mark, resumed)

    # -- raw bytes

    async def _write(self, mark: Mark | None) -> None:
        data = self._entry.data
        while mark is None or mark.done < len(data):
            begun = mark or Mark(id=self._entry.id, step=WRITTEN)
            try:
                await self._hands.pane.write(data, begun)
                return
            except MuxError as error:
                mark = await self._after(error)

    # -- prompts

    async def _prompt(self, mark: Mark | None, resumed: bool) -> None:
        text = self._entry.data.decode("utf-8")
        if mark is None:
            await self._unasked()
        if text and await self._put_in(text, mark):
            await sleep(self._hands.clock, PASTE_GAP)
        elif resumed and mark is not None and await self._holds(text) is False:
            return
        if mark is None or mark.step in (PASTED, WRITTEN):
            await self._asked_no_more(text)
            self._submitting()
            await self._enter(0)
        if self._hands.composer is None or not text:
            return
        try:
            await self._until_submitted(text)
        except PaneGone:
            # Enter was pressed, and the program ended on it: C{/exit} does that.
            self._log.debug("input {id} ended the process", id=self._entry.id)

    async def _unasked(self) -> None:
        """Make sure that nothing is typed into a dialog, whose answer it would be."""
        asked = await self._asks("")
        if asked is not None:
            raise NotTyped(f"the agent asks for something, answer that first ({asked})")

    async def _asked_no_more(self, text: str) -> None:
        """Press no Enter at a dialog that came up since: it may go soon, and leave the text."""
        if await self._asks(text) is None:
            return
        for pause in LOOKS:
            await sleep(self._hands.clock, pause)
            asked = await self._asks(text)
            if asked is None and await self._holds(text):
                return
        raise failed(
            "the text was typed but not submitted: the agent asked for something meanwhile"
        )

    async def _asks(self, typed: str) -> str | None:
        """What waits for an answer on the screen of an agent, if it can be seen."""
        if self._hands.composer is None:
            return None
        capture = await self._look()
        return None if capture is None else self._hands.asks(capture, typed)

    async def _put_in(self, text: str, mark: Mark | None) -> bool:
        """Put in what is missing of the text; whether anything was."""
        if self._entry.kind is Kind.TYPED:
            if mark is not None and (mark.step != WRITTEN or mark.done >= len(self._entry.data)):
                return False
            await self._write(mark)
            return True
        if mark is not None:
            return False
        await self._step(PASTED, lambda mark: self._hands.pane.paste(text, mark))
        return True

    async def _until_submitted(self, text: str) -> None:
        for number, pause in enumerate(LOOKS, 1):
            await sleep(self._hands.clock, pause)
            if not await self._holds(text):
                return
            if number < len(LOOKS):
                await self._enter(number)
        raise failed("the prompt stands in the composer, but Enter did not submit it")

    def _submitting(self) -> None:
        if self._hands.submitting is not None:
            self._hands.submitting()

    async def _enter(self, number: int) -> None:
        # A step of its own for each press, so that the mark tells one from the next.
        await self._step(
            ENTERED + "x" * number, lambda mark: self._hands.pane.send_key("Enter", mark)
        )

    async def _holds(self, text: str) -> bool | None:
        """Whether the text stands in the composer; C{None}: there is none to be seen."""
        if self._hands.composer is None:
            return None
        frame = await self._look()
        if frame is None:
            return None
        screen = [plain(row) for row in frame.lines[frame.history :]]
        shown = composer_text(screen, self._hands.composer)
        return None if shown is None else still_holds(shown, text)

    async def _look(self) -> Capture | None:
        """The screen; C{None}: it cannot be read just now, which keeps nothing from being typed."""
        try:
            return await self._hands.pane.capture()
        except PaneGone:
            raise
        except MuxError:
            return None

    # -- doing one thing once

    async def _step(self, step: str, command: Callable[[Mark], Coroutine[Any, Any, None]]) -> None:
        while True:
            try:
                await command(Mark(id=self._entry.id, step=step))
                return
            except MuxError as error:
                mark = await self._after(error)
                if mark is not None and mark.step == step:
                    return

    async def _after(self, error: MuxError) -> Mark | None:
        """What was typed of the entry when a command ended with C{error}."""
        if isinstance(error, PaneGone):
            raise error
        mark = await self._mark()
        if not isinstance(error, MuxTimeout):
            await self._refused(error, mark)
        if mark is None and not self._hands.wanted():
            raise NotTyped("its caller was told that it failed")
        return mark

    async def _refused(self, error: MuxError, mark: Mark | None) -> None:
        self._refusals += 1
        if self._refusals >= REFUSALS:
            if mark is None:
                raise NotTyped(str(error)) from error
            raise failed(f"only a part of the input was typed: {error}") from error
        await sleep(self._hands.clock, PAUSE)

    async def _mark(self) -> Mark | None:
        """The pane's mark if it is about this entry; asks until it is known.

        Commands are answered in order, so an answer means that every earlier command was either
        done or is lost for good.
        """
        asked = 0
        while True:
            try:
                mark = await self._hands.pane.last_mark()
            except PaneGone:
                raise
            except MuxError as error:
                asked += 1
                self._log.warn("input {id}: {error}", id=self._entry.id, error=error)
            else:
                return mark if mark is not None and mark.id == self._entry.id else None
            if asked == QUESTIONS:
                self._hands.unsure()
            await sleep(self._hands.clock, PAUSE)
