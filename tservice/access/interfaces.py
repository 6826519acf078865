"""What access offers to others, and what it wants of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zope.interface import Interface

from tservice.access.model import CookieSession
from tservice.core.identity import Identity


class IAccounts(Interface):
    """Who there is, and whether a password is right."""

    async def check(username: str, password: str, place: str) -> Identity | None:
        """The account's identity when the password is right, in time that tells nothing.

        @param place: where the caller is; those of one place wait for each other.
        @raise Crowded: too many of that place wait already.
        """

    def identity(username: str) -> Identity | None:
        """The account as it is now; C{None} when it is gone or disabled."""

    def seal(username: str) -> bytes | None:
        """Tells the account's password from every other it had or will have, and tells nothing of
        it; C{None} when there is no such account."""

    def known(username: str) -> bool:
        """Whether there is an account of that name, disabled or not."""

    def counted(username: str) -> str | None:
        """The name whose own failures are counted; C{None} for what can be no name."""


class ICookieStore(Interface):
    """Keeps cookie sessions across a restart."""

    def load() -> Sequence[CookieSession]:
        """Every session kept."""

    def save(session: CookieSession) -> None:
        """Add a session, or keep its new state under the same id; a full disk gets it later."""

    def delete(ids: Iterable[str]) -> None:
        """Forget sessions; unknown ids are fine.

        @raise NotKept: the disk does not take it yet; until it does a restart brings them back.
        """
