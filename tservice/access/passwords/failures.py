"""Counting of wrong passwords, secrets and codes (protocol-auth, protocol-failures).

A secret or token is too long to guess, so a correct one is accepted regardless of the counts.  A
password is not.  Once a limit is reached, passwords are checked only at intervals, and otherwise
refused without a check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address, ip_network

from attrs import define, frozen
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from tservice.core.callers.authentication import FailureBucket, IFailureCounter

CAP = 10
"""Maximum number of failures in a window, for one address and for one user name."""

NETWORK_CAP = 60
"""Maximum number of failures in a window for a network of one customer of a provider
(protocol-failures).
"""

WINDOW_SECONDS = 15 * 60
MAX_COUNTED = 10_000
"""Maximum number of addresses, of names and of networks that are counted.

Beyond that the oldest window is dropped.
"""

LOOK_SECONDS = 5.0
"""Interval in seconds between password checks for unknown clients once a limit is reached."""

TURN_SECONDS = 1.0
"""Interval in seconds between password checks for a known address once a limit is reached."""

MAX_TURNS = 8
"""Maximum number of waiting requests of a known address; a further one is refused."""

_CAPS = {"address": CAP, "username": CAP, "network": NETWORK_CAP}
_Key = tuple[FailureBucket, str, str]
Heard = Callable[[str, str, str | None, bool], None]


@define(eq=False)
class _FailureWindow:
    """Failures of one address, network or user name.

    @ivar reserved: number of passwords that are being checked.  Each counts as a failure until it
        proves right.
    @ivar next_look: time of the next password check for an unknown client, once the limit is
        reached.
    """

    key: _Key
    ends: float
    count: int = 0
    reserved: int = 0
    next_look: float = 0.0

    @property
    def is_empty(self) -> bool:
        """True if the window holds no failure, because correct passwords are not counted."""
        return not self.count + self.reserved

    @property
    def is_full(self) -> bool:
        """True if the failure limit is reached."""
        return self.count + self.reserved >= _CAPS[self.key[1]]


class TooManySignIns(Exception):
    """Raised if a password is not checked because of too many earlier failures or pending checks.

    @ivar seconds: seconds after which to retry.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@frozen(kw_only=True)
class LockoutEvent:
    """Failure limit that was just reached.

    @ivar kind: C{address}, C{get_address_network} or C{username}.
    @ivar value: the address, network or name that was counted.
    @ivar address: the address of the last failure.
    """

    bucket: FailureBucket
    kind: str
    value: str
    address: str


@frozen(kw_only=True)
class PasswordReservation:
    """Permission to check one password.

    @ivar wait: seconds to wait before the check.
    """

    address: str
    username: str | None
    wait: float
    windows: tuple[_FailureWindow, ...]


@implementer(IFailureCounter)
class FailureCounter:
    """Counter of failures in windows of L{WINDOW_SECONDS}.

    A window begins with the first failure and has a limit.  Failures over the limit are not
    counted, so an attacker cannot keep a window open.

    @ivar lockouts: number of times that a limit was reached, by bucket and kind.
    """

    def __init__(self, clock: IReactorTime, on_failure: Heard = lambda *failure: None) -> None:
        """@param on_failure: called for each failure with its bucket, address, user name, and true
        if it was over the limit.
        """
        self._clock, self._heard = clock, on_failure
        self._windows: dict[str, dict[_Key, _FailureWindow]] = {kind: {} for kind in _CAPS}
        self._turns: dict[str, float] = {}
        self._lockout_observers: list[Callable[[LockoutEvent], object]] = []
        self.lockouts: dict[tuple[str, ...], float] = {}

    def add_lockout_observer(self, observer: Callable[[LockoutEvent], object]) -> None:
        """Call C{observer} each time that a failure limit is reached."""
        self._lockout_observers.append(observer)

    def reserve_check(
        self, address: str, username: str | None, *, knows_address: bool, knows_name: bool
    ) -> PasswordReservation:
        """Count a password as wrong before it is checked.

        Otherwise concurrent requests could evade the limit.

        @param knows_address: true if a user recently signed in from the address.
        @param knows_name: true if C{username} recently signed in from the address.
        @raise TooManySignIns: the password must not be checked now.
        """
        now, keys = self._clock.seconds(), _window_keys(FailureBucket.BASIC, address, username)
        kept = {"username": knows_name, "address": knows_address, "network": knows_address}
        full = [window for key in keys if (window := self._find_full_window(key)) is not None]
        # Unknown clients share one check per interval; known addresses have separate turns.
        shared = [window for window in full if not kept[window.key[1]]]
        place = get_failure_count_address(address)
        late = max((window.next_look - now for window in shared), default=0.0)
        turn = self._find_next_check_time(place) if len(shared) < len(full) else now
        if late > 0 or turn - now > MAX_TURNS * TURN_SECONDS:
            self._heard(FailureBucket.BASIC.value, place, username, True)
            raise TooManySignIns(max(late, turn - now))
        if len(shared) < len(full):
            self._turns[place] = turn + TURN_SECONDS
        counted = [self._get_window(key) for key in keys if self._find_full_window(key) is None]
        for window in counted:
            window.reserved += 1
        for window in (*shared, *(window for window in counted if window.is_full)):
            window.next_look = now + LOOK_SECONDS
        return PasswordReservation(
            address=address, username=username, wait=turn - now, windows=tuple(counted)
        )

    def release_check(self, look: PasswordReservation) -> None:
        """Take back the failure that L{reserve_check} counted: the password was right or not
        checked.
        """
        for window in look.windows:
            window.reserved -= 1

    def confirm_failure(self, look: PasswordReservation) -> None:
        """Keep the failure that L{reserve_check} counted, because the password was wrong."""
        self.release_check(look)
        place = get_failure_count_address(look.address)
        self._heard(FailureBucket.BASIC.value, place, look.username, not look.windows)
        self._count_failure(look.windows, place)

    def _count_failure(self, windows: Iterable[_FailureWindow], place: str) -> None:
        for window in windows:
            window.count += 1
            bucket, kind, value = window.key
            if window.count == _CAPS[kind]:
                lockout = LockoutEvent(bucket=bucket, kind=kind, value=value, address=place)
                labels = (bucket.value, kind)
                self.lockouts[labels] = self.lockouts.get(labels, 0) + 1
                for observer in self._lockout_observers:
                    observer(lockout)

    def _find_next_check_time(self, place: str) -> float:
        now = self._clock.seconds()
        self._turns = {place: at for place, at in self._turns.items() if at > now}
        return self._turns.get(place, now)

    def _find_full_window(self, key: _Key) -> _FailureWindow | None:
        window = self._windows[key[1]].get(key)
        over = window is not None and window.is_full and window.ends > self._clock.seconds()
        return window if over else None

    def record_failure(self, bucket: FailureBucket, address: str, username: str | None) -> float:
        """Count one failure.

        @return: 0 up to the limit, beyond it the seconds until the window ends.
        """
        wait = self.get_block_seconds(bucket, address, username)
        place = get_failure_count_address(address)
        self._heard(bucket.value, place, username, bool(wait))
        if not wait:
            self._count_failure(
                [self._get_window(key) for key in _window_keys(bucket, address, username)], place
            )
        return wait

    def get_block_seconds(self, bucket: FailureBucket, address: str, username: str | None) -> float:
        """Return the seconds that L{record_failure} would return, without counting a failure."""
        return max(
            self._get_remaining_seconds(key) for key in _window_keys(bucket, address, username)
        )

    def _get_remaining_seconds(self, key: _Key) -> float:
        window = self._find_full_window(key)
        return 0.0 if window is None else window.ends - self._clock.seconds()

    def _get_window(self, key: _Key) -> _FailureWindow:
        windows = self._windows[key[1]]
        window = windows.get(key)
        if window is not None and window.ends > self._clock.seconds() and not window.is_empty:
            return window
        # Remove and insert: the order of the dict is the order of the windows' starts.
        windows.pop(key, None)
        if len(windows) >= MAX_COUNTED:
            del windows[next(iter(windows))]
        window = windows[key] = _FailureWindow(key, self._clock.seconds() + WINDOW_SECONDS)
        return window


def _window_keys(bucket: FailureBucket, address: str, username: str | None) -> list[_Key]:
    keys = [(bucket, "address", get_failure_count_address(address))]
    if username is not None:
        keys.append((bucket, "username", username))
    around = get_address_network(address)
    if around is not None:
        keys.append((bucket, "network", around))
    return keys


def get_failure_count_address(address: str) -> str:
    """Return the address as it is counted: an IPv4 address, or the /64 network of an IPv6 host."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and not found.is_loopback:
        return str(ip_network((found, 64), strict=False))
    return address


def get_address_network(address: str) -> str | None:
    """Return the /24 (IPv4) or /48 (IPv6) network of an address; C{None} for this machine's
    addresses.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return None
    if found.is_loopback:
        return None
    return str(ip_network((found, 48 if isinstance(found, IPv6Address) else 24), strict=False))
