"""Rules that decide whose window sets a session's size (protocol-size)."""

from __future__ import annotations

from enum import StrEnum

from attrs import evolve, frozen

DESKTOP_CLAIM_MS = 90_000
"""Milliseconds for which a desktop's size keeps phones and tablets from changing it."""


class ViewportKind(StrEnum):
    """Kind of screen of a client."""

    MOBILE = "mobile"
    TABLET = "tablet"
    DESKTOP = "desktop"


@frozen(kw_only=True)
class SizeRequest:
    """Request for a terminal size.

    @ivar viewer: the client id of a terminal socket; C{None} for a request over HTTP.
    @ivar viewport: the kind of screen; C{None} if unknown.
    @ivar force: true to override a desktop's claim.
    """

    cols: int
    rows: int
    viewport: ViewportKind | None = None
    viewer: str | None = None
    force: bool = False

    @property
    def is_small(self) -> bool:
        """True for a phone or a tablet, which a desktop's claim blocks."""
        return self.viewport in (ViewportKind.MOBILE, ViewportKind.TABLET)


@frozen(kw_only=True)
class SizeClaims:
    """Last size request of each connected viewer, and the claim of a desktop.

    @ivar wishes: requests of the connected viewers, the latest last.
    @ivar holder: the viewer whose size is in effect; C{None} if no connected viewer set it.
    @ivar desktop: the viewer of the last desktop claim; C{None} if it came over HTTP.
    @ivar desktop_at: time of that claim in Unix milliseconds; C{None} without a claim.
    """

    wishes: tuple[SizeRequest, ...] = ()
    holder: str | None = None
    desktop: str | None = None
    desktop_at: int | None = None


def may_resize(claims: SizeClaims, wish: SizeRequest, now: int) -> bool:
    """Return true if a size request is granted. An unknown kind of screen does not count as a
    phone.

    @param now: current time in Unix milliseconds.
    """
    if wish.force or not wish.is_small or claims.desktop_at is None:
        return True
    return now - claims.desktop_at >= DESKTOP_CLAIM_MS


def apply_size_request(claims: SizeClaims, wish: SizeRequest, now: int) -> SizeClaims:
    """Return the claims after a size request, granted or not.

    A desktop renews its claim. A forced request of a phone ends the claim, so that the phone's next
    request is not ignored.

    @param now: current time in Unix milliseconds.
    """
    granted = may_resize(claims, wish, now)
    if wish.viewer is not None:
        claims = evolve(claims, wishes=(*_remove_request_of_viewer(claims, wish.viewer), wish))
    if not granted:
        return claims
    claims = evolve(claims, holder=wish.viewer)
    if wish.viewport is ViewportKind.DESKTOP:
        return evolve(claims, desktop=wish.viewer, desktop_at=now)
    return evolve(claims, desktop=None, desktop_at=None) if wish.force and wish.is_small else claims


def remove_viewer(claims: SizeClaims, viewer: str) -> tuple[SizeClaims, SizeRequest | None]:
    """Return the claims without C{viewer}, and the size request that is in effect from now on.

    The viewer's desktop claim ends. If the viewer set the size, the latest remaining desktop
    decides, or else the latest remaining request. A request of C{None} means that nothing changes.
    """
    left = _remove_request_of_viewer(claims, viewer)
    heir = next(reversed([*(w for w in left if not w.is_small)] or [*left]), None)
    if claims.desktop == viewer:
        claims = evolve(claims, desktop=None, desktop_at=None)
    if claims.holder != viewer:
        return evolve(claims, wishes=left), None
    return evolve(claims, wishes=left, holder=heir.viewer if heir else None), heir


def _remove_request_of_viewer(claims: SizeClaims, viewer: str) -> tuple[SizeRequest, ...]:
    return tuple(wish for wish in claims.wishes if wish.viewer != viewer)
