"""Where the boot, the offers and the losses are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tservice.restore.model import LastHost
from tservice.store.database import Database

_SEEN = """
    INSERT INTO restore_host (only, boot_id, stopped_at) VALUES (1, ?, NULL)
    ON CONFLICT (only) DO UPDATE SET boot_id = excluded.boot_id, stopped_at = NULL
"""
_OFFER = """
    INSERT INTO restore_offers (session_id, expires_at) VALUES (?, ?)
    ON CONFLICT (session_id) DO UPDATE SET expires_at = excluded.expires_at
"""
_SPEND = "DELETE FROM restore_offers WHERE session_id = ?"
_LOST = """
    INSERT INTO restore_losses (session_id, at) VALUES (?, ?)
    ON CONFLICT (session_id) DO UPDATE SET at = excluded.at
"""
_FOUND = "DELETE FROM restore_losses WHERE session_id = ?"


class RestoreStore:
    """The tables C{restore_host}, C{restore_offers} and C{restore_losses}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def host(self) -> LastHost | None:
        """The machine as it was seen last; C{None}: it never was."""
        row = self._database.query_one("SELECT boot_id, stopped_at FROM restore_host")
        return (
            None if row is None else LastHost(boot_id=row["boot_id"], stopped_at=row["stopped_at"])
        )

    def losses(self) -> dict[str, int]:
        """When processes were lost while the service ran, Unix milliseconds by session."""
        rows = self._database.query("SELECT session_id, at FROM restore_losses")
        return {row["session_id"]: row["at"] for row in rows}

    def offers(self) -> dict[str, int]:
        """What is offered, and until when."""
        rows = self._database.query("SELECT session_id, expires_at FROM restore_offers")
        return {row["session_id"]: row["expires_at"] for row in rows}

    def seen(self, boot_id: str | None, offers: Mapping[str, int], now: int) -> None:
        """This boot is known from now on, and what it took is offered: both or neither.

        @raise NotKept: the disk does not take it.
        """
        with self._database.transaction():
            self._database.execute("DELETE FROM restore_offers WHERE expires_at <= ?", (now,))
            self._database.execute_many(_OFFER, offers.items())
            self._database.execute("DELETE FROM restore_losses")
            self._database.execute(_SEEN, (boot_id,))

    def stopped(self, at: int) -> None:
        """The service is being stopped in good order."""
        self._database.later(("restore_host",), "UPDATE restore_host SET stopped_at = ?", (at,))

    def lost(self, session_id: str, at: int) -> None:
        """A session's process ended, and not well."""
        self._database.later(("restore_losses", session_id), _LOST, (session_id, at))

    def found(self, session_id: str) -> None:
        """It has a process again."""
        self._database.later(("restore_losses", session_id), _FOUND, (session_id,))

    def spend(self, session_id: str) -> None:
        """It is back, or not wanted any more.

        A power loss may undo it, and takes the process as well.
        """
        self._database.later(("restore_offers", session_id), _SPEND, (session_id,))

    def dismiss(self, session_ids: Iterable[str]) -> None:
        """Nobody wants these back.

        @raise NotKept: the disk does not take it.
        """
        with self._database.transaction():
            self._database.execute_many(_SPEND, [(each,) for each in session_ids])
