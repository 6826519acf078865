"""Effects of a token beyond the responses that it receives: written by hand, never read from the
table of operations.

An operation that can change something has an entry, even if it has no further effect.  The scopes
are those of L{tests.security.matrix_rows}.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import frozen

from tests.security.matrix_rows import ROWS
from tservice.core.kernel.scopes import Scope

HOOK_OPERATIONS = frozenset(
    {"POST /api/hook-event", "POST /api/hook-event/decision", "POST /api/status-telemetry"}
)
"""Operations for hooks.  Any program in a pane can call them, because it can read the hook secret.
"""


class Capability(StrEnum):
    """Capability that a caller gains beyond a response."""

    SHELL = "runs commands as the user whose sessions it can access"
    STEERS = "changes the behaviour of the service for all users"
    PUBLISHES = "makes the service reachable from the internet"
    LASTS = "creates something that continues after the token has ended"
    CREDENTIAL = "creates, shows or ends a password, cookie, token or code"
    RIGHTS = "changes the rights of a user"


NEVER = frozenset({Capability.CREDENTIAL, Capability.RIGHTS})
"""Capabilities that no token may have, because the token could outlive itself or extend its rights.
"""


@frozen
class TokenEffects:
    """Effects of one operation.

    @ivar powers: capabilities that a caller gains beyond the response.
    @ivar opens: names of operations that the response enables for callers who could not use them
        before.
    """

    powers: frozenset[Capability] = frozenset()
    opens: frozenset[str] = frozenset()


def _list_effects(
    names: str, *powers: Capability, opens: frozenset[str] = frozenset()
) -> dict[str, TokenEffects]:
    """Return the same effects for several operations.

    @param names: the operations' names, one per line.
    """
    effects = TokenEffects(frozenset(powers), opens)
    return {line.strip(): effects for line in names.strip().splitlines()}


def get_effects(name: str) -> TokenEffects:
    """Return the effects of an operation; an operation without an entry has none."""
    return EFFECTS.get(name, TokenEffects())


def reachable_operations(scope: Scope) -> frozenset[str]:
    """Return every operation that a token with only C{scope} can call, directly or indirectly."""
    found: set[str] = set()
    ahead = [name for name, row in ROWS.items() if row.scope == scope]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += get_effects(name).opens
    return frozenset(found)


EFFECTS: Mapping[str, TokenEffects] = {
    **_list_effects(
        """
        POST /api/hook-event
        POST /api/hook-event/decision
        POST /api/status-telemetry
        POST /api/webviews
        POST /api/webviews/probe
        PATCH /api/webviews/{id}
        DELETE /api/webviews/{id}
        ANY /webview/{capability}/{rest:path}
        POST /mcp
        DELETE /mcp
        POST /api/sessions/{id}/readmymind
        PUT /api/sessions/{id}/intent
        PUT /api/sessions/{id}/changes/base
        PUT /api/sessions/{id}/changes/viewed
        POST /api/sessions/{id}/comments
        PATCH /api/sessions/{id}/comments/{comment}
        DELETE /api/sessions/{id}/comments/{comment}
        POST /api/sessions/{id}/comments/{comment}/reply
        DELETE /api/sessions/{id}/intent
        POST /api/sessions/{id}/checks/run
        DELETE /api/sessions/{id}/checks/run
        DELETE /api/cases/{name}/checks/file
        DELETE /api/sessions/{id}/checks/file
        POST /api/sessions/{id}/resize
        DELETE /api/sessions/{id}
        DELETE /api/sessions
        PUT /api/sessions/{id}/name
        PUT /api/sessions/{id}/color
        PUT /api/sessions/{id}/pin
        POST /api/sessions/{id}/snooze
        POST /api/sessions/{id}/look
        POST /api/away/seen
        PUT /api/sessions/{id}/nice
        PUT /api/sessions/{id}/flicker-filter
        PUT /api/sessions/{id}/auto-compact
        PUT /api/sessions/{id}/auto-clear
        PUT /api/sessions/{id}/auto-resume
        PUT /api/session-order
        POST /api/sessions/{id}/uploads
        POST /api/sessions/{id}/paste-image
        POST /api/screenshots
        POST /api/cases
        POST /api/cases/link
        POST /api/cases/remote-link
        POST /api/cases/container-link
        POST /api/cases/container-create
        POST /api/cases/clone
        POST /api/cases/clone/{name}/cancel
        POST /api/cases/{name}/worktree
        PUT /api/cases/order
        DELETE /api/cases/{name}
        POST /api/reboot-restore/dismiss
        POST /api/approvals/{item}/dismiss
        POST /api/approvals/session/{id}/viewed
        POST /api/approval-rules/preview
        DELETE /api/approval-rules/{rule}
        DELETE /api/cron/jobs/{id}
        PUT /api/cron/jobs/{id}/enabled
        POST /api/cron/preview
        DELETE /api/scheduled/{id}
        POST /api/cron/runs/{id}/stop
        POST /api/remote-hosts/{id}/wake
        """,
    ),
    **_list_effects(
        """
        POST /api/sessions/{id}/input
        POST /api/sessions/{id}/send-key
        POST /api/sessions/{id}/wake
        PUT /api/sessions/{id}/model
        PUT /api/sessions/{id}/effort
        PUT /api/sessions/{id}/permission-mode
        GET /ws/sessions/{id}/terminal
        POST /api/sessions
        POST /api/quick-start
        POST /api/sessions/{id}/start
        POST /api/sessions/{id}/interactive
        POST /api/sessions/{id}/shell
        POST /api/cases/{name}/prepare
        POST /api/sessions/{id}/custom-model
        PUT /api/sessions/{id}/file-content
        POST /api/sessions/{id}/changes/revert
        POST /api/sessions/{id}/changes/revert/undo
        POST /api/sessions/{id}/review/send
        POST /api/sessions/{id}/changes/commit
        POST /api/sessions/{id}/changes/push
        POST /api/sessions/{id}/changes/pull-request
        POST /api/sessions/{id}/changes/pull-request/mend
        POST /api/reboot-restore/restore
        POST /api/approvals/{item}/answer
        """,
        Capability.SHELL,
        opens=HOOK_OPERATIONS,
    ),
    **_list_effects(
        """
        POST /api/approval-rules
        PUT /api/approval-rules/{rule}
        """,
        Capability.SHELL,
        Capability.LASTS,
    ),
    **_list_effects(
        """
        POST /api/clis
        PUT /api/clis/custom/{id}
        """,
        Capability.SHELL,
        Capability.STEERS,
        Capability.LASTS,
        opens=HOOK_OPERATIONS,
    ),
    **_list_effects(
        """
        POST /api/scheduled
        POST /api/cron/jobs
        PUT /api/cases/{name}/checks
        PUT /api/cases/{name}/checks/file
        PUT /api/sessions/{id}/checks/file
        PUT /api/cron/jobs/{id}
        POST /api/cron/jobs/{id}/run
        """,
        Capability.SHELL,
        Capability.LASTS,
        opens=HOOK_OPERATIONS,
    ),
    **_list_effects(
        """
        PUT /api/settings
        PUT /api/clis/{id}
        DELETE /api/clis/{id}
        POST /api/clis/{id}/install
        DELETE /api/clis/{id}/install
        """,
        Capability.STEERS,
    ),
    **_list_effects(
        """
        POST /api/tunnel/start
        POST /api/tunnel/stop
        """,
        Capability.STEERS,
        Capability.PUBLISHES,
    ),
    **_list_effects(
        """
        PUT /api/webhook
        POST /api/webhook/test
        POST /api/remote-hosts
        PUT /api/remote-hosts/{id}
        DELETE /api/remote-hosts/{id}
        POST /api/remote-hosts/{id}/check
        POST /api/remote-hosts/{id}/trust
        POST /api/mcp-sync
        POST /api/model-endpoints
        PUT /api/model-endpoints/{id}
        DELETE /api/model-endpoints/{id}
        POST /api/model-endpoints/{id}/discover-models
        POST /api/container-hosts
        PUT /api/container-hosts/{id}
        DELETE /api/container-hosts/{id}
        POST /api/container-hosts/{id}/build
        POST /api/container-hosts/{id}/build/cancel
        POST /api/cases/{name}/container/recreate
        """,
        Capability.STEERS,
        Capability.LASTS,
    ),
    **_list_effects(
        """
        PUT /api/notification-rules
        GET /api/push/key
        POST /api/push/subscriptions
        DELETE /api/push/subscriptions
        """,
        Capability.LASTS,
    ),
    **_list_effects(
        """
        POST /api/login
        GET /q/{code}
        POST /api/logout
        POST /api/auth/revoke
        PUT /api/me/password
        POST /api/auth/password
        POST /api/admin/users/{name}/logout
        POST /api/admin/users/{name}/reset-password
        POST /api/tokens
        GET /api/tokens
        DELETE /api/tokens/{id}
        """,
        Capability.CREDENTIAL,
    ),
    **_list_effects(
        """
        POST /api/webviews/{id}/open
        """,
        Capability.CREDENTIAL,
        opens=frozenset({"ANY /webview/{capability}/{rest:path}"}),
    ),
    **_list_effects(
        """
        POST /api/sessions/{id}/file-link
        """,
        Capability.CREDENTIAL,
        opens=frozenset({"GET /api/file-link/{word}"}),
    ),
    **_list_effects(
        """
        GET /api/tunnel/qr
        POST /api/tunnel/qr/regenerate
        """,
        Capability.CREDENTIAL,
        opens=frozenset({"GET /q/{code}"}),
    ),
    **_list_effects(
        """
        POST /api/admin/users
        PATCH /api/admin/users/{name}
        DELETE /api/admin/users/{name}
        """,
        Capability.CREDENTIAL,
        Capability.RIGHTS,
    ),
}
"""Effects by the name of the operation."""
