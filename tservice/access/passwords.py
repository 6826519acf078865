"""Single account of a single-user service (protocol-cookies)."""

from __future__ import annotations

import hashlib
from hmac import compare_digest

from zope.interface import implementer

from tservice.access.hashing import Hasher
from tservice.access.interfaces import IAccounts
from tservice.core.identity import Identity

LONGEST_NAME = 256
"""Limit in characters on a user name whose failures are counted."""


@implementer(IAccounts)
class SingleAccount:
    """Account with one user name and one password; the user is an admin.

    The password is hashed once, at the start; it is not kept.
    """

    def __init__(self, username: str, password: str, hasher: Hasher, seal: bytes = b"") -> None:
        """@param seal: see L{IAccounts.seal}; it is the same after a restart."""
        self._seal, self._hasher = seal, hasher
        self._username, self._hash = _fold(username), hasher.hash_now(password)
        self._identity = Identity(username=username, admin=True)
        self._seen = b""

    async def check(self, username: str, password: str, place: str = "") -> Identity | None:
        """See L{IAccounts}; a wrong name costs a hash like the right one.

        @raise Crowded: too many checks from this address are waiting.
        """
        name = compare_digest(_fold(username), self._username)
        shown = self._hasher.fingerprint(self._hash, password)
        if name and compare_digest(shown, self._seen):
            return self._identity
        if not await self._hasher.verify(place, self._hash if name else None, password):
            return None
        self._seen = shown
        return self._identity

    def identity(self, username: str) -> Identity | None:
        return self._identity if username == self._identity.username else None

    def seal(self, username: str) -> bytes | None:
        return self._seal if self.known(username) else None

    def known(self, username: str) -> bool:
        return username == self._identity.username

    def counted(self, username: str) -> str | None:
        """Return the name for counting failures, also if it is not the account's: a difference
        would reveal the right name.
        """
        return username if len(username) <= LONGEST_NAME else None


def _fold(text: str) -> bytes:
    """Return a digest of fixed length, so that a comparison takes constant time."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
