"""Loops over what is computed, in tests that assert inside of the loop alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")


def require_items(items: Iterable[_T]) -> list[_T]:
    """Return C{items} as a list.

    @raise AssertionError: there are none, so that a loop over them would prove nothing.
    """
    found = list(items)
    if not found:
        raise AssertionError("nothing to loop over")
    return found
