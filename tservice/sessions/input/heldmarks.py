"""Marks of inputs whose numbers the disk has not yet: they go with the pane (protocol-errors).

The pane's server keeps the mark of what was typed last, and outlives this service.  It is one mark
for all who type there, so that of an input that is in no journal names its client's number, those
of every other client that the disk did not take, and the row of the journal that was over already
and could not be struck out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from attrs import frozen

CLIENTS = 256
"""Clients of a session whose numbers are remembered, and that one mark names at most."""

_NONE = "0"
_NUMBER = r"-(\d{1,16})-([0-9a-f]{32})"
_NUMBERS = re.compile(_NUMBER)
_HELD = re.compile(
    rf"[0-9A-Za-z]{{1,32}}((?:{_NUMBER}){{0,{CLIENTS}}})-([0-9A-Za-z]{{1,32}})", re.ASCII
)
_STAND_IN = re.compile(r"=([0-9a-f]{32})")


@frozen(kw_only=True)
class HeldMark:
    """What such a mark says.

    @ivar numbers: by L{digest} of the client's id.
    @ivar over: the id of a row on disk that is over.
    """

    numbers: Mapping[str, int]
    over: str | None

    @classmethod
    def read(cls, mark_id: str) -> HeldMark | None:
        """Undo L{held_mark}; C{None}: an ordinary mark."""
        found = _HELD.fullmatch(mark_id)
        if found is None:
            return None
        numbers = {client: int(seq) for seq, client in _NUMBERS.findall(found[1])}
        over = found[found.re.groups]
        return cls(numbers=numbers, over=None if over == _NONE else over)


def held_mark(entry_id: str, numbers: Mapping[str, int], over: str | None) -> str:
    """The id of the mark of an input that is held; letters, digits and dashes only.

    @param numbers: by client, L{CLIENTS} at most.
    """
    told = "".join(f"-{seq}-{digest(client)}" for client, seq in numbers.items())
    return f"{entry_id}{told}-{over or _NONE}"


def digest(client_id: str) -> str:
    """A client's id in a form and length that a mark can hold."""
    known = _STAND_IN.fullmatch(client_id)
    if known is not None:
        return known[1]
    return hashlib.sha256(client_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def stand_in(client_digest: str) -> str:
    """What stands for the id of a client of which only a mark is known, with the same digest.

    Who takes it for an id of its own shares that client's numbers, as with the id itself.
    """
    return f"={client_digest}"
