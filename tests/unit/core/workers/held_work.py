"""Threads that a test holds up."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from twisted.internet.task import Clock

from tests.waiting import PATIENCE as PATIENCE


class ThreadClock(Clock):
    """A reactor's time and its thread, which is the test's."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: queue.Queue[Callable[[], object]] = queue.Queue()

    def callFromThread(self, work: Callable[..., object], *args: Any) -> None:
        self._calls.put(lambda: work(*args))

    def hear(self) -> None:
        """Wait for one thread's word."""
        self._calls.get(timeout=PATIENCE)()


class HeldWork:
    """Work that answers when the test lets it."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.free = threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.free.wait(PATIENCE)
        return "done"
