"""A service that notes when a key, or a new session, passes where.

C{python -m bench.probe} stands for C{twistd}.

Times are of the system's monotonic clock, the one of C{time.perf_counter}, which all processes
share.  What it noted is written to the file that C{BENCH_STAGES} names when the service ends.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from twisted.scripts.twistd import run

import tservice.http.websockets.connection as sockets
import tservice.mux.tmux.control_client as clients
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.server import TmuxServer
from tservice.sessions.life.creator import SessionCreator
from tservice.sessions.life.launcher import PaneLauncher

MOST = 100_000
"""Notes that are kept; later ones are not."""

NOTES: list[tuple[str, float]] = []


def note(place: str) -> None:
    """Something passes C{place} now."""
    if len(NOTES) < MOST:
        NOTES.append((place, time.perf_counter()))


def before(place: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """C{work}, noted when it begins."""

    def noted(*args: Any, **words: Any) -> Any:
        note(place)
        return work(*args, **words)

    return noted


def around(place: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """C{work}, noted when it begins and when it is done."""

    def noted(*args: Any, **words: Any) -> Any:
        note(place)
        try:
            return work(*args, **words)
        finally:
            note(f"{place} done")

    return noted


def around_waiting(
    place: str, work: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    """The same for what is waited for."""

    async def noted(*args: Any, **words: Any) -> Any:
        note(place)
        try:
            return await work(*args, **words)
        finally:
            note(f"{place} done")

    return noted


def watch_keys() -> None:
    """Note a key's way."""
    patched: Any = sockets.ServerSocket
    patched.dataReceived = before("socket read", patched.dataReceived)
    patched.onMessage = before("message", patched.onMessage)
    client: Any = clients.ControlClient
    client.outReceived = before("tmux read", client.outReceived)
    for module, place in ((sockets, "socket write"), (clients, "tmux write")):
        vars(module)["write_immediately"] = around(place, vars(module)["write_immediately"])


def watch_creations() -> None:
    """Note a new session's way."""
    creator: Any = SessionCreator
    creator.make_record = around_waiting("record", creator.make_record)
    launcher: Any = PaneLauncher
    launcher.launch_pane = around_waiting("launch", launcher.launch_pane)
    server: Any = TmuxServer
    server.start_server = around("spawn", server.start_server)
    mux: Any = TmuxMultiplexer
    mux._wait_until_attached = around_waiting("attach", mux._wait_until_attached)


def main() -> None:
    """Run the service, with its notes."""
    watch_keys()
    watch_creations()
    kept = Path(os.environ["BENCH_STAGES"])
    # Not at the interpreter's exit: twistd ends by the signal that it was sent.
    from twisted.internet import reactor

    events: Any = reactor
    events.addSystemEventTrigger(
        "after", "shutdown", lambda: kept.write_text(json.dumps(NOTES), "utf-8")
    )
    run()


if __name__ == "__main__":
    main()
