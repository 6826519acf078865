"""Prompts that were typed, of which nobody can tell that they were submitted (protocol-prompts).

Their numbers stay taken.  Sent again, such a prompt is not typed; the composer is asked once more,
and a text that stands there still is submitted once that it was not is sure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from attrs import evolve, frozen

from tservice.core.errors import ServiceError, failed
from tservice.mux.interface import PaneGone
from tservice.sessions.input.composing import Composer
from tservice.sessions.input.doubtstore import DoubtStore, KeptDoubt
from tservice.sessions.input.journal import JournalEntry
from tservice.sessions.input.prompting import Prompter
from tservice.sessions.input.typist import Left, TypingContext
from tservice.sessions.interfaces import IInputGate
from tservice.sessions.record.model import Session

REMEMBERED = 16
"""Prompts in doubt of one session; beyond that the oldest counts as submitted."""

PUT_ASIDE = "; it was put aside for a later prompt"


@frozen(eq=False)
class _Doubt:
    """One of them, and what its caller was told."""

    entry: JournalEntry
    prompter: Prompter
    why: ServiceError


class Doubts:
    """The prompts in doubt of one session, as long as its process runs.

    @param session: the record, asked afresh each time.
    """

    def __init__(self, store: DoubtStore, session: Callable[[], Session]) -> None:
        self._store, self._session = store, session
        self._doubts: deque[_Doubt] = deque()

    @property
    def left(self) -> tuple[Left, ...]:
        """What may be left of them in the composer, the latest last."""
        return tuple(each.prompter.left for each in self._doubts)

    def add(self, entry: JournalEntry, prompter: Prompter, why: ServiceError) -> None:
        """Remember one, with what its caller is told."""
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
        """Take up those of the service before this one.

        @param context_of: what typing an entry needs.
        """
        for kept in () if self._doubts else self._store.load(self._session().id):
            prompter = Prompter(kept.entry, context_of(kept.entry), composer)
            prompter.passed = kept.passed
            if kept.submitted_at is not None:
                session = evolve(self._session(), last_submit_at=kept.submitted_at)
                text = kept.entry.data.decode("utf-8")
                prompter.recall(gate.claim(session, text, caught_up=False))
            self._doubts.append(_Doubt(kept.entry, prompter, failed(kept.message)))

    async def settle(self, client: str | None, seq: int, again: Callable[[], object]) -> None:
        """Return where that prompt is not, or no longer, in doubt.

        @param again: judges who asks, before each Enter that is pressed for it.
        @raise ServiceError: 422: it still is; as its caller was told, who may not have heard it.
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
        """What stands in the composer is put aside, or gone, for another prompt."""
        if not all(each.prompter.passed for each in self._doubts):
            self._store.pass_by(self._session().id)
        for each in self._doubts:
            each.prompter.passed = True

    def clear(self) -> None:
        """The process is another one: what it was given is settled."""
        self._store.clear(self._session().id)
        self._doubts.clear()
