"""Exit breaker: a session that fails again and again right after its start is no longer
restarted (protocol-status).
"""

from __future__ import annotations

EXITS = 5
"""Number of non-zero exits that trip the breaker."""
WINDOW_MS = 10_000
"""Period of these exits in milliseconds."""


def add_failure(failures: tuple[int, ...], at: int) -> tuple[int, ...]:
    """Return C{failures} with the one at C{at} (Unix milliseconds); at most L{EXITS} are kept."""
    return (*failures, at)[-EXITS:]


def has_tripped(failures: tuple[int, ...]) -> bool:
    """Return whether the last L{EXITS} failures are within L{WINDOW_MS}."""
    return len(failures) >= EXITS and failures[-1] - failures[-EXITS] <= WINDOW_MS
