"""What git status is handed, and what other features know of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, TypeVar

_T = TypeVar("_T")


class InThread(Protocol):
    """The door to threads: run something that blocks, for example C{deferToThread}."""

    def __call__(self, work: Callable[[], _T], /) -> Awaitable[_T]:
        """Run C{work} in a thread; its result, or what it raised."""


class ContainerWorkspaces(Protocol):
    """Names the folders that containers share with this machine."""

    def __call__(self) -> Iterable[str]:
        """Absolute paths; nothing at or inside one is ever inspected."""
