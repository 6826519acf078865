"""Prompts that were typed, of which nobody can tell that they were submitted (protocol-prompts).

Their numbers stay taken.  Sent again, such a prompt is not typed; the composer is asked once more.
"""

from __future__ import annotations

from tservice.core.errors import ServiceError
from tservice.mux.interface import PaneGone
from tservice.sessions.input.journal import JournalEntry
from tservice.sessions.input.prompting import Prompter

REMEMBERED = 16
"""Prompts in doubt of one session; beyond that the oldest counts as submitted."""


class Doubts:
    """The prompts in doubt of one session, as long as this service runs."""

    def __init__(self) -> None:
        self._prompts: dict[tuple[str, int], tuple[Prompter, ServiceError]] = {}

    def add(self, entry: JournalEntry, prompter: Prompter, why: ServiceError) -> None:
        """Remember one that can be asked for, with what its caller is told."""
        if entry.client_id is not None and entry.seq is not None:
            self._prompts[entry.client_id, entry.seq] = prompter, why
            while len(self._prompts) > REMEMBERED:
                del self._prompts[next(iter(self._prompts))]

    async def settle(self, client: str | None, seq: int | None) -> None:
        """Return where that prompt is not, or no longer, in doubt.

        @raise ServiceError: 422: it still is; as its caller was told, who may not have heard it.
        """
        found = self._prompts.get((client or "", -1 if seq is None else seq))
        if found is None:
            return
        prompter, why = found
        try:
            doubted = await prompter.doubted()
        except PaneGone:
            doubted = False
        if doubted:
            raise ServiceError(why.code, why.message)
        self._prompts.pop((client or "", seq or 0), None)

    def pass_by(self) -> None:
        """Another prompt is given."""
        for prompter, _ in self._prompts.values():
            prompter.passed = True

    def clear(self) -> None:
        """The process is another one: what it was given is settled."""
        self._prompts.clear()
