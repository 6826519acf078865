"""What a listener heard last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tservice.mux.interface import (
    MuxError,
)

ID = "0a1b2c3d-0000-4000-8000-00000000000a"


class EndCallback:
    """Calls when the process is over."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def pane_exited(self, ending: object) -> None:
        self._call()

    def pane_lost(self) -> None:
        """Not of interest."""

    def pane_resized(self, cols: int, rows: int) -> None:
        """Not of interest."""

    def pane_titled(self, title: str) -> None:
        """Not of interest."""


async def outcome_of(work: Any) -> Any:
    """The result of C{work}, or the error that it raised."""
    try:
        return await work
    except MuxError as error:
        return error
