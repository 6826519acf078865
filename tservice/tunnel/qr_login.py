"""Sign-in with a scanned QR code, independent of HTTP (protocol-qr)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.authentication import FailureBucket, IFailureCounter, SignInRule
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.kernel.event_payloads import LoginCodePayload, LoginCodeUsedPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.tunnel.guess_limit import WrongCodeLimit
from tservice.tunnel.qr_codes import MAX_OWNERS, QrCodeRegistry

SignIn = Callable[[str, str, str], tuple[str, str] | None]
"""Function that opens a session, called with a user name, an address and a user agent.

It returns the cookie's value and the key for the page's URL, or C{None} if the user may not sign
in.
"""


class TooManyGuesses(Exception):
    """Error raised without checking a code, because too many wrong codes were sent.

    @ivar seconds: seconds until codes are checked again.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@frozen(kw_only=True)
class QrDisplay:
    """QR code for a user to scan.

    @ivar svg: image of the code as an C{<svg>} element for a page.
    @ivar url: URL that the image contains.
    @ivar expires_at: time at which the code is replaced, in Unix milliseconds; C{None} if it never
        is.
    @ivar auth_enabled: true if the URL contains a code that signs in; false if the service requires
        no sign-in.
    """

    svg: str
    url: str
    expires_at: int | None
    auth_enabled: bool


@frozen(kw_only=True)
class QrLoginDependencies:
    """Dependencies of the sign-in with QR codes.

    @ivar random: returns this many unpredictable bytes.
    @ivar standing: user who gets a code as soon as the tunnel is open. Other users get one on
        request.
    @ivar sign_in_rule: the rule whether callers have to sign in.
    """

    clock: IReactorTime
    random: Callable[[int], bytes] = field(repr=False)
    hub: EventHub
    failures: IFailureCounter
    sign_in: SignIn
    standing: str | None
    sign_in_rule: SignInRule


class QrLogin:
    """Sign-in with QR codes while the tunnel is open, and the images of the codes."""

    def __init__(self, deps: QrLoginDependencies) -> None:
        self._deps = deps
        self._tunnel: str | None = None
        self._codes = QrCodeRegistry(deps.clock, deps.random, self._publish_rotation)
        self._guesses = WrongCodeLimit(deps.clock)
        self._drawn: dict[str, str] = {}

    def handle_tunnel_change(self, url: str | None) -> None:
        """Revoke all codes because the tunnel's address changed.

        @param url: new address; C{None} if the tunnel ended.
        """
        self._codes.revoke_all()
        self._drawn.clear()
        self._tunnel = url
        standing = self._deps.standing
        if url is not None and standing is not None and self._deps.sign_in_rule.is_required:
            self._codes.get_or_create_displayed_code(standing)

    def get_display(self, owner: str) -> QrDisplay:
        """Return the QR code that C{owner} can scan now.

        @raise ServiceError: 404 if no tunnel is open.
        """
        if self._tunnel is None:
            raise make_not_found_error("Tunnel")
        if not self._deps.sign_in_rule.is_required:
            return QrDisplay(
                svg=self._draw_cached(self._tunnel),
                url=self._tunnel,
                expires_at=None,
                auth_enabled=False,
            )
        word, expires_at = self._codes.get_or_create_displayed_code(owner)
        url = f"{self._tunnel}/q/{word}"
        return QrDisplay(
            svg=self._draw_cached(url), url=url, expires_at=expires_at, auth_enabled=True
        )

    def regenerate_code(self, owner: str) -> QrDisplay:
        """Create a new code for C{owner}, revoke the older ones, and return the new QR code.

        @raise ServiceError: 404 if no tunnel is open.
        """
        if self._tunnel is not None and self._deps.sign_in_rule.is_required:
            self._codes.replace_codes(owner)
            self._publish_code(EventName.TUNNEL_QR_REGENERATED, owner)
        return self.get_display(owner)

    def replace_all_codes(self) -> None:
        """Replace the codes of all owners, because other people may have seen them."""
        for owner in self._codes.list_owners():
            self.regenerate_code(owner)

    def revoke_codes(self, owner: str) -> None:
        """Revoke the codes of a user whose account changed."""
        self._codes.revoke_codes(owner)

    def sign_in_with_code(self, word: str, address: str, agent: str) -> tuple[str, str] | None:
        """Sign in with a code, which becomes invalid.

        Too many wrong codes block all codes for some time, because codes are shorter than
        passwords.

        @param word: the code.
        @param address: address of the client.
        @param agent: user agent of the client.
        @return: the result of L{SignIn}, or C{None} if the code is wrong, used or expired.
        @raise TooManyGuesses: too many wrong codes were sent.
        """
        failures = self._deps.failures
        wait = failures.get_block_seconds(FailureBucket.QR, address, None)
        if wait:
            failures.record_failure(
                FailureBucket.QR, address, None
            )  # recorded as blocked, and not counted
        wait = wait or self._guesses.get_blocked_seconds()
        if wait:
            raise TooManyGuesses(wait)
        owner = self._codes.redeem_code(word)
        opened = None if owner is None else self._deps.sign_in(owner, address, agent)
        if opened is None:
            self._guesses.record_wrong_code()
            failures.record_failure(FailureBucket.QR, address, None)
            return None
        self._publish_use(address, agent)
        return opened

    def close(self) -> None:
        """Revoke all codes and cancel the timers."""
        self._codes.revoke_all()

    def _publish_use(self, address: str, agent: str) -> None:
        told = LoginCodeUsedPayload(ip=address, ua=agent, timestamp=get_unix_ms(self._deps.clock))
        self._deps.hub.publish(Event(name=EventName.TUNNEL_QR_AUTH_USED, payload=told))

    def _publish_rotation(self, owner: str) -> None:
        self._publish_code(EventName.TUNNEL_QR_ROTATED, owner)

    def _publish_code(self, name: EventName, owner: str) -> None:
        shown = self.get_display(owner)
        told = LoginCodePayload(svg=shown.svg, url=shown.url, expires_at=shown.expires_at)
        self._deps.hub.publish(Event(name=name, payload=told, owner=owner))

    def _draw_cached(self, url: str) -> str:
        if url not in self._drawn:
            while len(self._drawn) >= MAX_OWNERS:
                del self._drawn[next(iter(self._drawn))]
            self._drawn[url] = draw_qr_code(url)
        return self._drawn[url]


def draw_qr_code(url: str) -> str:
    """Return a QR code as an C{<svg>} element without a size, in black on white for scanners."""
    # Imported here, as most services never draw a code.
    import segno

    code = segno.make_qr(url, error="m")
    drawn: str = code.svg_inline(
        omitsize=True, dark="#000", light="#fff", svgclass=None, lineclass=None, title="QR code"
    )
    return drawn
