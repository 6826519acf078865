"""Description of a CLI whose interface connects to a server that takes further clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class ServerChannel:
    """Way to start a CLI with a server of its own.

    @ivar since: oldest version that was proved with a second client.
    @ivar replaces: argument of the usual start; only a start with it gets a server.
    @ivar build_argv: returns the command that starts the server and then the CLI, given the command
        of the usual start and the path of the socket. The program starts as usual if the server
        does not.
    @ivar may_start: returns true if the CLI behaves as usual with a server, given the working
        folder and the environment of the pane. It may block.
    """

    since: str
    replaces: str
    build_argv: Callable[[tuple[str, ...], Path], tuple[str, ...]]
    may_start: Callable[[Path, Mapping[str, str]], bool]
