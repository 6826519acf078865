"""Typing one accepted input into a pane, exactly once (protocol-exactly-once).

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
from tservice.sessions.input.composing import Composer
from tservice.sessions.input.journal import InputKind, JournalEntry
from tservice.sessions.interfaces import Claim

PASTE_GAP = 0.15
"""Seconds between a paste and its Enter: with less, some agents take the Enter for text."""
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
class Left:
    """A prompt that was given before, of which the text may stand in the composer.

    @ivar claim: what its agent told of it; C{None}: its Enter was never pressed.
    """

    text: str
    claim: Claim | None


@frozen(kw_only=True)
class TypingContext:
    """What typing needs beside the entry.

    @ivar composer: how the mode draws its composer; C{None}: Enter is pressed once (shells).
    @ivar asks: what an agent's screen asks for, beside what was typed, where Enter would be the
        answer.
    @ivar opened: what stands open on the screen once a command of the agent's own was given.
    @ivar rests: whether the screen shows a composer, and that nothing works.
    @ivar claim: called just before the first Enter of a prompt, with whether the agent has read
        all that was typed before: what it will have told of it.
    @ivar unsure: called when the pane did not say whether the input arrived, so that the caller
        need not wait any longer.
    @ivar wanted: whether what was not begun should be begun, once that is known again.
    @ivar submitting: called just before what submits is typed.
    @ivar displacing: called just before what stands in the composer goes, or may.
    @ivar left: the prompts before this one of which something may be left, the latest last.
    """

    clock: IReactorTime
    pane: IPane
    composer: Composer | None
    asks: Callable[[Capture, str], str | None]
    opened: Callable[[Capture], str | None]
    rests: Callable[[Capture], bool]
    claim: Callable[[bool], Claim]
    unsure: Callable[[], None]
    wanted: Callable[[], bool]
    submitting: Callable[[], None] | None = None
    displacing: Callable[[], None] = lambda: None
    left: tuple[Left, ...] = ()


class Typist:
    """Types one entry."""

    _log = Logger()

    def __init__(self, entry: JournalEntry, context: TypingContext) -> None:
        self._entry = entry
        self._context = context
        self._refusals = 0

    async def type(self, *, resumed: bool = False) -> None:
        """Type it, or what is left of it.

        @param resumed: it may have been begun before, by a process that is gone.
        @raise NotTyped: nothing was typed.
        @raise PaneGone: the process is over, so whatever was typed went with it.
        @raise ServiceError: 422: it was typed, in part or whole, but did not get through.
        """
        mark = await self._mark() if resumed else None
        if self._entry.kind is InputKind.RAW:
            self.submitting()
            await self.write(mark)
        elif self._context.composer is None:
            await self._line(mark)

    async def _line(self, mark: Mark | None) -> None:
        """A line for a shell: its text, and Enter once."""
        if self._entry.data and await self.put_in(mark):
            await sleep(self._context.clock, PASTE_GAP)
        if mark is None or mark.step in (PASTED, WRITTEN):
            self.submitting()
            await self.enter()

    # -- what prompts are typed with

    async def mark(self) -> Mark | None:
        """What was typed of the entry so far."""
        return await self._mark()

    async def put_in(self, mark: Mark | None) -> bool:
        """Put in what is missing of the text; whether anything was."""
        if self._entry.kind is InputKind.TYPED:
            if mark is not None and (mark.step != WRITTEN or mark.done >= len(self._entry.data)):
                return False
            await self.write(mark)
            return True
        if mark is not None:
            return False
        text = self._entry.data.decode("utf-8")
        await self._step(PASTED, lambda mark: self._context.pane.paste(text, mark))
        return True

    async def enter(self) -> None:
        """Press Enter, once."""
        await self._step(ENTERED, lambda mark: self._context.pane.send_key("Enter", mark))

    def submitting(self) -> None:
        """Tell that what submits is typed next."""
        if self._context.submitting is not None:
            self._context.submitting()

    async def write(self, mark: Mark | None) -> None:
        data = self._entry.data
        while mark is None or mark.done < len(data):
            begun = mark or Mark(id=self._entry.id, step=WRITTEN)
            try:
                await self._context.pane.write(data, begun)
                return
            except MuxError as error:
                mark = await self._after(error)

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
        if mark is None and not self._context.wanted():
            raise NotTyped("its caller was told that it failed")
        return mark

    async def _refused(self, error: MuxError, mark: Mark | None) -> None:
        self._refusals += 1
        if self._refusals >= REFUSALS:
            if mark is None:
                raise NotTyped(str(error)) from error
            raise failed(f"only a part of the input was typed: {error}") from error
        await sleep(self._context.clock, PAUSE)

    async def _mark(self) -> Mark | None:
        """The pane's mark if it is about this entry; asks until it is known.

        Commands are answered in order, so an answer means that every earlier command was either
        done or is lost for good.
        """
        asked = 0
        while True:
            try:
                mark = await self._context.pane.last_mark()
            except PaneGone:
                raise
            except MuxError as error:
                asked += 1
                self._log.warn("input {id}: {error}", id=self._entry.id, error=error)
            else:
                return mark if mark is not None and mark.id == self._entry.id else None
            if asked == QUESTIONS:
                self._context.unsure()
            await sleep(self._context.clock, PAUSE)
