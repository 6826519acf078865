"""Prompts that were typed, of which nobody can tell that they were submitted (protocol-prompts).

Their numbers stay taken.  Sent again, such a prompt is not typed; the composer is asked once more,
and a text that stands there still is submitted once that it was not is sure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from attrs import frozen

from tservice.core.errors import ServiceError
from tservice.mux.interface import PaneGone
from tservice.sessions.input.journal import JournalEntry
from tservice.sessions.input.prompting import Prompter
from tservice.sessions.input.typist import Left

REMEMBERED = 16
"""Prompts in doubt of one session; beyond that the oldest counts as submitted."""


@frozen(eq=False)
class _Doubt:
    """One of them, and what its caller was told."""

    entry: JournalEntry
    prompter: Prompter
    why: ServiceError


class Doubts:
    """The prompts in doubt of one session, as long as this service runs."""

    def __init__(self) -> None:
        self._doubts: deque[_Doubt] = deque(maxlen=REMEMBERED)

    @property
    def left(self) -> tuple[Left, ...]:
        """What may be left of them in the composer, the latest last."""
        return tuple(each.prompter.left for each in self._doubts)

    def add(self, entry: JournalEntry, prompter: Prompter, why: ServiceError) -> None:
        """Remember one, with what its caller is told."""
        self._doubts.append(_Doubt(entry, prompter, why))

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
            raise ServiceError(found.why.code, found.why.message)
        if found in self._doubts:
            self._doubts.remove(found)

    def pass_by(self) -> None:
        """What stands in the composer is put aside, or gone, for another prompt."""
        for each in self._doubts:
            each.prompter.passed = True

    def clear(self) -> None:
        """The process is another one: what it was given is settled."""
        self._doubts.clear()
