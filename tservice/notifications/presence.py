"""Sessions that people look at, as their pages report it."""

from __future__ import annotations

from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms

LOOK_SECONDS = 25
"""Seconds for which a report is valid.  A page repeats it every 10 seconds, so that a device which
disappears does not suppress a notice for long.
"""
DEVICES_LIMIT = 50
"""Maximum number of devices of one account that are remembered; the oldest report goes."""


class LookRegistry:
    """Reports of pages by account and device.  A device looks at one session at a time."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._looks: dict[str, dict[str, tuple[str, int]]] = {}

    def record_look(self, account: str, device: str, session_id: str) -> None:
        """Record that a device shows a session to a person."""
        devices = self._looks.setdefault(account, {})
        devices.pop(device, None)
        devices[device] = (session_id, get_unix_ms(self._clock) + LOOK_SECONDS * 1000)
        while len(devices) > DEVICES_LIMIT:
            del devices[next(iter(devices))]

    def end_look(self, account: str, device: str) -> None:
        """Record that a device no longer shows a session."""
        devices = self._looks.get(account, {})
        devices.pop(device, None)
        if not devices:
            self._looks.pop(account, None)

    def find_end(self, account: str, session_id: str) -> int | None:
        """Return the time until which a person looks, in Unix milliseconds.

        C{None} means that the account has no such report.
        """
        now = get_unix_ms(self._clock)
        known = self._looks.get(account, {}).values()
        ends = [until for found, until in known if found == session_id and now < until]
        return max(ends, default=None)

    def forget_account(self, account: str) -> None:
        """Forget the reports of an account."""
        self._looks.pop(account, None)
