"""Interface between the gate and the authenticators: the request data they see and their verdicts.

The gate (tservice.http.gate) knows no passwords.  An authenticator knows no HTTP responses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from attrs import define, frozen
from zope.interface import Interface

from tservice.core.callers.identity import Identity


@frozen(kw_only=True)
class AuthenticationRequest:
    """Data of one request that an authenticator needs to decide who sent it.

    @ivar path: the path in its canonical spelling, as the routes know it.  C{None} for a path that
        matches no possible route.
    @ivar host: the Host header, which the gate has already checked.
    @ivar address: the caller's address, with a trusted proxy's header already applied.
    @ivar secure: true if the request came over TLS, to the service or to a trusted proxy.
    @ivar upgrade: true if the request asks for a WebSocket.
    @ivar preflight: true for the CORS preflight of a browser from an allowed origin.
    @ivar cors: the foreign origin that may read the response.  C{None} if no origin may.
    @ivar page: true if the request is for a static file of the browser UI, which holds no user's
        data.
    @ivar key: the page key sent along with the cookie, valid or not.  C{None} if no page sent the
        request.
    @ivar led: true if a page of a foreign, disallowed origin caused the navigation by a link, a
        form or a frame, according to the browser.
    @ivar base: the base path under which the caller reaches the service.
    @ivar header: returns the last value of a request header, or C{None} if it is missing.
    @ivar cookies: returns every value of a cookie name.  A request may have several, because other
        paths and programs on other ports set cookies too.
    """

    method: str
    path: str | None
    host: str
    address: str
    secure: bool
    upgrade: bool
    header: Callable[[str], str | None]
    cookies: Callable[[str], Sequence[str]]
    page: bool = False
    key: str | None = None
    led: bool = False
    base: str = ""
    preflight: bool = False
    cors: str | None = None


@define
class SignInRule:
    """Rule whether callers have to sign in.

    @ivar is_required: false while a single-user service has no password.  It never becomes false
        again.
    @ivar is_open_by_choice: true if the operator lets everybody in who can connect.
    """

    is_required: bool
    is_open_by_choice: bool = False

    @property
    def allows_tunnel(self) -> bool:
        """True if the service may be made public."""
        return self.is_required or self.is_open_by_choice


class FailureBucket(Enum):
    """Category of authentication failures; each category is counted separately (protocol-failures).

    Tokens have their own category, so a script with an expired token does not lock a user out of
    the login.
    """

    BASIC = "basic"
    HOOK = "hook"
    QR = "qr"
    TOKEN = "token"  # noqa: S105


@frozen(kw_only=True)
class CredentialsAccepted:
    """Verdict that the credentials are valid and the caller is known.

    @ivar set_cookie: C{Set-Cookie} header of the session that this verdict opened or extended.
    @ivar key_wanted: true if the page sent no page key and should fetch one.
    """

    identity: Identity
    set_cookie: str | None = None
    key_wanted: bool = False


@frozen(kw_only=True)
class CredentialsRejected:
    """Verdict that the presented credentials are wrong, which counts as a failure.

    @ivar is_counted: true if the authenticator has already counted the failure.
    @ivar text: the body text of the 401 response.
    @ivar challenge: true if the browser should prompt for a password.
    @ivar busy: seconds after which the client should retry, if the credentials were not checked
        because a limit is exceeded or too many checks wait.
    """

    bucket: FailureBucket
    is_counted: bool = False
    text: str = "Unauthorized"
    challenge: bool = True
    busy: float = 0.0


Verdict = CredentialsAccepted | CredentialsRejected | None
"""Result of an authenticator.  C{None} means that the request holds no credentials of the kind that
the authenticator checks.
"""


class IAuthenticator(Interface):
    """Checks one kind of credentials: a cookie, a password, a token or a secret."""

    async def authenticate(visit: AuthenticationRequest) -> Verdict:
        """Check the credentials of C{visit}.  No request data makes this method raise."""

    def reauthorize_identity(identity: Identity) -> Identity | None:
        """Return the current rights of an identity that was authenticated before, without waiting.

        Only changes since then are checked: no password is read, nothing is hashed, no failure is
        counted.

        @return: the identity with its current rights.  C{None} if the identity is no longer valid
            or belongs to another authenticator.
        """


class IFailureCounter(Interface):
    """Counter of wrong passwords, secrets and codes."""

    def record_failure(bucket: FailureBucket, address: str, username: str | None) -> float:
        """Count one failure.

        @return: 0 while the cap is not reached, else the seconds until the window ends.
        """

    def get_block_seconds(bucket: FailureBucket, address: str, username: str | None) -> float:
        """Return the seconds that L{record_failure} would return, without counting a failure."""
