"""Whose window decides a session's size (protocol-size)."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

DESKTOP_CLAIM_MS = 90_000
"""Milliseconds for which a desktop's size keeps phones and tablets from changing it."""


class Viewport(StrEnum):
    """What kind of screen asks."""

    MOBILE = "mobile"
    TABLET = "tablet"
    DESKTOP = "desktop"


@frozen
class Claims:
    """Who claimed the size.

    @ivar desktop_at: Unix milliseconds of the last desktop resize, C{None} when nobody claims.
    """

    desktop_at: int | None = None


def may_resize(claims: Claims, viewport: Viewport | None, now: int, *, force: bool) -> bool:
    """Whether a resize is applied.  One that does not say what it is counts as no phone."""
    if force or viewport in (None, Viewport.DESKTOP) or claims.desktop_at is None:
        return True
    return now - claims.desktop_at >= DESKTOP_CLAIM_MS


def after_resize(claims: Claims, viewport: Viewport | None, now: int, *, force: bool) -> Claims:
    """The claims once a resize was applied.

    A desktop claims (again); a forced phone ends the claim, or its next resize would be ignored.
    """
    if viewport is Viewport.DESKTOP:
        return Claims(now)
    return Claims() if force and viewport is not None else claims
