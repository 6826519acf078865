"""Delivery of one accepted input: types it, and records what became of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import frozen
from twisted.internet.defer import CancelledError
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.mux.interface import IPane, PaneGone
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.accept.target import InputTarget
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.entry_machine import EntryState, start_machine
from tservice.sessions.input.recover.unconfirmed_prompts import (
    UnconfirmedPrompt,
    UnconfirmedPrompts,
)
from tservice.sessions.input.type.composer import ComposerModel
from tservice.sessions.input.type.prompt_runner import PromptOutcome, PromptRunner
from tservice.sessions.input.type.submitter import NOT_SURE, SubmissionUnconfirmed
from tservice.sessions.input.type.typist import (
    EntryTypist,
    NotTyped,
    PromptContext,
    TypedRemainder,
    TypingContext,
)
from tservice.sessions.interfaces import IInputGate, PromptClaim


@frozen(kw_only=True)
class InputContext:
    """Collaborators of the input path of one session."""

    clock: IReactorTime
    journal: InputJournal
    gate: IInputGate
    target: InputTarget
    doubts: UnconfirmedPrompts


def _ignore() -> None:
    """Do nothing."""


def _always() -> bool:
    return True


class EntryDelivery:
    """Delivery of one entry. Performs the effects of the entry's state machine.

    @param unsure: called when the pane does not confirm the input, so that the caller gets an
        answer now.
    @param wanted: returns true if an input that was not begun should still be begun.
    @param announced: called just before the key that submits.
    @ivar moves: inputs of the state machine.
    """

    def __init__(
        self,
        context: InputContext,
        entry: JournalEntry,
        *,
        unsure: Callable[[], None] = _ignore,
        wanted: Callable[[], bool] = _always,
        announced: Callable[[], None] | None = None,
        state: EntryState = EntryState.ACCEPTED,
    ) -> None:
        self._context, self._entry = context, entry
        self._unsure, self._wanted, self._announced = unsure, wanted, announced
        self._prompter: PromptRunner | None = None
        self._doubt: UnconfirmedPrompt
        self.moves = start_machine(self, state)

    async def deliver(
        self, pane: IPane, composer: ComposerModel | None, *, resumed: bool = False
    ) -> PromptOutcome:
        """Type the entry, or the missing part of it.

        @param composer: the composer rules of the mode; C{None} for shells and for raw bytes.
        @param resumed: true if an earlier run of the service may have begun the entry.
        @raise NotTyped: nothing was typed.
        @raise PaneGone: the process ended, and the typed text is lost.
        @raise ServiceError: 422: typed in part, not submitted, or unconfirmed.
        """
        self.moves.begin_typing()
        try:
            outcome = await self._type(pane, composer, resumed)
        except CancelledError:
            # The service stops. Its next run continues from the journal.
            raise
        except NotTyped:
            self.moves.revoke()
            raise
        except PaneGone:
            # After a restart, it may have been typed into the old process.
            self.moves.fail() if resumed else self.moves.revoke()
            raise
        except SubmissionUnconfirmed as error:
            why = make_failure_error(f"{NOT_SURE}; look at the terminal")
            self._record_unfinished(why)
            raise why from error
        except ServiceError as error:
            self._record_unfinished(error)
            raise
        except Exception:
            self.moves.fail()
            raise
        self.moves.confirm()
        return outcome

    def make_prompter(self, pane: IPane, composer: ComposerModel) -> PromptRunner:
        """Return the runner of this entry, which is a prompt for an agent."""
        gate, doubts = self._context.gate, self._context.doubts
        session = self._context.target.session()
        context = PromptContext(
            clock=self._context.clock, pane=pane, moves=self.moves, unsure=self._unsure,
            wanted=self._wanted, composer=composer,
            find_dialog=partial(gate.describe_dialog, session),
            find_opened_view=partial(gate.find_opened_view, session),
            is_at_rest=partial(gate.is_at_rest, session), claim=self._claim_prompt,
            displacing=doubts.mark_put_aside, left=doubts.remainders,
        )  # fmt: skip
        self._prompter = PromptRunner(self._entry, context)
        return self._prompter

    def _record_unfinished(self, why: ServiceError) -> None:
        if self._prompter is None:
            self.moves.fail()
        else:
            self._doubt = UnconfirmedPrompt(self._entry, self._prompter, why, self.moves)
            self.moves.doubt()

    async def _type(
        self, pane: IPane, composer: ComposerModel | None, resumed: bool
    ) -> PromptOutcome:
        if composer is not None:
            return await self.make_prompter(pane, composer).deliver_prompt(resumed=resumed)
        context = TypingContext(
            clock=self._context.clock, pane=pane, moves=self.moves, unsure=self._unsure,
            wanted=self._wanted,
        )  # fmt: skip
        typist = EntryTypist(self._entry, context)
        mark = await typist.get_progress() if resumed else None
        if self._entry.kind is InputKind.RAW:
            self._announce_raw()
            await typist.write_bytes(mark)
        else:
            await typist.type_line(mark)
        return PromptOutcome()

    def _claim_prompt(self, caught_up: bool) -> PromptClaim:
        text = self._entry.data.decode("utf-8")
        session = self._context.target.session()
        claim = self._context.gate.claim_prompt(session, text, caught_up=caught_up)
        self._context.doubts.set_latest(TypedRemainder(text=text, claim=claim))
        return claim

    def _announce_raw(self) -> None:
        if self._announced is not None:
            self._announced()
        if b"\r" in self._entry.data:
            self._context.target.submitting(None)

    # -- effects of the state machine

    def announce_enter(self) -> None:
        """See L{EntryEffects.announce_enter}."""
        if self._announced is not None:
            self._announced()
        self._context.target.submitting(self._entry.data.decode("utf-8"))

    def finish_entry(self) -> None:
        """See L{EntryEffects.finish_entry}."""
        self._context.journal.finish_entry(self._entry)

    def revoke_entry(self) -> None:
        """See L{EntryEffects.revoke_entry}."""
        self._context.journal.revoke_entry(self._entry)

    def keep_unconfirmed(self) -> None:
        """See L{EntryEffects.keep_unconfirmed}."""
        # A crash in between leaves the entry in both places, and never loses it.
        self._context.doubts.add_prompt(self._doubt)
        self._context.journal.finish_entry(self._entry)

    def drop_unconfirmed(self) -> None:
        """See L{EntryEffects.drop_unconfirmed}."""
        self._context.doubts.remove_prompt(self._entry)
