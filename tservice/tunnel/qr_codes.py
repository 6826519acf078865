"""Codes that are each valid for one sign-in (protocol-qr)."""

from __future__ import annotations

from collections.abc import Callable
from hmac import compare_digest

from attrs import define
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.tunnel.model import GRACE_SECONDS, ROTATION_SECONDS, generate_code, has_code_form

MAX_OWNERS = 16
"""Maximum number of users with codes. For a further user, the codes of the first one are
revoked.
"""


@define
class _LoginCode:
    """Code that is valid for one sign-in.

    @ivar expires_at: time in seconds of the reactor's clock at which the code expires; C{None}
        while it is displayed.
    """

    text: str
    owner: str
    expires_at: float | None = None


@define
class _DisplayedCode:
    """Code that is currently displayed to its owner.

    @ivar replaced_at: time in seconds of the reactor's clock at which the next code replaces it.
    @ivar timer: timer of the replacement.
    """

    code: _LoginCode
    replaced_at: float
    timer: IDelayedCall


class QrCodeRegistry:
    """Registry of the displayed code of each owner, and of earlier codes that have not expired.

    The codes are kept in memory, so that a restart revokes them. An owner has three valid codes at
    most, because L{GRACE_SECONDS} is less than two rotations.
    """

    def __init__(
        self,
        clock: IReactorTime,
        random: Callable[[int], bytes],
        on_rotated: Callable[[str], None],
    ) -> None:
        """Create an empty registry.

        @param random: returns this many unpredictable bytes.
        @param on_rotated: called with the owner after each automatic replacement of a code.
        """
        self._clock, self._random, self._rotated = clock, random, on_rotated
        self._live: list[_LoginCode] = []
        self._shown: dict[str, _DisplayedCode] = {}

    def get_or_create_displayed_code(self, owner: str) -> tuple[str, int]:
        """Return the code to display to C{owner}, and the time of its replacement in Unix
        milliseconds.

        A code is created if the owner has none.
        """
        if owner not in self._shown:
            if len(self._shown) >= MAX_OWNERS:
                self.revoke_codes(next(iter(self._shown)))
            self._create_code(owner)
        shown = self._shown[owner]
        left = shown.replaced_at - self._clock.seconds()
        return shown.code.text, get_unix_ms(self._clock) + round(left * 1000)

    def redeem_code(self, word: str) -> str | None:
        """Check a code, and make it invalid.

        If it is the displayed code, it is replaced immediately.

        @return: owner of the code, or C{None} if the code is unknown or expired.
        """
        if not has_code_form(word):
            return None
        self._drop_expired()
        found = [code for code in self._live if compare_digest(code.text, word)]
        if not found:
            return None
        code = found[0]
        self._live.remove(code)
        if code.expires_at is None:
            self._replace_displayed_code(code.owner)
        return code.owner

    def replace_codes(self, owner: str) -> None:
        """Create a new code for C{owner}, and revoke all older ones."""
        self.revoke_codes(owner)
        self._create_code(owner)

    def list_owners(self) -> tuple[str, ...]:
        """Return the users who have a displayed code."""
        return tuple(self._shown)

    def revoke_codes(self, owner: str) -> None:
        """Revoke every code of an owner, and stop replacing them."""
        shown = self._shown.pop(owner, None)
        if shown is not None and shown.timer.active():
            shown.timer.cancel()
        self._live = [code for code in self._live if code.owner != owner]

    def revoke_all(self) -> None:
        """Revoke the codes of all owners."""
        for owner in self.list_owners():
            self.revoke_codes(owner)

    def _replace_displayed_code(self, owner: str) -> None:
        before = self._shown.pop(owner)
        if before.timer.active():
            before.timer.cancel()
        before.code.expires_at = self._clock.seconds() + GRACE_SECONDS
        self._create_code(owner)
        self._rotated(owner)

    def _create_code(self, owner: str) -> None:
        self._drop_expired()
        taken = {code.text for code in self._live}
        word = generate_code(self._random)
        while word in taken:
            word = generate_code(self._random)
        code = _LoginCode(word, owner)
        self._live.append(code)
        timer = self._clock.callLater(ROTATION_SECONDS, self._replace_displayed_code, owner)
        self._shown[owner] = _DisplayedCode(code, self._clock.seconds() + ROTATION_SECONDS, timer)

    def _drop_expired(self) -> None:
        now = self._clock.seconds()
        self._live = [
            code for code in self._live if code.expires_at is None or code.expires_at > now
        ]
