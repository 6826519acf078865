"""Runner for coroutines that never suspend."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_synchronously(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, and return its result.

    @raise RuntimeError: the coroutine suspends.
    """
    try:
        work.send(None)
    except StopIteration as end:
        found: T = end.value
        return found
    work.close()
    raise RuntimeError("this coroutine needs an event loop")
