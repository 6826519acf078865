"""Prompts that were typed but whose submission could not be confirmed (protocol-prompts).

Their sequence numbers stay used. If the client sends a number again, its prompt is not typed again.
The composer is read once more. A text that is still there is submitted if it was certainly not
submitted before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from attrs import evolve, frozen

from tservice.core.errors import ServiceError, operation_failed
from tservice.mux.interface import PaneGone
from tservice.sessions.input.composing import Composer
from tservice.sessions.input.doubtstore import DoubtStore, KeptDoubt
from tservice.sessions.input.journal import JournalEntry
from tservice.sessions.input.prompting import Prompter
from tservice.sessions.input.typist import Left, TypingContext
from tservice.sessions.interfaces import IInputGate
from tservice.sessions.record.model import Session

REMEMBERED = 16
"""Maximum unconfirmed prompts of a session. Beyond it the oldest counts as submitted."""

PUT_ASIDE = "; it was put aside for a later prompt"


@frozen(eq=False)
class _Doubt:
    """Unconfirmed prompt and the error that its caller received."""

    entry: JournalEntry
    prompter: Prompter
    why: ServiceError


class Doubts:
    """Unconfirmed prompts of one session while its process runs.

    @param session: returns the current record.
    """

    def __init__(self, store: DoubtStore, session: Callable[[], Session]) -> None:
        self._store, self._session = store, session
        self._doubts: deque[_Doubt] = deque()

    @property
    def left(self) -> tuple[Left, ...]:
        """The texts that may remain in the composer, the latest last."""
        return tuple(each.prompter.left for each in self._doubts)

    def add(self, entry: JournalEntry, prompter: Prompter, why: ServiceError) -> None:
        """Remember a prompt and the error that its caller received."""
        at = None if prompter.left.claim is None else self._session().last_submit_at
        kept = KeptDoubt(entry=entry, submitted_at=at, message=why.message, passed=prompter.passed)
        self._store.keep(kept)
        self._doubts.append(_Doubt(entry, prompter, why))
        if len(self._doubts) > REMEMBERED:
            self._store.forget(self._doubts.popleft().entry)

    def recall(
        self,
        composer: Composer,
        context_of: Callable[[JournalEntry], TypingContext],
        gate: IInputGate,
    ) -> None:
        """Load the unconfirmed prompts that an earlier run of the service saved.

        @param context_of: returns the typing context of an entry.
        """
        for kept in () if self._doubts else self._store.load(self._session().id):
            prompter = Prompter(kept.entry, context_of(kept.entry), composer)
            prompter.passed = kept.passed
            if kept.submitted_at is not None:
                session = evolve(self._session(), last_submit_at=kept.submitted_at)
                text = kept.entry.data.decode("utf-8")
                prompter.recall(gate.claim(session, text, caught_up=False))
            self._doubts.append(_Doubt(kept.entry, prompter, operation_failed(kept.message)))

    async def settle(self, client: str | None, seq: int, again: Callable[[], object]) -> None:
        """Return if that prompt is confirmed, or was never unconfirmed.

        @param again: authorizes the caller again before each Enter.
        @raise ServiceError: 422: it is still unconfirmed. The error repeats the earlier one, which
            the caller may not have received.
        """
        numbered = (each for each in self._doubts if each.entry.seq == seq)
        found = next((each for each in numbered if each.entry.client_id == client), None)
        if found is None:
            return
        try:
            over = await found.prompter.finish(again)
        except PaneGone:
            over = True
        if not over:
            aside = PUT_ASIDE if found.prompter.passed else ""
            raise ServiceError(found.why.code, found.why.message + aside)
        if found in self._doubts:
            self._doubts.remove(found)
            self._store.forget(found.entry)

    def pass_by(self) -> None:
        """Record that the composer's text was put aside, or is gone, because of another prompt."""
        if not all(each.prompter.passed for each in self._doubts):
            self._store.pass_by(self._session().id)
        for each in self._doubts:
            each.prompter.passed = True

    def clear(self) -> None:
        """Forget all prompts, because the process was replaced."""
        self._store.clear(self._session().id)
        self._doubts.clear()
