"""Codes that are valid for one sign-in each (protocol-qr)."""

from __future__ import annotations

from collections.abc import Callable
from hmac import compare_digest

from attrs import define
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.clock import now_ms
from tservice.tunnel.model import GRACE_SECONDS, ROTATION_SECONDS, is_code, new_code

MAX_OWNERS = 16
"""Limit of users with codes; a further one replaces the oldest."""


@define
class _Code:
    """Code for one sign-in.

    @ivar dies: time of its expiry; C{None} while it is displayed.
    """

    word: str
    owner: str
    dies: float | None = None


@define
class _Shown:
    """Displayed code.

    @ivar ends: time of its replacement.
    """

    code: _Code
    ends: float
    timer: IDelayedCall


class QrCodes:
    """Displayed code of each owner, and its earlier codes that have not expired.

    They are in memory only, and end with a restart.  An owner has three valid codes at most:
    L{GRACE_SECONDS} is less than two rotations.
    """

    def __init__(
        self,
        clock: IReactorTime,
        random: Callable[[int], bytes],
        rotated: Callable[[str], None],
    ) -> None:
        """Create the codes.

        @param rotated: called with the owner after each automatic replacement.
        """
        self._clock, self._random, self._rotated = clock, random, rotated
        self._live: list[_Code] = []
        self._shown: dict[str, _Shown] = {}

    def current(self, owner: str) -> tuple[str, int]:
        """Return the code to display, created if needed, and the time of its replacement in Unix
        ms.
        """
        if owner not in self._shown:
            if len(self._shown) >= MAX_OWNERS:
                self.forget(next(iter(self._shown)))
            self._show_next(owner)
        shown = self._shown[owner]
        left = shown.ends - self._clock.seconds()
        return shown.code.word, now_ms(self._clock) + round(left * 1000)

    def take(self, word: str) -> str | None:
        """Use a code up.

        A used code that was displayed is replaced immediately.

        @return: its owner; C{None}: the code is unknown or expired.
        """
        if not is_code(word):
            return None
        self._forget_dead()
        found = [code for code in self._live if compare_digest(code.word, word)]
        if not found:
            return None
        code = found[0]
        self._live.remove(code)
        if code.dies is None:
            self._rotate(code.owner)
        return code.owner

    def renew(self, owner: str) -> None:
        """Create another code, and revoke all older ones of this owner."""
        self.forget(owner)
        self._show_next(owner)

    def owners(self) -> tuple[str, ...]:
        """Return the users with a code."""
        return tuple(self._shown)

    def forget(self, owner: str) -> None:
        """Revoke every code of an owner, and create no more."""
        shown = self._shown.pop(owner, None)
        if shown is not None and shown.timer.active():
            shown.timer.cancel()
        self._live = [code for code in self._live if code.owner != owner]

    def clear(self) -> None:
        """Revoke every code."""
        for owner in self.owners():
            self.forget(owner)

    def _rotate(self, owner: str) -> None:
        before = self._shown.pop(owner)
        if before.timer.active():
            before.timer.cancel()
        before.code.dies = self._clock.seconds() + GRACE_SECONDS
        self._show_next(owner)
        self._rotated(owner)

    def _show_next(self, owner: str) -> None:
        self._forget_dead()
        taken = {code.word for code in self._live}
        word = new_code(self._random)
        while word in taken:
            word = new_code(self._random)
        code = _Code(word, owner)
        self._live.append(code)
        timer = self._clock.callLater(ROTATION_SECONDS, self._rotate, owner)
        self._shown[owner] = _Shown(code, self._clock.seconds() + ROTATION_SECONDS, timer)

    def _forget_dead(self) -> None:
        now = self._clock.seconds()
        self._live = [code for code in self._live if code.dies is None or code.dies > now]
