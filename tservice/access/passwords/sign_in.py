"""Password checks at a rate that earlier failures allow (protocol-failures)."""

from __future__ import annotations

from collections.abc import Iterable

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.access.interfaces import IAccounts
from tservice.access.passwords.failures import (
    FailureCounter,
    TooManySignIns,
    get_failure_count_address,
)
from tservice.access.passwords.hashing import BUSY_SECONDS, TooManyChecks
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms, wait_seconds
from tservice.core.kernel.tasks import spawn_logged

KNOWN_SECONDS = 30 * 24 * 3600
"""Seconds after a sign-in for which its address counts as known."""

MAX_KNOWN = 64
"""Maximum number of known addresses of a user name; beyond that the oldest is dropped."""


class KnownAddresses:
    """Addresses from which users recently signed in.

    Guesses from other addresses do not lock these users out.
    """

    def __init__(self, clock: IReactorTime, sign_ins: Iterable[tuple[str, str, int]] = ()) -> None:
        """@param sign_ins: user name, address and Unix milliseconds of earlier sign-ins, oldest
        first.
        """
        self._clock = clock
        self._names: dict[str, dict[str, int]] = {}
        for username, address, at in sign_ins:
            self._remember_address(username, address, at)

    def record_sign_in(self, username: str, address: str) -> None:
        """Record a sign-in of C{username} from C{address}."""
        self._remember_address(username, address, get_unix_ms(self._clock))

    def has_user_signed_in_from(self, address: str, username: str) -> bool:
        """Return whether C{username} recently signed in from C{address}."""
        at = self._names.get(username, {}).get(get_failure_count_address(address))
        return at is not None and get_unix_ms(self._clock) - at <= KNOWN_SECONDS * 1000

    def has_anyone_signed_in_from(self, address: str) -> bool:
        """Return whether any user recently signed in from C{address}."""
        return any(self.has_user_signed_in_from(address, username) for username in self._names)

    def _remember_address(self, username: str, address: str, at: int) -> None:
        places = self._names.setdefault(username, {})
        places.pop(get_failure_count_address(address), None)
        if len(places) >= MAX_KNOWN:
            del places[next(iter(places))]
        places[get_failure_count_address(address)] = at


_Guess = tuple[str, str, str]


class PasswordChecker:
    """Checks passwords from request bodies and Basic authentication headers.

    Concurrent requests with the same password share one check, because a program may begin with
    many requests at once.
    """

    _log = Logger()

    def __init__(
        self,
        accounts: IAccounts,
        failures: FailureCounter,
        known: KnownAddresses,
        clock: IReactorTime,
    ) -> None:
        self._accounts, self._failures = accounts, failures
        self._known, self._clock = known, clock
        self._asking: dict[_Guess, list[Deferred[Identity | None]]] = {}
        self._waiting: set[Deferred[None]] = set()

    async def check_password(self, username: str, password: str, address: str) -> Identity | None:
        """Return the identity of the account if the password is right.

        @return: C{None} for a wrong password, which is counted as a failure.
        @raise TooManySignIns: the password was not checked: a failure limit is reached, or too many
            checks are waiting.
        """
        asked: Deferred[Identity | None] = Deferred()
        guess = (username, password, get_failure_count_address(address))
        sharing = self._asking.setdefault(guess, [])
        sharing.append(asked)
        if len(sharing) == 1:
            spawn_logged(self._finish_waiting_checks(guess, address), self._log, "a password check")
        return await asked

    def close(self) -> None:
        """Refuse the password checks that are still waiting."""
        for waiting in tuple(self._waiting):
            waiting.cancel()

    async def _finish_waiting_checks(self, guess: _Guess, address: str) -> None:
        try:
            found = await self._check_with_reservation(guess[0], guess[1], address)
        except Exception as error:
            for asked in self._pop_waiting_checks(guess):
                asked.errback(error)
        else:
            for asked in self._pop_waiting_checks(guess):
                asked.callback(found)

    def _pop_waiting_checks(self, guess: _Guess) -> list[Deferred[Identity | None]]:
        return [asked for asked in self._asking.pop(guess) if not asked.called]

    async def _check_with_reservation(
        self, username: str, password: str, address: str
    ) -> Identity | None:
        look = self._failures.reserve_check(
            address,
            self._accounts.get_failure_count_name(username),
            knows_address=self._known.has_anyone_signed_in_from(address),
            knows_name=self._known.has_user_signed_in_from(address, username),
        )
        try:
            await self._wait_before_check(look.wait)
            found = await self._accounts.check_password(
                username, password, get_failure_count_address(address)
            )
        except TooManyChecks:
            self._failures.release_check(look)
            raise TooManySignIns(BUSY_SECONDS) from None
        except BaseException:
            self._failures.release_check(look)
            raise
        if found is None:
            self._failures.confirm_failure(look)
        else:
            self._failures.release_check(look)
            self._known.record_sign_in(found.username, address)
        return found

    async def _wait_before_check(self, seconds: float) -> None:
        if seconds <= 0:
            return
        waiting = wait_seconds(self._clock, seconds)
        self._waiting.add(waiting)
        try:
            await waiting
        except CancelledError:
            raise TooManySignIns(BUSY_SECONDS) from None
        finally:
            self._waiting.discard(waiting)
