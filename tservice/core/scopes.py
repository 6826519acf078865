"""What a token may be allowed to do: one scope an operation."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """A part of the API.  None of them goes beyond what the token's owner may do."""

    SESSIONS_READ = "sessions:read"
    """Lists, records, terminal text and the state that a client begins with."""
    SESSIONS_INPUT = "sessions:input"
    """Typing, keys, sizes, and the terminal's WebSocket."""
    SESSIONS_MANAGE = "sessions:manage"
    """Making, starting, changing and ending sessions."""
    WAITS = "waits"
    EVENTS = "events"
    SETTINGS = "settings"
    CRON = "cron"
    GIT = "git"
    APPROVALS = "approvals"
    ADMIN = "admin"
    """Some of what only admins may: never who comes in, see L{tservice.http.reach}."""


READING = frozenset({Scope.SESSIONS_READ, Scope.WAITS, Scope.EVENTS, Scope.GIT, Scope.APPROVALS})
"""Scopes whose safe methods a token that is bound to sessions may use beyond those sessions'
own routes: their handlers leave out what the caller may not reach."""

BOUND = READING | {Scope.SESSIONS_INPUT, Scope.SESSIONS_MANAGE}
"""Scopes that make sense for a token that is bound to sessions."""
