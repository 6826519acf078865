"""Scoped tokens: the record, and rules that depend on nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import make_field_error
from tservice.core.kernel.scopes import SESSION_BOUND_SCOPES, Scope

PREFIX = "tsk_"
"""Prefix of every token, by which secret scanners and the log's redaction recognize a token."""

TOKEN = re.compile(r"tsk_[A-Za-z0-9_-]{43}")
MAX_PER_OWNER = 100
MAX_SESSIONS = 100
"""Limit on the sessions that one token may be bound to."""


@frozen(kw_only=True)
class ApiToken:
    """Stored record of a token.

    @ivar token_hash: SHA-256 of the token.  The token is random and long, so one round is enough.
    @ivar sessions: ids of the only sessions that the token may access.  C{None} for all sessions of
        its owner.
    @ivar expires_at: time of expiry in Unix milliseconds.  C{None} if the token does not expire.
    @ivar last_used_at: time of the last use in Unix milliseconds, accurate to some minutes.
    """

    id: str
    owner: str
    name: str
    token_hash: bytes
    scopes: tuple[Scope, ...]
    sessions: tuple[str, ...] | None
    created_at: int
    expires_at: int | None
    last_used_at: int | None = None

    def is_expired(self, now: int) -> bool:
        """Return whether the token has expired.

        @param now: the current time in Unix milliseconds.
        """
        return self.expires_at is not None and self.expires_at <= now

    def limit_identity(self, owner: Identity) -> Identity:
        """Return the identity of the token's owner, limited to the token's rights."""
        return evolve(
            owner,
            method="token",
            auth_session=None,
            token=self.id,
            scopes=frozenset(self.scopes),
            sessions=None if self.sessions is None else frozenset(self.sessions),
        )


def make_token(random: Callable[[int], bytes]) -> str:
    """Return a new token with 256 random bits.

    @param random: returns that many unguessable bytes.
    """
    return PREFIX + base64.urlsafe_b64encode(random(32)).decode().rstrip("=")


def hash_token(token: str) -> bytes:
    """Return the hash of a token, as it is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def parse_bearer_header(header: str) -> str | None:
    """Return the token of an C{Authorization: Bearer} header; C{None} for other headers."""
    scheme, _, value = header.partition(" ")
    return value.strip() if scheme.lower() == "bearer" else None


def check_scopes(scopes: Sequence[str], sessions: Sequence[str] | None) -> tuple[Scope, ...]:
    """Return C{scopes} sorted and without duplicates, if a token may have them.

    @param sessions: the sessions that the token is bound to.  C{None} if it is not bound to any.
    @raise ServiceError: 400: C{scopes} is empty, or a scope is useless for a token that is bound to
        sessions.
    """
    if not scopes:
        raise make_field_error("scopes", "must have at least 1 entry")
    found = tuple(sorted({Scope(scope) for scope in scopes}))
    wide = [scope for scope in found if scope not in SESSION_BOUND_SCOPES]
    if sessions is not None and wide:
        raise make_field_error(
            "scopes", f"{wide[0]} does not apply to single sessions: omit sessions"
        )
    return found
