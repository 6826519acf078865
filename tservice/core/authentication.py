"""What the gate shows to authenticators, and what they may say: the seam between them.

The gate (tservice.http.gate) knows no passwords; an authenticator knows no HTTP answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from attrs import frozen
from zope.interface import Interface

from tservice.core.identity import Identity


@frozen(kw_only=True)
class Visit:
    """One request, as far as deciding who sent it needs.

    @ivar path: as the routes know it; C{None} for a path that no route can have.
    @ivar host: the Host header, checked.
    @ivar address: the caller's address, a trusted proxy's word already applied.
    @ivar secure: whether it came over TLS, to us or to a trusted proxy.
    @ivar upgrade: whether it asks for a WebSocket.
    @ivar preflight: whether a browser only asks what it may send from an allowed origin.
    @ivar cors: the foreign origin that may read the answer, if one is allowed to.
    @ivar page: whether only a file of the browser UI is asked for: it holds nothing of anybody's.
    @ivar key: what a page shows beside its cookie, right or wrong; C{None}: no page asks.
    @ivar led: whether a browser says that a page of another origin, which is not allowed to ask,
        led it here: by a link, a form, a frame.
    @ivar base: the base path that the caller knows the service under.
    @ivar header: the last value of a request header, or C{None}.
    @ivar cookies: the values of a cookie: other paths, and programs on other ports, set more.
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


class Bucket(Enum):
    """Where failures are counted; they never share counts (protocol-failures).

    Tokens have one of their own: a script with an old token locks nobody out of the login.
    """

    BASIC = "basic"
    HOOK = "hook"
    QR = "qr"
    TOKEN = "token"  # noqa: S105


@frozen(kw_only=True)
class Pass:
    """The caller is known.

    @ivar set_cookie: C{Set-Cookie} of the session that this pass opened or extended.
    @ivar key_wanted: whether a page came in without its key, and should get itself one.
    """

    identity: Identity
    set_cookie: str | None = None
    key_wanted: bool = False


@frozen(kw_only=True)
class Wrong:
    """Evidence was shown, and it was false: it counts as a failure.

    @ivar is_counted: whether the authenticator has counted it.
    @ivar text: of the bare 401.
    @ivar challenge: whether a browser shall ask for a password by itself.
    @ivar busy: it was not looked at, over a cap or for too much that waits; seconds to come back
        after.
    """

    bucket: Bucket
    is_counted: bool = False
    text: str = "Unauthorized"
    challenge: bool = True
    busy: float = 0.0


Verdict = Pass | Wrong | None
"""C{None}: no evidence of the kind that this authenticator looks at."""


class IAuthenticator(Interface):
    """One way of showing who one is: a cookie, a password, a token, a secret."""

    async def authenticate(visit: Visit) -> Verdict:
        """Look at C{visit}.  Never raises for anything that a caller can send."""

    def again(identity: Identity) -> Identity | None:
        """What is left of an identity that was passed before, at once and without a trace.

        Nothing is looked at but what became of it since: no password, no hash, no failure counted.

        @return: its rights as they are now; C{None}: it is over, or not of this authenticator.
        """


class IFailures(Interface):
    """Counts wrong passwords, secrets and codes."""

    def failed(bucket: Bucket, address: str, username: str | None) -> float:
        """Count one.

        @return: 0 while the cap is not reached, else the seconds until the window ends.
        """

    def blocked(bucket: Bucket, address: str, username: str | None) -> float:
        """As L{failed}, without counting."""
