"""A service of its own process, for a test that kills it: C{python -m ... FOLDER ID SETPRIV}."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater, react

from tests.runtime_harness import HERE, own_setups
from tservice.mux.interface import PaneSpec
from tservice.mux.local_transport import LocalTransport
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.sockets import SocketFolder

FLOODED = 100_000
"""Bytes after which the service is in the middle of it."""


async def serve(reactor: Any) -> None:
    """Start a pane that floods, say so once it does, and wait to be killed."""
    folder, session_id, setpriv = sys.argv[1:]
    mux = TmuxMultiplexer(
        reactor,
        reactor,
        own_setups(
            LocalTransport(shutil.which("tmux") or "tmux", setpriv or None),
            SocketFolder(Path(folder)),
        ),
        token=lambda: "token",
        capacity=1024 * 1024,
    )
    flood = ("sh", "-c", "while :; do seq 1 20000; done")
    env = {"PATH": os.environ["PATH"]}
    pane = await mux.create_pane(
        PaneSpec(session_id=session_id, argv=flood, env=env, cwd="/", place=HERE)
    )
    while pane.log.end < FLOODED:
        await deferLater(reactor, 0.01)
    sys.stdout.write("up\n")
    sys.stdout.flush()
    await Deferred()


if __name__ == "__main__":
    react(lambda reactor: Deferred.fromCoroutine(serve(reactor)))
