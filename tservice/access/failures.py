"""Counting wrong passwords, secrets and codes (protocol-auth, protocol-failures).

A secret or token is too long to guess, so a right one passes whatever is counted.  A password is
not: over a cap it is looked at by the clock alone, and else refused without a look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address, ip_network

from attrs import define, frozen
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from tservice.core.authentication import Bucket, IFailures

CAP = 10
"""Failures of an address, and of a user name, in a window."""

NETWORK_CAP = 60
"""Failures of a network that one customer of a provider may have (protocol-failures)."""

WINDOW_SECONDS = 15 * 60
MAX_COUNTED = 10_000
"""Addresses, names and networks, each, counted at a time; the first to begin is forgotten."""

LOOK_SECONDS = 5.0
"""Over a cap one password is looked at in this time."""

TURN_SECONDS = 1.0
"""Passwords from an address that is known are looked at this far apart over a cap."""

MAX_TURNS = 8
"""Requests of a known address that wait their turn; one more is refused."""

_CAPS = {"address": CAP, "username": CAP, "network": NETWORK_CAP}
_Key = tuple[Bucket, str, str]
Heard = Callable[[str, str, str | None, bool], None]


@define(eq=False)
class _Window:
    """Failures of one key.

    @ivar reserved: passwords that are being looked at; each counts until it proves right.
    @ivar next_look: when a stranger's password is looked at again, once the cap is reached.
    """

    key: _Key
    ends: float
    count: int = 0
    reserved: int = 0
    next_look: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether it did not begin: a right password leaves nothing."""
        return not self.count + self.reserved

    @property
    def is_full(self) -> bool:
        """Whether its cap is reached."""
        return self.count + self.reserved >= _CAPS[self.key[1]]


class TooManySignIns(Exception):
    """The password was not looked at.

    @ivar seconds: until it is worth trying again.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@frozen(kw_only=True)
class Lockout:
    """A cap that was just reached.

    @ivar kind: C{address}, C{network} or C{username}.
    @ivar value: the address, network or name that was counted.
    @ivar address: the place of the last failure.
    """

    bucket: Bucket
    kind: str
    value: str
    address: str


@frozen(kw_only=True)
class Look:
    """A password that may be looked at.

    @ivar wait: seconds until its turn.
    """

    address: str
    username: str | None
    wait: float
    windows: tuple[_Window, ...]


@implementer(IFailures)
class Failures:
    """A window of L{WINDOW_SECONDS} begins with the first failure and holds a cap of them.

    Failures over the cap are not counted, so nobody can keep a window open.

    @ivar lockouts: how often a cap was reached, by bucket and kind.
    """

    def __init__(self, clock: IReactorTime, heard: Heard = lambda *failure: None) -> None:
        """
        @param heard: told of each: its bucket, place, user name, and whether it was over the cap.
        """
        self._clock, self._heard = clock, heard
        self._windows: dict[str, dict[_Key, _Window]] = {kind: {} for kind in _CAPS}
        self._turns: dict[str, float] = {}
        self._lockout_observers: list[Callable[[Lockout], object]] = []
        self.lockouts: dict[tuple[str, ...], float] = {}

    def when_locked(self, observer: Callable[[Lockout], object]) -> None:
        """Call C{observer} each time that a cap is reached."""
        self._lockout_observers.append(observer)

    def reserve(
        self, address: str, username: str | None, *, knows_address: bool, knows_name: bool
    ) -> Look:
        """Count a password as wrong before it is looked at, so that many at once are no way round.

        @param knows_address: whether somebody signed in from there of late.
        @param knows_name: whether C{username} did.
        @raise TooManySignIns: it must not be looked at now.
        """
        now, keys = self._clock.seconds(), _keys(Bucket.BASIC, address, username)
        kept = {"username": knows_name, "address": knows_address, "network": knows_address}
        full = [window for key in keys if (window := self._full(key)) is not None]
        # Strangers share the look of a cap; whoever is known has turns that no stranger can take.
        shared = [window for window in full if not kept[window.key[1]]]
        place = neighbourhood(address)
        late = max((window.next_look - now for window in shared), default=0.0)
        turn = self._next_turn(place) if len(shared) < len(full) else now
        if late > 0 or turn - now > MAX_TURNS * TURN_SECONDS:
            self._heard(Bucket.BASIC.value, place, username, True)
            raise TooManySignIns(max(late, turn - now))
        if len(shared) < len(full):
            self._turns[place] = turn + TURN_SECONDS
        counted = [self._window(key) for key in keys if self._full(key) is None]
        for window in counted:
            window.reserved += 1
        for window in (*shared, *(window for window in counted if window.is_full)):
            window.next_look = now + LOOK_SECONDS
        return Look(address=address, username=username, wait=turn - now, windows=tuple(counted))

    def release(self, look: Look) -> None:
        """The password was right, or was not looked at after all."""
        for window in look.windows:
            window.reserved -= 1

    def reject(self, look: Look) -> None:
        """The password was wrong."""
        self.release(look)
        place = neighbourhood(look.address)
        self._heard(Bucket.BASIC.value, place, look.username, not look.windows)
        self._count(look.windows, place)

    def _count(self, windows: Iterable[_Window], place: str) -> None:
        for window in windows:
            window.count += 1
            bucket, kind, value = window.key
            if window.count == _CAPS[kind]:
                lockout = Lockout(bucket=bucket, kind=kind, value=value, address=place)
                labels = (bucket.value, kind)
                self.lockouts[labels] = self.lockouts.get(labels, 0) + 1
                for observer in self._lockout_observers:
                    observer(lockout)

    def _next_turn(self, place: str) -> float:
        now = self._clock.seconds()
        self._turns = {place: at for place, at in self._turns.items() if at > now}
        return self._turns.get(place, now)

    def _full(self, key: _Key) -> _Window | None:
        window = self._windows[key[1]].get(key)
        over = window is not None and window.is_full and window.ends > self._clock.seconds()
        return window if over else None

    def failed(self, bucket: Bucket, address: str, username: str | None) -> float:
        """Count one failure.

        @return: 0 up to the cap, beyond it the seconds until the window ends.
        """
        wait = self.blocked(bucket, address, username)
        place = neighbourhood(address)
        self._heard(bucket.value, place, username, bool(wait))
        if not wait:
            self._count([self._window(key) for key in _keys(bucket, address, username)], place)
        return wait

    def blocked(self, bucket: Bucket, address: str, username: str | None) -> float:
        """As L{failed}, without counting."""
        return max(self._left(key) for key in _keys(bucket, address, username))

    def _left(self, key: _Key) -> float:
        window = self._full(key)
        return 0.0 if window is None else window.ends - self._clock.seconds()

    def _window(self, key: _Key) -> _Window:
        windows = self._windows[key[1]]
        window = windows.get(key)
        if window is not None and window.ends > self._clock.seconds() and not window.is_empty:
            return window
        # Out and in again: the order of the dict is the order of beginning.
        windows.pop(key, None)
        if len(windows) >= MAX_COUNTED:
            del windows[next(iter(windows))]
        window = windows[key] = _Window(key, self._clock.seconds() + WINDOW_SECONDS)
        return window


def _keys(bucket: Bucket, address: str, username: str | None) -> list[_Key]:
    keys = [(bucket, "address", neighbourhood(address))]
    if username is not None:
        keys.append((bucket, "username", username))
    around = network(address)
    if around is not None:
        keys.append((bucket, "network", around))
    return keys


def neighbourhood(address: str) -> str:
    """What is counted as one place: an IPv4 address, or the /64 that an IPv6 host owns."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and not found.is_loopback:
        return str(ip_network((found, 64), strict=False))
    return address


def network(address: str) -> str | None:
    """The /24 or /48 around an address; C{None} for this machine's own."""
    try:
        found = ip_address(address)
    except ValueError:
        return None
    if found.is_loopback:
        return None
    return str(ip_network((found, 48 if isinstance(found, IPv6Address) else 24), strict=False))
