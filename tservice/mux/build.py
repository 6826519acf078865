"""Builds the multiplexer feature."""

from __future__ import annotations

import secrets
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from twisted.internet.defer import Deferred

from tservice.core.kernel.errors import StartError
from tservice.core.locations.location import LocationKind
from tservice.http.metrics import MetricSource
from tservice.mux.interface import IMultiplexer
from tservice.mux.local_transport import LocalTransport
from tservice.mux.tmux.compiled_keeper import find_compiled_keeper
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.setup import LocalSetup, LocalSetups, ServerSetups
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.tmux_version import MIN_TMUX_TEXT
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime


def build_mux(
    ground: Runtime, setups: Mapping[LocationKind, ServerSetups] | None = None
) -> FeatureRegistration[IMultiplexer]:
    """Return the feature that runs each session's pane on a separate tmux server.

    Closing the feature detaches from the servers; the panes keep running.

    @param setups: server setups for kinds of locations that are not on this machine.
    @raise StartError: tmux is not installed.
    """
    tmux = shutil.which("tmux", path=ground.environ.get("PATH"))
    if tmux is None:
        raise StartError(f"tmux is missing: install tmux {MIN_TMUX_TEXT} or later")
    mux = TmuxMultiplexer(
        ground.reactor,
        ground.reactor,
        {**_build_local_setups(ground, tmux), **(setups or {})},
        token=lambda: secrets.token_hex(8),
        capacity=ground.config.output_ring,
    )
    output = MetricSource(
        "output_bytes", "Bytes of output of panes.", lambda: {(): mux.output_bytes}, grows=True
    )
    return FeatureRegistration(
        name="panes",
        service=mux,
        measures=[output],
        close=lambda: Deferred.fromCoroutine(mux.close()),
    )


def _build_local_setups(ground: Runtime, tmux: str) -> dict[LocationKind, ServerSetups]:
    """Return the server setups for the kinds of locations on this machine.

    @param tmux: absolute path of the tmux program.
    """
    runtime = ground.environ.get("XDG_RUNTIME_DIR")
    own = LocalSetup(
        transport=LocalTransport(tmux, shutil.which("setpriv", path=ground.environ.get("PATH"))),
        sockets=SocketFolder(ground.config.data_dir, Path(runtime) if runtime else None),
        python=sys.executable,
        program=find_compiled_keeper(sys.executable),
    )
    found: dict[LocationKind, ServerSetups] = {LocationKind.LOCAL: LocalSetups(own)}
    others = ground.os_users.setups(tmux)
    return found if others is None else {**found, LocationKind.OS_USER: others}
