"""Accepted input of a session, as it stands in the journal."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


class InputKind(StrEnum):
    """The way an input is typed."""

    PROMPT = "prompt"
    """Pasted, then Enter."""
    TYPED = "typed"
    """Typed key by key, then Enter."""
    RAW = "raw"
    """Typed byte by byte without change."""


@frozen(kw_only=True)
class JournalEntry:
    """Accepted input of a session.

    @ivar id: unique over all sessions and restarts; part of the pane's mark.
    @ivar previous_seq: the client's sequence number before this input. A failed write restores it.
    @ivar held: true if the entry is only in memory and in the pane's mark, because the disk is
        full.
    @ivar with_pane: true if only the pane's mark records the entry until it is typed.
    @ivar buffered: position of the input in the L{OfflineInputBuffer}. Accepting the entry removes
        the input from the buffer.
    """

    session_id: str
    id: str
    kind: InputKind
    data: bytes
    client_id: str | None = None
    seq: int | None = None
    previous_seq: int | None = None
    held: bool = False
    with_pane: bool = False
    buffered: int | None = None

    def with_mark(
        self, mark_id: str, *, held: bool = False, with_pane: bool = False
    ) -> JournalEntry:
        """Return the entry under the id C{mark_id}, which contains numbers that are not on disk."""
        return JournalEntry(
            session_id=self.session_id, id=mark_id, kind=self.kind, data=self.data,
            client_id=self.client_id, seq=self.seq, previous_seq=self.previous_seq,
            held=held, with_pane=with_pane, buffered=self.buffered,
        )  # fmt: skip
