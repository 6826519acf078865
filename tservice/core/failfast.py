"""Lists of bodies are looked at up to their first fault: to find and to tell one costs
(protocol-errors)."""

from __future__ import annotations

from pydantic import FailFast


class _AtFirst(FailFast):
    """Unions ask it for a hash."""

    __hash__ = object.__hash__


AT_FIRST = _AtFirst()
"""On a list that may have many entries; at those behind a fault nobody looks."""
