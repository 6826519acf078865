"""The exit breaker: a session that keeps failing at once is not started again (protocol-status)."""

from __future__ import annotations

EXITS = 5
"""Non-zero exits that trip it."""
WINDOW_MS = 10_000
"""Milliseconds within which they fall."""


def add_failure(failures: tuple[int, ...], at: int) -> tuple[int, ...]:
    """C{failures} with the one at C{at} (Unix milliseconds); at most L{EXITS} are kept."""
    return (*failures, at)[-EXITS:]


def tripped(failures: tuple[int, ...]) -> bool:
    """Whether the last L{EXITS} failures fell within L{WINDOW_MS}."""
    return len(failures) >= EXITS and failures[-1] - failures[-EXITS] <= WINDOW_MS
