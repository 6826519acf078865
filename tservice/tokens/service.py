"""Registry of scoped tokens, which creates, finds and expires them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from attrs import evolve
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from zope.interface import implementer

from tservice.core.callers.authentication import (
    AuthenticationRequest,
    CredentialsAccepted,
    CredentialsRejected,
    FailureBucket,
    IAuthenticator,
    Verdict,
)
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import DiskFull, raise_unsaved_change_on_disk_error
from tservice.core.kernel.clock import get_unix_ms, seconds_until
from tservice.core.kernel.errors import make_failure_error, make_field_error, make_not_found_error
from tservice.core.kernel.timers import cancel_call
from tservice.tokens.model import (
    MAX_PER_OWNER,
    ApiToken,
    check_scopes,
    hash_token,
    make_token,
    parse_bearer_header,
)
from tservice.tokens.store import TokenStore

USED_SLACK_MS = 5 * 60 * 1000
"""Maximum error of C{lastUsedAt} on disk in milliseconds, so that not every request causes a write.
"""

LOOK_SECONDS = 60.0
"""Maximum interval in seconds between checks for expired tokens, whose open streams are then ended.
"""


class TokenService:
    """Registry of all tokens, held in memory; a change is on disk before it takes effect."""

    def __init__(
        self,
        store: TokenStore,
        clock: IReactorTime,
        random: Callable[[int], bytes],
        ended: Callable[[frozenset[str]], None] = lambda ids: None,
    ) -> None:
        """@param random: returns that many unguessable bytes.
        @param ended: called with the ids of revoked or expired tokens, so that their open streams
            can be ended.
        """
        self._store, self._clock, self._random, self._ended = store, clock, random, ended
        self._tokens = {token.token_hash: token for token in store.load()}
        self._hashes = {token.id: token.token_hash for token in self._tokens.values()}
        self._timer: IDelayedCall | None = None
        self._schedule_expiry()

    def create_token(
        self,
        owner: str,
        name: str,
        scopes: Sequence[str],
        sessions: Sequence[str] | None,
        expires_at: int | None,
    ) -> tuple[str, ApiToken]:
        """Create a token.

        @param sessions: ids of the only sessions that the token may access.  C{None} for all
            sessions of its owner.
        @param expires_at: time of expiry in Unix milliseconds.  C{None} if the token does not
            expire.
        @return: the token itself, which is not stored, and its record.
        @raise ServiceError: 400 naming the field; 422: the owner has L{MAX_PER_OWNER} tokens.
        """
        now = get_unix_ms(self._clock)
        if expires_at is not None and expires_at <= now:
            raise make_field_error("expiresAt", "must be in the future")
        if len(self.list_tokens(owner)) >= MAX_PER_OWNER:
            raise make_failure_error(f"there are {MAX_PER_OWNER} tokens already")
        word = make_token(self._random)
        token = ApiToken(
            id=self._random(8).hex(),
            owner=owner,
            name=name,
            token_hash=hash_token(word),
            scopes=check_scopes(scopes, sessions),
            sessions=None if sessions is None else tuple(dict.fromkeys(sessions)),
            created_at=now,
            expires_at=expires_at,
        )
        self._store.save(token)
        self._tokens[token.token_hash] = token
        self._hashes[token.id] = token.token_hash
        self._schedule_expiry()
        return word, token

    def list_tokens(self, owner: str) -> list[ApiToken]:
        """Return the unexpired tokens of one owner, oldest first."""
        now = get_unix_ms(self._clock)
        return [t for t in self._tokens.values() if t.owner == owner and not t.is_expired(now)]

    def delete_token(self, token_id: str, owner: str) -> None:
        """Revoke a token of C{owner}.

        @raise ServiceError: 404: the token does not exist, or belongs to another user; 422: the
            token is revoked, but this is not yet on disk.
        """
        found = [token for token in self.list_tokens(owner) if token.id == token_id]
        if not found:
            raise make_not_found_error(f"Token {token_id}")
        self._revoke_tokens(found)

    def end_owner_tokens(self, owner: str) -> None:
        """Revoke every token of an owner whose account was removed."""
        self._revoke_tokens([t for t in self._tokens.values() if t.owner == owner])

    def find_and_record_use(self, word: str) -> ApiToken | None:
        """Return the record of a presented token, and record the time of its use.

        @param word: the presented token.
        @return: C{None} if the token is invalid.
        """
        token = self._tokens.get(hash_token(word))
        now = get_unix_ms(self._clock)
        if token is None or token.is_expired(now):
            return None
        if token.last_used_at is None or now - token.last_used_at >= USED_SLACK_MS:
            token = evolve(token, last_used_at=now)
            self._store.save_use(token)
            self._tokens[token.token_hash] = token
        return token

    def find_live_token(self, token_id: str) -> ApiToken | None:
        """Return the record of a token that has neither expired nor been revoked.

        The time of use is not recorded.
        """
        found = self._hashes.get(token_id)
        token = None if found is None else self._tokens[found]
        return None if token is None or token.is_expired(get_unix_ms(self._clock)) else token

    def close(self) -> None:
        """Cancel the expiry timer."""
        cancel_call(self._timer)
        self._timer = None

    def _revoke_tokens(self, tokens: Iterable[ApiToken]) -> None:
        with raise_unsaved_change_on_disk_error("ended"):
            self._remove_tokens(tokens)

    def _remove_tokens(self, tokens: Iterable[ApiToken]) -> None:
        gone = list(tokens)
        if not gone:
            return
        ids = [token.id for token in gone]
        for token in gone:
            del self._tokens[token.token_hash]
            del self._hashes[token.id]
        self._ended(frozenset(ids))
        self._store.delete(ids)

    def _schedule_expiry(self) -> None:
        """Schedule a check for the time when the next token expires, at most L{LOOK_SECONDS}
        ahead.
        """
        ends = [t.expires_at for t in self._tokens.values() if t.expires_at is not None]
        if not ends:
            return
        self.close()
        wait = seconds_until(self._clock, min(ends), LOOK_SECONDS)
        self._timer = self._clock.callLater(wait, self._end_expired)

    def _end_expired(self) -> None:
        self._timer = None
        now = get_unix_ms(self._clock)
        with suppress(DiskFull):  # an expired token stays expired after a restart
            self._remove_tokens([token for token in self._tokens.values() if token.is_expired(now)])
        self._schedule_expiry()


@implementer(IAuthenticator)
class TokenAuthenticator:
    """Authenticator for C{Authorization: Bearer} headers.

    Tokens are accepted nowhere else, in particular not in a URL.
    """

    def __init__(self, tokens: TokenService, owner: Callable[[str], Identity | None]) -> None:
        """@param owner: returns an account's current identity; C{None} if it was removed or is
        disabled.
        """
        self._tokens, self._owner = tokens, owner

    async def authenticate(self, visit: AuthenticationRequest) -> Verdict:
        word = parse_bearer_header(visit.header("authorization") or "")
        if word is None:
            return None
        token = self._tokens.find_and_record_use(word)
        owner = None if token is None else self._owner(token.owner)
        if token is None or owner is None:
            return CredentialsRejected(bucket=FailureBucket.TOKEN, challenge=False)
        return CredentialsAccepted(identity=token.limit_identity(owner))

    def reauthorize_identity(self, identity: Identity) -> Identity | None:
        token = None if identity.token is None else self._tokens.find_live_token(identity.token)
        owner = None if token is None else self._owner(token.owner)
        return None if token is None or owner is None else token.limit_identity(owner)
