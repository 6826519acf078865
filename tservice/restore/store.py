"""Database tables of the last boot, of offers, and of lost processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tservice.restore.model import LastBoot
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

    def find_last_boot(self) -> LastBoot | None:
        """Return the last recorded boot; C{None} at the first start of the service."""
        row = self._database.query_first_row("SELECT boot_id, stopped_at FROM restore_host")
        return (
            None if row is None else LastBoot(boot_id=row["boot_id"], stopped_at=row["stopped_at"])
        )

    def load_losses(self) -> dict[str, int]:
        """Return by session id the times at which processes were lost while the service ran.

        The times are Unix milliseconds.
        """
        rows = self._database.query_rows("SELECT session_id, at FROM restore_losses")
        return {row["session_id"]: row["at"] for row in rows}

    def load_offers(self) -> dict[str, int]:
        """Return by session id the times at which offers expire, Unix milliseconds."""
        rows = self._database.query_rows("SELECT session_id, expires_at FROM restore_offers")
        return {row["session_id"]: row["expires_at"] for row in rows}

    def record_boot(self, boot_id: str | None, offers: Mapping[str, int], now: int) -> None:
        """Record the current boot and the offers for sessions that it ended, in one transaction.

        @param offers: by session id, the time of expiry in Unix milliseconds.
        @param now: Unix milliseconds.
        @raise DiskFull: the disk is full.
        """
        with self._database.transaction():
            self._database.execute("DELETE FROM restore_offers WHERE expires_at <= ?", (now,))
            self._database.execute_many(_OFFER, offers.items())
            self._database.execute("DELETE FROM restore_losses")
            self._database.execute(_SEEN, (boot_id,))

    def record_stop(self, at: int) -> None:
        """Record the time of a clean stop of the service, Unix milliseconds."""
        self._database.execute_or_defer(
            ("restore_host",), "UPDATE restore_host SET stopped_at = ?", (at,)
        )

    def record_loss(self, session_id: str, at: int) -> None:
        """Record an abnormal exit of a session's process.

        @param at: time of the exit, Unix milliseconds.
        """
        self._database.execute_or_defer(("restore_losses", session_id), _LOST, (session_id, at))

    def clear_loss(self, session_id: str) -> None:
        """Remove the record of an abnormal exit, because the session has a process again."""
        self._database.execute_or_defer(("restore_losses", session_id), _FOUND, (session_id,))

    def remove_offer(self, session_id: str) -> None:
        """Remove the offer of a session that was started or is no longer wanted.

        A power failure may undo the removal.  It also ends the session's process, so the offer is
        valid.
        """
        self._database.execute_or_defer(("restore_offers", session_id), _SPEND, (session_id,))

    def remove_offers(self, session_ids: Iterable[str]) -> None:
        """Remove the offers that a user dismissed.

        @raise DiskFull: the disk is full.
        """
        with self._database.transaction():
            self._database.execute_many(_SPEND, [(each,) for each in session_ids])
