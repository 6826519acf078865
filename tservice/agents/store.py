"""Storage of agents' reports that must survive a restart."""

from __future__ import annotations

import json

import attrs

from tservice.agents.model import PlanUsage, UsageWindow
from tservice.store.database import Database


class AgentStore:
    """Storage in the tables C{agent_sessions} and C{plan_usage}.

    The agents repeat these reports within minutes. So no write is flushed, and writes are deferred
    if the disk is full.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_transcript_path(self, session_id: str) -> str | None:
        """Return the session's last known transcript file; C{None} if none is known."""
        row = self._database.query_first_row(
            "SELECT transcript_path FROM agent_sessions WHERE session_id = ?", (session_id,)
        )
        return None if row is None else str(row["transcript_path"])

    def save_transcript_path(self, session_id: str, path: str) -> None:
        """Store the session's transcript file; the entry is removed with the session."""
        self._database.execute_or_defer(
            ("transcript", session_id),
            """
            INSERT INTO agent_sessions (session_id, transcript_path) VALUES (?, ?)
            ON CONFLICT (session_id) DO UPDATE SET transcript_path = excluded.transcript_path
            """,
            (session_id, path),
        )

    def get_plan_usage(self) -> PlanUsage | None:
        """Return the last report about the plan's usage; C{None} if there is none."""
        row = self._database.query_first_row("SELECT usage FROM plan_usage")
        if row is None:
            return None
        found = json.loads(row["usage"])
        return PlanUsage(
            five_hour=_decode_window(found["five_hour"]),
            seven_day=_decode_window(found["seven_day"]),
            at=found["at"],
        )

    def save_plan_usage(self, usage: PlanUsage) -> None:
        """Replace the stored report."""
        self._database.execute_or_defer(
            ("plan usage",),
            """
            INSERT INTO plan_usage (id, usage) VALUES (1, ?)
            ON CONFLICT (id) DO UPDATE SET usage = excluded.usage
            """,
            (json.dumps(attrs.asdict(usage)),),
        )


def _decode_window(found: dict[str, float] | None) -> UsageWindow | None:
    if found is None:
        return None
    reset = found["reset_at"]
    return UsageWindow(
        used_percentage=found["used_percentage"], reset_at=None if reset is None else int(reset)
    )
