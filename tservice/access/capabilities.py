"""Words in a path that open one thing in somebody's name (protocol-capabilities).

For web tabs, whose frames can send no header, and for children of a session that get no cookie.
A word is 192 random bits, is kept as a hash in memory alone, and so is worth nothing after a
restart, nor to whoever reads the memory of a crash.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

BYTES = 24
MOST = 200
"""Words at a time (protocol-capabilities)."""

TTL_SECONDS = 12 * 60 * 60.0
"""A word ends so long after its last use (protocol-capabilities)."""


@frozen(kw_only=True)
class Capability:
    """What a word opens.

    @ivar kind: what sort of thing, for example C{webview}; a word of one kind opens no other.
    @ivar subject: which one of them.
    @ivar username: who made the word, and in whose name it opens.
    @ivar auth_session: the signed-in session that made it, if any: it ends with that.
    @ivar expires_at: in the clock's seconds.
    @ivar lasts: seconds from each use.
    """

    kind: str
    subject: str
    username: str
    auth_session: str | None
    expires_at: float
    lasts: float = TTL_SECONDS


class CapabilityRegistry:
    """All of them.

    At L{MOST} the one used longest ago goes, of whoever has most of them: nobody can push out
    the words of somebody who has fewer.
    """

    def __init__(self, clock: IReactorTime, random: Callable[[int], bytes]) -> None:
        """@param random: gives so many unguessable bytes."""
        self._clock, self._random = clock, random
        self._known: dict[bytes, Capability] = {}
        self._open: dict[object, tuple[Capability, Callable[[], object]]] = {}

    def mint(
        self,
        kind: str,
        subject: str,
        username: str,
        auth_session: str | None = None,
        lasts: float = TTL_SECONDS,
    ) -> str:
        """A new word: 32 signs that a path can hold as they are."""
        self._forget_expired()
        if len(self._known) >= MOST:
            self._make_room()
        word = base64.urlsafe_b64encode(self._random(BYTES)).decode("ascii")
        self._known[_digest(word)] = Capability(
            kind=kind,
            subject=subject,
            username=username,
            auth_session=auth_session,
            expires_at=self._clock.seconds() + lasts,
            lasts=lasts,
        )
        return word

    def find(self, kind: str, word: str, username: str | None = None) -> Capability | None:
        """What a word opens; its time begins anew.

        @param username: who shows it, where that is known: another's word opens nothing then.
        """
        key = _digest(word)
        found = self._known.get(key)
        if found is None or found.kind != kind or username not in (None, found.username):
            return None
        if found.expires_at <= self._clock.seconds():
            self._forget_expired()
            return None
        # Out and in again: the order of the dict is the order of use.
        del self._known[key]
        later = evolve(found, expires_at=self._clock.seconds() + found.lasts)
        self._known[key] = later
        return later

    def hold(self, found: Capability, cut: Callable[[], object]) -> Callable[[], None]:
        """Keep in mind what is open under a word: C{cut} ends it when the word is made void.

        That the word's time is over ends nothing: what is open is in use.

        @return: to be called when it is over; may be called twice.
        """
        key = object()
        self._open[key] = (found, cut)

        def over() -> None:
            self._open.pop(key, None)

        return over

    def end(self, which: Callable[[Capability], bool]) -> int:
        """Void words at once, and end what is open under them.

        @return: how many.
        """
        ended = self._drop(which)
        for found, cut in tuple(self._open.values()):
            if which(found):
                cut()
        return ended

    def _drop(self, which: Callable[[Capability], bool]) -> int:
        dropped = [key for key, known in self._known.items() if which(known)]
        for key in dropped:
            del self._known[key]
        return len(dropped)

    def _make_room(self) -> None:
        [(most, _)] = Counter(known.username for known in self._known.values()).most_common(1)
        oldest = next(key for key, known in self._known.items() if known.username == most)
        del self._known[oldest]

    def _forget_expired(self) -> None:
        now = self._clock.seconds()
        self._drop(lambda known: known.expires_at <= now)


def _digest(word: str) -> bytes:
    """It is random and long, so one round of a fast hash is enough."""
    return hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
