"""What is decided on an operation, in L{tservice.http.reach}: its scope, and why."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from tservice.core.scopes import Scope

HOOKS = frozenset({"POST /api/hook-event", "POST /api/status-telemetry"})
"""What runs in a pane can read the secret of the hooks; that is what it is for."""


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
class TokenReach:
    """What was decided on an operation.

    @ivar scope: what a token needs; C{None}: no token may.
    @ivar why: the reason, a sentence.
    @ivar opens: operations that an answer of this one lets somebody call who could not before.
    """

    scope: Scope | None
    why: str
    powers: frozenset[Power] = frozenset()
    opens: frozenset[str] = frozenset()


def all_of(
    scope: Scope | None, why: str, names: str, *powers: Power, opens: frozenset[str] = frozenset()
) -> dict[str, TokenReach]:
    """One decision on several operations, a line each."""
    reach = TokenReach(scope, why, frozenset(powers), opens)
    return {line.strip(): reach for line in names.strip().splitlines()}
