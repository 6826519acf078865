"""Database table of what sessions did since their owners looked last."""

from __future__ import annotations

from attrs import asdict

from tservice.agents.away.model import Absence
from tservice.store.database import Database


class AbsenceStore:
    """The table C{session_absences}.

    Every write is an observation: on a full disk it is deferred.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def load_all(self) -> list[Absence]:
        """Return the records of all sessions."""
        rows = self._database.query_rows("SELECT * FROM session_absences")
        return [Absence(**dict(row)) for row in rows]

    def save_absence(self, absence: Absence) -> None:
        """Save the record of a session; do nothing if the session was removed."""
        self._database.execute_or_defer(
            ("absence", absence.session_id),
            "INSERT INTO session_absences (session_id, looked_at, cost, turns, answered, by_rule)"
            " SELECT :session_id, :looked_at, :cost, :turns, :answered, :by_rule"
            " WHERE EXISTS (SELECT 1 FROM sessions WHERE id = :session_id)"
            " ON CONFLICT (session_id) DO UPDATE SET looked_at = excluded.looked_at,"
            " cost = excluded.cost, turns = excluded.turns, answered = excluded.answered,"
            " by_rule = excluded.by_rule",
            asdict(absence),
        )
