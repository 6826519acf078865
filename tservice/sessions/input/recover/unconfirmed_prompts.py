"""Prompts that were typed but whose submission could not be confirmed (protocol-prompts).

Their sequence numbers stay used. If the client sends a number again, its prompt is not typed again.
Instead, the composer is read once more. A text that is still in the composer is submitted if it was
certainly not submitted before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from attrs import evolve, frozen

from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.mux.interface import PaneGone
from tservice.sessions.input.entry import JournalEntry
from tservice.sessions.input.entry_machine import EntryInputs
from tservice.sessions.input.recover.unconfirmed_prompt_store import (
    SavedUnconfirmedPrompt,
    UnconfirmedPromptStore,
)
from tservice.sessions.input.type.prompt_runner import PromptRunner
from tservice.sessions.input.type.typist import TypedRemainder
from tservice.sessions.interfaces import IInputGate
from tservice.sessions.record.model import Session

REMEMBERED = 16
"""Maximum number of unconfirmed prompts of a session. Beyond it, the oldest counts as submitted."""

PUT_ASIDE = "; it was put aside for a later prompt"


@frozen(eq=False)
class UnconfirmedPrompt:
    """Unconfirmed prompt and the error that its caller received.

    @ivar moves: inputs of the entry's state machine.
    """

    entry: JournalEntry
    prompter: PromptRunner
    why: ServiceError
    moves: EntryInputs


class UnconfirmedPrompts:
    """Unconfirmed prompts of one session while its process runs, and its latest prompt.

    @param session: returns the session's current record.
    """

    def __init__(self, store: UnconfirmedPromptStore, session: Callable[[], Session]) -> None:
        self._store, self._session = store, session
        self._doubts: deque[UnconfirmedPrompt] = deque()
        self._latest: TypedRemainder | None = None

    @property
    def remainders(self) -> tuple[TypedRemainder, ...]:
        """Prompts whose text may remain in the composer, the latest last."""
        doubted = tuple(each.prompter.remainder for each in self._doubts)
        return doubted if self._latest is None else (*doubted, self._latest)

    def set_latest(self, remainder: TypedRemainder) -> None:
        """Remember the prompt whose Enter is pressed next."""
        self._latest = remainder

    def add_prompt(self, doubt: UnconfirmedPrompt) -> None:
        """Remember a prompt and the error that its caller received."""
        prompter = doubt.prompter
        at = None if prompter.remainder.claim is None else self._session().last_submit_at
        kept = SavedUnconfirmedPrompt(
            entry=doubt.entry, submitted_at=at, message=doubt.why.message, passed=prompter.passed
        )
        self._store.save_prompt(kept)
        self._doubts.append(doubt)
        if len(self._doubts) > REMEMBERED:
            self._doubts[0].moves.confirm()

    def remove_prompt(self, entry: JournalEntry) -> None:
        """Forget a prompt that is confirmed. Do nothing if its process was replaced since."""
        found = next((each for each in self._doubts if each.entry is entry), None)
        if found is not None:
            self._doubts.remove(found)
            self._store.delete_prompt(entry)

    def load_saved(
        self,
        restore: Callable[[JournalEntry], tuple[PromptRunner, EntryInputs]],
        gate: IInputGate,
    ) -> None:
        """Load the unconfirmed prompts that an earlier run of the service saved.

        @param restore: returns the runner of an entry, and the inputs of its state machine.
        """
        for kept in () if self._doubts else self._store.load(self._session().id):
            prompter, moves = restore(kept.entry)
            prompter.passed = kept.passed
            if kept.submitted_at is not None:
                session = evolve(self._session(), last_submit_at=kept.submitted_at)
                text = kept.entry.data.decode("utf-8")
                prompter.restore_claim(gate.claim_prompt(session, text, caught_up=False))
            why = make_failure_error(kept.message)
            self._doubts.append(UnconfirmedPrompt(kept.entry, prompter, why, moves))

    async def confirm_prompt(
        self, client: str | None, seq: int, check_permission: Callable[[], object]
    ) -> None:
        """Confirm or finish a prompt that its client sends again. Return at once if it is not
        unconfirmed.

        @param seq: sequence number of the prompt.
        @param check_permission: called before each Enter. Raises if the permission was lost.
        @raise ServiceError: 422: the prompt is still unconfirmed. The error repeats the earlier
            one, which the caller may not have received.
        """
        numbered = (each for each in self._doubts if each.entry.seq == seq)
        found = next((each for each in numbered if each.entry.client_id == client), None)
        if found is None:
            return
        try:
            over = await found.prompter.finish_prompt(check_permission)
        except PaneGone:
            over = True
        if not over:
            found.moves.doubt()
            aside = PUT_ASIDE if found.prompter.passed else ""
            raise ServiceError(found.why.code, found.why.message + aside)
        found.moves.confirm()

    def mark_put_aside(self) -> None:
        """Record that the prompts' texts were removed from the composer because of another
        prompt.
        """
        self._latest = None
        if not all(each.prompter.passed for each in self._doubts):
            self._store.mark_put_aside(self._session().id)
        for each in self._doubts:
            each.prompter.passed = True

    def clear(self) -> None:
        """Forget all prompts, because the process was replaced."""
        self._store.clear_session(self._session().id)
        self._doubts.clear()
        self._latest = None
