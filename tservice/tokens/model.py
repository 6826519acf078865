"""Scoped tokens: their record, and the rules that need nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from tservice.core.errors import invalid_field
from tservice.core.identity import Identity
from tservice.core.scopes import SESSION_BOUND_SCOPES, Scope

PREFIX = "tsk_"
"""Prefix of every token, by which scanners and the log's redaction recognize one."""

TOKEN = re.compile(r"tsk_[A-Za-z0-9_-]{43}")
MAX_PER_OWNER = 100
MAX_SESSIONS = 100
"""Limit on the sessions that one token may be bound to."""


@frozen(kw_only=True)
class ApiToken:
    """Stored record of a token.

    @ivar token_hash: SHA-256 of the token; it is random and long, so one round is enough.
    @ivar sessions: the only sessions that it may access; C{None}: all of its owner's.
    @ivar expires_at: Unix milliseconds; C{None}: never.
    @ivar last_used_at: Unix milliseconds, accurate to some minutes.
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
        """Return whether it has expired at C{now}, in Unix milliseconds."""
        return self.expires_at is not None and self.expires_at <= now

    def limit_identity(self, owner: Identity) -> Identity:
        """Return the identity of its owner, limited to the token's rights."""
        return evolve(
            owner,
            method="token",
            auth_session=None,
            token=self.id,
            scopes=frozenset(self.scopes),
            sessions=None if self.sessions is None else frozenset(self.sessions),
        )


def new_token(random: Callable[[int], bytes]) -> str:
    """Return a token of 256 random bits."""
    return PREFIX + base64.urlsafe_b64encode(random(32)).decode().rstrip("=")


def hash_token(token: str) -> bytes:
    """Return the stored hash of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def parse_bearer(header: str) -> str | None:
    """Return the token of an C{Authorization: Bearer} header, if it is one."""
    scheme, _, value = header.partition(" ")
    return value.strip() if scheme.lower() == "bearer" else None


def check_scopes(scopes: Sequence[str], sessions: Sequence[str] | None) -> tuple[Scope, ...]:
    """Return C{scopes} without duplicates and in order, if a token can have them.

    @raise ServiceError: 400: there is none, or one that makes no sense for C{sessions}.
    """
    if not scopes:
        raise invalid_field("scopes", "must have at least 1 entry")
    found = tuple(sorted({Scope(scope) for scope in scopes}))
    wide = [scope for scope in found if scope not in SESSION_BOUND_SCOPES]
    if sessions is not None and wide:
        raise invalid_field("scopes", f"{wide[0]} does not apply to single sessions: omit sessions")
    return found
