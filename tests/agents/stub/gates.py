"""Named gates at which answers wait until the test opens them."""

from __future__ import annotations

from twisted.internet.defer import Deferred


class StubGates:
    """A gate opened before anybody waits lets the next one through at once."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Deferred[None]]] = {}
        self._open: set[str] = set()

    def wait(self, name: str) -> Deferred[None]:
        """Fires when the gate opens; cancelling it leaves the queue."""
        if name in self._open:
            self._open.discard(name)
            ready: Deferred[None] = Deferred()
            ready.callback(None)
            return ready
        waiting = self._waiting.setdefault(name, [])
        entry: Deferred[None] = Deferred(waiting.remove)
        waiting.append(entry)
        return entry

    def release(self, name: str) -> int:
        """Let everybody at the gate through; how many there were."""
        waiting = self._waiting.pop(name, [])
        if not waiting:
            self._open.add(name)
        for entry in waiting:
            entry.callback(None)
        return len(waiting)
