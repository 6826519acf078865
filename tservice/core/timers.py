"""Calls that are due later, and letting them be."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IDelayedCall, IReactorTime


def cancel(call: IDelayedCall | None) -> None:
    """Let a call be that may have been made already, or was never set."""
    if call is not None and call.active():
        call.cancel()


class Timers:
    """Calls that are due later, one under a name; their owner clears them at its end."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._calls: dict[str, IDelayedCall] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._calls

    def set(self, name: str, seconds: float, call: Callable[..., object], *args: object) -> None:
        """Make C{call} in C{seconds}, in place of what was due under that name."""

        def due() -> None:
            del self._calls[name]
            call(*args)

        self.stop(name)
        self._calls[name] = self._clock.callLater(seconds, due)

    def stop(self, name: str) -> None:
        """Nothing is due under that name."""
        cancel(self._calls.pop(name, None))

    def clear(self) -> None:
        """Nothing is due."""
        for name in tuple(self._calls):
            self.stop(name)
