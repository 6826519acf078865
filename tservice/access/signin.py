"""Checking a password that came in a body, as the login and the change of a password do."""

from __future__ import annotations

from tservice.access.failures import neighbourhood
from tservice.access.hashing import BUSY_SECONDS, Crowded
from tservice.access.interfaces import IAccounts
from tservice.core.authentication import Bucket, IFailures
from tservice.core.identity import Identity


class TooManySignIns(Exception):
    """Not now.

    @ivar seconds: until it is worth trying again.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


async def check_password_of(
    accounts: IAccounts, failures: IFailures, username: str, password: str, address: str
) -> Identity | None:
    """Who it is; a wrong password is counted.

    @raise TooMany: it is wrong once more, over the cap, or too much waits already.
    """
    try:
        identity = await accounts.check(username, password, neighbourhood(address))
    except Crowded:
        raise TooManySignIns(BUSY_SECONDS) from None
    if identity is None:
        wait = failures.failed(Bucket.BASIC, address, accounts.counted(username))
        if wait:
            raise TooManySignIns(wait)
    return identity
