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
    """Some operations for admins, never access control; see C{docs/reference/scopes.rst}."""


READ_ONLY_SCOPES = frozenset(
    {Scope.SESSIONS_READ, Scope.WAITS, Scope.EVENTS, Scope.GIT, Scope.APPROVALS}
)
"""Scopes whose safe methods a session-bound token may use outside the routes of its sessions; the
handlers omit items that the caller may not access.
"""

SESSION_BOUND_SCOPES = READ_ONLY_SCOPES | {Scope.SESSIONS_INPUT, Scope.SESSIONS_MANAGE}
"""Scopes that make sense for a session-bound token."""

TYPES = "Typing into a shell or an agent runs commands."
READS_SESSIONS = "Reads sessions and their text. The initial state omits the fields for admins."
CHANGES_OWN_SESSIONS = "Changes or ends your own sessions."
READS_FILES = "Reads files of a workspace. A caller who can type there can read them as well."
SAVES_UPLOADS = "Saves an upload in a separate folder, under a generated name."
MANAGES_FOLDERS = "Lists, creates, names and removes folders that sessions may be started in."
READS_GIT = "Reads the git state of the folder of a session or a case."
READS_SETTINGS = "Reads settings and the CLIs. No key is shown."
READS_SERVICE_STATE = (
    "Admins read the state of the service: accounts without any form of password, signed-in"
    " sessions without cookies, the audit log, metrics."
)
CHANGES_SIGN_IN = "It creates or ends cookies and passwords. A token could lock out its own owner."
"""Reasons for the scopes of operations, where several features have the same one."""
