"""Decision which token scope an operation needs, with the reason
(L{tservice.http.token_scopes}).
"""

from __future__ import annotations

from attrs import frozen

from tservice.core.scopes import Scope


@frozen
class TokenScopeRule:
    """Decision which token scope an operation needs.

    @ivar scope: the scope that a token needs.  C{None} if no token may call the operation.
    @ivar why: the reason, as a sentence.
    """

    scope: Scope | None
    why: str


def make_scope_rules(scope: Scope | None, why: str, names: str) -> dict[str, TokenScopeRule]:
    """Return the same rule for several operations.

    @param why: the reason, as a sentence.
    @param names: the operations' names, one per line.
    """
    rule = TokenScopeRule(scope, why)
    return {line.strip(): rule for line in names.strip().splitlines()}
