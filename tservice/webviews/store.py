"""Database table of web tabs."""

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
    """Access to the database table C{webviews}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_owned(self, owner: str) -> list[WebView]:
        """Return the web tabs of an account, oldest first."""
        sql = "SELECT * FROM webviews WHERE owner = ? ORDER BY created_at, rowid"
        return [WebView(**dict(row)) for row in self._database.query_rows(sql, (owner,))]

    def find(self, view_id: str) -> WebView | None:
        """Return the web tab with this id, or C{None} if there is none."""
        row = self._database.query_first_row("SELECT * FROM webviews WHERE id = ?", (view_id,))
        return None if row is None else WebView(**dict(row))

    def save(self, view: WebView) -> None:
        """Insert or replace a web tab.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(_SAVE, attrs.asdict(view))

    def save_deferred(self, view: WebView) -> None:
        """Save a web tab as L{save} does. If the disk is full, write it later instead of
        failing.
        """
        self._database.execute_or_defer(("webview", view.id), _SAVE, attrs.asdict(view))

    def delete(self, view_id: str) -> None:
        """Delete a web tab.

        @raise DiskFull: the disk is full.
        """
        self._database.execute("DELETE FROM webviews WHERE id = ?", (view_id,))

    def delete_unknown_owners(self, known: Callable[[str], bool]) -> None:
        """Delete the web tabs of removed accounts, so that a new account of the same name does not
        get them.

        The service must be able to start on a full disk. The deletion is then deferred, and done
        before the name is used again.

        @param known: returns true if an account with this name exists.
        """
        for row in self._database.query_rows("SELECT DISTINCT owner FROM webviews"):
            if not known(row["owner"]):
                self._database.execute_or_defer(
                    ("webviews of", row["owner"]), _FORGET, (row["owner"],)
                )
