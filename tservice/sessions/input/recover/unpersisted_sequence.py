"""Encodes sequence numbers that are not on disk yet in the mark of a pane (protocol-errors).

The pane's server keeps the mark of the last typed input, and outlives this service. All clients of
the pane share one mark. The mark of an input that is in no journal therefore contains three things:
its client's number, the unsaved numbers of all other clients, and the journal row that is finished
but could not be deleted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache

from attrs import frozen

CLIENTS = 256
"""Maximum number of clients of a session whose numbers are remembered and fit into one mark."""

_NONE = "0"
_NUMBER = r"-(\d{1,16})-([0-9a-f]{32})"
_NUMBERS = re.compile(_NUMBER)
_HELD = re.compile(
    rf"[0-9A-Za-z]{{1,32}}((?:{_NUMBER}){{0,{CLIENTS}}})-([0-9A-Za-z]{{1,32}})", re.ASCII
)
_STAND_IN = re.compile(r"=([0-9a-f]{32})")


@frozen(kw_only=True)
class UnpersistedSequence:
    """Content of a pane's mark for sequence numbers that are not on disk.

    @ivar numbers: sequence numbers by L{digest_client_id} of the client's id.
    @ivar over: id of a finished journal row that is still on disk; C{None} if there is none.
    """

    numbers: Mapping[str, int]
    over: str | None

    @classmethod
    def parse_mark(cls, mark_id: str) -> UnpersistedSequence | None:
        """Parse a mark id made by L{format_mark_id}. Return C{None} for an ordinary mark."""
        found = _HELD.fullmatch(mark_id)
        if found is None:
            return None
        numbers = {client: int(seq) for seq, client in _NUMBERS.findall(found[1])}
        over = found[found.re.groups]
        return cls(numbers=numbers, over=None if over == _NONE else over)


def format_mark_id(entry_id: str, numbers: Mapping[str, int], over: str | None) -> str:
    """Return the mark id of an input whose number is not on disk. It has letters, digits and
    dashes.

    @param entry_id: id of the journal entry.
    @param numbers: unsaved sequence numbers by client id, at most L{CLIENTS}.
    @param over: id of a finished journal row that is still on disk; C{None} if there is none.
    """
    told = "".join(f"-{seq}-{digest_client_id(client)}" for client, seq in numbers.items())
    return f"{entry_id}{told}-{over or _NONE}"


@lru_cache(maxsize=CLIENTS)
def digest_client_id(client_id: str) -> str:
    """Return a digest of a client's id, in a form and length that a mark can hold."""
    known = _STAND_IN.fullmatch(client_id)
    if known is not None:
        return known[1]
    return hashlib.sha256(client_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def placeholder_client_id(client_digest: str) -> str:
    """Return a placeholder for the id of a client that is known only from a mark.

    The placeholder has the same digest as the id. A client that uses the placeholder as its own id
    shares the numbers of that client.
    """
    return f"={client_digest}"
