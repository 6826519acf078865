"""Database table of trusted folders."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.store.database import Database

KEPT = 500
"""Maximum number of answers stored for one owner. Beyond it the oldest are removed, and their
questions are asked again.
"""

_SAVE = """
    INSERT INTO trusted_folders (owner, digest, working_dir, at) VALUES (?, ?, ?, ?)
    ON CONFLICT (owner, digest) DO UPDATE SET working_dir = excluded.working_dir, at = excluded.at
"""
_TRIM = """
    DELETE FROM trusted_folders WHERE owner = ?1 AND digest IN (
        SELECT digest FROM trusted_folders WHERE owner = ?1
        ORDER BY at DESC, digest LIMIT -1 OFFSET ?2
    )
"""
_KNOWS = "SELECT 1 FROM trusted_folders WHERE owner = ? AND digest = ?"
_FORGET = "DELETE FROM trusted_folders WHERE owner = ?"


class TrustStore:
    """Storage in the table C{trusted_folders}. The owner is C{""} if there are no accounts."""

    def __init__(self, clock: IReactorTime, database: Database) -> None:
        self._clock, self._database = clock, database

    def is_trusted(self, owner: str, digest: str) -> bool:
        """Return true if the owner trusts a folder with this digest."""
        return self._database.query_first_row(_KNOWS, (owner, digest)) is not None

    def save_trust(self, owner: str, digest: str, working_dir: str) -> None:
        """Store that the owner trusts a folder.

        @param digest: digest of the folder's finding.
        @raise DiskFull: the answer cannot be saved on disk.
        """
        with self._database.transaction():
            self._database.execute(_SAVE, (owner, digest, working_dir, get_unix_ms(self._clock)))
            self._database.execute(_TRIM, (owner, KEPT))

    def delete_unknown_owners(self, known: Callable[[str], bool]) -> None:
        """Remove the answers of accounts that no longer exist.

        If the disk is full, they are removed later, before a new account is stored.

        @param known: returns true if an account exists.
        """
        rows = self._database.query_rows(
            "SELECT DISTINCT owner FROM trusted_folders WHERE owner != ''"
        )
        for owner in [str(row["owner"]) for row in rows]:
            if not known(owner):
                self._database.execute_or_defer(("trusted folders", owner), _FORGET, (owner,))
