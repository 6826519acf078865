"""Exit breaker: stops restarting a session that fails repeatedly right after its start
(protocol-status).
"""

from __future__ import annotations

EXITS = 5
"""Number of non-zero exits that trip the breaker."""
WINDOW_MS = 10_000
"""Period in milliseconds in which L{EXITS} failures trip the breaker."""


def add_failure(failures: tuple[int, ...], at: int) -> tuple[int, ...]:
    """Return C{failures} and the new one. At most L{EXITS} are kept.

    @param failures: times of earlier failures in Unix milliseconds.
    @param at: time of the new failure in Unix milliseconds.
    """
    return (*failures, at)[-EXITS:]


def has_tripped(failures: tuple[int, ...]) -> bool:
    """Return true if the last L{EXITS} failures happened within L{WINDOW_MS}."""
    return len(failures) >= EXITS and failures[-1] - failures[-EXITS] <= WINDOW_MS
