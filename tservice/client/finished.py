"""Coroutines that never suspend, run to their end."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine comes to that never waits for anything but its thread.

    @raise RuntimeError: it does.
    """
    try:
        work.send(None)
    except StopIteration as end:
        found: T = end.value
        return found
    work.close()
    raise RuntimeError("this coroutine needs an event loop")
