"""Authenticators, one for each kind of credentials (L{IAuthenticator})."""

from __future__ import annotations

import base64
import binascii
from hmac import compare_digest

from attrs import evolve
from zope.interface import implementer

from tservice.access.browser_detection import is_from_browser
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.hook_secret import (
    HEADER,
    derive_container_secret,
    derive_os_user_secret,
    parse_secret_container,
    parse_secret_uid,
)
from tservice.access.interfaces import IAccounts
from tservice.access.model import CookieSession, format_session_cookie
from tservice.access.passwords.failures import TooManySignIns
from tservice.access.passwords.sign_in import PasswordChecker
from tservice.core.callers.authentication import (
    AuthenticationRequest,
    CredentialsAccepted,
    CredentialsRejected,
    FailureBucket,
    IAuthenticator,
    SignInRule,
    Verdict,
)
from tservice.core.callers.identity import Identity

HOOK = Identity(username="hook", admin=False, method="hook", can_bypass_permissions=False)


OPEN_SERVICE = "Unauthorized: this service has no password; send no Authorization header"


@implementer(IAuthenticator)
class OpenAccessAuthenticator:
    """Authenticator of single-user mode, which accepts every caller until there is a password.

    Tokens are checked before.  A request with any other credentials is refused: a client with a
    revoked or mistyped credential must not be served as the admin.
    """

    def __init__(self, username: str, rule: SignInRule) -> None:
        self._rule = rule
        self._pass = CredentialsAccepted(identity=Identity(username=username, admin=True))

    async def authenticate(self, visit: AuthenticationRequest) -> Verdict:
        if self._rule.is_required:
            return None
        if not visit.header("authorization"):
            return self._pass
        return CredentialsRejected(bucket=FailureBucket.BASIC, text=OPEN_SERVICE, challenge=False)

    def reauthorize_identity(self, identity: Identity) -> Identity | None:
        admits = identity.method == "none" and not self._rule.is_required
        return identity if admits else None


@implementer(IAuthenticator)
class CookieAuthenticator:
    """Authenticator for cookies of live sessions.

    An unknown cookie does not count as a failure, because it may belong to an expired session.
    """

    def __init__(self, cookies: CookieSessionRegistry, accounts: IAccounts) -> None:
        self._cookies, self._accounts = cookies, accounts

    async def authenticate(self, visit: AuthenticationRequest) -> Verdict:
        found = self._cookies.find_presented_sessions(visit)
        for token, session in found:
            known = (
                self._session_identity(session)
                if session.is_request_of_same_client(visit)
                else None
            )
            if known is not None:
                left = self._cookies.get_remaining_seconds(self._cookies.extend_session(session))
                return CredentialsAccepted(
                    identity=known, set_cookie=format_session_cookie(token, visit, left)
                )
        # A browser requests the files of the page before the page can send its key.
        owners = [self._session_identity(session) for _, session in found] if visit.page else []
        return next(
            (CredentialsAccepted(identity=owner) for owner in owners if owner is not None), None
        )

    def _session_identity(self, session: CookieSession) -> Identity | None:
        known = self._accounts.find_identity(session.username)
        return known and evolve(known, method="cookie", auth_session=session.id)

    def reauthorize_identity(self, identity: Identity) -> Identity | None:
        return _current_identity(self._cookies, self._accounts, identity)


@implementer(IAuthenticator)
class BasicAuthenticator:
    """Authenticator for a user name and password in the request (HTTP Basic)."""

    def __init__(
        self, cookies: CookieSessionRegistry, accounts: IAccounts, passwords: PasswordChecker
    ) -> None:
        self._cookies, self._accounts, self._passwords = cookies, accounts, passwords

    async def authenticate(self, visit: AuthenticationRequest) -> Verdict:
        shown = self._find_credentials(visit)
        if shown is None:
            return None
        username, password = shown
        try:
            identity = await self._passwords.check_password(username, password, visit.address)
        except TooManySignIns as error:
            return CredentialsRejected(bucket=FailureBucket.BASIC, busy=error.seconds)
        if identity is None:
            return CredentialsRejected(bucket=FailureBucket.BASIC, is_counted=True)
        known, paged = evolve(identity, method="basic"), visit.key is not None
        for _, held in self._cookies.find_presented_sessions(visit):
            if held.key_hash is not None and held.username == known.username:
                # The cookie belongs to another page that is open in the browser: keep it.
                return CredentialsAccepted(
                    identity=evolve(known, auth_session=held.id), key_wanted=paged
                )
        agent = visit.header("user-agent") or ""
        opened = self._cookies.find_or_open(
            known.username, visit.address, agent, is_from_browser(visit)
        )
        return CredentialsAccepted(
            identity=evolve(known, auth_session=opened.id),
            set_cookie=format_session_cookie(opened.token, visit),
            key_wanted=paged,
        )

    def _find_credentials(self, visit: AuthenticationRequest) -> tuple[str, str] | None:
        """Return the user name and password of a request.

        @return: C{None} if there are none, or if a link of another site supplied them.
        """
        shown = None if visit.led else parse_basic_header(visit.header("authorization") or "")
        if shown is None or may_admit_page(self._cookies, visit, shown[0]):
            return shown
        return None

    def reauthorize_identity(self, identity: Identity) -> Identity | None:
        return _current_identity(self._cookies, self._accounts, identity)


def may_admit_page(
    cookies: CookieSessionRegistry, visit: AuthenticationRequest, username: str
) -> bool:
    """Return whether a password that the browser sends automatically may admit a page as
    C{username}.

    A browser keeps the user name and password of any link.  Therefore the page is not admitted
    while it has the key of another user's live session.
    """
    owner = None if visit.key is None else cookies.find_key_owner(visit.key)
    return owner is None or owner == username


def _current_identity(
    cookies: CookieSessionRegistry, accounts: IAccounts, identity: Identity
) -> Identity | None:
    """Return the account's current identity; C{None} if the session of C{identity} has ended."""
    session = identity.auth_session
    alive = session is not None and cookies.is_live(session)
    return accounts.find_identity(identity.username) if alive else None


def parse_basic_header(header: str) -> tuple[str, str] | None:
    """Return the user name and password of an C{Authorization: Basic} header; C{None} for
    others.
    """
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    username, colon, password = text.partition(":")
    return (username, password) if colon else None


@implementer(IAuthenticator)
class HookAuthenticator:
    """Authenticator for hooks of this machine, which send a secret in a header.

    The secret is that of the service or of an OS user.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def authenticate(self, visit: AuthenticationRequest) -> Verdict:
        text = visit.header(HEADER) or ""
        shown, uid = text.encode("utf-8", "surrogateescape"), parse_secret_uid(text)
        right = self._secret if uid is None else derive_os_user_secret(self._secret, uid)
        if compare_digest(shown, right.encode()):
            return CredentialsAccepted(identity=evolve(HOOK, os_uid=uid))
        return CredentialsRejected(
            bucket=FailureBucket.HOOK, text="Unauthorized: hook secret required", challenge=False
        )

    def reauthorize_identity(self, identity: Identity) -> Identity | None:
        return identity if identity.method == HOOK.method else None


@implementer(IAuthenticator)
class ContainerAuthenticator:
    """Authenticator for hooks of containers, which send the container's secret in a header."""

    def __init__(self, secret: str) -> None:
        """@param secret: the secret of the service, from which those of containers are derived."""
        self._secret = secret

    async def authenticate(self, visit: AuthenticationRequest) -> Verdict:
        shown = visit.header(HEADER) or ""
        name = parse_secret_container(shown)
        if name is not None:
            right = derive_container_secret(self._secret, name).encode()
            if compare_digest(shown.encode("utf-8", "surrogateescape"), right):
                return CredentialsAccepted(identity=evolve(HOOK, container=name))
        return CredentialsRejected(
            bucket=FailureBucket.HOOK, text="Unauthorized: hook secret required", challenge=False
        )

    def reauthorize_identity(self, identity: Identity) -> Identity | None:
        return identity if identity.container is not None else None
