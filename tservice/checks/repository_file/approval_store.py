"""Table of the approved files with checks."""

from __future__ import annotations

from collections.abc import Callable

from tservice.checks.model import FailurePolicy
from tservice.checks.repository_file.file_model import CheckFileContent, CheckFolder, FileApproval
from tservice.checks.store import read_definitions, write_definitions
from tservice.store.database import Database

MAX_APPROVALS = 200
"""Maximum number of approvals of one account; the oldest is dropped first."""

_SAVE = "INSERT OR REPLACE INTO check_file_approvals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FOLDER = "owner = ? AND location = ? AND path = ?"


class FileApprovalStore:
    """The table C{check_file_approvals}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find_approval(self, folder: CheckFolder) -> FileApproval | None:
        """Return the approval of a folder's file; C{None} if there is none."""
        sql = f"SELECT * FROM check_file_approvals WHERE {_FOLDER}"  # noqa: S608
        row = self._database.query_first_row(sql, folder.key)
        if row is None:
            return None
        content = CheckFileContent(
            checks=read_definitions(row["checks"]),
            on_failure=FailurePolicy(row["on_failure"]),
            max_attempts=row["max_attempts"],
        )
        return FileApproval(
            hash=row["hash"], text=row["text"], content=content,
            approved_at=row["approved_at"], approved_by=row["approved_by"],
        )  # fmt: skip

    def save_approval(self, folder: CheckFolder, approval: FileApproval) -> None:
        """Replace the approval of a folder's file.

        @raise DiskFull: the disk is full.
        """
        content = approval.content
        values = (
            *folder.key, approval.hash, approval.text, write_definitions(content.checks),
            content.on_failure.value, content.max_attempts, approval.approved_at,
            approval.approved_by,
        )  # fmt: skip
        owner = folder.owner or ""
        with self._database.transaction():
            self._database.execute(_SAVE, values)
            self._database.execute(
                "DELETE FROM check_file_approvals WHERE rowid IN (SELECT rowid"
                " FROM check_file_approvals WHERE owner = ?"
                " ORDER BY approved_at DESC, rowid DESC LIMIT -1 OFFSET ?)",
                (owner, MAX_APPROVALS),
            )

    def delete_approval(self, folder: CheckFolder) -> None:
        """Delete the approval of a folder's file.  On a full disk the deletion is deferred."""
        sql = f"DELETE FROM check_file_approvals WHERE {_FOLDER}"  # noqa: S608
        self._database.execute_or_defer(("check file", *folder.key), sql, folder.key)

    def delete_unknown_owners(self, exists: Callable[[str], bool]) -> None:
        """Delete the approvals of accounts that no longer exist."""
        sql = "SELECT DISTINCT owner FROM check_file_approvals"
        for row in self._database.query_rows(sql):
            owner = str(row["owner"])
            if owner and not exists(owner):
                gone = "DELETE FROM check_file_approvals WHERE owner = ?"
                self._database.execute_or_defer(("check files", owner), gone, (owner,))
