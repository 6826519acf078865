"""Sorting in a thread that lets the reactor's go on.

One call of C{sorted} keeps the interpreter for as long as it takes, and with it everybody's
terminals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

AT_ONCE = 4096
"""Items that are sorted in one go: some milliseconds."""


def in_order(items: Iterable[T], key: Callable[[T], Any] | None = None) -> Iterator[T]:
    """C{items} as C{sorted} has them; between two of them others may go on."""
    left, parts = iter(items), list[list[Any]]()
    while part := list(islice(left, AT_ONCE)):
        part.sort(key=key)
        parts.append(part)
    return iter(merge(*parts, key=key))
