"""Input on disk that waits until its session's host is reachable again (protocol-wake)."""

from __future__ import annotations

from attrs import frozen

from tservice.sessions.input.accept.stored_senders import dump_sender, load_sender
from tservice.sessions.record.requests import InputRequest
from tservice.store.database import Database

STRIKE = "DELETE FROM input_buffer WHERE session_id = ? AND position = ?"

BUFFER_BYTES = 4096
"""Maximum bytes of buffered input of a session. A chunk that does not fit completely is refused."""


@frozen(kw_only=True)
class BufferedInput:
    """Chunk of input in the buffer.

    @ivar position: number that orders the chunks of the session.
    """

    position: int
    request: InputRequest


class OfflineInputBuffer:
    """Buffered input of all sessions, in the order of arrival."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, session_id: str, request: InputRequest) -> bool:
        """Buffer a request. Return false if it does not fit.

        @raise DiskFull: the disk is full.
        """
        text = request.text.encode("utf-8", "replace")
        row = self._database.query_first_row(
            "SELECT coalesce(sum(max(length(text), 1)), 0) AS size,"
            " coalesce(max(position), 0) AS last FROM input_buffer WHERE session_id = ?",
            (session_id,),
        )
        size, last = (0, 0) if row is None else (int(row["size"]), int(row["last"]))
        # An empty request counts one byte, so the number of requests is bounded too.
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
                dump_sender(request.sender),
            ),
        )
        return True

    def last_seq(self, session_id: str, client_id: str) -> int | None:
        """Return the client's highest sequence number in the buffer; C{None} if there is none."""
        row = self._database.query_first_row(
            "SELECT max(seq) AS seq FROM input_buffer WHERE session_id = ? AND client_id = ?",
            (session_id, client_id),
        )
        return None if row is None or row["seq"] is None else int(row["seq"])

    def get_first(self, session_id: str) -> BufferedInput | None:
        """Return the next chunk to be typed; C{None} if the session's buffer is empty."""
        row = self._database.query_first_row(
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
            sender=load_sender(row["sender"], session_id),
        )
        return BufferedInput(position=int(row["position"]), request=request)

    def delete_chunk(self, session_id: str, position: int) -> None:
        """Delete a chunk that will not be typed.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(STRIKE, (session_id, position))

    def clear_session(self, session_id: str) -> None:
        """Delete all chunks of a session whose process is gone."""
        self._database.execute_or_defer(
            ("buffer", session_id), "DELETE FROM input_buffer WHERE session_id = ?", (session_id,)
        )
