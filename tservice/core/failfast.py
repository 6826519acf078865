"""Validation of request lists that stops at the first fault, since finding and reporting each one
is costly (protocol-errors).
"""

from __future__ import annotations

from pydantic import FailFast


class _HashableFailFast(FailFast):
    """Hashable L{FailFast}, because unions need a hash."""

    __hash__ = object.__hash__


FAIL_FAST = _HashableFailFast()
"""Marker for lists that may have many entries; entries after a fault are not checked."""
