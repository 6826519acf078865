"""C{conversation}: print the items of a session's conversation (protocol-conversation)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tservice.client.commands.context import CommandContext
from tservice.client.link.caller import build_session_path
from tservice.client.terminal.safe import safe_line, safe_text

PAGE = 500
"""Maximum items of one request (protocol-conversation)."""
CHANGED = "session:conversation"
RENEWED = frozenset({"init", "sse:heartbeat"})
"""Events after which the items are requested again: the service follows a conversation for ten
minutes after a request, and a new stream may have missed events.
"""
SIGNS = {"running": "…", "done": "✓", "failed": "✗", "denied": "⊘"}
HEADS = {"user": "> ", "assistant": "", "system": "— "}


def conversation(context: CommandContext) -> int:
    """Print the last items of a session's conversation, and new ones if requested."""
    words = context.words
    printer = _ItemPrinter(context, context.find_session()["id"])
    items = printer.read_last(words.lines)
    if words.json and not words.follow:
        context.shell.print_json(items)
        return 0
    for item in items:
        printer.print_item(item)
    if words.follow:
        printer.follow()
    return 0


class _ItemPrinter:
    """Printer of the items of one conversation."""

    def __init__(self, context: CommandContext, session_id: str) -> None:
        self._context = context
        self._session_id = session_id
        self._path = build_session_path(session_id, "/conversation")
        self._branch = context.words.branch
        self._cursor: str | None = None
        self._printed: dict[str, str] = {}

    def read_last(self, lines: int) -> list[dict[str, Any]]:
        """Return the last items, oldest first."""
        items: list[dict[str, Any]] = []
        before: int | None = None
        while len(items) < lines:
            page = self._request(before=before, limit=min(PAGE, lines - len(items)))
            self._cursor = self._cursor or page["cursor"]
            items = [*page["items"], *items]
            before = page["before"]
            if before is None:
                break
        return items

    def print_item(self, item: Mapping[str, Any]) -> None:
        """Print an item, unless it was printed before and looks the same."""
        shell = self._context.shell
        if self._context.words.json:
            shell.print_json(item, compact=True)
            return
        text = _format_item(item)
        if self._printed.pop(item["id"], None) != text and text:
            shell.print_line(text)
        self._printed[item["id"]] = text
        while len(self._printed) > PAGE:
            del self._printed[next(iter(self._printed))]

    def follow(self) -> None:
        """Print new and changed items until the event stream ends."""
        for name, told in self._context.caller.iterate_events():
            ours = name == CHANGED and told.get("id") == self._session_id
            if not (ours and told.get("branch") == self._branch) and name not in RENEWED:
                continue
            for item in self._iterate_changed():
                self.print_item(item)

    def _iterate_changed(self) -> Iterator[dict[str, Any]]:
        while True:
            page = self._request(after=self._cursor, limit=PAGE)
            if page.get("reset"):
                self._context.shell.print_warning("the agent began another conversation")
            self._cursor = page["cursor"]
            yield from page["items"]
            if page.get("reset") or self._cursor is None or not page["hasMore"]:
                return

    def _request(self, **query: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._context.caller.send_request(
            "GET", self._path, query={**query, "branch": self._branch}
        )
        return found


def _format_item(item: Mapping[str, Any]) -> str:
    tool = item.get("tool")
    if tool is not None:
        return _format_tool(tool)
    text = safe_text(item.get("text") or "").strip()
    if item["kind"] == "thinking":
        return f"(thinking) {safe_line(text)[:200]}" if text else ""
    state = {"queued": " (queued)", "withdrawn": " (withdrawn)"}.get(item.get("state") or "", "")
    head = "! " if item["kind"] == "error" else HEADS[item["role"]]
    if item["kind"] == "compaction":
        return "— conversation compacted —"
    return f"{head}{text}{state}"


def _format_tool(tool: Mapping[str, Any]) -> str:
    changed = [f"+{each['added']} -{each['removed']}" for each in tool.get("diffs") or ()]
    code = tool.get("exitCode")
    lasted = tool.get("durationMs")
    more = [
        *changed,
        *([f"exit {code}"] if code else []),
        *([f"{lasted / 1000:.0f} s"] if lasted is not None and lasted >= 1000 else []),
    ]
    return " · ".join([f"{SIGNS[tool['status']]} {safe_line(tool['title'])}", *more])
