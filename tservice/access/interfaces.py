"""Interfaces that access provides and requires."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zope.interface import Interface

from tservice.access.model import CookieSession
from tservice.core.identity import Identity


class IAccounts(Interface):
    """Accounts and their passwords."""

    async def check_password(username: str, password: str, place: str) -> Identity | None:
        """Return the account's identity if the password is right, in time that reveals nothing.

        @param place: the caller's address; checks of one address wait for each other.
        @raise Crowded: too many checks from this address are waiting.
        """

    def find_identity(username: str) -> Identity | None:
        """Return the account's current identity; C{None} when it was removed or is disabled."""

    def get_seal(username: str) -> bytes | None:
        """Return a value that identifies the account's password among all its past and future ones,
        but reveals nothing about it; C{None} when there is no such account.
        """

    def account_exists(username: str) -> bool:
        """Return whether an account of that name exists, disabled or not."""

    def get_counted_name(username: str) -> str | None:
        """Return the name for counting failures; C{None} for a text that cannot be a name."""


class ICookieStore(Interface):
    """Keeps cookie sessions across a restart."""

    def load() -> Sequence[CookieSession]:
        """Return every stored session."""

    def save(session: CookieSession) -> None:
        """Add a session, or update the one with the same id; on a full disk the write is
        deferred.
        """

    def delete(ids: Iterable[str]) -> None:
        """Delete sessions; unknown ids are fine.

        @raise DiskFull: the write is deferred; until it succeeds, a restart restores them.
        """
