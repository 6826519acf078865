"""Counting wrong passwords, secrets and codes (protocol-auth, protocol-failures)."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network

from attrs import define
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

_CAPS = {"address": CAP, "username": CAP, "network": NETWORK_CAP}
_Key = tuple[Bucket, str, str]
Heard = Callable[[str, str, str | None, bool], None]


@define
class _Window:
    ends: float
    count: int = 0


@implementer(IFailures)
class Failures:
    """A window of L{WINDOW_SECONDS} begins with the first failure and holds a cap of them.

    Failures over the cap are not counted, so nobody can keep a window open.
    """

    def __init__(self, clock: IReactorTime, heard: Heard = lambda *failure: None) -> None:
        """
        @param heard: told of each: its bucket, place, user name, and whether it was over the cap.
        """
        self._clock, self._heard = clock, heard
        self._windows: dict[str, dict[_Key, _Window]] = {kind: {} for kind in _CAPS}

    def failed(self, bucket: Bucket, address: str, username: str | None) -> float:
        """Count one failure.

        @return: 0 up to the cap, beyond it the seconds until the window ends.
        """
        wait = self.blocked(bucket, address, username)
        if not wait:
            for key in _keys(bucket, address, username):
                self._window(key).count += 1
        self._heard(bucket.value, neighbourhood(address), username, bool(wait))
        return wait

    def blocked(self, bucket: Bucket, address: str, username: str | None) -> float:
        """As L{failed}, without counting."""
        return max(self._left(key) for key in _keys(bucket, address, username))

    def _left(self, key: _Key) -> float:
        window = self._windows[key[1]].get(key)
        if window is None or window.count < _CAPS[key[1]]:
            return 0.0
        return max(0.0, window.ends - self._clock.seconds())

    def _window(self, key: _Key) -> _Window:
        windows = self._windows[key[1]]
        window = windows.get(key)
        if window is not None and window.ends > self._clock.seconds():
            return window
        # Out and in again: the order of the dict is the order of beginning.
        windows.pop(key, None)
        if len(windows) >= MAX_COUNTED:
            del windows[next(iter(windows))]
        window = windows[key] = _Window(self._clock.seconds() + WINDOW_SECONDS)
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
