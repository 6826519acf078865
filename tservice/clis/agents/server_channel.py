"""Description of what a CLI reports beside its screen: by a server of its own, or in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen

STATUS_SUFFIX = ".json"
"""End of the name of a status file."""


@frozen(kw_only=True)
class ServerChannel:
    """Way to start a CLI with a server that takes further clients, or with a status file.

    @ivar since: oldest version that was proved with the channel.
    @ivar replaces: argument of the usual start; only a start with it gets a server. C{None} if the
        usual start has no arguments.
    @ivar build_argv: returns the command that starts the CLI with the channel, given the command of
        the usual start and the path of the socket or the file. The program starts as usual if a
        server does not.
    @ivar may_start: returns true if the CLI behaves as usual with the channel, given the working
        folder and the environment of the pane. It may block.
    @ivar writes_file: the CLI writes its status to a file, and has no server.
    """

    since: str
    replaces: str | None = None
    build_argv: Callable[[tuple[str, ...], Path], tuple[str, ...]]
    may_start: Callable[[Path, Mapping[str, str]], bool] = lambda folder, env: True
    writes_file: bool = False

    def choose_path(self, socket: Path) -> Path:
        """Return the path of the channel, given that of the session's socket."""
        return socket.with_suffix(STATUS_SUFFIX) if self.writes_file else socket
