"""Whose window decides a session's size (protocol-size)."""

from __future__ import annotations

from enum import StrEnum

from attrs import evolve, frozen

DESKTOP_CLAIM_MS = 90_000
"""Milliseconds for which a desktop's size keeps phones and tablets from changing it."""


class Viewport(StrEnum):
    """What kind of screen asks."""

    MOBILE = "mobile"
    TABLET = "tablet"
    DESKTOP = "desktop"


@frozen(kw_only=True)
class Wish:
    """The size that somebody wants.

    @ivar viewer: the client id of a terminal socket, C{None} for a request over HTTP.
    @ivar viewport: what kind of screen it is, C{None} when it does not say.
    @ivar force: also against a desktop's claim.
    """

    cols: int
    rows: int
    viewport: Viewport | None = None
    viewer: str | None = None
    force: bool = False

    @property
    def small(self) -> bool:
        """A phone or a tablet, which a desktop's claim holds off."""
        return self.viewport in (Viewport.MOBILE, Viewport.TABLET)


@frozen(kw_only=True)
class Claims:
    """Who wants which size; of each viewer the last wish, so there are as many as sockets.

    @ivar wishes: of the viewers that are connected, the latest last.
    @ivar holder: the viewer whose size holds, C{None} when it is nobody's who is connected.
    @ivar desktop: the viewer of the last desktop claim, C{None} when it came over HTTP.
    @ivar desktop_at: Unix milliseconds of that claim, C{None} when nobody claims.
    """

    wishes: tuple[Wish, ...] = ()
    holder: str | None = None
    desktop: str | None = None
    desktop_at: int | None = None


def may_resize(claims: Claims, wish: Wish, now: int) -> bool:
    """Whether a wish is granted.  One that does not say what it is counts as no phone."""
    if wish.force or not wish.small or claims.desktop_at is None:
        return True
    return now - claims.desktop_at >= DESKTOP_CLAIM_MS


def after_wish(claims: Claims, wish: Wish, now: int) -> Claims:
    """The claims once a wish was heard, granted or not.

    A desktop claims (again); a forced phone ends the claim, or its next resize would be ignored.
    """
    granted = may_resize(claims, wish, now)
    if wish.viewer is not None:
        claims = evolve(claims, wishes=(*_others(claims, wish.viewer), wish))
    if not granted:
        return claims
    claims = evolve(claims, holder=wish.viewer)
    if wish.viewport is Viewport.DESKTOP:
        return evolve(claims, desktop=wish.viewer, desktop_at=now)
    return evolve(claims, desktop=None, desktop_at=None) if wish.force and wish.small else claims


def after_leaving(claims: Claims, viewer: str) -> tuple[Claims, Wish | None]:
    """The claims without C{viewer}, and the wish that holds from now on.

    Its desktop claim ends with it.  When the size was its own, the latest desktop that is left
    has it, else whoever wished last; C{None}: nothing changes.
    """
    left = _others(claims, viewer)
    heir = next(reversed([*(w for w in left if not w.small)] or [*left]), None)
    if claims.desktop == viewer:
        claims = evolve(claims, desktop=None, desktop_at=None)
    if claims.holder != viewer:
        return evolve(claims, wishes=left), None
    return evolve(claims, wishes=left, holder=heir.viewer if heir else None), heir


def _others(claims: Claims, viewer: str) -> tuple[Wish, ...]:
    return tuple(wish for wish in claims.wishes if wish.viewer != viewer)
