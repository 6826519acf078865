"""How many examples a property test tries."""

from __future__ import annotations

import os


def examples(count: int) -> int:
    """C{count}, or C{EXAMPLES_TIMES} as many: the longer profile that one runs by hand."""
    return count * int(os.environ.get("EXAMPLES_TIMES", "1"))
