"""Storage of read positions in transcripts."""

from __future__ import annotations

import json

import attrs

from tservice.agents.transcripts.model import ReadPosition, decode_tally
from tservice.store.database import Database


class ReadPositionStore:
    """Storage of the position up to which each transcript was read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load_position(self, session_id: str) -> ReadPosition:
        """Return the position in a session's conversation; an empty one if it was never read."""
        row = self._database.query_first_row(
            "SELECT path, inode, position, tally FROM transcripts WHERE session_id = ?",
            (session_id,),
        )
        if row is None:
            return ReadPosition(path="")
        tally = decode_tally(json.loads(row["tally"]))
        if tally is None:
            return ReadPosition(path="")
        return ReadPosition(
            path=row["path"], inode=row["inode"], position=row["position"], tally=tally
        )

    def save_position(self, session_id: str, place: ReadPosition) -> None:
        """Store the position in a session's conversation; after a loss it is only read again."""
        self._database.execute(
            "INSERT INTO transcripts (session_id, path, inode, position, tally) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET path = excluded.path, "
            "inode = excluded.inode, position = excluded.position, tally = excluded.tally",
            (
                session_id,
                place.path,
                place.inode,
                place.position,
                json.dumps(attrs.asdict(place.tally)),
            ),
            durable=False,
        )

    def load_related(self, session_id: str) -> dict[str, ReadPosition]:
        """Return the positions in a session's other transcripts, by their paths."""
        rows = self._database.query_rows(
            "SELECT path, inode, position, changed_at, tally FROM transcript_files "
            "WHERE session_id = ?",
            (session_id,),
        )
        return {
            row["path"]: ReadPosition(
                path=row["path"],
                inode=row["inode"],
                position=row["position"],
                changed_at=row["changed_at"],
                tally=tally,
            )
            for row in rows
            if (tally := decode_tally(json.loads(row["tally"]))) is not None
        }

    def save_related(self, session_id: str, place: ReadPosition) -> None:
        """Store the position in one of a session's other transcripts; see L{save_position}."""
        self._database.execute(
            "INSERT INTO transcript_files (session_id, path, inode, position, changed_at, tally) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id, path) DO UPDATE SET "
            "inode = excluded.inode, position = excluded.position, "
            "changed_at = excluded.changed_at, tally = excluded.tally",
            (
                session_id,
                place.path,
                place.inode,
                place.position,
                place.changed_at,
                json.dumps(attrs.asdict(place.tally)),
            ),
            durable=False,
        )

    def delete_related_position(self, session_id: str, path: str) -> None:
        """Remove the position in a transcript that no longer exists."""
        self._database.execute(
            "DELETE FROM transcript_files WHERE session_id = ? AND path = ?",
            (session_id, path),
            durable=False,
        )
