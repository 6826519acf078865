"""Scopes of tokens; each operation needs one scope."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """Part of the API that a token may use. No scope extends the rights of the token's owner."""

    SESSIONS_READ = "sessions:read"
    """Lists, records, terminal text and a client's initial state."""
    SESSIONS_INPUT = "sessions:input"
    """Typing, keys, sizes, and the terminal's WebSocket."""
    SESSIONS_MANAGE = "sessions:manage"
    """Creating, starting, changing and ending sessions."""
    WAITS = "waits"
    EVENTS = "events"
    SETTINGS = "settings"
    CRON = "cron"
    GIT = "git"
    APPROVALS = "approvals"
    ADMIN = "admin"
    """Some operations for admins, never access control; see L{tservice.http.token_scopes}."""


READ_ONLY_SCOPES = frozenset(
    {Scope.SESSIONS_READ, Scope.WAITS, Scope.EVENTS, Scope.GIT, Scope.APPROVALS}
)
"""Scopes whose safe methods a session-bound token may use outside the routes of its sessions; the
handlers omit items that the caller may not access.
"""

SESSION_BOUND_SCOPES = READ_ONLY_SCOPES | {Scope.SESSIONS_INPUT, Scope.SESSIONS_MANAGE}
"""Scopes that make sense for a session-bound token."""
