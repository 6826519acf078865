"""How many examples a property test tries, and which."""

from __future__ import annotations

import os

_TIMES = "EXAMPLES_TIMES"

IS_LONG = _TIMES in os.environ
"""Whether this is the long form, which looks for other examples at each run (C{make stress})."""


def example_count(count: int) -> int:
    """C{count}; in the long form so many times as many as C{EXAMPLES_TIMES} says."""
    return count * int(os.environ.get(_TIMES, "1"))
