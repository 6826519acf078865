"""Waiting for a condition, in tests that block: nothing here sleeps for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")

PATIENCE = 60.0
"""Seconds that anything may take before a test gives up; far more than it ever takes, also on a
machine that is busy with something else."""

EVERY = 0.05
"""Seconds between two looks."""


def wait_until(
    what: str,
    look: Callable[[], _T],
    *,
    patience: float = PATIENCE,
    every: float = EVERY,
    told: Callable[[], object] = lambda: "",
) -> _T:
    """Ask C{look} again until it gives something true, and return that.

    @param told: what is known, for whoever reads of a failure.
    @raise AssertionError: it never did.
    """
    deadline = time.monotonic() + patience
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"never: {what}; last {found!r}\n{told()}")
        time.sleep(every)
    return found


class SettledCondition(Generic[_T]):
    """A condition: C{read} gives the same for C{seconds}, and something else than C{unlike}.

    That a program has drawn what a key asked for says that it has read the key; that it draws
    nothing more, that the next one comes apart from it.
    """

    def __init__(self, read: Callable[[], _T], seconds: float, *, unlike: _T | None = None) -> None:
        self._read = read
        self._seconds = seconds
        self._unlike = unlike
        self._last: _T | None = None
        self._since = time.monotonic()

    def __call__(self) -> bool:
        """Look once more; whether it is so now."""
        now, at = self._read(), time.monotonic()
        if now != self._last:
            self._last, self._since = now, at
        return now != self._unlike and at - self._since >= self._seconds


def assert_stays(what: str, look: Callable[[], object], seconds: float) -> None:
    """Ask C{look} again and again for C{seconds}: what must not happen has that long to happen.

    @raise AssertionError: it gave something false.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not look():
            raise AssertionError(f"no longer: {what}")
        time.sleep(EVERY)
