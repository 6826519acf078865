"""Decision which token scope an operation needs, with the reason
(L{tservice.http.token_scopes}).
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from tservice.core.scopes import Scope

HOOK_OPERATIONS = frozenset({"POST /api/hook-event", "POST /api/status-telemetry"})
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
class TokenScopeRule:
    """Decision which token scope an operation needs.

    @ivar scope: the scope that a token needs.  C{None} if no token may call the operation.
    @ivar why: the reason, as a sentence.
    @ivar opens: names of operations that the response enables for callers who could not use them
        before.
    """

    scope: Scope | None
    why: str
    powers: frozenset[Capability] = frozenset()
    opens: frozenset[str] = frozenset()


def make_scope_rules(
    scope: Scope | None,
    why: str,
    names: str,
    *powers: Capability,
    opens: frozenset[str] = frozenset(),
) -> dict[str, TokenScopeRule]:
    """Return the same rule for several operations.

    @param why: the reason, as a sentence.
    @param names: the operations' names, one per line.
    @param powers: capabilities that a caller gains beyond the response.
    @param opens: see L{TokenScopeRule}.
    """
    reach = TokenScopeRule(scope, why, frozenset(powers), opens)
    return {line.strip(): reach for line in names.strip().splitlines()}
