"""Sorting in a worker thread without blocking the reactor's thread.

One call of C{sorted} holds the interpreter lock, which would freeze every terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

SLICE_SIZE = 4096
"""Number of items that are sorted in one call, which takes some milliseconds."""


def sort_in_slices(items: Iterable[T], key: Callable[[T], Any] | None = None) -> Iterator[T]:
    """Iterate over C{items} in the order of C{sorted}; other threads can run between two items."""
    left, parts = iter(items), list[list[Any]]()
    while part := list(islice(left, SLICE_SIZE)):
        part.sort(key=key)
        parts.append(part)
    return iter(merge(*parts, key=key))
