"""Record of the decision on an operation in L{tservice.http.token_scopes}: its scope, and the
reason.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from tservice.core.scopes import Scope

HOOK_OPERATIONS = frozenset({"POST /api/hook-event", "POST /api/status-telemetry"})
"""Operations for hooks: any program in a pane can read the hook secret, by design."""


class Capability(StrEnum):
    """Capability that a caller gains beyond a response."""

    SHELL = "runs commands as the user whose sessions it can access"
    STEERS = "changes the behaviour of the service for all users"
    PUBLISHES = "makes the service reachable from the internet"
    LASTS = "creates something that continues after the token has ended"
    CREDENTIAL = "creates, shows or ends a password, cookie, token or code"
    RIGHTS = "changes the rights of a user"


NEVER = frozenset({Capability.CREDENTIAL, Capability.RIGHTS})
"""Capabilities that no token may have, because it could outlive itself or extend its rights."""


@frozen
class TokenScopeRule:
    """Decision on an operation.

    @ivar scope: the scope that a token needs; C{None}: no token may call it.
    @ivar why: the reason, a sentence.
    @ivar opens: operations that its response enables for callers who could not use them before.
    """

    scope: Scope | None
    why: str
    powers: frozenset[Capability] = frozenset()
    opens: frozenset[str] = frozenset()


def make_rules(
    scope: Scope | None,
    why: str,
    names: str,
    *powers: Capability,
    opens: frozenset[str] = frozenset(),
) -> dict[str, TokenScopeRule]:
    """Return one decision for several operations, named one per line."""
    reach = TokenScopeRule(scope, why, frozenset(powers), opens)
    return {line.strip(): reach for line in names.strip().splitlines()}
