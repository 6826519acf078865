"""Capability tokens in a path, each of which gives access to one resource in a user's name
(protocol-capabilities).

They are for web tabs, whose frames cannot send headers, and for child processes of a session that
get no cookie.  A token has 192 random bits and only its hash is kept, in memory.  It is therefore
invalid after a restart, and a memory dump of a crash does not reveal it.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

BYTES = 24
MOST = 200
"""Maximum number of tokens (protocol-capabilities)."""

TTL_SECONDS = 12 * 60 * 60.0
"""Default lifetime of a token in seconds after its last use (protocol-capabilities)."""


@frozen(kw_only=True)
class CapabilityGrant:
    """Access that a capability token gives.

    @ivar kind: the kind of resource, for example C{webview}; the token is valid for this kind only.
    @ivar subject: the id of the resource.
    @ivar username: the user who created the token, in whose name the resource is accessed.
    @ivar auth_session: the sign-in session that created the token; the token ends with it.  C{None}
        if the creator had no such session.
    @ivar expires_at: time of expiry in the clock's seconds.
    @ivar lasts: lifetime in seconds, which begins again at each use.
    """

    kind: str
    subject: str
    username: str
    auth_session: str | None
    expires_at: float
    lasts: float = TTL_SECONDS


class CapabilityRegistry:
    """Registry of all capability tokens.

    If there are L{MOST} tokens, the least recently used token of the user with most tokens is
    removed.  So a user cannot displace the tokens of users with fewer.
    """

    def __init__(self, clock: IReactorTime, random: Callable[[int], bytes]) -> None:
        """@param random: returns that many unguessable bytes."""
        self._clock, self._random = clock, random
        self._known: dict[bytes, CapabilityGrant] = {}
        self._open: dict[object, tuple[CapabilityGrant, Callable[[], object]]] = {}

    def create_token(
        self,
        kind: str,
        subject: str,
        username: str,
        auth_session: str | None = None,
        lasts: float = TTL_SECONDS,
    ) -> str:
        """Create a token, and return it as 32 characters that need no escaping in a path.

        @param kind: see L{CapabilityGrant}, as for the other parameters.
        """
        self._remove_expired_grants()
        if len(self._known) >= MOST:
            self._remove_oldest_grant_if_full()
        word = base64.urlsafe_b64encode(self._random(BYTES)).decode("ascii")
        self._known[_hash_token(word)] = CapabilityGrant(
            kind=kind,
            subject=subject,
            username=username,
            auth_session=auth_session,
            expires_at=self._clock.seconds() + lasts,
            lasts=lasts,
        )
        return word

    def find_grant(
        self, kind: str, token: str, username: str | None = None
    ) -> CapabilityGrant | None:
        """Return the access that a token gives, and restart the token's lifetime.

        @param username: the caller, if known; another user's token is then invalid.
        @return: C{None} for an invalid token.
        """
        key = _hash_token(token)
        found = self._known.get(key)
        if found is None or found.kind != kind or username not in (None, found.username):
            return None
        if found.expires_at <= self._clock.seconds():
            self._remove_expired_grants()
            return None
        # Remove and insert: the order of the dict is the order of use.
        del self._known[key]
        later = evolve(found, expires_at=self._clock.seconds() + found.lasts)
        self._known[key] = later
        return later

    def register_connection(
        self, found: CapabilityGrant, cut: Callable[[], object]
    ) -> Callable[[], None]:
        """Register an open connection of a token; C{cut} is called when the token is revoked.

        Expiry of the token ends no connection, because the connection is in use.

        @return: a function to call when the connection has ended; it may be called twice.
        """
        key = object()
        self._open[key] = (found, cut)

        def forget_connection() -> None:
            self._open.pop(key, None)

        return forget_connection

    def revoke_tokens(self, which: Callable[[CapabilityGrant], bool]) -> int:
        """Revoke the tokens for which C{which} returns true, and end their open connections.

        @return: the number of revoked tokens.
        """
        ended = self._remove_grants(which)
        for found, cut in tuple(self._open.values()):
            if which(found):
                cut()
        return ended

    def _remove_grants(self, which: Callable[[CapabilityGrant], bool]) -> int:
        dropped = [key for key, known in self._known.items() if which(known)]
        for key in dropped:
            del self._known[key]
        return len(dropped)

    def _remove_oldest_grant_if_full(self) -> None:
        [(most, _)] = Counter(known.username for known in self._known.values()).most_common(1)
        oldest = next(key for key, known in self._known.items() if known.username == most)
        del self._known[oldest]

    def _remove_expired_grants(self) -> None:
        now = self._clock.seconds()
        self._remove_grants(lambda known: known.expires_at <= now)


def _hash_token(word: str) -> bytes:
    """Return the hash of a token.

    A token is random and long, so one round of a fast hash is enough.
    """
    return hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
