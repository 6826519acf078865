"""Validation of request lists that stops at the first error.

Finding and reporting every error of a long list would be costly (protocol-errors).
"""

from __future__ import annotations

from pydantic import FailFast


class _HashableFailFast(FailFast):
    """L{FailFast} with a hash, which pydantic needs for markers in unions."""

    __hash__ = object.__hash__


FAIL_FAST = _HashableFailFast()
"""Marker for lists that may have many entries; validation stops at the first invalid entry."""
