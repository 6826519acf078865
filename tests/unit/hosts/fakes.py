"""Stands for what holds a connection."""

from __future__ import annotations

from twisted.internet.defer import Deferred


class FakeMaster:
    """Opens when the test says so."""

    def __init__(self) -> None:
        self.opening: Deferred[None] = Deferred()
        self.gone: Deferred[str] = Deferred()
        self.closed = False

    async def open(self) -> None:
        await self.opening

    def wait_lost(self) -> Deferred[str]:
        return self.gone

    def close(self) -> None:
        self.closed = True
