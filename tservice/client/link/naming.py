"""Lookup of records by id, unique id prefix or exact name (protocol-tsctl)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tservice.client.errors import Unusable

SHORTEST = 4
"""Minimum number of characters of an id prefix."""
LISTED = 8
"""Maximum number of candidates that an error lists."""


def pick_record(records: Sequence[Mapping[str, Any]], word: str, kind: str) -> dict[str, Any]:
    """Return the record whose id, unique id prefix or name is C{word}. An id takes precedence over
    names.

    @param kind: kind of the records, for the error text.
    @raise Unusable: no record matches, or several do. The text lists them.
    """
    for record in records:
        if record["id"] == word:
            return dict(record)
    found = [record for record in records if _matches_name(record, word)]
    if len(found) == 1:
        return dict(found[0])
    if not found:
        raise Unusable(f"no {kind} matches {word!r}")
    listed = ", ".join(f"{record['id']} ({record['name']})" for record in found[:LISTED])
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    raise Unusable(f"{word!r} is ambiguous: {listed}{more}")


def _matches_name(record: Mapping[str, Any], word: str) -> bool:
    if record.get("name") == word and word:
        return True
    return len(word) >= SHORTEST and str(record["id"]).startswith(word.lower())
