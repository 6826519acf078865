"""What a token can do with each operation, and why: the table of scopes (protocol-tokens).

An operation says which scope it wants, or that no token may call it.  Here it is said why, and
what a caller gains by it beyond the answer, so that what a scope leads to can be followed through.
An operation that is not in the table has not been decided on, which the tests do not let pass.
C{docs/scopes.rst} is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import frozen

from tservice.core.scopes import Scope
from tservice.http.operations import Operation


class Power(StrEnum):
    """What a caller gains beyond an answer."""

    SHELL = "runs commands as the one whose sessions it reaches"
    STEERS = "changes what the service does for everybody"
    PUBLISHES = "makes the service reachable from the internet"
    LASTS = "makes something that works on when the token has ended"
    CREDENTIAL = "gives, shows or ends a password, cookie, token or code"
    RIGHTS = "changes what somebody may do"


NEVER = frozenset({Power.CREDENTIAL, Power.RIGHTS})
"""Not with any token: it could outlive itself, or have more than it was given."""


@frozen
class Reach:
    """What was decided on an operation.

    @ivar scope: what a token needs; C{None}: no token may.
    @ivar why: the reason, a sentence.
    @ivar opens: operations that an answer of this one lets somebody call who could not before.
    """

    scope: Scope | None
    why: str
    powers: frozenset[Power] = frozenset()
    opens: frozenset[str] = frozenset()


def name_of(operation: Operation) -> str:
    """What L{REACH} calls an operation."""
    return f"{operation.method} {operation.path}"


def reached(scope: Scope) -> frozenset[str]:
    """Every operation that a token of that one scope reaches, by whatever way around."""
    found: set[str] = set()
    ahead = [name for name, reach in REACH.items() if reach.scope is scope]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += REACH[name].opens
    return frozenset(found)


def _all(
    scope: Scope | None, why: str, names: str, *powers: Power, opens: frozenset[str] = frozenset()
) -> dict[str, Reach]:
    """One decision on several operations, a line each."""
    reach = Reach(scope, why, frozenset(powers), opens)
    return {line.strip(): reach for line in names.strip().splitlines()}


_CODE = frozenset({"GET /q/{code}"})
_HOOKS = frozenset({"POST /api/hook-event", "POST /api/status-telemetry"})
"""What runs in a pane can read the secret of the hooks; that is what it is for."""

_FOR_ALL: dict[str, Reach] = {
    **_all(None, "Anybody may; there is nothing to be known.", "GET /healthz"),
    **_all(
        None,
        "A password opens a cookie; a token has nothing to do with it.",
        "POST /api/login",
        Power.CREDENTIAL,
    ),
    **_all(
        None,
        "The code in the path opens a cookie for an admin; it is shown to people only.",
        "GET /q/{code}",
        Power.CREDENTIAL,
    ),
    **_all(
        None,
        "Agents report with the secret of the hooks; a report gives nobody a right.",
        """
        POST /api/hook-event
        POST /api/status-telemetry
        """,
    ),
}

_PEOPLE: dict[str, Reach] = {
    **_all(
        None,
        "It ends or makes cookies and passwords; a token would shut its own owner out.",
        """
        POST /api/logout
        POST /api/auth/revoke
        PUT /api/me/password
        POST /api/admin/users/{name}/logout
        POST /api/admin/users/{name}/reset-password
        """,
        Power.CREDENTIAL,
    ),
    **_all(
        None,
        "An account that a token made or changed would outlive the token, and have more rights.",
        """
        POST /api/admin/users
        PATCH /api/admin/users/{name}
        DELETE /api/admin/users/{name}
        """,
        Power.CREDENTIAL,
        Power.RIGHTS,
    ),
    **_all(
        None,
        "A token that makes, lists or ends tokens would have no bounds in scope or time.",
        """
        POST /api/tokens
        GET /api/tokens
        DELETE /api/tokens/{id}
        """,
        Power.CREDENTIAL,
    ),
    **_all(
        None,
        "Whoever sees the code can have the cookie of the admin that it belongs to.",
        """
        GET /api/tunnel/qr
        POST /api/tunnel/qr/regenerate
        """,
        Power.CREDENTIAL,
        opens=_CODE,
    ),
    **_all(
        None,
        "A browser's own affair; word that a token asked for would go on when it has ended.",
        """
        GET /api/push/key
        POST /api/push/subscriptions
        DELETE /api/push/subscriptions
        """,
        Power.LASTS,
    ),
    **_all(None, "A program knows who its token is for.", "GET /api/me"),
    **_all(
        None,
        "Conversations of every folder, also of before the service: for their person.",
        "GET /api/history/sessions",
    ),
    **_all(
        None,
        "The description of the API, for people and their tools.",
        """
        GET /api/openapi.json
        GET /api/docs
        GET /api/docs.css
        """,
    ),
}

_SESSIONS: dict[str, Reach] = {
    **_all(
        Scope.SESSIONS_READ,
        "Reads what sessions are, and their text; the state leaves out what is the admin's.",
        """
        GET /api/status
        GET /api/sessions
        GET /api/sessions/{id}
        GET /api/sessions/{id}/terminal
        GET /api/sessions/{id}/search
        GET /api/sessions/{id}/last-response
        """,
    ),
    **_all(
        Scope.SESSIONS_INPUT,
        "Typing into a shell or an agent is running commands.",
        """
        POST /api/sessions/{id}/input
        POST /api/sessions/{id}/send-key
        GET /ws/sessions/{id}/terminal
        """,
        Power.SHELL,
        opens=_HOOKS,
    ),
    **_all(
        Scope.SESSIONS_INPUT,
        "The size belongs to whoever types.",
        "POST /api/sessions/{id}/resize",
    ),
    **_all(
        Scope.SESSIONS_MANAGE,
        "Starts programs with arguments, environment and folder of the caller's choice.",
        """
        POST /api/sessions
        POST /api/quick-start
        POST /api/sessions/{id}/start
        POST /api/sessions/{id}/interactive
        POST /api/sessions/{id}/shell
        """,
        Power.SHELL,
        opens=_HOOKS,
    ),
    **_all(
        Scope.SESSIONS_MANAGE,
        "Changes or ends sessions of one's own.",
        """
        DELETE /api/sessions/{id}
        DELETE /api/sessions
        PUT /api/sessions/{id}/name
        PUT /api/sessions/{id}/color
        PUT /api/sessions/{id}/pin
        PUT /api/sessions/{id}/nice
        PUT /api/sessions/{id}/flicker-filter
        PUT /api/sessions/{id}/auto-compact
        PUT /api/sessions/{id}/auto-clear
        PUT /api/sessions/{id}/auto-resume
        PUT /api/session-order
        """,
    ),
    **_all(
        Scope.GIT,
        "Reads the state of the folder that a session works in.",
        """
        GET /api/sessions/{id}/git-status
        GET /api/sessions/{id}/git-diff
        """,
    ),
}

_WATCHING: dict[str, Reach] = {
    **_all(
        Scope.WAITS,
        "Waits for signals and text of sessions; judged again before it is answered.",
        """
        GET /api/sessions/{id}/wait
        GET /api/sessions/{id}/wait-output
        GET /api/waits
        """,
    ),
    **_all(
        Scope.EVENTS,
        "Hears what happens to sessions, their text included; of settings and of what is the"
        " admins' with those scopes as well, and of codes with no token.",
        "GET /api/events",
    ),
    **_all(
        Scope.APPROVALS,
        "Reads what agents ask, and puts it away.",
        """
        GET /api/approvals
        POST /api/approvals/{item}/dismiss
        POST /api/approvals/session/{id}/viewed
        """,
    ),
    **_all(
        Scope.APPROVALS,
        "An answer lets an agent run what it asked for.",
        "POST /api/approvals/{item}/answer",
        Power.SHELL,
        opens=_HOOKS,
    ),
    **_all(
        Scope.CRON,
        "Reads, switches and ends jobs of one's own.",
        """
        GET /api/cron/jobs
        GET /api/cron/jobs/{id}
        DELETE /api/cron/jobs/{id}
        PUT /api/cron/jobs/{id}/enabled
        GET /api/cron/jobs/{id}/runs
        GET /api/cron/runs
        POST /api/cron/preview
        """,
    ),
    **_all(
        Scope.CRON,
        "A job starts a program and types its prompt, also after the token has ended.",
        """
        POST /api/cron/jobs
        PUT /api/cron/jobs/{id}
        POST /api/cron/jobs/{id}/run
        """,
        Power.SHELL,
        Power.LASTS,
        opens=_HOOKS,
    ),
}

_SERVICE: dict[str, Reach] = {
    **_all(
        Scope.SETTINGS,
        "Reads settings and the CLIs; no key is shown.",
        """
        GET /api/settings
        GET /api/clis
        """,
    ),
    **_all(
        Scope.SETTINGS,
        "Admins' alone; the tunnel's switch wants the scope admin beside.",
        "PUT /api/settings",
        Power.STEERS,
    ),
    **_all(
        Scope.ADMIN,
        "Admins read what there is: accounts without a password in any form, who is signed in"
        " without a cookie, the log, figures.",
        """
        GET /api/admin/users
        GET /api/admin/audit
        GET /api/tunnel/status
        GET /api/webhook
        GET /api/doctor
        GET /api/mcp-sync
        GET /metrics
        """,
    ),
    **_all(
        Scope.ADMIN,
        "The tunnel asks for a password like every other way in, and a token cannot see its code.",
        """
        POST /api/tunnel/start
        POST /api/tunnel/stop
        """,
        Power.PUBLISHES,
        Power.STEERS,
    ),
    **_all(
        Scope.ADMIN,
        "Where word of all sessions goes; the URL itself is never shown.",
        """
        PUT /api/webhook
        POST /api/webhook/test
        """,
        Power.STEERS,
        Power.LASTS,
    ),
    **_all(
        Scope.ADMIN,
        "A CLI is a command line that sessions of everybody start.",
        """
        POST /api/clis
        PUT /api/clis/custom/{id}
        """,
        Power.SHELL,
        Power.STEERS,
        Power.LASTS,
        opens=_HOOKS,
    ),
    **_all(
        Scope.ADMIN,
        "Gives what one agent of the service's own user has to the others, and nothing else.",
        "POST /api/mcp-sync",
        Power.STEERS,
        Power.LASTS,
    ),
    **_all(
        Scope.ADMIN,
        "Switches, removes or installs what is listed; the installer is a fixed one.",
        """
        PUT /api/clis/{id}
        DELETE /api/clis/{id}
        POST /api/clis/{id}/install
        """,
        Power.STEERS,
    ),
}

REACH: Mapping[str, Reach] = {**_FOR_ALL, **_PEOPLE, **_SESSIONS, **_WATCHING, **_SERVICE}
"""Every operation, by L{name_of}."""

SETTINGS: Mapping[str, Scope | None] = {
    "readMyMindEnabled": None,
    "customModelEndpointsEnabled": None,
    "cliManagementEnabled": None,
    "mcpSyncEnabled": None,
    "primaryVoiceEnabled": None,
    "showPlanUsageLimits": None,
    "tunnelEnabled": Scope.ADMIN,
    "firstRunSeedEnabled": None,
    "workspaceHooksEnabled": None,
    "remoteAutoReconnect": None,
    "approvalsInboxEnabled": None,
    "modelPrices": None,
    "primaryMode": None,
    "historyLimit": None,
    "displayName": None,
    "defaultMode": None,
    "defaultWorkingDir": None,
    "lastUsedCase": None,
    "caseOrder": None,
    "sessionOrder": None,
    "nice": None,
    "voiceSettings": None,
    "notificationPreferences": None,
    "readMyMindModel": None,
}
"""What a token needs beside the scope C{settings} to change each of them: whatever an operation
does that wants another scope.  A switch that only permits such an operation is none of these."""
