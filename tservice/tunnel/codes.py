"""The codes that are good for one sign-in each (protocol-qr)."""

from __future__ import annotations

from collections.abc import Callable
from hmac import compare_digest

from attrs import define
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.clock import now_ms
from tservice.tunnel.model import GRACE_SECONDS, ROTATION_SECONDS, is_code, new_code

MAX_OWNERS = 16
"""Users with codes at a time; who asked first loses theirs."""


@define
class _Code:
    """@ivar dies: when it is too old; C{None} while it is the one that is shown."""

    word: str
    owner: str
    dies: float | None = None


@define
class _Shown:
    """@ivar ends: when the next one takes its place."""

    code: _Code
    ends: float
    timer: IDelayedCall


class QrCodes:
    """For each owner the code that is shown, and those before it that are not too old yet.

    They are in memory only, and a restart forgets them.  An owner has three live ones at most:
    L{GRACE_SECONDS} are less than two rotations.
    """

    def __init__(
        self,
        clock: IReactorTime,
        random: Callable[[int], bytes],
        rotated: Callable[[str], None],
    ) -> None:
        """
        @param rotated: told the owner whenever another code is to be shown that nobody asked for.
        """
        self._clock, self._random, self._rotated = clock, random, rotated
        self._live: list[_Code] = []
        self._shown: dict[str, _Shown] = {}

    def current(self, owner: str) -> tuple[str, int]:
        """The code to show, made if there is none; and when it is replaced, in Unix ms."""
        if owner not in self._shown:
            if len(self._shown) >= MAX_OWNERS:
                self.forget(next(iter(self._shown)))
            self._show_next(owner)
        shown = self._shown[owner]
        left = shown.ends - self._clock.seconds()
        return shown.code.word, now_ms(self._clock) + round(left * 1000)

    def take(self, word: str) -> str | None:
        """Use a code up.

        A used code that was on show is replaced at once.

        @return: whose it was; C{None}: there is no such code, or none any more.
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
        """Another code at once; all older ones of this owner are void."""
        self.forget(owner)
        self._show_next(owner)

    def owners(self) -> tuple[str, ...]:
        """Who has a code."""
        return tuple(self._shown)

    def forget(self, owner: str) -> None:
        """Void every code of an owner, and make no more."""
        shown = self._shown.pop(owner, None)
        if shown is not None and shown.timer.active():
            shown.timer.cancel()
        self._live = [code for code in self._live if code.owner != owner]

    def clear(self) -> None:
        """Void every code."""
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
