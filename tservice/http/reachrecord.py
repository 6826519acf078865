"""Record of the decision on an operation in L{tservice.http.reach}: its scope, and the reason."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from tservice.core.scopes import Scope

HOOKS = frozenset({"POST /api/hook-event", "POST /api/status-telemetry"})
"""Operations for hooks: any program in a pane can read the hook secret, by design."""


class Power(StrEnum):
    """Capability that a caller gains beyond a response."""

    SHELL = "runs commands as the one whose sessions it reaches"
    STEERS = "changes what the service does for everybody"
    PUBLISHES = "makes the service reachable from the internet"
    LASTS = "makes something that works on when the token has ended"
    CREDENTIAL = "gives, shows or ends a password, cookie, token or code"
    RIGHTS = "changes what somebody may do"


NEVER = frozenset({Power.CREDENTIAL, Power.RIGHTS})
"""Capabilities that no token may have, because it could outlive itself or extend its rights."""


@frozen
class TokenReach:
    """Decision on an operation.

    @ivar scope: the scope that a token needs; C{None}: no token may call it.
    @ivar why: the reason, a sentence.
    @ivar opens: operations that its response enables for callers who could not use them before.
    """

    scope: Scope | None
    why: str
    powers: frozenset[Power] = frozenset()
    opens: frozenset[str] = frozenset()


def all_of(
    scope: Scope | None, why: str, names: str, *powers: Power, opens: frozenset[str] = frozenset()
) -> dict[str, TokenReach]:
    """Return one decision for several operations, named one per line."""
    reach = TokenReach(scope, why, frozenset(powers), opens)
    return {line.strip(): reach for line in names.strip().splitlines()}
