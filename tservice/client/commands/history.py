"""C{history}: past conversations stored on disk (protocol-conversations)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tservice.client.commands.context import CommandContext
from tservice.client.shell import format_ago, format_cell

HEAD = ("ID", "MODE", "CHANGED", "TITLE", "FOLDER")
PAGE = 100
SEARCH_LIMIT = 2_000
"""Maximum number of conversations that a query searches."""
SEARCHED_FIELDS = ("id", "mode", "title", "workingDir")


def history(context: CommandContext) -> int:
    """List the newest conversations, or those that contain QUERY."""
    words = context.words
    limit = PAGE if words.query is None else SEARCH_LIMIT
    found = [
        one for one in _fetch_conversations(context, limit) if _matches_query(one, words.query)
    ]
    if words.json:
        context.shell.print_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (one["id"], one["mode"], format_ago(now, one["updatedAt"]), format_cell(one, "title"),
         format_cell(one, "workingDir"))
        for one in found
    ]  # fmt: skip
    context.shell.print_table([HEAD, *rows])
    return 0


def _fetch_conversations(context: CommandContext, limit: int) -> Iterator[dict[str, Any]]:
    for offset in range(0, limit, PAGE):
        query = {"limit": PAGE, "offset": offset}
        page = context.caller.send_request("GET", "/history/sessions", query=query)
        yield from page["sessions"]
        if offset + PAGE >= page["total"]:
            return


def _matches_query(record: Mapping[str, Any], query: str | None) -> bool:
    if query is None:
        return True
    wanted = query.casefold()
    return any(wanted in str(record.get(name, "")).casefold() for name in SEARCHED_FIELDS)
