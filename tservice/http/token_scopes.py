"""Table of token scopes: the operations that each scope allows, and the reasons (protocol-tokens).

An operation names the scope it requires, or that no token may call it.  This table gives the
reason for the OpenAPI document and for C{docs/reference/scopes.rst}.  An operation without an entry
has not been decided on, and the tests fail.
"""

from __future__ import annotations

from collections.abc import Mapping

from tservice.core.scopes import Scope
from tservice.http.session_token_scopes import SESSIONS, TokenScopeRule, make_scope_rules

_FOR_ALL: dict[str, TokenScopeRule] = {
    **make_scope_rules(None, "Anybody may call it. It reveals nothing.", "GET /healthz"),
    **make_scope_rules(
        None,
        "A password gives a cookie. Tokens are not used to sign in.",
        "POST /api/login",
    ),
    **make_scope_rules(
        None,
        "The code in the path gives a cookie of an admin. It is shown to people only.",
        "GET /q/{code}",
    ),
    **make_scope_rules(
        None,
        "The token in the path opens one file for ten minutes. The caller's identity is not"
        " checked.",
        "GET /api/file-link/{word}",
    ),
    **make_scope_rules(
        None,
        "Agents report with the hook secret. A report gives no permission.",
        """
        POST /api/hook-event
        POST /api/status-telemetry
        """,
    ),
}

_PEOPLE: dict[str, TokenScopeRule] = {
    **make_scope_rules(
        None,
        "It creates or ends cookies and passwords. A token could lock out its own owner.",
        """
        POST /api/logout
        POST /api/auth/revoke
        PUT /api/me/password
        POST /api/admin/users/{name}/logout
        POST /api/admin/users/{name}/reset-password
        """,
    ),
    **make_scope_rules(
        None,
        "An account that a token created or changed would outlive the token, and have more rights.",
        """
        POST /api/admin/users
        PATCH /api/admin/users/{name}
        DELETE /api/admin/users/{name}
        """,
    ),
    **make_scope_rules(
        None,
        "A token that creates, lists or revokes tokens would have no limit in scope or time.",
        """
        POST /api/tokens
        GET /api/tokens
        DELETE /api/tokens/{id}
        """,
    ),
    **make_scope_rules(
        None,
        "Anyone who sees the code can get the cookie of its admin.",
        """
        GET /api/tunnel/qr
        POST /api/tunnel/qr/regenerate
        """,
    ),
    **make_scope_rules(
        None,
        "Only a browser needs it. Notifications that a token requested would continue after it"
        " has ended.",
        """
        GET /api/push/key
        POST /api/push/subscriptions
        DELETE /api/push/subscriptions
        """,
    ),
    **make_scope_rules(None, "A program already knows the owner of its token.", "GET /api/me"),
    **make_scope_rules(
        None,
        "Only a person dictates, in a page. It causes costs for the service's speech account.",
        """
        GET /api/voice/status
        GET /ws/voice/stream
        """,
    ),
    **make_scope_rules(
        None,
        "A web tab is for people, and sends requests from the service's network.",
        """
        GET /api/webviews
        POST /api/webviews
        POST /api/webviews/probe
        PATCH /api/webviews/{id}
        DELETE /api/webviews/{id}
        """,
    ),
    **make_scope_rules(
        None,
        "Its response contains a token that opens the tab for anyone who has it.",
        "POST /api/webviews/{id}/open",
    ),
    **make_scope_rules(
        None,
        "Only the token in the path is checked.",
        "ANY /webview/{capability}/{rest:path}",
    ),
    **make_scope_rules(
        None,
        "Conversations of every folder, even from before the service, are only for the user.",
        """
        GET /api/history/sessions
        GET /api/history/sessions/{conversation}
        """,
    ),
    **make_scope_rules(
        None,
        "Description of the API, for people and their tools.",
        """
        GET /api/openapi.json
        GET /api/docs
        GET /api/docs.css
        """,
    ),
}

_WATCHING: dict[str, TokenScopeRule] = {
    **make_scope_rules(
        Scope.WAITS,
        "Waits for signals and text of sessions. Permissions are checked again before the"
        " response.",
        """
        GET /api/sessions/{id}/wait
        GET /api/sessions/{id}/wait-output
        GET /api/waits
        """,
    ),
    **make_scope_rules(
        Scope.EVENTS,
        "Receives the events of sessions, their text included. Events of cases, jobs, settings"
        " and admins also need the scopes that read these. No token receives codes.",
        "GET /api/events",
    ),
    **make_scope_rules(
        Scope.APPROVALS,
        "Reads and dismisses the questions of agents.",
        """
        GET /api/approvals
        POST /api/approvals/{item}/dismiss
        POST /api/approvals/session/{id}/viewed
        """,
    ),
    **make_scope_rules(
        Scope.APPROVALS,
        "An answer lets an agent run the command that it asked for.",
        "POST /api/approvals/{item}/answer",
    ),
    **make_scope_rules(
        Scope.CRON,
        "Reads, enables, disables and deletes your own jobs.",
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
    **make_scope_rules(
        Scope.CRON,
        "Reads and ends your own timed runs.",
        """
        GET /api/scheduled
        GET /api/scheduled/{id}
        DELETE /api/scheduled/{id}
        """,
    ),
    **make_scope_rules(
        Scope.CRON,
        "A timed run starts an agent and types its prompt, even after the token has ended.",
        "POST /api/scheduled",
    ),
    **make_scope_rules(
        Scope.CRON,
        "A job starts a program and types its prompt, even after the token has ended.",
        """
        POST /api/cron/jobs
        PUT /api/cron/jobs/{id}
        POST /api/cron/jobs/{id}/run
        """,
    ),
}

_SERVICE: dict[str, TokenScopeRule] = {
    **make_scope_rules(
        Scope.SETTINGS,
        "Reads settings and the CLIs. No key is shown.",
        """
        GET /api/settings
        GET /api/clis
        """,
    ),
    **make_scope_rules(
        Scope.SETTINGS,
        "Only for admins. Some settings, such as the tunnel's switch, also need the scope admin.",
        "PUT /api/settings",
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Admins read the state of the service: accounts without any form of password, signed-in"
        " sessions without cookies, the audit log, metrics.",
        """
        GET /api/admin/users
        GET /api/admin/audit
        GET /api/tunnel/status
        GET /api/webhook
        GET /api/doctor
        GET /api/clis/file
        GET /api/clis/{id}/install
        GET /api/mcp-sync
        GET /metrics
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "The tunnel requires a password like every other listener, and a token cannot see its"
        " code.",
        """
        POST /api/tunnel/start
        POST /api/tunnel/stop
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Sets where notifications of all sessions are sent. The URL itself is never shown.",
        """
        PUT /api/webhook
        POST /api/webhook/test
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "A CLI is a command line that the sessions of all users start.",
        """
        POST /api/clis
        PUT /api/clis/custom/{id}
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Lists the machines on which sessions can run, and the names and key files for them.",
        """
        GET /api/remote-hosts
        GET /api/remote-hosts/{id}/sessions
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Wakes a machine with the method in its record, and opens the connection to it.",
        "POST /api/remote-hosts/{id}/wake",
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Sets the machines for sessions, and the trusted keys. A caller who chooses a machine can"
        " see the input typed there.",
        """
        POST /api/remote-hosts
        PUT /api/remote-hosts/{id}
        DELETE /api/remote-hosts/{id}
        POST /api/remote-hosts/{id}/check
        POST /api/remote-hosts/{id}/trust
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Copies the MCP servers of one agent of the service's own user to the others, nothing"
        " else.",
        "POST /api/mcp-sync",
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Sets where the sessions of all users send their data, and the key for it. A stored key"
        " is never shown, and no token can redirect it to another address.",
        """
        POST /api/model-endpoints
        PUT /api/model-endpoints/{id}
        DELETE /api/model-endpoints/{id}
        POST /api/model-endpoints/{id}/discover-models
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Sets how containers are created, within fixed limits, and lets an engine build and fetch"
        " images.",
        """
        POST /api/container-hosts
        PUT /api/container-hosts/{id}
        DELETE /api/container-hosts/{id}
        POST /api/container-hosts/{id}/build
        POST /api/container-hosts/{id}/build/cancel
        POST /api/cases/{name}/container/recreate
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Reads how containers are created, the list of containers, and the output of a build.",
        """
        GET /api/container-hosts
        GET /api/container-hosts/{id}/containers
        GET /api/container-hosts/{id}/build/log
        """,
    ),
    **make_scope_rules(
        Scope.ADMIN,
        "Enables, disables, removes or installs listed CLIs. The install commands are fixed.",
        """
        PUT /api/clis/{id}
        DELETE /api/clis/{id}
        POST /api/clis/{id}/install
        DELETE /api/clis/{id}/install
        """,
    ),
}

TOKEN_SCOPES: Mapping[str, TokenScopeRule] = {
    **_FOR_ALL,
    **_PEOPLE,
    **SESSIONS,
    **_WATCHING,
    **_SERVICE,
}
"""Rules of all operations, by their name."""
