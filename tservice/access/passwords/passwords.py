"""Single account of a single-user service (protocol-cookies)."""

from __future__ import annotations

import hashlib
from hmac import compare_digest

from zope.interface import implementer

from tservice.access.interfaces import IAccounts
from tservice.access.passwords.hashing import FairPasswordHasher
from tservice.core.callers.identity import Identity

LONGEST_NAME = 256
"""Maximum length of a user name whose failures are counted, in characters."""


@implementer(IAccounts)
class SingleAccount:
    """Account of a single-user service; the user is an admin.

    The password is hashed once, at the start, and not kept.
    """

    def __init__(
        self, username: str, password: str | None, hasher: FairPasswordHasher, seal: bytes = b""
    ) -> None:
        """@param password: C{None} for an account that has no password yet (L{set_hash}).  It
            accepts none.
        @param seal: value that identifies the password; the same after a restart
            (L{IAccounts.get_seal}).
        """
        self.username, self._seal, self._hasher = username, seal, hasher
        self._username = _fixed_length_digest(username)
        self._hash = None if password is None else hasher.hash_in_this_thread(password)
        self._identity = Identity(username=username, admin=True)
        self._seen = b""

    async def check_password(
        self, username: str, password: str, place: str = ""
    ) -> Identity | None:
        """See L{IAccounts.check_password}; a wrong user name takes as long as the right one.

        @raise TooManyChecks: too many checks from this address are waiting.
        """
        name = compare_digest(_fixed_length_digest(username), self._username)
        known = self._hash
        if known is None:
            return None
        shown = self._hasher.fingerprint_password(known, password)
        if name and compare_digest(shown, self._seen):
            return self._identity
        if not await self._hasher.verify_password(place, known if name else None, password):
            return None
        self._seen = shown
        return self._identity

    def set_hash(self, password_hash: str, seal: bytes) -> None:
        """Set the password by its hash, and the value that identifies it."""
        self._hash, self._seal = password_hash, seal

    def find_identity(self, username: str) -> Identity | None:
        return self._identity if username == self._identity.username else None

    def get_seal(self, username: str) -> bytes | None:
        return self._seal if self.account_exists(username) else None

    def account_exists(self, username: str) -> bool:
        return username == self._identity.username

    def get_failure_count_name(self, username: str) -> str | None:
        """Return the name under which failed sign-ins are counted.

        Other names than the account's are counted too, because a difference would reveal the right
        name.
        """
        return username if len(username) <= LONGEST_NAME else None


def _fixed_length_digest(text: str) -> bytes:
    """Return a digest of fixed length, so that comparing two digests takes constant time."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
