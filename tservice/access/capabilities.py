"""Capability tokens in a path, each of which opens one resource in a user's name
(protocol-capabilities).

They are for web tabs, whose frames cannot send headers, and for children of a session that get no
cookie.  A token has 192 random bits and only its hash is kept, in memory.  It is therefore invalid
after a restart, and a memory dump of a crash does not reveal it.
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
"""Limit on the number of tokens (protocol-capabilities)."""

TTL_SECONDS = 12 * 60 * 60.0
"""Lifetime of a token after its last use (protocol-capabilities)."""


@frozen(kw_only=True)
class CapabilityGrant:
    """Resource that a token opens.

    @ivar kind: the kind of resource, for example C{webview}; a token of one kind opens no other.
    @ivar subject: the id of the resource.
    @ivar username: the user who made the token, in whose name it opens the resource.
    @ivar auth_session: the sign-in session that made it, if any: the token ends with it.
    @ivar expires_at: in the clock's seconds.
    @ivar lasts: seconds from each use.
    """

    kind: str
    subject: str
    username: str
    auth_session: str | None
    expires_at: float
    lasts: float = TTL_SECONDS


class CapabilityRegistry:
    """Registry of all capability tokens.

    At L{MOST}, the least recently used token of the user with most tokens is removed: a user cannot
    displace the tokens of users with fewer.
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
        """Return a new token: 32 characters that need no escaping in a path."""
        self._forget_expired()
        if len(self._known) >= MOST:
            self._make_room()
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
        """Return the capability of a token, and restart its lifetime.

        @param username: the caller, if known: another user's token is then invalid.
        """
        key = _hash_token(token)
        found = self._known.get(key)
        if found is None or found.kind != kind or username not in (None, found.username):
            return None
        if found.expires_at <= self._clock.seconds():
            self._forget_expired()
            return None
        # Remove and insert: the order of the dict is the order of use.
        del self._known[key]
        later = evolve(found, expires_at=self._clock.seconds() + found.lasts)
        self._known[key] = later
        return later

    def register_connection(
        self, found: CapabilityGrant, cut: Callable[[], object]
    ) -> Callable[[], None]:
        """Register an open connection of a token: C{cut} ends it when the token is revoked.

        Expiry of the token ends no connection, because the connection is in use.

        @return: a function to call when the connection has ended; may be called twice.
        """
        key = object()
        self._open[key] = (found, cut)

        def forget_connection() -> None:
            self._open.pop(key, None)

        return forget_connection

    def revoke_tokens(self, which: Callable[[CapabilityGrant], bool]) -> int:
        """Revoke tokens at once, and end their open connections.

        @return: the number of tokens.
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

    def _make_room(self) -> None:
        [(most, _)] = Counter(known.username for known in self._known.values()).most_common(1)
        oldest = next(key for key, known in self._known.items() if known.username == most)
        del self._known[oldest]

    def _forget_expired(self) -> None:
        now = self._clock.seconds()
        self._remove_grants(lambda known: known.expires_at <= now)


def _hash_token(word: str) -> bytes:
    """Return the hash of a token: it is random and long, so one round of a fast hash is enough."""
    return hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
