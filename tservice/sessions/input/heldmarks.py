"""Marks of inputs that a full disk did not take: their numbers go with the pane (protocol-errors).

The pane's server keeps the mark of what was typed last, and outlives this service.  So the mark of
an input that is in no journal names its client's number too, and the row of the journal that was
over already and could not be struck out.
"""

from __future__ import annotations

import hashlib
import re

from attrs import frozen

_NONE = "0"
_HELD = re.compile(r"[0-9A-Za-z]{1,32}-(\d{1,16})-([0-9a-f]{32})-([0-9A-Za-z]{1,32})")


@frozen(kw_only=True)
class HeldMark:
    """What such a mark says.

    @ivar client: L{digest} of the client's id.
    @ivar over: the id of a row on disk that is over.
    """

    seq: int
    client: str
    over: str | None

    @classmethod
    def read(cls, mark_id: str) -> HeldMark | None:
        """Undo L{held_mark}; C{None}: an ordinary mark."""
        found = _HELD.fullmatch(mark_id)
        if found is None:
            return None
        seq, client, over = found.groups()
        return cls(seq=int(seq), client=client, over=None if over == _NONE else over)


def held_mark(entry_id: str, client_id: str | None, seq: int | None, over: str | None) -> str:
    """The id of the mark of an input that is held; letters, digits and dashes only."""
    return f"{entry_id}-{seq or 0}-{digest(client_id or '')}-{over or _NONE}"


def digest(client_id: str) -> str:
    """A client's id in a form and length that a mark can hold."""
    return hashlib.sha256(client_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
