"""Credentials of users, and the end of the access that they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.access.capabilities import CapabilityRegistry
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.cookie_store import DatabaseCookieStore
from tservice.access.interfaces import IAccounts
from tservice.access.model import CookieSession
from tservice.access.passwords.failures import WINDOW_SECONDS, FailureCounter, LockoutEvent
from tservice.access.passwords.sign_in import KnownAddresses, PasswordChecker
from tservice.audit.interfaces import AuditEntry, IAuditLog
from tservice.core.callers.identity import Identity
from tservice.core.kernel.late_binding import LateBinding

Whose = Callable[[Identity], bool]


class OpenConnections(Protocol):
    """Open connections of callers: sockets, event streams, long polls."""

    def drop_connections(self, whose: Whose) -> None:
        """End the connections of callers whose right to them has ended."""


class SignInCodes(Protocol):
    """Codes that a user signs in with on another device."""

    def revoke_codes(self, username: str) -> object:
        """Revoke the codes of an account."""

    def close(self) -> object:
        """Stop the expiry timers."""


class CredentialRegistry:
    """Cookies, capabilities and codes, and the end of the access that they give.

    @ivar accounts: the accounts.
    @ivar codes: sign-in codes of the tunnel.
    @ivar known: addresses that users signed in from.
    @ivar passwords: checks passwords.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        random: Callable[[int], bytes],
        store: DatabaseCookieStore,
        audit: IAuditLog,
        failures: FailureCounter,
        known: KnownAddresses,
        open_connections: Sequence[OpenConnections],
    ) -> None:
        """@param open_connections: connections that end with the right to them."""
        self._clock, self._open, self._audit = clock, open_connections, audit
        self.accounts: LateBinding[IAccounts] = LateBinding("the accounts")
        self.codes: LateBinding[SignInCodes] = LateBinding("signing in by code")
        self.failures, self.known = failures, known
        self.failures.add_lockout_observer(self._record_lockout)
        self.passwords: LateBinding[PasswordChecker] = LateBinding("the passwords")
        self.capabilities = CapabilityRegistry(clock, random)
        self.cookies = CookieSessionRegistry(
            store,
            clock,
            random,
            self._end_access_of_ended_sessions,
            self._record_login,
            self._get_password_seal,
        )

    def make_password_checker(self, accounts: IAccounts) -> PasswordChecker:
        """Check the passwords of C{accounts} from now on."""
        checker = PasswordChecker(accounts, self.failures, self.known, self._clock)
        return self.passwords.bind_value(checker)

    def end_outdated_sessions(self) -> None:
        """End sessions that were opened under another password, if it was changed while the service
        was stopped.
        """
        self.cookies.revoke_sessions(
            lambda session: session.seal != self._get_password_seal(session.username)
        )

    def end_open_access(self) -> None:
        """End the access of callers that were admitted without a password.

        Sessions of an earlier password end, too.
        """
        self.end_outdated_sessions()
        self.capabilities.revoke_tokens(lambda known: known.auth_session is None)
        self._drop_connections(lambda identity: identity.method == "none")

    def revoke_access(self, username: str) -> int:
        """End all access in an account's name, and every credential that could regain it.

        @return: the number of ended sessions.
        """
        self.codes().revoke_codes(username)
        self.capabilities.revoke_tokens(lambda known: known.username == username)
        try:
            return self.cookies.revoke_sessions(lambda session: session.username == username)
        finally:
            # Also if a full disk does not accept the change.
            self._drop_connections(lambda identity: identity.username == username)

    def end_token_access(self, ids: frozenset[str]) -> None:
        """End all access by tokens that have ended."""
        self._drop_connections(lambda identity: identity.token in ids)

    def end_agent_access(self, session: str) -> None:
        """End all access in the name of a session's agent."""
        self._drop_connections(lambda identity: identity.parent == session)

    def close(self) -> None:
        """Stop the expiry timers, and refuse passwords that wait to be checked."""
        self.passwords().close()
        self.codes().close()
        self.cookies.close()

    def _drop_connections(self, whose: Whose) -> None:
        for each in self._open:
            each.drop_connections(whose)

    def _end_access_of_ended_sessions(self, ids: frozenset[str]) -> None:
        self._drop_connections(lambda identity: identity.auth_session in ids)
        self.capabilities.revoke_tokens(lambda known: known.auth_session in ids)

    def _get_password_seal(self, username: str) -> bytes | None:
        return self.accounts().get_seal(username)

    def _record_lockout(self, lockout: LockoutEvent) -> None:
        """Log one line and one audit entry; the counter is elsewhere."""
        detail = {
            "bucket": lockout.bucket.value,
            "kind": lockout.kind,
            "seconds": WINDOW_SECONDS,
        }
        self._log.warn(
            "too many wrong sign-ins ({bucket}) of the {kind} {value!r}, the last from {address}:"
            " further ones are delayed for {seconds} s",
            value=lockout.value,
            address=lockout.address,
            event="login-locked",
            **detail,
        )
        self._audit.record_entry(
            AuditEntry(
                action="login.locked", address=lockout.address, target=lockout.value, detail=detail
            )
        )

    def _record_login(self, session: CookieSession) -> None:
        self.known.record_sign_in(session.username, session.address)
        self._audit.record_entry(
            AuditEntry(
                action="login",
                actor=session.username,
                method=session.method,
                address=session.address,
                target=session.id,
            )
        )
