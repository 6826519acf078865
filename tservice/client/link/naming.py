"""Which record a person means: by id, by a unique beginning of it, or by exact name
(protocol-tsctl)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tservice.client.errors import Unusable

SHORTEST = 4
"""Characters of an id's beginning."""
LISTED = 8
"""Candidates that an error lists."""


def pick(records: Sequence[Mapping[str, Any]], word: str, kind: str) -> dict[str, Any]:
    """The one record that C{word} names; an id wins over whatever else is called so.

    @param kind: what the records are, for the error.
    @raise Unusable: none, or several, which are listed.
    """
    for record in records:
        if record["id"] == word:
            return dict(record)
    found = [record for record in records if _named(record, word)]
    if len(found) == 1:
        return dict(found[0])
    if not found:
        raise Unusable(f"there is no {kind} {word!r}")
    listed = ", ".join(f"{record['id']} ({record['name']})" for record in found[:LISTED])
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    raise Unusable(f"{word!r} could be each of {listed}{more}")


def _named(record: Mapping[str, Any], word: str) -> bool:
    if record.get("name") == word and word:
        return True
    return len(word) >= SHORTEST and str(record["id"]).startswith(word.lower())
