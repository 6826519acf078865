"""Where panes live, put together."""

from __future__ import annotations

import secrets
import shutil
import sys
from pathlib import Path

from twisted.internet.defer import Deferred

from tservice.core.errors import StartError
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.metrics import Measure
from tservice.mux.interface import IMultiplexer
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import LocalTransport


def build_mux(ground: Ground) -> Feature[IMultiplexer]:
    """A tmux server for each session; a stop lets go of them, and they run on.

    @raise StartError: there is no tmux.
    """
    path = ground.environ.get("PATH")
    tmux = shutil.which("tmux", path=path)
    if tmux is None:
        raise StartError("tmux is missing: install tmux 3.2 or later")
    runtime = ground.environ.get("XDG_RUNTIME_DIR")
    mux = TmuxMultiplexer(
        ground.reactor,
        ground.reactor,
        LocalTransport(tmux, shutil.which("setpriv", path=path)),
        SocketFolder(ground.config.data_dir, Path(runtime) if runtime else None),
        token=lambda: secrets.token_hex(8),
        python=sys.executable,
        capacity=ground.config.output_ring,
        others=ground.os_users.quarters(tmux),
    )
    output = Measure("output_bytes", "Output of panes.", lambda: {(): mux.output_bytes}, grows=True)
    return Feature(
        name="panes",
        service=mux,
        measures=[output],
        close=lambda: Deferred.fromCoroutine(mux.close()),
    )
