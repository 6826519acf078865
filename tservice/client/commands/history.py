"""C{history}: past conversations stored on disk (protocol-conversations)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tservice.client.commands.context import Context
from tservice.client.shell import ago, cell

HEAD = ("ID", "MODE", "CHANGED", "TITLE", "FOLDER")
PAGE = 100
LOOKED_AT = 2_000
"""Number of conversations that a query searches."""
SEARCHED = ("id", "mode", "title", "workingDir")


def history(context: Context) -> int:
    """List the newest conversations, or those that contain QUERY."""
    words = context.words
    limit = PAGE if words.query is None else LOOKED_AT
    found = [one for one in _conversations(context, limit) if _holds(one, words.query)]
    if words.json:
        context.shell.say_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (one["id"], one["mode"], ago(now, one["updatedAt"]), cell(one, "title"),
         cell(one, "workingDir"))
        for one in found
    ]  # fmt: skip
    context.shell.say_table([HEAD, *rows])
    return 0


def _conversations(context: Context, limit: int) -> Iterator[dict[str, Any]]:
    for offset in range(0, limit, PAGE):
        query = {"limit": PAGE, "offset": offset}
        page = context.caller.call("GET", "/history/sessions", query=query)
        yield from page["sessions"]
        if offset + PAGE >= page["total"]:
            return


def _holds(record: Mapping[str, Any], query: str | None) -> bool:
    if query is None:
        return True
    wanted = query.casefold()
    return any(wanted in str(record.get(name, "")).casefold() for name in SEARCHED)
