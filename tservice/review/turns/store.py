"""Tables of the files at the ends of turns."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from tservice.store.database import Database

MAX_TURNS = 20
"""Maximum number of turns of one session; the oldest is dropped first."""
TURN_MS = 7 * 24 * 3600 * 1000
"""Milliseconds for which the files at the end of a turn are kept."""
TOTAL_BYTES = 64 * 1024 * 1024
"""Maximum bytes of all compressed contents; the oldest turn is dropped first."""


@frozen(kw_only=True)
class RecordedFile:
    """File that differed from the commit.

    @ivar mode: as git writes it; empty for a removed file.
    """

    path: bytes
    mode: str
    hash: str


@frozen(kw_only=True)
class RecordedTree:
    """Files of one repository at the end of a turn.

    @ivar commit: the commit of HEAD at that time.
    @ivar files: the files that differed from it, in the order of their paths.
    """

    repo: str
    commit: str
    files: tuple[RecordedFile, ...]


@frozen(kw_only=True)
class CompressedContent:
    """Content of a file, compressed with L{compress_content}.

    @ivar size: number of bytes of the content itself.
    """

    size: int
    data: bytes = field(repr=False)

    def decompress(self) -> bytes:
        """Return the content itself."""
        return zlib.decompress(self.data)


def compress_content(data: bytes) -> CompressedContent:
    """Return a content as it is kept."""
    return CompressedContent(size=len(data), data=zlib.compress(data, 1))


class TurnStore:
    """Access to these tables.  Rows of a session are deleted with the session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_turns(self, session_id: str, repo: str) -> list[int]:
        """Return the ends of the recorded turns in Unix milliseconds, latest first."""
        sql = "SELECT at FROM review_turns WHERE session_id = ? AND repo = ? ORDER BY at DESC"
        return [row["at"] for row in self._database.query_rows(sql, (session_id, repo))]

    def list_trees(self, session_id: str, at: int) -> list[RecordedTree]:
        """Return the repositories as they were at the end of a turn; none for an unknown turn."""
        sql = "SELECT repo, commit_id FROM review_turns WHERE session_id = ? AND at = ?"
        return [
            RecordedTree(
                repo=row["repo"],
                commit=row["commit_id"],
                files=self._list_files(session_id, at, row["repo"]),
            )
            for row in self._database.query_rows(sql, (session_id, at))
        ]

    def list_last_trees(self, session_id: str) -> list[RecordedTree]:
        """Return the repositories as they were when last recorded."""
        sql = "SELECT max(at) AS at FROM review_turns WHERE session_id = ?"
        row = self._database.query_first_row(sql, (session_id,))
        return [] if row is None or row["at"] is None else self.list_trees(session_id, row["at"])

    def list_kept_hashes(self, session_id: str) -> frozenset[str]:
        """Return the hashes of the contents that are kept."""
        sql = "SELECT hash FROM review_turn_contents WHERE session_id = ?"
        return frozenset(row["hash"] for row in self._database.query_rows(sql, (session_id,)))

    def find_content(self, session_id: str, hash_: str) -> CompressedContent | None:
        """Return the content with this hash; C{None} if it is not kept."""
        sql = "SELECT size, content FROM review_turn_contents WHERE session_id = ? AND hash = ?"
        row = self._database.query_first_row(sql, (session_id, hash_))
        return None if row is None else CompressedContent(size=row["size"], data=row["content"])

    def save_turn(
        self,
        session_id: str,
        at: int,
        trees: Sequence[RecordedTree],
        contents: Mapping[str, CompressedContent],
    ) -> None:
        """Keep the files at the end of a turn, and drop the oldest turns beyond the bounds.

        A session that was removed in the meantime gets none.

        @param contents: the contents that are not kept yet, by hash.
        @raise DiskFull: the disk is full.
        """
        # A power loss costs the last turns, which is better than a flush at the end of each one.
        with self._database.transaction(durable=False):
            known = "SELECT 1 FROM sessions WHERE id = ?"
            if self._database.query_first_row(known, (session_id,)) is None:
                return
            self._insert_turn(session_id, at, trees)
            self._database.execute_many(
                "INSERT OR IGNORE INTO review_turn_contents VALUES (?, ?, ?, ?)",
                [(session_id, key, each.size, each.data) for key, each in contents.items()],
            )
            self._drop_old_turns(session_id, at)

    def _insert_turn(self, session_id: str, at: int, trees: Sequence[RecordedTree]) -> None:
        self._delete_turn(session_id, at)
        self._database.execute_many(
            "INSERT INTO review_turns VALUES (?, ?, ?, ?)",
            [(session_id, at, tree.repo, tree.commit) for tree in trees],
        )
        self._database.execute_many(
            "INSERT INTO review_turn_files VALUES (?, ?, ?, ?, ?, ?)",
            [
                (session_id, at, tree.repo, file.path, file.mode, file.hash)
                for tree in trees
                for file in tree.files
            ],
        )

    def _list_files(self, session_id: str, at: int, repo: str) -> tuple[RecordedFile, ...]:
        sql = (
            "SELECT path, mode, hash FROM review_turn_files WHERE session_id = ? AND at = ?"
            " AND repo = ? ORDER BY path"
        )
        rows = self._database.query_rows(sql, (session_id, at, repo))
        return tuple(RecordedFile(**dict(row)) for row in rows)

    def _drop_old_turns(self, session_id: str, now: int) -> None:
        self._database.execute("DELETE FROM review_turns WHERE at < ?", (now - TURN_MS,))
        self._database.execute(
            "DELETE FROM review_turns WHERE session_id = :id AND at NOT IN (SELECT DISTINCT at"
            " FROM review_turns WHERE session_id = :id ORDER BY at DESC LIMIT :most)",
            {"id": session_id, "most": MAX_TURNS},
        )
        self._drop_unused_contents()
        while self._count_bytes() > TOTAL_BYTES:
            sql = (
                "SELECT session_id, at FROM review_turns WHERE session_id != ? OR at != ?"
                " ORDER BY at LIMIT 1"
            )
            oldest = self._database.query_first_row(sql, (session_id, now))
            if oldest is None:
                return
            self._delete_turn(oldest["session_id"], oldest["at"])
            self._drop_unused_contents()

    def _delete_turn(self, session_id: str, at: int) -> None:
        sql = "DELETE FROM review_turns WHERE session_id = ? AND at = ?"
        self._database.execute(sql, (session_id, at))

    def _drop_unused_contents(self) -> None:
        self._database.execute(
            "DELETE FROM review_turn_contents WHERE NOT EXISTS (SELECT 1 FROM review_turn_files"
            " WHERE review_turn_files.session_id = review_turn_contents.session_id"
            " AND review_turn_files.hash = review_turn_contents.hash)"
        )

    def _count_bytes(self) -> int:
        sql = "SELECT coalesce(sum(length(content)), 0) AS size FROM review_turn_contents"
        row = self._database.query_first_row(sql)
        return 0 if row is None else int(row["size"])
