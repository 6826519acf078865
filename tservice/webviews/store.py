"""Where web tabs are kept."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tservice.store.database import Database
from tservice.webviews.model import WebView

_FIELDS = tuple(attrs.fields_dict(WebView))
_SAVE = (
    f"INSERT INTO webviews ({', '.join(_FIELDS)})"  # noqa: S608
    f" VALUES ({', '.join(':' + name for name in _FIELDS)}) ON CONFLICT (id) DO UPDATE SET"
    " name = excluded.name, url = excluded.url, icon = excluded.icon,"
    " last_opened_at = excluded.last_opened_at"
)
_FORGET = "DELETE FROM webviews WHERE owner = ?"


class WebViewStore:
    """The table C{webviews}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, owner: str) -> list[WebView]:
        """An owner's, oldest first."""
        sql = "SELECT * FROM webviews WHERE owner = ? ORDER BY created_at, rowid"
        return [WebView(**dict(row)) for row in self._database.query(sql, (owner,))]

    def find(self, view_id: str) -> WebView | None:
        """One of them."""
        row = self._database.query_one("SELECT * FROM webviews WHERE id = ?", (view_id,))
        return None if row is None else WebView(**dict(row))

    def save(self, view: WebView) -> None:
        """Insert or replace.

        @raise NotKept: the disk does not take it.
        """
        self._database.execute(_SAVE, attrs.asdict(view))

    def note(self, view: WebView) -> None:
        """As L{save}, for what has happened: a full disk gets it later."""
        self._database.later(("webview", view.id), _SAVE, attrs.asdict(view))

    def delete(self, view_id: str) -> None:
        """Forget one.

        @raise NotKept: the disk does not take it.
        """
        self._database.execute("DELETE FROM webviews WHERE id = ?", (view_id,))

    def forget_strangers(self, known: Callable[[str], bool]) -> None:
        """Forget what belongs to nobody any more: the next one of that name must not have it.

        A full disk does so later, and before it takes an account: a start must not need room.
        """
        for row in self._database.query("SELECT DISTINCT owner FROM webviews"):
            if not known(row["owner"]):
                self._database.later(("webviews of", row["owner"]), _FORGET, (row["owner"],))
