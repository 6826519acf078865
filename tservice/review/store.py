"""Tables of reviews: the bases, what was seen, comments, and copies for undoing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from sqlite3 import Row
from typing import Any

from attrs import asdict, field, frozen

from tservice.review.anchors import Anchor
from tservice.review.comment_model import (
    CommentReply,
    CommentSide,
    CommentState,
    ReplyState,
    ReviewComment,
)
from tservice.store.database import Database

COPY_MS = 7 * 24 * 3600 * 1000
"""Milliseconds for which a copy for undoing is kept."""
MAX_COPIES = 100
"""Maximum number of copies of one session; the oldest is dropped first."""
COPY_BYTES = 64 * 1024 * 1024
"""Maximum bytes of all copies; the oldest is dropped first."""
MAX_BASES = 5000
"""Maximum number of remembered bases; the oldest is dropped first."""
MAX_VIEWED = 5000
"""Maximum number of seen files of one session; the oldest is dropped first."""

_COLUMNS = (
    "id", "session_id", "repo", "path", "side", "line", "end_line", "text", "suggestion", "state",
    "author", "anchor", "hash", "base_commit", "created_at", "updated_at", "sent_at", "reply_state",
    "reply_text", "replied_at",
)  # fmt: skip
_UPDATED = (
    "text",
    "suggestion",
    "state",
    "updated_at",
    "sent_at",
    "reply_state",
    "reply_text",
    "replied_at",
)
_SAVE = (
    f"INSERT INTO review_comments ({', '.join(_COLUMNS)})"  # noqa: S608
    f" VALUES ({', '.join(':' + name for name in _COLUMNS)}) ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _UPDATED)
)


@frozen(kw_only=True)
class FileCopy:
    """File as it was before a revert.

    @ivar mode: file mode; empty if there was no file.
    @ivar hash: hash of the file after the revert.
    """

    id: str
    session_id: str
    repo: str
    path: bytes
    mode: str
    content: bytes = field(repr=False)
    hash: str
    at: int


@frozen(kw_only=True)
class BaseKey:
    """Repository in a workspace of an account, for which a base is remembered."""

    owner: str
    place: str
    folder: str
    repo: str


class ReviewStore:
    """Access to the tables of reviews.  Rows of a session are deleted with the session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- bases and what was seen

    def find_start(self, session_id: str, repo: str) -> str | None:
        """Return the commit of HEAD when the session began; C{None} if it is unknown."""
        sql = "SELECT commit_id FROM review_starts WHERE session_id = ? AND repo = ?"
        row = self._database.query_first_row(sql, (session_id, repo))
        return None if row is None else row["commit_id"]

    def list_starts(self, session_id: str) -> list[str]:
        """Return the commits of HEAD in all repositories when the session began."""
        sql = "SELECT commit_id FROM review_starts WHERE session_id = ?"
        return [row["commit_id"] for row in self._database.query_rows(sql, (session_id,))]

    def has_start(self, session_id: str) -> bool:
        """Return true if the bases of a session were recorded."""
        sql = "SELECT 1 FROM review_starts WHERE session_id = ?"
        return self._database.query_first_row(sql, (session_id,)) is not None

    def save_start(self, session_id: str, repo: str, commit: str, at: int) -> None:
        """Record the commit of HEAD at the session's start, unless there is a record."""
        sql = "INSERT OR IGNORE INTO review_starts SELECT id, ?, ?, ? FROM sessions WHERE id = ?"
        key = ("review start", f"{session_id} {repo}")
        self._database.execute_or_defer(key, sql, (repo, commit, at, session_id))

    def find_base(self, key: BaseKey) -> str | None:
        """Return the base that a person chose; C{None} if there is none."""
        sql = (
            "SELECT base FROM review_bases WHERE owner = :owner AND place = :place"
            " AND folder = :folder AND repo = :repo"
        )
        row = self._database.query_first_row(sql, asdict(key))
        return None if row is None else row["base"]

    def save_base(self, key: BaseKey, base: str | None, at: int) -> None:
        """Remember a base; C{None} forgets it."""
        row = {**asdict(key), "base": base, "at": at}
        with self._database.transaction():
            self._database.execute(
                "DELETE FROM review_bases WHERE owner = :owner AND place = :place"
                " AND folder = :folder AND repo = :repo",
                asdict(key),
            )
            if base is None:
                return
            self._database.execute(
                "INSERT INTO review_bases VALUES (:owner, :place, :folder, :repo, :base, :at)", row
            )
            self._database.execute(
                "DELETE FROM review_bases WHERE (owner, place, folder, repo) IN (SELECT owner,"
                " place, folder, repo FROM review_bases ORDER BY at DESC LIMIT -1 OFFSET ?)",
                (MAX_BASES,),
            )

    def list_viewed(self, session_id: str, repo: str) -> Mapping[str, str]:
        """Return the hashes of the files that were seen, by path."""
        sql = "SELECT path, hash FROM review_viewed WHERE session_id = ? AND repo = ?"
        rows = self._database.query_rows(sql, (session_id, repo))
        return {row["path"]: row["hash"] for row in rows}

    def save_viewed(self, session_id: str, repo: str, path: str, hash_: str, at: int) -> None:
        """Record that a file was seen."""
        with self._database.transaction():
            self._database.execute(
                "INSERT OR REPLACE INTO review_viewed VALUES (?, ?, ?, ?, ?)",
                (session_id, repo, path, hash_, at),
            )
            self._database.execute(
                "DELETE FROM review_viewed WHERE session_id = :id AND (repo, path) IN"
                " (SELECT repo, path FROM review_viewed WHERE session_id = :id"
                " ORDER BY at DESC LIMIT -1 OFFSET :most)",
                {"id": session_id, "most": MAX_VIEWED},
            )

    def delete_viewed(self, session_id: str, repo: str, path: str) -> None:
        """Record that a file was not seen."""
        self._database.execute(
            "DELETE FROM review_viewed WHERE session_id = ? AND repo = ? AND path = ?",
            (session_id, repo, path),
        )

    # -- comments

    def list_comments(self, session_id: str) -> list[ReviewComment]:
        """Return the comments of a session, oldest first."""
        sql = "SELECT * FROM review_comments WHERE session_id = ? ORDER BY created_at, rowid"
        return [_read_comment(row) for row in self._database.query_rows(sql, (session_id,))]

    def find_comment(self, session_id: str, comment_id: str) -> ReviewComment | None:
        """Return a comment of a session; C{None} if there is none with that id."""
        sql = "SELECT * FROM review_comments WHERE session_id = ? AND id = ?"
        row = self._database.query_first_row(sql, (session_id, comment_id))
        return None if row is None else _read_comment(row)

    def save_comment(self, comment: ReviewComment) -> None:
        """Insert or update a comment.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(_SAVE, _comment_row(comment))

    def save_comments(self, comments: list[ReviewComment]) -> None:
        """Update several comments, all or none."""
        with self._database.transaction():
            self._database.execute_many(_SAVE, [_comment_row(each) for each in comments])

    def delete_comment(self, comment_id: str) -> None:
        """Delete a comment."""
        self._database.execute("DELETE FROM review_comments WHERE id = ?", (comment_id,))

    # -- copies

    def save_copy(self, copy: FileCopy) -> None:
        """Keep a file for undoing, and drop the oldest ones beyond the bounds."""
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO review_copies VALUES"
                " (:id, :session_id, :repo, :path, :mode, :content, :hash, :at)",
                asdict(copy),
            )
            self.delete_old_copies(copy.at)
            self._database.execute(
                "DELETE FROM review_copies WHERE id IN (SELECT id FROM review_copies"
                " WHERE session_id = ? ORDER BY at DESC, rowid DESC LIMIT -1 OFFSET ?)",
                (copy.session_id, MAX_COPIES),
            )
            self._database.execute(
                "DELETE FROM review_copies WHERE id IN (SELECT id FROM (SELECT id,"
                " sum(length(content)) OVER (ORDER BY at DESC, rowid DESC) AS size"
                " FROM review_copies) WHERE size > ?) AND id != ?",
                (COPY_BYTES, copy.id),
            )

    def find_copy(self, session_id: str, copy_id: str) -> FileCopy | None:
        """Return a kept file; C{None} if there is none with that id."""
        sql = "SELECT * FROM review_copies WHERE session_id = ? AND id = ?"
        row = self._database.query_first_row(sql, (session_id, copy_id))
        return None if row is None else FileCopy(**dict(row))

    def delete_copy(self, copy_id: str) -> None:
        """Drop a kept file."""
        self._database.execute("DELETE FROM review_copies WHERE id = ?", (copy_id,))

    def delete_old_copies(self, now: int) -> None:
        """Drop the files that were kept for long enough.

        @param now: time in Unix milliseconds.
        """
        self._database.execute("DELETE FROM review_copies WHERE at < ?", (now - COPY_MS,))


def _comment_row(comment: ReviewComment) -> dict[str, Any]:
    reply = comment.reply
    row = asdict(comment, recurse=False)
    del row["reply"]
    return row | {
        "side": comment.side.value,
        "state": comment.state.value,
        "anchor": json.dumps(asdict(comment.anchor)),
        "reply_state": None if reply is None else reply.state.value,
        "reply_text": None if reply is None else reply.text,
        "replied_at": None if reply is None else reply.at,
    }


def _read_comment(row: Row) -> ReviewComment:
    found: dict[str, Any] = dict(row)
    state, text, at = (found.pop(name) for name in ("reply_state", "reply_text", "replied_at"))
    reply = None if state is None else CommentReply(state=ReplyState(state), text=text, at=at)
    anchor: dict[str, Any] = json.loads(found["anchor"])
    for name, value in anchor.items():
        anchor[name] = tuple(value) if isinstance(value, list) else value
    found["side"], found["state"] = CommentSide(found["side"]), CommentState(found["state"])
    found["anchor"] = Anchor(**anchor)
    return ReviewComment(**found, reply=reply)
