"""Delayed calls and their cancellation."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IDelayedCall, IReactorTime


def cancel_call(call: IDelayedCall | None) -> None:
    """Cancel a delayed call unless it is C{None} or has already run."""
    if call is not None and call.active():
        call.cancel()


class NamedTimers:
    """Delayed calls by name; the owner cancels them when it stops."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._calls: dict[str, IDelayedCall] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._calls

    def schedule_call(
        self, name: str, seconds: float, call: Callable[..., object], *args: object
    ) -> None:
        """Run C{call} in C{seconds}, replacing the pending call with the same C{name}."""

        def run_call() -> None:
            del self._calls[name]
            call(*args)

        self.cancel_timer(name)
        self._calls[name] = self._clock.callLater(seconds, run_call)

    def cancel_timer(self, name: str) -> None:
        """Cancel the pending call named C{name}, if there is one."""
        cancel_call(self._calls.pop(name, None))

    def cancel_all(self) -> None:
        """Cancel all pending calls."""
        for name in tuple(self._calls):
            self.cancel_timer(name)
