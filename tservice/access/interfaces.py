"""Interfaces that the package C{access} provides and requires."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zope.interface import Interface

from tservice.access.model import CookieSession
from tservice.core.callers.identity import Identity


class IAccounts(Interface):
    """Accounts and their passwords."""

    async def check_password(username: str, password: str, place: str) -> Identity | None:
        """Return the account's identity if the password is right, else C{None}.

        The time does not reveal whether the account exists.

        @param place: the caller's address; checks from one address run one after the other.
        @raise TooManyChecks: too many checks from this address are waiting.
        """

    def find_identity(username: str) -> Identity | None:
        """Return the account's current identity; C{None} if it was removed or is disabled."""

    def get_seal(username: str) -> bytes | None:
        """Return a value that changes with the account's password, but does not reveal it.

        Each password of the account has another value.

        @return: C{None} if there is no such account.
        """

    def account_exists(username: str) -> bool:
        """Return whether an account of that name exists; disabled accounts count."""

    def get_failure_count_name(username: str) -> str | None:
        """Return the name under which failed sign-ins are counted; C{None} for an invalid name."""


class ICookieStore(Interface):
    """Store that keeps cookie sessions across restarts."""

    def load() -> Sequence[CookieSession]:
        """Return every stored session."""

    def save(session: CookieSession) -> None:
        """Insert a session, or update the one with the same id; on a full disk the write is
        deferred.
        """

    def delete(ids: Iterable[str]) -> None:
        """Delete the sessions with these ids; unknown ids are ignored.

        @raise DiskFull: the write is deferred.  A restart before it succeeds restores the sessions.
        """
