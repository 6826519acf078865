"""Types one accepted input into a pane, exactly once (protocol-exactly-once).

The pane's server keeps a mark of the last typed input, set in the same command as the keys.  So the
mark shows what is left to do after a lost answer or a crash of this process.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import make_failure_error
from tservice.mux.interface import InputMark, IPane, MuxError, MuxTimeout, PaneCapture, PaneGone
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.entry_machine import EntryInputs
from tservice.sessions.input.type.composer import ComposerModel
from tservice.sessions.interfaces import PromptClaim

PASTE_GAP = 0.15
"""Seconds between a paste and its Enter. After a shorter gap, some agents treat the Enter as text.
"""
REFUSALS = 3
"""Number of attempts of a command that the multiplexer refuses before the command fails."""
QUESTIONS = 2
"""Number of failed queries of the mark after which the caller learns that the state is unknown."""
PAUSE = 1.0
"""Seconds between two attempts of a refused command or a failed query."""

PASTED = "pasted"
ENTERED = "entered"
WRITTEN = "written"


class NotTyped(Exception):
    """Raised if no part of the input was or will be typed. Its sequence number can be used
    again.
    """


@frozen(kw_only=True)
class TypedRemainder:
    """Earlier prompt whose text may remain in the composer.

    @ivar claim: matches the agent's report of a submitted prompt to this prompt; C{None} if Enter
        was never pressed.
    """

    text: str
    claim: PromptClaim | None


@frozen(kw_only=True)
class TypingContext:
    """Collaborators and callbacks for typing one entry.

    @ivar moves: inputs of the entry's state machine.
    @ivar unsure: called when the pane does not confirm the input, so that the caller gets an answer
        now.
    @ivar wanted: returns true if an input that was not begun should still be begun.
    """

    clock: IReactorTime
    pane: IPane
    moves: EntryInputs
    unsure: Callable[[], None]
    wanted: Callable[[], bool]


@frozen(kw_only=True)
class PromptContext(TypingContext):
    """Collaborators and callbacks for typing one prompt for an agent.

    @ivar composer: the composer rules of the agent.
    @ivar find_dialog: returns one line about a dialog that Enter would answer; C{None} if none is
        open. The second argument is the typed text, which is not a dialog.
    @ivar find_opened_view: returns the kind of view that a command of the agent opened on the
        screen.
    @ivar is_at_rest: returns true if the screen shows a composer and the agent is not working.
    @ivar claim: called just before the first Enter of a prompt, with true if the agent has read all
        earlier input. Returns the claim to the agent's reports.
    @ivar displacing: called just before the composer's text may be removed.
    @ivar left: earlier prompts whose text may remain in the composer, the latest last.
    """

    composer: ComposerModel
    find_dialog: Callable[[PaneCapture, str], str | None]
    find_opened_view: Callable[[PaneCapture], str | None]
    is_at_rest: Callable[[PaneCapture], bool]
    claim: Callable[[bool], PromptClaim]
    displacing: Callable[[], None]
    left: tuple[TypedRemainder, ...]


class EntryTypist:
    """Types one journal entry into a pane."""

    _log = Logger()

    def __init__(self, entry: JournalEntry, context: TypingContext) -> None:
        self._entry = entry
        self._context = context
        self._refusals = 0

    async def type_line(self, mark: InputMark | None) -> None:
        """Type a line into a shell: its text, and one Enter.

        @param mark: progress of the entry on the pane; C{None} if nothing was typed.
        @raise NotTyped: nothing was typed.
        @raise PaneGone: the process ended, and the typed text is lost.
        @raise ServiceError: 422: the entry was typed, in part or completely, but the pane did not
            confirm it.
        """
        if self._entry.data and await self.type_text(mark):
            await wait_seconds(self._context.clock, PASTE_GAP)
        if mark is None or mark.step in (PASTED, WRITTEN):
            self._context.moves.press_enter()
            await self.press_enter()

    # -- steps for prompts

    async def get_progress(self) -> InputMark | None:
        """Query the progress of the entry; C{None} if nothing was typed."""
        return await self._query_mark()

    async def type_text(self, mark: InputMark | None) -> bool:
        """Type the missing part of the text. Return true if a part was missing.

        @param mark: progress of the entry on the pane; C{None} if nothing was typed.
        """
        if self._entry.kind is InputKind.TYPED:
            if mark is not None and (mark.step != WRITTEN or mark.done >= len(self._entry.data)):
                return False
            await self.write_bytes(mark)
            return True
        if mark is not None:
            return False
        text = self._entry.data.decode("utf-8")
        await self._run_step(PASTED, lambda mark: self._context.pane.paste(text, mark))
        return True

    async def press_enter(self) -> None:
        """Press Enter exactly once."""
        await self._run_step(ENTERED, lambda mark: self._context.pane.send_key("Enter", mark))

    async def write_bytes(self, mark: InputMark | None) -> None:
        """Write the missing bytes. Errors are raised as by L{type_line}.

        @param mark: progress of the entry on the pane; C{None} if nothing was typed.
        """
        data = self._entry.data
        while mark is None or mark.done < len(data):
            begun = mark or InputMark(id=self._entry.id, step=WRITTEN)
            try:
                await self._context.pane.write_bytes(data, begun)
                return
            except MuxError as error:
                mark = await self._progress_after_error(error)

    # -- steps that are done exactly once

    async def _run_step(
        self, step: str, command: Callable[[InputMark], Coroutine[Any, Any, None]]
    ) -> None:
        while True:
            try:
                await command(InputMark(id=self._entry.id, step=step))
                return
            except MuxError as error:
                mark = await self._progress_after_error(error)
                if mark is not None and mark.step == step:
                    return

    async def _progress_after_error(self, error: MuxError) -> InputMark | None:
        """Query the progress of the entry after a command failed with C{error}."""
        if isinstance(error, PaneGone):
            raise error
        mark = await self._query_mark()
        if not isinstance(error, MuxTimeout):
            await self._handle_refusal(error, mark)
        if mark is None and not self._context.wanted():
            raise NotTyped("its caller already received an error")
        return mark

    async def _handle_refusal(self, error: MuxError, mark: InputMark | None) -> None:
        self._refusals += 1
        if self._refusals >= REFUSALS:
            if mark is None:
                raise NotTyped(str(error)) from error
            raise make_failure_error(f"only a part of the input was typed: {error}") from error
        await wait_seconds(self._context.clock, PAUSE)

    async def _query_mark(self) -> InputMark | None:
        """Return the pane's mark if it belongs to this entry. Retry until the pane answers.

        Commands are answered in order, so an answer means that every earlier command was either
        performed or lost.
        """
        asked = 0
        while True:
            try:
                mark = await self._context.pane.read_last_mark()
            except PaneGone:
                raise
            except MuxError as error:
                asked += 1
                self._log.warn("input {id}: {error}", id=self._entry.id, error=error)
            else:
                return mark if mark is not None and mark.id == self._entry.id else None
            if asked == QUESTIONS:
                self._context.unsure()
            await wait_seconds(self._context.clock, PAUSE)
