"""Input that waits until its session's host is back, kept on disk (protocol-wake)."""

from __future__ import annotations

from attrs import frozen

from tservice.sessions.input.senders import read_sender, written_sender
from tservice.sessions.record.requests import InputRequest
from tservice.store.database import Database

STRIKE = "DELETE FROM input_buffer WHERE session_id = ? AND position = ?"

BUFFER_BYTES = 4096
"""Bytes of a session that wait; a chunk that does not fit is not taken at all."""


@frozen(kw_only=True)
class Buffered:
    """One chunk.

    @ivar position: its place among those of the session.
    """

    position: int
    request: InputRequest


class InputBuffer:
    """What waits, of every session, in the order in which it came."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, session_id: str, request: InputRequest) -> bool:
        """Keep one; whether it fits.

        @raise NotKept: the disk does not take it.
        """
        text = request.text.encode("utf-8", "replace")
        row = self._database.query_one(
            "SELECT coalesce(sum(max(length(text), 1)), 0) AS size,"
            " coalesce(max(position), 0) AS last FROM input_buffer WHERE session_id = ?",
            (session_id,),
        )
        size, last = (0, 0) if row is None else (int(row["size"]), int(row["last"]))
        # One without text takes room too, or there would be no end of them.
        if size + max(len(text), 1) > BUFFER_BYTES:
            return False
        numbered = request.seq is not None
        self._database.execute(
            "INSERT INTO input_buffer VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                session_id,
                last + 1,
                text,
                request.use_mux,
                request.client_id if numbered else None,
                request.seq,
                written_sender(request.sender),
            ),
        )
        return True

    def last_seq(self, session_id: str, client_id: str) -> int | None:
        """The highest number of that client's that waits."""
        row = self._database.query_one(
            "SELECT max(seq) AS seq FROM input_buffer WHERE session_id = ? AND client_id = ?",
            (session_id, client_id),
        )
        return None if row is None or row["seq"] is None else int(row["seq"])

    def first(self, session_id: str) -> Buffered | None:
        """The next one to be typed."""
        row = self._database.query_one(
            "SELECT * FROM input_buffer WHERE session_id = ? ORDER BY position LIMIT 1",
            (session_id,),
        )
        if row is None:
            return None
        request = InputRequest(
            text=row["text"].decode("utf-8"),
            use_mux=None if row["use_mux"] is None else bool(row["use_mux"]),
            client_id=row["client_id"],
            seq=row["seq"],
            sender=read_sender(row["sender"], session_id),
        )
        return Buffered(position=int(row["position"]), request=request)

    def strike(self, session_id: str, position: int) -> None:
        """That one will not be typed.

        @raise NotKept: the disk does not take it.
        """
        self._database.execute(STRIKE, (session_id, position))

    def clear(self, session_id: str) -> None:
        """The process that it was meant for is gone."""
        self._database.later(
            ("buffer", session_id), "DELETE FROM input_buffer WHERE session_id = ?", (session_id,)
        )
